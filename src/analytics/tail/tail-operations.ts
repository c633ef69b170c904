/**
 * `GET /v1/requests/tail`: calls as they are settled, as server-sent events. A client that connects again with the id of the
 * last call it saw gets what it missed first, from ClickHouse, then what is settled: each call once, in the order of settling.
 */
import pLimit, { type LimitFunction } from "p-limit";
import { z } from "zod";
import type { Clock, Timers } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { NO_REQUEST_ID, REQUEST_ID } from "../../base/ids.ts";
import { type EventSink, streamOperation } from "../../base/operation/event-stream.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { maySeeRecord } from "../requests/record-access.ts";
import { FILTERS, type RequestFilters, testOf } from "../requests/request-filters.ts";
import { requestSchema } from "../requests/wire.ts";
import { CatchUp } from "./catch-up.ts";
import { StreamCounts } from "./stream-counts.ts";
import type { TailFeed, TailRow } from "./tail-feed.ts";
import { positionOf, type TailHistoryDeps } from "./tail-history.ts";
import { TailListener } from "./tail-listener.ts";

export interface TailDeps extends TailHistoryDeps {
  readonly feed: TailFeed;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Resolves true once the records made so far are in ClickHouse; false if that takes longer. */
  readonly flush: (withinMs: number) => Promise<boolean>;
}

/** Streams of one org; the edge bounds connections as such. */
const MOST_OF_ORG = 1000;
const FLUSH_MS = 10_000;
/** Calls of other cells arrive later than those of this one: all wait so long, and are sent in the order of settling. */
export const SETTLE_MS = 300;
/** Reads of what clients missed, at once: all of them come back together after a restart. */
const MOST_READS = 4;

const query = z.object({
  ...FILTERS,
  after: z
    .string()
    .regex(REQUEST_ID, NO_REQUEST_ID)
    .optional()
    .describe(
      "Begin with what was settled after this call. The header `Last-Event-ID` says the same and goes before.",
    ),
  interval_ms: z.coerce
    .number()
    .int()
    .min(500)
    .max(30_000)
    .default(2000)
    .describe("Events are sent together, at most once in this time unless very many wait."),
});

export function tailOperations(deps: TailDeps) {
  const { feed, clock, timers, others } = deps;
  const streams = new StreamCounts(MOST_OF_ORG);
  const limit = pLimit(MOST_READS);
  const tailRequests = streamOperation({
    summary: "The requests of the org as they end",
    path: "/v1/requests/tail",
    access: "read:usage / viewer",
    group: "Usage",
    description:
      "Event `request`: its `id` is the request's, its `data` the record as in the list. Event `gap`: `data` is " +
      "`{missed, first, last}`, how many calls the client was too slow for, and the ids of the first and the last of them; " +
      "`missed` is null where the call to begin after is not known. Event `error`: the stream ends.",
    query,
    event: requestSchema,
    errors: ["analytics_unavailable", "concurrency"],
    async open({ query: { after, interval_ms: intervalMs, ...filters } }, caller, head, events) {
      const { orgId } = caller;
      const release = streams.take(orgId);
      if (release === undefined)
        throw fail(
          "concurrency",
          `At most ${MOST_OF_ORG} streams of requests may be open in an organisation.`,
        );
      const isMatch = testOf(filters);
      const accepts = (row: TailRow) => maySeeRecord(caller, row) && isMatch(row.item);
      const settleMs = others === undefined ? 0 : SETTLE_MS;
      const listener = new TailListener({ events, accepts, intervalMs, settleMs, clock, timers });
      const { rows, client } = listener;
      client.onOver(release);
      const watch = () => {
        client.onOver(feed.watch(orgId, rows));
        return feed.reachOthers(orgId);
      };
      const seen = head.header("last-event-id") || after;
      if (seen === undefined) {
        await watch();
        rows.begin();
      } else await resume({ deps, limit, caller, filters, events, listener, watch }, seen);
    },
  });
  return { tailRequests };
}

interface Resumed {
  readonly deps: TailDeps;
  /** For reads: so many at once. */
  readonly limit: LimitFunction;
  readonly caller: Caller;
  readonly filters: RequestFilters;
  readonly events: EventSink;
  readonly listener: TailListener;
  readonly watch: () => Promise<void>;
}

/** Sends what was settled since a call, then lets the listener begin where that ends. */
async function resume(resumed: Resumed, seen: string): Promise<void> {
  const { deps, limit, caller, filters, events, listener, watch } = resumed;
  const { rows, client } = listener;
  const start = REQUEST_ID.test(seen) ? await limit(() => positionOf(deps, caller, seen)) : undefined;
  if (start === undefined) {
    await watch();
    events.send({ missed: null, first: "", last: "" }, { event: "gap" });
    return rows.begin();
  }
  rows.startAfter(start);
  const textOf = (settled: readonly TailRow[]) => settled.map(({ text }) => text).join("");
  const past = new CatchUp({ history: deps, limit, caller, filters, client, textOf }, start);
  // Most of it before calls begin to wait for the listener: it may be a day's.
  await past.send();
  if (client.isOver) return;
  await watch();
  if (!(await deps.flush(FLUSH_MS)))
    throw fail("analytics_unavailable", "What was missed cannot be read now; connect again.", {
      retryAfterMs: FLUSH_MS,
    });
  await past.send();
  rows.begin(past.sent);
}
