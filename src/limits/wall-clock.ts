/**
 * How the wall clock has run. Between its jumps it runs in spans; a jump shows as a change of the difference between wall
 * and monotonic time. What happened in a span can be told in the time of the span that runs now, so a clock that was wrong
 * for a while leaves nothing wrong behind once it is corrected. Spans outlive a restart of the process.
 *
 * - A clock that comes back to where it stood before was wrong in between: what happened then is moved by the difference.
 * - A clock set back to where it never stood: what it called later than now happened before now, so it counts as of then.
 * - A clock set ahead is believed: a machine that slept looks the same. But one set soon after the machine has booted was
 *   wrong from the boot on, as that of a machine without a battery is.
 */
import type { Clock } from "../clock.ts";
import type { Store, Table } from "../store/store.ts";

interface Span {
  readonly id: number;
  /** Boot of the machine, within which monotonic times of different processes compare. */
  readonly boot: string;
  /** Wall time when it began. */
  readonly startedMs: number;
  /** Wall time less monotonic time, when it was looked at last; follows what slews the clock. */
  offsetMs: number;
  /** Monotonic time of that look. */
  seenMs: number;
}

/** What happened in a span that proved wrong, told in the time of another one. */
type Move = readonly [from: number, to: number, byMs: number];

interface SpanRow {
  readonly nextId: number;
  readonly spans: readonly Span[];
  readonly moves: readonly Move[];
}

export interface WallClockDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Names the boot since which `clock.monotonic` counts; undefined where nothing does. */
  readonly boot?: string | undefined;
}

/** For `placed`: the time of what happened before the first span began. */
export const BEFORE_ALL_SPANS = 0;

const ROW = "spans";
/** A jump is more than this, and more than a clock may be slewed since it was looked at last (1 s in 5,000 s). */
const JUMP_MS = 2_000;
const SLEW = 5_000;
const SET_AFTER_BOOT_MS = 15 * 60_000;
/** Spans and moves before these are forgotten: what they told keeps its time. */
const MOST_SPANS = 16;
const MOST_MOVES = 128;

