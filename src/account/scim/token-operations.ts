/** What people do about their org's directory: make, see and revoke its token, and read what it did. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { AccountTables } from "../tables.ts";
import { LOG_DAYS, type LogRow, type ScimLog } from "./log.ts";
import { ROTATION_HOURS, type ScimTokens, type TokenRow } from "./token.ts";

export interface TokenOperationDeps {
  readonly accounts: AccountTables;
  readonly tokens: ScimTokens;
  readonly log: ScimLog;
  readonly trail: Trail;
  readonly cursors: Cursors;
  /** Port: the org's plan has the feature `sso`. */
  readonly hasSso: (orgId: string) => boolean;
}

const tokenShape = z.object({
  id: z.string().describe("The token's id; `actor` in the log"),
  hint: z.string().describe("The end of the secret, to tell keys apart."),
  status: z.enum(["active", "revoked"]).describe("`revoked`: the org has no directory now"),
  created_at: field.createdAt,
  last_used: z.string().nullable().describe("Day of the last use, UTC; null: never used"),
  previous_works_until: z
    .string()
    .nullable()
    .describe("The token before this one works until then; ISO 8601, UTC; null: there is none"),
});

const newTokenShape = tokenShape.extend({
  token: z.string().describe("The whole token. It is shown this once"),
});

const logShape = z.object({
  id: z.string().describe("The row's id"),
  ts: field.time("When it was"),
  method: z.string().describe("HTTP method"),
  path: z.string().describe("What was asked for, with the filter"),
  status: z.int().describe("HTTP status of the answer"),
  user_name: z.string().describe("`userName` of the user that it was about; empty for none"),
  actor: z.string().describe("Id of the token"),
  error: z.string().describe("Why it failed; empty if it did not"),
});

export const tokenOperations = (deps: TokenOperationDeps) => ({
  getScimToken: operation({
    summary: "See the token of the org's directory, without its secret",
    method: "GET",
    path: "/v1/org/scim/token",
    access: "no key / admin",
    group: "Directory",
    output: tokenShape,
    errors: ["plan_feature", "not_found"],
    run(_input, { orgId }) {
      assertFeature(deps, orgId);
      const row = deps.tokens.of(orgId);
      if (row === undefined) throw fail("not_found", "There is no directory token. Make one first.");
      return tokenWire(deps, row);
    },
  }),
  createScimToken: operation({
    summary: `Make the token of the org's directory; one that is there works for another ${ROTATION_HOURS} hours`,
    method: "POST",
    path: "/v1/org/scim/token",
    access: "no key / admin",
    group: "Directory",
    output: newTokenShape,
    status: 201,
    errors: ["plan_feature", "org_closed"],
    run: (_input, caller) => createToken(deps, caller),
  }),
  revokeScimToken: operation({
    summary: "Revoke the token of the org's directory at once; its members stay, and can be changed by hand",
    method: "DELETE",
    path: "/v1/org/scim/token",
    access: "no key / admin",
    group: "Directory",
    output: z.undefined(),
    status: 204,
    run: (_input, caller) => revokeToken(deps, caller),
  }),
  listScimLog: operation({
    summary: `What the org's directory asked for in the last ${LOG_DAYS} days, newest first`,
    method: "GET",
    path: "/v1/org/scim/log",
    access: "read:org / admin",
    group: "Directory",
    query: z.object(pageQuery(100, 500)),
    output: pageOf(logShape),
    run({ query: { limit, cursor } }, { orgId }) {
      return pageById({
        cursors: deps.cursors,
        asked: { limit, cursor },
        list: `scim-log:${orgId}`,
        rows: (after) => deps.log.of(orgId, after),
        show: logWire,
      });
    },
  }),
});

function assertFeature({ hasSso }: TokenOperationDeps, orgId: string): void {
  if (hasSso(orgId)) return;
  throw fail("plan_feature", "The organisation's plan has no directory provisioning.", {
    details: { feature: "sso" },
  });
}

async function createToken(deps: TokenOperationDeps, caller: Caller) {
  const { accounts, tokens, trail } = deps;
  const { orgId } = caller;
  assertFeature(deps, orgId);
  return await accounts.act(() => {
    const isRotation = tokens.isLive(orgId);
    const { secret, row } = tokens.make(orgId);
    const wire = tokenWire(deps, row);
    const act = isRotation ? "scim_token.rotate" : "scim_token.create";
    trail.audit.note(caller, { act, target: row.id, after: wire });
    return { ...wire, token: secret };
  });
}

/** Revoking twice is no error. */
async function revokeToken({ accounts, tokens, trail }: TokenOperationDeps, caller: Caller) {
  return await accounts.act(() => {
    const row = tokens.of(caller.orgId);
    if (row === undefined || !tokens.revoke(caller.orgId)) return undefined;
    const [before, after] = [{ status: "active" }, { status: "revoked" }];
    trail.audit.note(caller, { act: "scim_token.revoke", target: row.id, before, after });
    return undefined;
  });
}

const tokenWire = ({ tokens }: TokenOperationDeps, row: TokenRow): z.input<typeof tokenShape> => ({
  id: row.id,
  hint: row.hint,
  status: row.isRevoked ? "revoked" : "active",
  created_at: isoTime(row.createdAtMs),
  last_used: tokens.lastUsed(row.orgId) ?? null,
  previous_works_until: row.previous === null ? null : isoTime(row.previous.endsAtMs),
});

const logWire = (row: LogRow): z.input<typeof logShape> => ({
  id: row.id,
  ts: isoTime(row.createdAtMs),
  method: row.method,
  path: row.path,
  status: row.status,
  user_name: row.userName,
  actor: row.actor,
  error: row.error,
});
