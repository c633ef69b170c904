/**
 * `/v1/analytics/users`: read-only users of the analytics database, for one org's rows; for operators, of all orgs' rows. The
 * password is in the answer that makes the user, and nowhere else.
 */
import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listOf } from "../../base/operation/page.ts";
import { assertWithin, type Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Store } from "../../store/store.ts";
import { offText } from "../engine/confinement.ts";
import { instant } from "../requests/request-filters.ts";
import type { AnalystAccess } from "./analyst-access.ts";
import { usernameOf } from "./analyst-server.ts";
import type { AnalystRow, Analysts } from "./analysts.ts";

export interface AnalystOperationDeps {
  readonly store: Pick<Store, "act">;
  readonly analysts: Analysts;
  readonly access: AnalystAccess;
  readonly clock: Clock;
  readonly trail: Pick<Trail, "audit">;
  readonly quotas: Quotas;
}

/** The org of users that read the rows of all orgs. */
const OF_ALL = "";
const DAY_SECONDS = 86_400;
const LONGEST_SECONDS = 366 * DAY_SECONDS;

const body = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^[^\p{Cc}]*$/u, "must not contain control characters")
    .describe("What it is for, such as the tool that connects"),
  expires_in: z
    .int()
    .min(60)
    .max(LONGEST_SECONDS)
    .optional()
    .describe("Seconds from now; 30 days unless given"),
  expires_at: instant.optional().describe("Instead of `expires_in`: at most 366 days from now"),
});

const shape = z.object({
  id: field.id,
  object: field.objectOf("analytics_user"),
  name: z.string().describe("What it is for"),
  org_id: z.string().describe("Whose rows it reads; empty: those of all orgs"),
  username: z.string().describe("User name at the database"),
  created_at: field.createdAt,
  expires_at: z.string().describe("From then on the database refuses it"),
});
const url = z
  .string()
  .describe("ClickHouse's HTTP interface, for the embedded engine as seen from the gateway's machine");
const database = z.string().describe("Name of the database");
const madeShape = shape.extend({ password: z.string().describe("Shown once"), url, database });
const byId = z.object({ id: field.pathId });
const list = listOf(shape).extend({
  url: url.optional().describe("Where they connect. Absent while the database does not answer"),
  database,
});

const wire = (row: AnalystRow) => ({
  id: row.id,
  object: "analytics_user" as const,
  name: row.name,
  org_id: row.orgId,
  username: row.username,
  created_at: isoTime(row.createdAtMs),
  expires_at: isoTime(row.expiresAtMs),
});

export function analystOperations(deps: AnalystOperationDeps) {
  const made = { output: madeShape, status: 201, errors: ["plan_limit", "analytics_unavailable"] } as const;
  const gone = { params: byId, output: z.undefined(), status: 204, errors: ["not_found"] } as const;
  return {
    listAnalyticsUsers: operation({
      summary: "The org's users of the analytics database, oldest first; not paged",
      method: "GET",
      path: "/v1/analytics/users",
      access: "no key / admin",
      group: "Usage",
      output: list,
      run: (_input, caller) => listOfUsers(deps, caller.orgId),
    }),
    createAnalyticsUser: operation({
      summary: "Make a read-only user of the analytics database for the org's rows",
      method: "POST",
      path: "/v1/analytics/users",
      access: "no key / admin",
      group: "Usage",
      body,
      ...made,
      run: ({ body: given }, caller) => make(deps, caller, caller.orgId, given),
    }),
    deleteAnalyticsUser: operation({
      summary: "Delete a user of the analytics database; it is refused from then on",
      method: "DELETE",
      path: "/v1/analytics/users/{id}",
      access: "no key / admin",
      group: "Usage",
      ...gone,
      run: ({ params }, caller) => remove(deps, caller, caller.orgId, params.id),
    }),
    operatorListAnalyticsUsers: operation({
      summary: "Users of the analytics database that read the rows of all orgs; not paged",
      method: "GET",
      path: "/v1/operator/analytics/users",
      access: "operator",
      group: "Operator",
      output: list,
      run: () => listOfUsers(deps, OF_ALL),
    }),
    operatorCreateAnalyticsUser: operation({
      summary: "Make a read-only user of the analytics database for the rows of all orgs",
      method: "POST",
      path: "/v1/operator/analytics/users",
      access: "operator",
      group: "Operator",
      body,
      ...made,
      run: ({ body: given }, caller) => make(deps, caller, OF_ALL, given),
    }),
    operatorDeleteAnalyticsUser: operation({
      summary: "Delete a user that reads the rows of all orgs",
      method: "DELETE",
      path: "/v1/operator/analytics/users/{id}",
      access: "operator",
      group: "Operator",
      ...gone,
      run: ({ params }, caller) => remove(deps, caller, OF_ALL, params.id),
    }),
  };
}

