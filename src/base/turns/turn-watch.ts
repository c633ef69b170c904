/**
 * Finds what stops the thread: turns of its event loop of a millisecond or more, and collections of the heap.
 *
 * Node does not tell of the end of a turn. An immediate that holds no reference does not wake the loop, and runs at the end of its next turn;
 * what the loop was busy until then is the time that passed less libuv's own count of its idle time. One immediate for each turn would
 * cost a streamed event a twentieth. So the end of a turn is asked for where the last one was long, and else by the first reading of
 * the clock, which each call makes, a millisecond after the last end. What short turns take until then is no turn.
 */
import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { type Clock, monotonicOf, systemClock } from "../clock.ts";
import { Durations } from "./durations.ts";
import { type LongWork, onLongWork, takeLongest } from "./long-work.ts";

/** The event loop, in milliseconds from one origin. */
export interface Loop {
  now(): number;
  /** How long it has waited so far. */
  idleMs(): number;
  /** Calls once, at the end of the turn under way or of the next one. Does not wake the loop. */
  atEnd(act: () => void): void;
}

export interface Collection {
  readonly kind: string;
  readonly startMs: number;
  readonly ms: number;
}

/** Shorter turns are not counted; behind one that is counted the next is watched from its beginning. */
export const LEAST_MS = 1;
/** Short turns behind an end may take so long until one reads the clock that asks for the next end: the last of them begins within the millisecond. */
const SHORT_MS = 2 * LEAST_MS;

interface Turn {
  readonly startMs: number;
  readonly ms: number;
  readonly longest: { readonly what: LongWork; readonly ms: number };
  collectedMs: number;
}

export class TurnWatch {
  /** By what took at least half of a turn. */
  readonly turns = new Durations<LongWork>();
  /** By kind. */
  readonly collections = new Durations<string>();
  readonly #loop: Loop;
  /** A reading of the clock from here on asks for the end of its turn. */
  #dueMs = 0;
  /** Busy time of the loop at the last end that was seen. */
  #busyMs: number;
  /** The same when the end was asked for. */
  #askedMs = 0;
  #isFromBeginning = false;
  /** Collections are told of after the end of their turn. */
  #last: Turn | undefined;
  readonly #end = () => this.#ended();

  constructor(loop: Loop) {
    this.#loop = loop;
    this.#busyMs = loop.now() - loop.idleMs();
  }

  /** The clock, whose readings tell that a turn is under way. */
  watched(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => {
        const ms = clock.monotonic();
        if (ms >= this.#dueMs) this.#ask(0);
        return ms;
      },
    };
  }

  /** Work of the turn under way has taken so long. */
  worked(ms: number): void {
    if (this.#dueMs !== Number.POSITIVE_INFINITY) this.#ask(ms);
  }

  collected({ kind, startMs, ms }: Collection): void {
    this.collections.add(kind, ms);
    const turn = this.#last;
    if (turn !== undefined && startMs >= turn.startMs && startMs < turn.startMs + turn.ms)
      turn.collectedMs += ms;
  }

  /** Counts the last turn, too. */
  settle(): void {
    const turn = this.#last;
    if (turn === undefined) return;
    this.#last = undefined;
    const { longest, ms, collectedMs } = turn;
    const named = collectedMs > longest.ms ? { what: "collection" as const, ms: collectedMs } : longest;
    this.turns.add(named.ms >= ms / 2 ? named.what : "other", ms);
  }

  /** @param sinceMs how long the turn is known to be under way */
  #ask(sinceMs: number): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#isFromBeginning = false;
    this.#askedMs = this.#loop.now() - this.#loop.idleMs() - sinceMs;
    this.#loop.atEnd(this.#end);
  }

  #ended(): void {
    this.settle();
    const nowMs = this.#loop.now();
    const busyMs = nowMs - this.#loop.idleMs();
    const beforeMs = this.#isFromBeginning ? 0 : Math.max(0, this.#askedMs - this.#busyMs);
    const ms = busyMs - this.#busyMs - Math.min(beforeMs, SHORT_MS);
    this.#busyMs = busyMs;
    const longest = takeLongest();
    if (ms >= LEAST_MS) this.#last = { startMs: nowMs - ms, ms, longest, collectedMs: 0 };
    // Others that were kept may come at once now.
    this.#isFromBeginning = ms >= LEAST_MS;
    if (this.#isFromBeginning) this.#loop.atEnd(this.#end);
    else this.#dueMs = nowMs + LEAST_MS;
  }
}

const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: "minor",
  [constants.NODE_PERFORMANCE_GC_MAJOR]: "major",
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: "incremental",
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: "weak",
};

const ownLoop: Loop = {
  now: () => systemClock.monotonic(),
  idleMs: () => performance.nodeTiming.idleTime,
  atEnd: (act) => void setImmediate(act).unref(),
};

let watch: TurnWatch | undefined;

/** The watch of this thread's event loop; it begins with the first question, and never ends. */
export function turnWatch(): TurnWatch {
  if (watch !== undefined) return watch;
  const made = new TurnWatch(ownLoop);
  watch = made;
  onLongWork((ms) => made.worked(ms));
  new PerformanceObserver((list) => {
    for (const { startTime, duration, detail } of list.getEntries() as GcEntry[]) {
      made.collected({ kind: KINDS[detail.kind] ?? "other", startMs: monotonicOf(startTime), ms: duration });
    }
  }).observe({ entryTypes: ["gc"] });
  return made;
}

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };
