/**
 * History of the wall clock. Between jumps it runs in spans; a jump is a change of the difference between wall and
 * monotonic time. A time of an earlier span can be converted to the current span, so a clock that was wrong for a while
 * leaves no wrong times once it is corrected. Spans survive a restart of the process.
 *
 * - A clock that returns to an earlier offset was wrong in between: times of that span are shifted by the difference.
 * - A clock set back to an offset it never had: times later than now in fact lie in the past, so they count as now.
 * - A clock set ahead is trusted: a machine that slept looks the same. But if it is set soon after boot, it was wrong
 *   since boot, as on a machine without a battery.
 */
import type { Clock } from "../../base/clock.ts";
import type { Store, Table } from "../../store/store.ts";

interface Span {
  readonly id: number;
  /** Boot id of the machine; within one boot monotonic times of different processes are comparable. */
  readonly boot: string;
  /** Wall time when it began. */
  readonly startedMs: number;
  /** Wall time minus monotonic time at the last reading; follows the slewing of the clock. */
  offsetMs: number;
  /** Monotonic time of that reading. */
  seenMs: number;
}

/** Shift of the times of a wrong span into another one. */
type ClockShift = readonly [from: number, to: number, byMs: number];

interface SpanRow {
  readonly nextId: number;
  readonly spans: readonly Span[];
  readonly moves: readonly ClockShift[];
}

export interface WallClockDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Id of the boot that `clock.monotonic` counts from; undefined where the system has none. */
  readonly boot?: string | undefined;
}

/** Span id for `toCurrentTime`: before the first span. */
export const BEFORE_ALL_SPANS = 0;

const ROW = "spans";
/** A larger change is a jump, unless slewing since the last reading explains it (1 s in 5,000 s). */
const JUMP_MS = 2_000;
const SLEW = 5_000;
const SET_AFTER_BOOT_MS = 15 * 60_000;
/** Older spans and shifts are dropped: their times are no longer shifted. */
const MOST_SPANS = 16;
const MOST_MOVES = 128;

export class WallClock {
  /** Changes whenever results of `toCurrentTime` may change. */
  version = 0;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #rows: Table<SpanRow>;
  readonly #boot: string;
  readonly #isBootKnown: boolean;
  #nextId: number;
  /** In order of their start; the last one is current. Spans that proved wrong are removed. */
  #spans: Span[];
  #moves: Map<number, ClockShift>;
  #running: Span;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor({ store, clock, boot }: WallClockDeps) {
    this.#clock = clock;
    this.#store = store;
    this.#rows = store.table("wall_clock");
    const row = this.#rows.get(ROW);
    this.#nextId = row?.nextId ?? 1;
    // Without a boot id this process counts as a boot of its own.
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

  /** Id of the current span: stored with a time, it lets `toCurrentTime` convert that time later. Call `now` first. */
  get span(): number {
    return this.#running.id;
  }

  /** Wall time in milliseconds. Detects a jump since the last call. */
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

  /** Reports a recorded time `atMs` of the current span that is later than now: the clock was set back unnoticed. */
  setBack(): void {
    this.#begin(this.#clock.now(), this.#clock.monotonic());
  }

  /** Converts a time of an earlier span to the current clock. */
  toCurrentTime(span: number, atMs: number): number {
    if (span === this.#running.id) return atMs;
    let id = span;
    let placedMs = atMs;
    for (let move = this.#moves.get(id); move !== undefined; move = this.#moves.get(id)) {
      id = move[1];
      placedMs += move[2];
    }
    // A dropped span is older than all known ones.
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

  /** The earlier span with the same offset; undefined if none had it. */
  #spanAt(offsetMs: number, monotonicMs: number): Span | undefined {
    // Monotonic time went backwards: offsets cannot be compared.
    if (monotonicMs < this.#running.seenMs) return undefined;
    const distance = (span: Span) => Math.abs(offsetMs - span.offsetMs);
    return this.#spans
      .filter((span) => span !== this.#running && span.boot === this.#boot)
      .filter((span) => distance(span) <= slewOf(span, monotonicMs))
      .sort((a, b) => distance(a) - distance(b))[0];
  }

  /** Returns to `earlier`: all spans since were wrong. */
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

  /** The current span was wrong since its start, at boot. */
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
    // Queued before the writes that refer to the span; a failed append is retried.
    void this.#store.act(() => this.#rows.put(ROW, row), { isOwed: true });
  }
}

/** How far slewing may have moved the clock since the last reading. */
const slewOf = ({ seenMs }: Span, monotonicMs: number): number =>
  JUMP_MS + Math.max(0, monotonicMs - seenMs) / SLEW;
