/** Operations on orgs: list, create, read, change, close, ask for erasure, transfer. One act each. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import type { Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { DayCounts } from "../../store/tables/day-counts.ts";
import { orgUpdated } from "../account-events.ts";
import { newOrg, type OrgDataPolicy, type OrgRow, type SecuritySettings } from "../org.ts";
import {
  changedOrgShape,
  type Lock,
  listedOrgShape,
  listedOrgWire,
  type OrgWarning,
  orgShape,
  orgWire,
} from "../org-wire.ts";
import { newProject } from "../project.ts";
import { assertMayChange } from "../scopes.ts";
import type { AccountTables } from "../tables.ts";
import { changesProfile, orgAfter } from "./org-change.ts";
import { createOrgBody, type OrgPatch, patchOrgBody } from "./org-fields.ts";
import { assertMayOwn, countOrgMade } from "./ownership.ts";
import { checkProfile } from "./tax-profile.ts";

export interface OrgOperationDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly trail: Trail;
  /** Plan of new orgs. */
  readonly freePlanId: string;
  /** Orgs that one person may own. */
  readonly maxOrgsOfPerson: number;
  readonly orgsMade: DayCounts;
  readonly quotas: Quotas;
  /** Port: the org has paid in its currency, which can no longer change. */
  readonly hasPaid: (orgId: string) => boolean;
  /** Port: why the settings keep the session that asks from an org, or would, in the order in which its requests are refused. */
  readonly locksOf: (security: SecuritySettings, head: HttpHead) => readonly Lock[];
  /** Port: what the data policy asks of endpoints and the catalog does not have. */
  readonly dataPolicyWarnings: (policy: OrgDataPolicy) => readonly OrgWarning[];
  /** Port: which redaction pattern makes all of them too slow; undefined if they are quick. */
  readonly slowPattern: (patterns: readonly string[]) => Promise<number | undefined>;
}

/** Parameters of a path with one org in it. The edge has found that org, and made it the caller's, before an operation runs. */
export const orgPath = z.object({ org: z.string().describe("Id or slug") });

export function orgOperations(deps: OrgOperationDeps) {
  return {
    listOrgs: operation({
      summary:
        "The person's orgs, oldest membership first, in short where the session does not open one; for a key, its org. Not paged",
      method: "GET",
      path: "/v1/orgs",
      access: "read:org / signed in",
      group: "Organisations",
      output: listOf(listedOrgShape),
      run: (_input, caller, head) => listed(orgsOf(deps, caller, head)),
    }),
    createOrg: operation({
      summary: "Create an org: its maker is the owner, and it has a first project",
      method: "POST",
      path: "/v1/orgs",
      access: "no key / signed in",
      group: "Organisations",
      body: createOrgBody,
      output: orgShape,
      status: 201,
      errors: ["slug_taken", "plan_limit"],
      run: ({ body }, caller) => createOrg(deps, caller, body),
    }),
    getOrg: operation({
      summary: "Read an org",
      method: "GET",
      path: "/v1/orgs/{org}",
      access: "read:org / everyone",
      group: "Organisations",
      params: orgPath,
      output: orgShape,
      errors: ["not_found"],
      run: (_input, caller) => show(deps, caller, deps.accounts.mustOrg(caller.orgId)),
    }),
    updateOrg: operation({
      summary: "Change an org's profile, settings or data policy; what is left out stays",
      method: "PATCH",
      path: "/v1/orgs/{org}",
      access: "write:org / admin",
      group: "Organisations",
      params: orgPath,
      body: patchOrgBody,
      output: changedOrgShape,
      errors: ["not_found", "scope", "state", "org_closed"],
      run: ({ body }, caller, head) => updateOrg(deps, caller, body, head),
    }),
  };
}

/** With the role of the person who asks. */
export const show = ({ accounts: { people } }: OrgOperationDeps, { actor }: Caller, org: OrgRow) =>
  orgWire(org, actor.kind === "person" ? people.member(org.id, actor.id)?.role : undefined);

function orgsOf({ accounts, locksOf }: OrgOperationDeps, { actor, orgId }: Caller, head: HttpHead) {
  if (actor.kind !== "person") {
    const org = accounts.org(orgId);
    return org === undefined ? [] : [orgWire(org)];
  }
  return accounts.people.membershipsOf(actor.id).flatMap((member) => {
    const org = accounts.org(member.orgId);
    return org === undefined ? [] : [listedOrgWire(org, member.role, locksOf(org.security, head)[0])];
  });
}

