/**
 * What is known of an org from its live stream: calls that run, calls that ended, credit, events. Pure: each change makes a new state, and
 * everything in it is bounded.
 */
import type { Operations } from "./operations.ts";

type Told = Operations["watchLive"]["event"];
/** The data of an event of the stream, by its name. */
type Data<N extends Told["event"]> = Extract<Told, { event: N }>["data"];

/** `ttft_ms`: milliseconds; 0 or absent: nothing was sent to the client yet. */
export type RunningCall = Data<"call.started"> & { readonly ttft_ms?: number };
/** A record as in the list of requests. */
export type EndedCall = Data<"call.ended">;
export type LiveCredit = Data<"credit">;
export type OrgEvent = Data<"event">;

export interface LiveState {
  /** By request id, in the order of their beginning. */
  readonly running: ReadonlyMap<string, RunningCall>;
  /** The newest first. */
  readonly ended: readonly EndedCall[];
  /** How many ended since the page began to listen. */
  readonly endedCount: number;
  readonly credit: LiveCredit | undefined;
  /** The newest first. */
  readonly events: readonly OrgEvent[];
  /** How many were left out because this page was too slow, or away. */
  readonly missed: number;
  /** Where a stream goes on after this. */
  readonly position: string;
}

export const NOTHING_YET: LiveState = {
  running: new Map(),
  ended: [],
  endedCount: 0,
  credit: undefined,
  events: [],
  missed: 0,
  position: "",
};

/** An event of `GET /v1/live`, its data read. */
export interface LiveEvent {
  readonly name: string;
  readonly id: string;
  readonly data: unknown;
}

const MOST_RUNNING = 1000;
const MOST_ENDED = 200;
const MOST_EVENTS = 50;

/** The state after some more events. They are taken together: a page draws once for all of them. */
export function after(state: LiveState, events: readonly LiveEvent[]): LiveState {
  if (events.length === 0) return state;
  const running = new Map(state.running);
  const ended: EndedCall[] = [];
  /** A stream that goes on in another tab may tell once more what came last in the tab before. */
  const over = new Set(state.ended.map((call) => call.request_id));
  const told: OrgEvent[] = [];
  let { credit, missed, position } = state;
  for (const { name, id, data } of events) {
    if (id !== "") position = id;
    switch (name) {
      case "hello":
        position = (data as Data<"hello">).position;
        break;
      case "running":
        running.clear();
        for (const call of (data as Data<"running">).calls) running.set(call.request_id, call);
        break;
      case "call.started":
        if (!over.has((data as RunningCall).request_id))
          running.set((data as RunningCall).request_id, data as RunningCall);
        break;
      case "call.first_token": {
        const first = data as Data<"call.first_token">;
        const call = running.get(first.request_id);
        if (call !== undefined) running.set(first.request_id, { ...call, ...first });
        break;
      }
      case "call.ended":
        running.delete((data as EndedCall).request_id);
        if (!over.has((data as EndedCall).request_id)) ended.push(data as EndedCall);
        over.add((data as EndedCall).request_id);
        break;
      case "credit":
        credit = data as LiveCredit;
        break;
      case "event":
        // Another gateway may tell it once more after a stream goes on.
        if (!isKnown(data as OrgEvent, state.events, told)) told.push(data as OrgEvent);
        break;
      case "gap":
        missed += (data as Data<"gap">).missed ?? 0;
        break;
    }
  }
  for (const id of running.keys()) {
    if (running.size <= MOST_RUNNING) break;
    running.delete(id);
  }
  return {
    running,
    ended: newestFirst(ended, state.ended, MOST_ENDED),
    endedCount: state.endedCount + ended.length,
    credit,
    events: newestFirst(told, state.events, MOST_EVENTS),
    missed,
    position,
  };
}

const isKnown = ({ id }: OrgEvent, ...lists: readonly (readonly OrgEvent[])[]): boolean =>
  lists.some((list) => list.some((event) => event.id === id));

const newestFirst = <T>(more: readonly T[], before: readonly T[], most: number): readonly T[] =>
  more.length === 0 ? before : [...more.toReversed(), ...before].slice(0, most);