export class WallClock {
  /** Changes with everything that `placed` may answer differently afterwards. */
  version = 0;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #rows: Table<SpanRow>;
  readonly #boot: string;
  readonly #isBootKnown: boolean;
  #nextId: number;
  /** In the order in which they began; the last one runs. Those that proved wrong are not among them. */
  #spans: Span[];
  #moves: Map<number, Move>;
  #running: Span;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor({ store, clock, boot }: WallClockDeps) {
    this.#clock = clock;
    this.#store = store;
    this.#rows = store.table("wall_clock");
    const row = this.#rows.get(ROW);
    this.#nextId = row?.nextId ?? 1;
    // Without a name this process is a boot of its own.
    this.#isBootKnown = boot !== undefined;
    this.#boot = boot ?? `process ${this.#nextId}`;
    this.#spans = (row?.spans ?? []).map((span) => ({ ...span }));
    this.#moves = new Map((row?.moves ?? []).map((move) => [move[0], move]));
    const last = this.#spans.at(-1);
    if (last?.boot === this.#boot) {
      this.#running = last;
      this.now();
    } else {
      this.#running = this.#begin(clock.now(), clock.monotonic());
    }
  }

  /** The span that runs: kept with a time, it lets `placed` tell the time later. Ask for `now` first. */
  get span(): number {
    return this.#running.id;
  }

  /** Wall time in milliseconds. Notices a jump since it was asked last. */
  now(): number {
    const nowMs = this.#clock.now();
    const monotonicMs = this.#clock.monotonic();
    const running = this.#running;
    const offsetMs = nowMs - monotonicMs;
    const isSteady =
      Math.abs(offsetMs - running.offsetMs) <= slewOf(running, monotonicMs) &&
      nowMs >= this.#lastMs - JUMP_MS;
    if (isSteady) {
      running.offsetMs = offsetMs;
      running.seenMs = monotonicMs;
    } else {
      this.#jumped(nowMs, monotonicMs);
    }
    this.#lastMs = nowMs;
    return nowMs;
  }

  /** Something happened at `atMs` by the clock that runs, which is later than now: it was set back unseen. */
  setBack(): void {
    this.#begin(this.#clock.now(), this.#clock.monotonic());
  }

  /** When what happened at `atMs` in a span did happen, by the clock that runs now. */
  placed(span: number, atMs: number): number {
    if (span === this.#running.id) return atMs;
    let id = span;
    let placedMs = atMs;
    for (let move = this.#moves.get(id); move !== undefined; move = this.#moves.get(id)) {
      id = move[1];
      placedMs += move[2];
    }
    // Of a span that is forgotten: before all that are known.
    const from = this.#spans.findIndex((known) => known.id === id) + 1;
    for (let i = from; i < this.#spans.length; i++) {
      placedMs = Math.min(placedMs, this.#spans[i]?.startedMs ?? placedMs);
    }
    return placedMs;
  }

  #jumped(nowMs: number, monotonicMs: number): void {
    const offsetMs = nowMs - monotonicMs;
    const earlier = this.#spanAt(offsetMs, monotonicMs);
    if (earlier !== undefined) this.#return(earlier, offsetMs, monotonicMs);
    else if (this.#isSetAfterBoot(offsetMs, monotonicMs)) this.#setAnew(nowMs, monotonicMs);
    else this.#begin(nowMs, monotonicMs);
  }

  /** The earlier span whose clock this is; undefined where it never stood so. */
  #spanAt(offsetMs: number, monotonicMs: number): Span | undefined {
    // Monotonic time has gone back: nothing can be compared by it.
    if (monotonicMs < this.#running.seenMs) return undefined;
    const distance = (span: Span) => Math.abs(offsetMs - span.offsetMs);
    return this.#spans
      .filter((span) => span !== this.#running && span.boot === this.#boot)
      .filter((span) => distance(span) <= slewOf(span, monotonicMs))
      .sort((a, b) => distance(a) - distance(b))[0];
  }

  /** All spans since `earlier` were wrong. */
  #return(earlier: Span, offsetMs: number, monotonicMs: number): void {
    for (const wrong of this.#spans.splice(this.#spans.indexOf(earlier) + 1)) {
      this.#moves.set(wrong.id, [wrong.id, earlier.id, offsetMs - wrong.offsetMs]);
    }
    earlier.offsetMs = offsetMs;
    earlier.seenMs = monotonicMs;
    this.#running = earlier;
    this.#changed();
  }

  #isSetAfterBoot(offsetMs: number, monotonicMs: number): boolean {
    const before = this.#spans.at(-2);
    return (
      this.#isBootKnown &&
      before !== undefined &&
      before.boot !== this.#boot &&
      offsetMs > this.#running.offsetMs &&
      monotonicMs <= SET_AFTER_BOOT_MS
    );
  }

  /** The running span was wrong from its beginning, at boot. */
  #setAnew(nowMs: number, monotonicMs: number): void {
    const wrong = this.#spans.pop() ?? this.#running;
    const byMs = nowMs - monotonicMs - wrong.offsetMs;
    const right = this.#begin(nowMs, monotonicMs, wrong.startedMs + byMs);
    this.#moves.set(wrong.id, [wrong.id, right.id, byMs]);
    this.#changed();
  }

  #begin(nowMs: number, monotonicMs: number, startedMs = nowMs): Span {
    const span: Span = {
      id: this.#nextId++,
      boot: this.#boot,
      startedMs,
      offsetMs: nowMs - monotonicMs,
      seenMs: monotonicMs,
    };
    this.#spans.push(span);
    this.#running = span;
    this.#changed();
    return span;
  }

  #changed(): void {
    this.version += 1;
    this.#spans.splice(0, this.#spans.length - MOST_SPANS);
    for (const id of this.#moves.keys()) {
      if (this.#moves.size <= MOST_MOVES) break;
      this.#moves.delete(id);
    }
    const row = {
      nextId: this.#nextId,
      spans: this.#spans.map((span) => ({ ...span })),
      moves: [...this.#moves.values()],
    };
    // In the queue before the writes that name the span; an append that fails is tried again.
    void this.#store.act(() => this.#rows.put(ROW, row), { isOwed: true });
  }
}

/** How far the clock of a span may have moved without a jump since it was looked at. */
const slewOf = ({ seenMs }: Span, monotonicMs: number): number =>
  JUMP_MS + Math.max(0, monotonicMs - seenMs) / SLEW;