async function createOrg(deps: OrgOperationDeps, caller: Caller, body: z.output<typeof createOrgBody>) {
  const { accounts, clock, trail, freePlanId, maxOrgsOfPerson } = deps;
  const { people } = accounts;
  return await accounts.act(() => {
    assertMayOwn(people, caller.actor.id, maxOrgsOfPerson);
    if (accounts.orgBySlug(body.slug) !== undefined) {
      throw fail("slug_taken", `There is an organisation "${body.slug}" already.`, { param: "/slug" });
    }
    const nowMs = clock.now();
    countOrgMade(deps, caller.actor.id);
    const { slug, name, kind, billing_country: billingCountry } = body;
    const org = newOrg({ slug, name, kind, billingCountry, planId: freePlanId }, nowMs);
    accounts.addOrg(org);
    const project = { orgId: org.id, slug: "default", name: "Default", environment: "live" } as const;
    accounts.addProject(newProject(project, nowMs));
    people.putMember({
      orgId: org.id,
      userId: caller.actor.id,
      addedAtMs: nowMs,
      role: "owner",
      source: "creation",
    });
    const wire = orgWire(org, "owner");
    trail.audit.note(caller, { act: "org.create", target: org.id, after: wire, orgId: org.id });
    return wire;
  });
}

async function updateOrg(deps: OrgOperationDeps, caller: Caller, patch: OrgPatch, head: HttpHead) {
  const { accounts, trail } = deps;
  await assertQuick(deps, caller, patch.data_policy?.redact?.patterns);
  return await accounts.act(() => {
    const old = accounts.mustOpenOrg(caller.orgId);
    assertMayChange(caller, "live");
    const changed = orgAfter(old, patch);
    if (changed.billingCurrency !== old.billingCurrency && deps.hasPaid(old.id)) {
      throw fail("state", "The billing country decides the currency, which is fixed by the first top-up.", {
        param: "/billing_country",
      });
    }
    const fault = changesProfile(patch) ? checkProfile(changed) : undefined;
    if (fault !== undefined) throw fail("invalid_value", fault.message, { param: fault.param });
    if (caller.actor.kind === "person" && patch.settings?.security !== undefined) {
      assertStaysIn(deps, changed.security, head);
    }
    accounts.replaceOrg(changed);
    const [before, after] = [show(deps, caller, old), show(deps, caller, changed)];
    trail.audit.note(caller, { act: "org.update", target: old.id, before, after });
    trail.events.emit(orgUpdated, old.id, orgWire(changed));
    const warnings = choosesEndpoints(patch) ? deps.dataPolicyWarnings(changed.dataPolicy) : [];
    return { ...after, ...(warnings.length > 0 && { warnings: [...warnings] }) };
  });
}

const choosesEndpoints = ({ data_policy: given }: OrgPatch): boolean =>
  [given?.zdr, given?.no_train, given?.regions].some((field) => field !== undefined);

/** New patterns are tried, which takes a moment of a thread. @throws WeirError 400 that names the slow one */
async function assertQuick(
  deps: OrgOperationDeps,
  caller: Caller,
  patterns: readonly string[] = [],
): Promise<void> {
  if (isDeepStrictEqual(patterns, deps.accounts.mustOrg(caller.orgId).dataPolicy.redact.patterns)) return;
  const slow = await deps.slowPattern(patterns);
  if (slow === undefined) return;
  const message =
    "With this pattern the patterns take too long to search a text: repeat less often, avoid `.*` and what matches single characters.";
  throw fail("invalid_value", message, { param: `/data_policy/redact/patterns/${slow}` });
}

/** Nobody may shut themselves out of the console by a setting. @throws WeirError 400 */
function assertStaysIn({ locksOf }: OrgOperationDeps, security: SecuritySettings, head: HttpHead): void {
  const by = locksOf(security, head);
  if (by.includes("two_factor_required")) {
    throw fail("invalid_value", "Your own session has no second factor, so this would shut you out.", {
      param: "/settings/security/require_2fa",
    });
  }
  if (by.includes("ip_not_allowed")) {
    throw fail("invalid_value", "Your own address is not in the list, so this would shut you out.", {
      param: "/settings/security/console_ip_allow",
    });
  }
}
