/**
 * `GET /v1/requests`: the request feed, newest first. Pages are addressed by `(ts, request_id)`, not by an offset, so a
 * client that reads page by page gets every row once, even if rows are added meanwhile.
 */
import { z } from "zod";
import type { Cursors } from "../../base/operation/cursor.ts";
import { INCOMPLETE_SINCE, incompleteSince } from "../../base/operation/incomplete-since.ts";
import { operation } from "../../base/operation/operation.ts";
import { listOf, pageQuery } from "../../base/operation/page.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";
import { type FeedDeps, type FeedPosition, feedPages } from "./feed-pages.ts";
import { FILTERS } from "./request-filters.ts";
import { listItem, requestSchema } from "./wire.ts";

export interface RequestsDeps extends FeedDeps {
  readonly cursors: Cursors;
  readonly waitForInserts: WaitForInserts;
}

const query = z.object({ ...FILTERS, ...pageQuery(50, 500) });

export function requestsOperations(deps: RequestsDeps) {
  const { cursors, waitForInserts } = deps;
  const feed = feedPages(deps);
  const listRequests = operation({
    summary: "The requests of the org, newest first",
    method: "GET",
    path: "/v1/requests",
    access: "read:usage / viewer",
    group: "Usage",
    query,
    output: listOf(requestSchema).extend({
      next_cursor: z.string().describe("Empty on the last page."),
      ...INCOMPLETE_SINCE,
    }),
    errors: ["query_too_large", "concurrency", "analytics_unavailable"],
    async run({ query: filters }, caller) {
      const { orgId } = caller;
      // Bound to the org: another org's cursor is refused.
      const list = `requests:${orgId}`;
      const after = cursors.read(list, filters.cursor);
      const missingSinceMs = await waitForInserts();
      const rows = await feed(caller, filters, positionOf(after), filters.limit + 1);
      const page = rows.slice(0, filters.limit);
      const last = rows.length > filters.limit ? page.at(-1) : undefined;
      return {
        object: "list" as const,
        data: page.map(listItem),
        ...incompleteSince(missingSinceMs),
        next_cursor:
          last === undefined ? "" : cursors.write(list, [last.ts as number, last.request_id as string]),
      };
    },
  });

  return { listRequests };
}

function positionOf(cursor: readonly (string | number)[] | undefined): FeedPosition | undefined {
  const [tsMs, requestId] = cursor ?? [];
  return typeof tsMs === "number" && typeof requestId === "string" ? { tsMs, requestId } : undefined;
}
