/**
 * `GET /v1/requests`: the request feed, newest first. Pages are addressed by `(ts, request_id)`, not by an offset, so a
 * client that reads page by page gets every row once, even if rows are added meanwhile.
 */
import { z } from "zod";
import type { Cursors } from "../cursor.ts";
import { operation } from "../operation.ts";
import { readValues } from "../record/columns.ts";
import type { QueryBudget } from "./query-budget.ts";
import { environmentCondition } from "./record-access.ts";
import { FILTERS, type RequestFilters, sqlOf } from "./request-filters.ts";
import { LIST_COLUMNS, listItem, requestSchema } from "./wire.ts";

export interface RequestsDeps {
  readonly budget: QueryBudget;
  readonly cursors: Cursors;
  /** Waits until the records made so far are in ClickHouse. @throws WeirError `analytics_unavailable` */
  readonly waitForInserts: () => Promise<void>;
}

const query = z.object({
  ...FILTERS,
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().optional(),
});

export function requestsOperations({ budget, cursors, waitForInserts }: RequestsDeps) {
  const listRequests = operation({
    name: "listRequests",
    summary: "The requests of the org, newest first",
    query,
    output: z.object({
      object: z.literal("list"),
      data: z.array(requestSchema),
      next_cursor: z.string().describe("Empty on the last page."),
    }),
    errors: ["query_too_large", "concurrency", "analytics_unavailable"],
    async run({ query: filters }, caller) {
      const { orgId } = caller;
      // Bound to the org: another org's cursor is refused.
      const list = `requests:${orgId}`;
      const after = cursors.read(list, filters.cursor);
      await waitForInserts();
      const { where, params } = conditions(filters, after);
      const pieces = await budget.of(orgId).bytes(
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

/** The filters' conditions, and where the page begins. */
function conditions(filters: RequestFilters, after: readonly (string | number)[] | undefined) {
  const { conditions: parts, params } = sqlOf(filters);
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
