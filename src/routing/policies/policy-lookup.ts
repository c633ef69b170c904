/**
 * Looks up an org's own policies and versions, or throws. Policies of other orgs count as not found.
 */
import { fail, mustExist } from "../../base/errors.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { ParsedVersion, Policies } from "./policies.ts";
import type { PolicyRow, VersionKey, VersionRow } from "./policy-tables.ts";
import { problemDetails } from "./policy-wire.ts";

/** @throws WeirError `not_found`. */
export const ownPolicy = ({ tables }: Policies, orgId: string, name: string): PolicyRow =>
  mustExist(tables.policy(orgId, name), "policy");

/** @throws WeirError `not_found`. */
export function ownVersion(policies: Policies, orgId: string, name: string, version: number): VersionRow {
  ownPolicy(policies, orgId, name);
  const row = policies.tables.version(orgId, name, version);
  if (row === undefined) {
    throw fail("not_found", `The policy has no version ${version}.`, { param: "/version" });
  }
  return row;
}

/** The compiled version. @throws WeirError `not_found`; `state` with every problem where a later grammar refuses it. */
export async function readableVersion(policies: Policies, key: VersionKey): Promise<ParsedVersion> {
  ownVersion(policies, key.orgId, key.policy, key.version);
  const read = await policies.prepare(key);
  if (read !== undefined) return read;
  const again = await policies.readText(policies.tables.text(key) ?? "", { name: key.policy });
  const said = `Version ${key.version} of the policy is not valid any more. Add a version that is.`;
  throw fail("state", said, again.ok ? {} : { details: problemDetails(again.problems) });
}

/** The version asked for, else the newest. @throws WeirError `not_found`. */
export function versionOrNewest(
  policies: Policies,
  orgId: string,
  name: string,
  version: number | undefined,
): VersionRow {
  return ownVersion(policies, orgId, name, version ?? ownPolicy(policies, orgId, name).versions);
}

/** Policies apply to live and test calls alike, so a test key must not change what live calls spend. */
export function assertMayWrite({ environment }: Caller): void {
  if (environment === "test") {
    throw fail("scope", "A test key cannot change policies: they hold for live calls.");
  }
}
