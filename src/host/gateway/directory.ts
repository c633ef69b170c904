/** Opens orgs' directories (SCIM): their tables, tokens and log, and what other rooms need of them. */
import type { Logger } from "pino";
import { groupRoleHandler, settleGroupRoles } from "../../account/scim/groups/group-role-job.ts";
import { ScimLog } from "../../account/scim/log.ts";
import type { MembershipDeps } from "../../account/scim/membership.ts";
import { SignInLinks } from "../../account/scim/sign-in-links.ts";
import { ScimTables } from "../../account/scim/tables.ts";
import { ScimTokens } from "../../account/scim/token.ts";
import type { Clock } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { CredentialPorts } from "../../edge/authorize.ts";
import type { Route } from "../../edge/routes.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";
import type { openAccount } from "./account.ts";

interface DirectoryGround extends Awaited<ReturnType<typeof openAccount>> {
  readonly store: Store;
  readonly clock: Clock;
  readonly trail: Trail;
}

export type Directory = ReturnType<typeof openDirectory>;

export function openDirectory(config: Config, log: Logger, ground: DirectoryGround) {
  const { accounts, clock, planFeatures, store, trail } = ground;
  const onFailure = (err: unknown) =>
    log.error({ err }, "the log of a directory could not be written or swept");
  const tables = new ScimTables(store);
  const tokens = new ScimTokens({ store, clock });
  const calls = new ScimLog({ store, clock, tokens, quotas: config.settings.quotas, onFailure });
  const callerOf: CredentialPorts["directoryOf"] = (secret, requestId, origin) => {
    if (secret === "") throw fail("missing_key", "Send the token of the org's directory.");
    const token = tokens.resolve(secret);
    if (token === undefined) {
      const message = "This is no token of a directory, or it was revoked.";
      throw fail("invalid_key", message, { isUnknown: true });
    }
    return {
      requestId,
      origin,
      orgId: token.orgId,
      projectId: "",
      environment: "live",
      scopes: new Set(),
      actor: { kind: "directory", id: token.id },
    };
  };
  return {
    tables,
    tokens,
    log: calls,
    callerOf,
    links: new SignInLinks(tables, accounts),
    hasSso: (orgId: string) => planFeatures(accounts.org(orgId)?.planId ?? "").sso,
    publicUrl: config.publicUrl,
    /** Before jobs start. */
    handleJobs(jobs: Jobs, endSessions: MembershipDeps["endSessions"]) {
      jobs.handle(settleGroupRoles, groupRoleHandler({ accounts, tables, clock, trail, endSessions }));
    },
    /** Requests that were refused before their operation saw them. */
    onRefused({ access, method }: Route, caller: Caller, path: string, error: WeirError) {
      if (access === "directory") calls.noteRefused(caller, method, path, error);
    },
    /** In an act: its token, log, users and groups. @returns whether more are left */
    erase(orgId: string, most: number): boolean {
      // First: whoever provisions an org does not hear that it is gone, and goes on calling, with names.
      tokens.erase(orgId);
      return calls.erase(orgId, most) || tables.erase(orgId, most);
    },
    closeTables: () => calls.close(),
  };
}
