/**
 * `GET /v1/requests`: the request feed, newest first. Pages are addressed by `(ts, request_id)`, not by an offset, so a
 * client that reads page by page gets every row once, even if rows are added meanwhile.
 */
import { z } from "zod";
import type { Cursors } from "../cursor.ts";
import { operation } from "../operation.ts";
import { readValues } from "../record/columns.ts";
import type { ClickHouse } from "./client.ts";
import { environmentCondition } from "./record-access.ts";
import { LIST_COLUMNS, listItem, requestSchema } from "./wire.ts";

export interface RequestsDeps {
  readonly clickhouse: ClickHouse;
  readonly cursors: Cursors;
  /** Waits until the records made so far are in ClickHouse. @throws WeirError `analytics_unavailable` */
  readonly waitForInserts: () => Promise<void>;
}

export const instant = z.iso.datetime({ offset: true });
export const flag = z
  .enum(["true", "false", "1", "0"])
  .transform((value) => value === "true" || value === "1");

const query = z.object({
  since: instant.optional().describe("From this instant on."),
  until: instant.optional().describe("Before this instant."),
  project_id: z.string().optional(),
  key_id: z.string().optional(),
  model: z.string().optional(),
  provider: z.string().optional(),
  status: z.enum(["ok", "error", "cancelled", "rejected"]).optional(),
  errors_only: flag.optional().describe("Only `error` and `rejected`."),
  fallbacks_only: flag.optional().describe("Only calls that took more than one attempt."),
  min_cost_micro: z.coerce.number().int().optional(),
  max_cost_micro: z.coerce.number().int().optional(),
  q: z.string().max(26).optional().describe("Prefix of the request id."),
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().optional(),
});

type Filters = z.output<typeof query>;

/** The condition of each filter. Values are bound as parameters, never written into the statement. */
const CONDITIONS: {
  readonly [K in keyof Filters]?: (value: NonNullable<Filters[K]>) => readonly [string, unknown?];
} = {
  since: (value) => ["ts >= fromUnixTimestamp64Milli({since:Int64})", Date.parse(value)],
  until: (value) => ["ts < fromUnixTimestamp64Milli({until:Int64})", Date.parse(value)],
  project_id: (value) => ["project_id = {project_id:String}", value],
  key_id: (value) => ["key_id = {key_id:String}", value],
  model: (value) => ["model = {model:String}", value],
  provider: (value) => ["provider = {provider:String}", value],
  status: (value) => ["status = {status:String}", value],
  errors_only: (value) => [value ? "status IN ('error', 'rejected')" : "true"],
  fallbacks_only: (value) => [value ? "attempts > 1" : "true"],
  min_cost_micro: (value) => ["cost_micro >= {min_cost_micro:Int64}", value],
  max_cost_micro: (value) => ["cost_micro <= {max_cost_micro:Int64}", value],
  q: (value) => ["startsWith(request_id, {q:String})", value.toUpperCase()],
};

export function requestsOperations({ clickhouse, cursors, waitForInserts }: RequestsDeps) {
  const listRequests = operation({
    name: "listRequests",
    summary: "The requests of the org, newest first",
    query,
    output: z.object({
      object: z.literal("list"),
      data: z.array(requestSchema),
      next_cursor: z.string().describe("Empty on the last page."),
    }),
    errors: ["analytics_unavailable"],
    async run({ query: filters }, caller) {
      const { orgId } = caller;
      // Bound to the org: another org's cursor is refused.
      const list = `requests:${orgId}`;
      const after = cursors.read(list, filters.cursor);
      await waitForInserts();
      const { where, params } = conditions(filters, after);
      const pieces = await clickhouse.bytes(
        `SELECT ${LIST_COLUMNS.join(", ")} FROM requests WHERE org_id = {org:String}${environmentCondition(caller)}${where}
         ORDER BY org_id DESC, ts DESC, request_id DESC LIMIT {limit:UInt32}`,
        { ...params, org: orgId, limit: filters.limit + 1 },
      );
      const rows = readValues(Buffer.concat(pieces), LIST_COLUMNS);
      const page = rows.slice(0, filters.limit);
      const last = rows.length > filters.limit ? page.at(-1) : undefined;
      return {
        object: "list" as const,
        data: page.map(listItem),
        next_cursor:
          last === undefined ? "" : cursors.write(list, [last.ts as number, last.request_id as string]),
      };
    },
  });

  return { listRequests };
}

function conditions(filters: Filters, after: readonly (string | number)[] | undefined) {
  const parts: string[] = [];
  const params: Record<string, unknown> = {};
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    const value = filters[name as keyof Filters];
    if (value === undefined) continue;
    const [sql, bound] = (condition as (value: unknown) => readonly [string, unknown?])(value);
    parts.push(sql);
    if (bound !== undefined) params[name] = bound;
  }
  const [ms, id] = after ?? [];
  if (typeof ms === "number" && typeof id === "string") {
    // The first condition lets the primary key skip rows already read; the second decides within a millisecond.
    parts.push("ts <= fromUnixTimestamp64Milli({after_ms:Int64})");
    parts.push("(ts < fromUnixTimestamp64Milli({after_ms:Int64}) OR request_id < {after_id:String})");
    params.after_ms = ms;
    params.after_id = id;
  }
  return { where: parts.map((part) => ` AND ${part}`).join(""), params };
}
