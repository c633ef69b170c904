/**
 * `GET /v1/live`: what a page shows of an org as it happens, in one stream: calls that begin, their first token, their end; credit;
 * events. A client that connects again gets the ends and the events that it missed, then what runs now.
 */
import pLimit, { type LimitFunction } from "p-limit";
import { z } from "zod";
import type { Clock, Timers } from "../../base/clock.ts";
import { fail, WeirError } from "../../base/errors.ts";
import type { Access } from "../../base/operation/access.ts";
import { type EventSink, type Needs, streamOperation } from "../../base/operation/event-stream.ts";
import type { Caller } from "../../base/operation/operation.ts";
import { HOUR_MS } from "../../base/time.ts";
import { maySeeRecord } from "../requests/record-access.ts";
import { type RequestFilters, testOf } from "../requests/request-filters.ts";
import { CatchUp } from "../tail/catch-up.ts";
import { StreamCounts } from "../tail/stream-counts.ts";
import type { TailFeed } from "../tail/tail-feed.ts";
import type { TailHistoryDeps } from "../tail/tail-history.ts";
import { SETTLE_MS } from "../tail/tail-operations.ts";
import type { CreditFeed } from "./live-credit.ts";
import type { LiveFeed } from "./live-feed.ts";
import { filtersOfRunning, LIVE_FILTERS, passes, type RunningFilters } from "./live-filters.ts";
import { LiveListener } from "./live-listener.ts";
import { eventMadeAtMs, type LivePosition, POSITION, positionAt, readPosition } from "./live-position.ts";
import type { Snapshots } from "./live-snapshot.ts";
import { KINDS, type Kind, LIVE_EVENTS } from "./live-wire.ts";
import type { OrgEvents } from "./org-events.ts";

export interface LiveDeps extends TailHistoryDeps {
  readonly ends: TailFeed;
  readonly begins: LiveFeed;
  readonly snapshots: Snapshots;
  readonly credit: CreditFeed;
  readonly orgEvents: OrgEvents;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Resolves true once the records made so far are in ClickHouse; false if that takes longer. */
  readonly flush: (withinMs: number) => Promise<boolean>;
}

/** What each part of the stream asks for: the same as the routes that show it. */
const NEEDS: Readonly<Record<Kind, Access>> = {
  calls: "read:usage / viewer",
  credit: "read:billing / everyone",
  events: "read:org / viewer",
};

/** Streams of one org; a browser shares one over its tabs. */
const MOST_OF_ORG = 200;
const FLUSH_MS = 10_000;
/** Reads of what clients missed, at once: all of them come back together after a restart. */
const MOST_READS = 4;
/** A client that was away for longer, or missed more calls, reads lists anew. */
const MOST_PAST_MS = HOUR_MS;
const MOST_PAST_CALLS = 5000;
/** Clocks of cells may differ by so much: a position further ahead is none. */
const AHEAD_MS = 60_000;

const kindsText = z
  .string()
  .max(100)
  .transform((text) => text.split(",").map((word) => word.trim()))
  .pipe(z.array(z.enum(KINDS)));

const query = z.object({
  kinds: kindsText
    .optional()
    .describe(
      "What is sent, separated by commas: `calls`, `credit`, `events`. 403 where the caller may not see one of them. Without it: all that the caller may see.",
    ),
  ...LIVE_FILTERS,
  after: z
    .string()
    .regex(POSITION, "the id of an event of this stream")
    .optional()
    .describe(
      "Begin after this event: the `id` of one, or `position` of `hello`. The header `Last-Event-ID` says the same and goes before.",
    ),
});

export function liveOperations(deps: LiveDeps) {
  const streams = new StreamCounts(MOST_OF_ORG);
  const limit = pLimit(MOST_READS);
  const watchLive = streamOperation({
    summary: "What happens in the org now: calls as they run, credit, events",
    path: "/v1/live",
    access: "key / everyone",
    group: "Usage",
    description:
      "`hello` comes first. `calls` (asks for `read:usage`, or viewer): `running` is what runs now, at the beginning and after a gap, in the place " +
      "of what was shown as running before; then `call.started`, `call.first_token` (streams only) and `call.ended`, whose data is " +
      "the record as in the list of requests. A call that is refused before an endpoint is asked has only its end. With `provider`, " +
      "`status` or `errors_only`, which are known of ended calls, ends come alone. `credit` (`read:billing`, or anybody of the org): sent when it " +
      "changed, four times a second at most. `event` (`read:org`, or viewer): an event as in `GET /v1/events`. `gap`: what the client was too slow " +
      "for, or what cannot be told of the time that it was away. `error`: the stream ends. Events with an `id` move the position to " +
      "resume from: `call.ended` and `event` since then are sent again, at most 5,000 calls of the last hour and 200 events.",
    query,
    event: LIVE_EVENTS,
    errors: ["concurrency"],
    async open({ query: { kinds: asked, after, ...filters } }, caller, head, events, needs) {
      const kinds = kindsOf(asked, needs);
      const { orgId } = caller;
      const release = streams.take(orgId);
      if (release === undefined)
        throw fail(
          "concurrency",
          `At most ${MOST_OF_ORG} streams of what happens may be open in an organisation.`,
        );
      const seen = head.header("last-event-id") || after;
      const start = seen === undefined ? undefined : knownPosition(seen, deps.clock.now());
      const running = kinds.includes("calls") ? filtersOfRunning(filters) : undefined;
      const stream = openStream(deps, { caller, filters, events, start, running });
      const { listener } = stream;
      listener.client.onOver(release);
      listener.greet(kinds);
      if (seen !== undefined && start === undefined) listener.missUnknown();
      if (kinds.includes("credit"))
        listener.client.onOver(deps.credit.watch(orgId, (event) => listener.setCredit(event)));
      if (kinds.includes("events")) watchEvents(deps, stream);
      if (kinds.includes("calls")) await watchCalls(deps, stream, limit);
    },
  });
  return { watchLive };
}

