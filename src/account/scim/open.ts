/** Opens orgs' directories (SCIM): their tables, tokens and log, and what other rooms need of them. */
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import { keyless } from "../../base/operation/keyless.ts";
import type { Caller, Origin } from "../../base/operation/operation.ts";
import type { Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { AccountPlans } from "../plan-limits.ts";
import type { AccountTables } from "../tables.ts";
import { groupRoleHandler, settleGroupRoles } from "./groups/group-role-job.ts";
import { ScimLog } from "./log.ts";
import type { MembershipDeps } from "./membership.ts";
import { SignInLinks } from "./sign-in-links.ts";
import { ScimTables } from "./tables.ts";
import { ScimTokens } from "./token.ts";

export interface DirectoryPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly trail: Trail;
  readonly accounts: AccountTables;
  readonly plans: Pick<AccountPlans, "inForce">;
  readonly quotas: Quotas;
  /** Where identity providers reach the gateway, if that is set. */
  readonly publicUrl: string | undefined;
  readonly log: Logger;
}

export interface Directory {
  readonly tables: ScimTables;
  readonly tokens: ScimTokens;
  readonly log: ScimLog;
  readonly links: SignInLinks;
  readonly publicUrl: string | undefined;
  /** @throws WeirError `missing_key`, `invalid_key` */
  callerOf(secret: string, requestId: string, origin: Origin): Caller;
  /** Whether the org's plan has directories. */
  hasSso(orgId: string): boolean;
  /** Before jobs start. */
  handleJobs(jobs: Pick<Jobs, "handle">, endSessions: MembershipDeps["endSessions"]): void;
  /** Requests that were refused before their operation saw them. */
  onRefused(
    route: { readonly access: string; readonly method: string },
    caller: Caller,
    path: string,
    error: WeirError,
  ): void;
  /** In an act: its token, log, users and groups. @returns whether more are left */
  erase(orgId: string, most: number): boolean;
  closeTables(): void;
}

export function openDirectory(ports: DirectoryPorts): Directory {
  const { accounts, clock, plans, store, trail, quotas, publicUrl, log } = ports;
  const onFailure = (err: unknown) =>
    log.error({ err }, "the log of a directory could not be written or swept");
  const tables = new ScimTables(store);
  const tokens = new ScimTokens({ store, clock });
  const calls = new ScimLog({ store, clock, tokens, quotas, onFailure });
  const callerOf: Directory["callerOf"] = (secret, requestId, origin) => {
    if (secret === "") throw fail("missing_key", "Send the token of the org's directory.");
    const token = tokens.resolve(secret);
    if (token === undefined) {
      const message = "This is no token of a directory, or it was revoked.";
      throw fail("invalid_key", message, { isUnknown: true });
    }
    return keyless({ requestId, actor: { kind: "directory", id: token.id }, origin, orgId: token.orgId });
  };
  return {
    tables,
    tokens,
    log: calls,
    callerOf,
    links: new SignInLinks(tables, accounts),
    hasSso: (orgId: string) => plans.inForce(accounts.org(orgId)?.planId ?? "").features.sso,
    publicUrl,
    handleJobs(jobs, endSessions) {
      jobs.handle(settleGroupRoles, groupRoleHandler({ accounts, tables, clock, trail, endSessions }));
    },
    onRefused({ access, method }, caller, path, error) {
      if (access === "directory") calls.noteRefused(caller, method, path, error);
    },
    erase(orgId, most) {
      // First: whoever provisions an org does not hear that it is gone, and goes on calling, with names.
      tokens.erase(orgId);
      return calls.erase(orgId, most) || tables.erase(orgId, most);
    },
    closeTables: () => calls.close(),
  };
}
