/**
 * `GET /v1/requests/tail`: calls as they are settled, as server-sent events. A client that connects again with the id of the
 * last call it saw gets what it missed first, from ClickHouse, then what is settled: each call once, in the order of settling.
 */
import pLimit, { type LimitFunction } from "p-limit";
import { z } from "zod";
import type { Clock, Timers } from "../clock.ts";
import { fail } from "../errors.ts";
import { type EventSink, streamOperation } from "../event-stream.ts";
import { REQUEST_ID } from "../ids.ts";
import type { Caller } from "../operation.ts";
import { maySeeRecord } from "./record-access.ts";
import { FILTERS, type RequestFilters, testOf } from "./request-filters.ts";
import { TailFeed, type TailRow } from "./tail-feed.ts";
import { positionOf, rowsAfter, type TailHistoryDeps, type TailPosition } from "./tail-history.ts";
import { TailListener } from "./tail-listener.ts";
import { requestSchema } from "./wire.ts";

export interface TailDeps extends TailHistoryDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Resolves true once the records made so far are in ClickHouse; false if that takes longer. */
  readonly flush: (withinMs: number) => Promise<boolean>;
}

/** Streams of one org; the edge bounds connections as such. */
const MOST_OF_ORG = 1000;
const FLUSH_MS = 10_000;
/** Reads of what clients missed, at once: all of them come back together after a restart. */
const MOST_READS = 4;

const query = z.object({
  ...FILTERS,
  after: z
    .string()
    .regex(REQUEST_ID, "a request id: 26 characters of Crockford's base 32")
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
  const { outbox, clock, timers } = deps;
  const feed = new TailFeed(outbox, timers);
  const limit = pLimit(MOST_READS);
  const tailRequests = streamOperation({
    name: "tailRequests",
    summary: "The requests of the org as they end",
    description:
      "Event `request`: its `id` is the request's, its `data` the record as in the list. Event `gap`: `data` is " +
      "`{missed, first, last}`, how many calls the client was too slow for, and the ids of the first and the last of them; " +
      "`missed` is null where the call to begin after is not known. Event `error`: the stream ends.",
    query,
    event: requestSchema,
    errors: ["analytics_unavailable", "concurrency"],
    async open({ query: { after, interval_ms: intervalMs, ...filters } }, caller, head, events) {
      const { orgId } = caller;
      if (feed.watchersOf(orgId) >= MOST_OF_ORG)
        throw fail(
          "concurrency",
          `At most ${MOST_OF_ORG} streams of requests may be open in an organisation.`,
        );
      const isMatch = testOf(filters);
      const accepts = (row: TailRow) => maySeeRecord(caller, row) && isMatch(row.item);
      const listener = new TailListener({ events, accepts, intervalMs, clock, timers });
      const watch = () => listener.onOver(feed.watch(orgId, listener));
      const seen = head.header("last-event-id") || after;
      if (seen === undefined) {
        watch();
        listener.begin();
      } else await new Resumption(deps, limit, { caller, filters, events, listener, watch }).run(seen);
    },
  });
  return { tailRequests };
}

interface Resumed {
  readonly caller: Caller;
  readonly filters: RequestFilters;
  readonly events: EventSink;
  readonly listener: TailListener;
  readonly watch: () => void;
}

/** Sends what was settled since a call, then lets the listener begin where that ends. */
class Resumption {
  readonly #deps: TailDeps;
  readonly #limit: LimitFunction;
  readonly #resumed: Resumed;

  constructor(deps: TailDeps, limit: LimitFunction, resumed: Resumed) {
    this.#deps = deps;
    this.#limit = limit;
    this.#resumed = resumed;
  }

  async run(seen: string): Promise<void> {
    const { caller, events, listener, watch } = this.#resumed;
    const start = REQUEST_ID.test(seen)
      ? await this.#limit(() => positionOf(this.#deps, caller, seen))
      : undefined;
    if (start === undefined) {
      watch();
      events.send({ missed: null, first: "", last: "" }, { event: "gap" });
      return listener.begin();
    }
    // Most of it before calls begin to wait for the listener: it may be a day's.
    const near = await this.#sendAfter(start);
    if (listener.isOver) return;
    watch();
    if (!(await this.#deps.flush(FLUSH_MS)))
      throw fail("analytics_unavailable", "What was missed cannot be read now; connect again.", {
        retryAfterMs: FLUSH_MS,
      });
    listener.begin(await this.#sendAfter(near));
  }

  /** @returns where it ended */
  async #sendAfter(start: TailPosition): Promise<TailPosition> {
    const { caller, filters, events, listener } = this.#resumed;
    let position = start;
    while (!listener.isOver) {
      const { rows, isLast } = await this.#limit(() => rowsAfter(this.#deps, caller, filters, position));
      const last = rows.at(-1);
      if (last !== undefined) {
        position = { settledAtUs: last.settledAtUs, requestId: last.item.request_id };
        events.sendText(rows.map(({ text }) => text).join(""));
        await new Promise<void>((ready) => listener.onReady(ready));
      }
      if (isLast) break;
    }
    return position;
  }
}