/** Undefined where the text is no position, or one of the future: after it nothing would ever be told as missed. */
function knownPosition(text: string, nowMs: number): LivePosition | undefined {
  const position = readPosition(text);
  if (position === undefined) return undefined;
  const atMs = Math.max(position.call.settledAtUs / 1000, eventMadeAtMs(position));
  return atMs > nowMs + AHEAD_MS ? undefined : position;
}

/** @throws WeirError 403 where one of those asked for is closed to the caller */
function kindsOf(asked: readonly Kind[] | undefined, needs: Needs): readonly Kind[] {
  if (asked !== undefined) {
    for (const kind of asked) needs(NEEDS[kind]);
    return KINDS.filter((kind) => asked.includes(kind));
  }
  return KINDS.filter((kind) => {
    try {
      needs(NEEDS[kind]);
      return true;
    } catch (error) {
      if (error instanceof WeirError && error.status === 403) return false;
      throw error;
    }
  });
}

interface LiveStream {
  readonly caller: Caller;
  readonly filters: RequestFilters;
  /** Undefined: calls that run are not shown. */
  readonly running: RunningFilters | undefined;
  /** Undefined where nothing of the past is to be sent. */
  readonly start: LivePosition | undefined;
  readonly listener: LiveListener;
}

function openStream(
  { clock, timers, others, snapshots }: LiveDeps,
  asked: Omit<LiveStream, "listener"> & { readonly events: EventSink },
): LiveStream {
  const { caller, filters, events, start, running } = asked;
  const { orgId, environment } = caller;
  const isMatch = testOf(filters);
  const listener = new LiveListener({
    events,
    clock,
    timers,
    acceptsRow: (row) => maySeeRecord(caller, row) && isMatch(row.item),
    acceptsCall: (call) => running !== undefined && passes(call, running, environment),
    settleMs: others === undefined ? 0 : SETTLE_MS,
    position: start ?? positionAt(clock.now()),
    snapshot: running && (() => snapshots.of({ orgId, environment, filters: running })),
  });
  return { caller, filters, running, start, listener };
}

/** Everything from here on happens in one turn: no event comes between those of the past and those that are watched. */
function watchEvents({ orgEvents }: LiveDeps, { caller: { orgId }, start, listener }: LiveStream): void {
  listener.client.onOver(orgEvents.watch(orgId, listener.orgEvents));
  if (start === undefined) return;
  const { events, isWhole } = orgEvents.missed(orgId, start);
  if (!isWhole) listener.missUnknown();
  for (const event of events) listener.orgEvents.take(event);
}

async function watchCalls(deps: LiveDeps, stream: LiveStream, limit: LimitFunction): Promise<void> {
  const { begins, ends, clock } = deps;
  const { caller, running, start, listener } = stream;
  const { client, rows } = listener;
  const { orgId } = caller;
  const watchBegins = async () => {
    if (running === undefined) return;
    client.onOver(begins.watch(orgId, listener.marks));
    await begins.reachOthers(orgId);
    await listener.snapshot();
  };
  const watchEnds = () => {
    client.onOver(ends.watch(orgId, listener.ends));
    return ends.reachOthers(orgId);
  };
  const awayMs = start === undefined ? 0 : clock.now() - start.call.settledAtUs / 1000;
  if (start !== undefined && awayMs <= MOST_PAST_MS) {
    await Promise.all([watchBegins(), resume(deps, { ...stream, start }, watchEnds, limit)]);
    return;
  }
  if (start !== undefined) listener.missUnknown();
  await Promise.all([watchEnds(), watchBegins()]);
  rows.begin();
}

/** Sends what ended since a call, then lets the listener begin where that ends. */
async function resume(
  deps: LiveDeps,
  { caller, filters, start, listener }: LiveStream & { readonly start: LivePosition },
  watchEnds: () => Promise<void>,
  limit: LimitFunction,
): Promise<void> {
  const { rows, client } = listener;
  rows.startAfter(start.call);
  const textOf: LiveListener["pastText"] = (past) => listener.pastText(past);
  const catchUp = { history: deps, limit, caller, filters, client, textOf, most: MOST_PAST_CALLS };
  const past = new CatchUp(catchUp, start.call);
  listener.resume(past.sent);
  let isWhole = false;
  let watching: Promise<void> | undefined;
  try {
    isWhole = await past.send();
    if (client.isOver) return;
    watching = watchEnds();
    await watching;
    if (isWhole) isWhole = (await deps.flush(FLUSH_MS)) && (await past.send());
  } catch (error) {
    // A page does without the past rather than without the rest.
    if (!(error instanceof WeirError)) throw error;
    isWhole = false;
  }
  if (client.isOver) return;
  await (watching ?? watchEnds());
  if (!isWhole) listener.missUnknown();
  rows.begin(past.sent);
}