/** Those who lost the first answer read here where to connect. */
async function listOfUsers({ analysts, access }: AnalystOperationDeps, orgId: string) {
  const at = await access.url(0).catch(() => undefined);
  return {
    object: "list" as const,
    data: analysts.of(orgId).map(wire),
    ...(at !== undefined && { url: at }),
    database: access.database,
  };
}

function expiry({ expires_in, expires_at }: z.output<typeof body>, nowMs: number): number {
  if (expires_in !== undefined && expires_at !== undefined) {
    throw fail("invalid_value", "Give `expires_in` or `expires_at`.", { param: "/expires_at" });
  }
  if (expires_at === undefined) return nowMs + (expires_in ?? 30 * DAY_SECONDS) * 1000;
  const atMs = Date.parse(expires_at);
  if (atMs <= nowMs || atMs > nowMs + LONGEST_SECONDS * 1000) {
    throw fail("invalid_value", "`expires_at` is in the next 366 days.", { param: "/expires_at" });
  }
  return atMs;
}

async function make(
  { store, analysts, access, clock, trail, quotas }: AnalystOperationDeps,
  caller: Caller,
  orgId: string,
  given: z.output<typeof body>,
) {
  const nowMs = clock.now();
  const id = newId("anu", nowMs);
  const password = randomBytes(32).toString("base64url");
  const row: AnalystRow = {
    id,
    orgId,
    name: given.name,
    createdAtMs: nowMs,
    expiresAtMs: expiry(given, nowMs),
    username: usernameOf(access.database, id),
    digest: createHash("sha256").update(password).digest("hex"),
  };
  const confinement = await access.confinement();
  if (confinement?.kind === "off") {
    throw fail("state", capitalised(offText(confinement.reason)));
  }
  const url = await access.url().catch((error: unknown) => {
    throw unavailable(error);
  });
  await store.act(() => {
    const what = "users of the analytics database in an organisation, expired ones included";
    assertWithin(quotas, "analytics_users", analysts.of(orgId).length, what, "Delete one first.");
    analysts.put(row);
    trail.audit.note(caller, { act: "analytics_user.create", target: id, after: wire(row) });
  });
  try {
    await access.apply();
  } catch (error) {
    // A user that the database does not know would be a promise that is not kept.
    await store.act(() => analysts.remove(row));
    throw unavailable(error);
  }
  return { ...wire(row), password, url, database: access.database };
}

const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const unavailable = (cause: unknown) =>
  fail(
    "analytics_unavailable",
    "The analytics database does not take users now, or lacks the right to make them.",
    {
      cause,
      retryAfterMs: 1000,
    },
  );

async function remove(
  { store, analysts, access, trail }: AnalystOperationDeps,
  caller: Caller,
  orgId: string,
  id: string,
): Promise<undefined> {
  await store.act(() => {
    const row = mustExist(analysts.get(orgId, id), "user of the analytics database");
    analysts.remove(row);
    trail.audit.note(caller, { act: "analytics_user.delete", target: id, before: wire(row) });
  });
  // A server that cannot be reached now is told within a minute of its return.
  await access.apply().catch(() => {});
}
