/**
 * When the cell's rows may be read. A change is answered once every live cell has it, or after `EVERYWHERE_MS`: a cell whose latest
 * beat is younger than that has heard the version of every change that was answered. One that lacks it, or may have missed a beat
 * that says so, waits before it reads.
 */
import type { Clock } from "../../../base/clock.ts";
import { type Beats, SILENT_MS } from "../membership/beats.ts";
import { within } from "../within.ts";
import { EVERYWHERE_MS } from "./committer.ts";
import type { Follower } from "./follower.ts";
import type { SharedStoreDeps } from "./shared-store.ts";

export interface ReadsDeps extends Pick<SharedStoreDeps, "isCurrent" | "currentSoon"> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly beats: Pick<Beats, "latest" | "ageMs" | "heard">;
  readonly follower: Pick<Follower, "version" | "reached">;
  /** Catches up with what is committed now. */
  readonly caughtUp: () => Promise<void>;
}

/** Who reads waits so long at most. */
const MOST_MS = 1000;
/** Between the beginnings of two looks. */
const LOOK_EVERY_MS = 250;

export class Reads {
  readonly #deps: ReadsDeps;
  /** A wait for a version, which all share who wait for it. */
  #reaching: { readonly version: number; readonly reached: Promise<void> } | undefined;
  /** The look that begins next. */
  #next: Promise<void> | undefined;
  /** Ends with the look that began last. */
  #last: Promise<void> = Promise.resolve();
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(deps: ReadsDeps) {
    this.#deps = deps;
  }

  /**
   * Undefined: the cell has every change that was answered, or is away from Redis and still in touch, so that nobody waits for it.
   * Otherwise resolves true once that is so, and false if it takes longer than a second.
   */
  current(): Promise<boolean> | undefined {
    const { isCurrent, beats, follower } = this.#deps;
    const isNow = isCurrent() && !this.#isLate() && follower.version >= beats.latest.version;
    return isNow ? undefined : this.#currentSoon();
  }

  /**
   * Resolves true once the cell has all that was committed before the call, false if that takes longer than a second. All who ask
   * share looks at Redis: one at a time, four a second.
   */
  async look(): Promise<boolean> {
    // The process may not go on, and is told so elsewhere.
    return await within(MOST_MS, this.#nextLook()).catch(() => false);
  }

  async #currentSoon(): Promise<boolean> {
    const { clock, beats, follower, isCurrent, currentSoon } = this.#deps;
    const endMs = clock.monotonic() + MOST_MS;
    if (!(await currentSoon())) return false;
    while (this.#isLate() && clock.monotonic() < endMs)
      await within(Math.min(endMs - clock.monotonic(), SILENT_MS - beats.ageMs()), beats.heard());
    // Later ones are not waited for: where changes follow each other, that would not end.
    const { version } = beats.latest;
    const leftMs = endMs - clock.monotonic();
    if (follower.version < version) await within(leftMs, this.#reached(version)).catch(() => false);
    return isCurrent() && follower.version >= version;
  }

  /** The cell should have heard from Redis again: there may be changes that were answered without it. */
  #isLate(): boolean {
    const ageMs = this.#deps.beats.ageMs();
    // A cell that is away from Redis cannot know more: it reads what it has.
    return ageMs >= EVERYWHERE_MS && ageMs < SILENT_MS;
  }

  #reached(version: number): Promise<void> {
    if (this.#reaching?.version !== version)
      this.#reaching = { version, reached: this.#deps.follower.reached(version) };
    return this.#reaching.reached;
  }

  #nextLook(): Promise<void> {
    this.#next ??= this.#last.then(() => this.#rested()).then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<void> {
    const { clock, caughtUp } = this.#deps;
    // Who asks from now on may ask for what this look misses.
    this.#next = undefined;
    this.#lookedMs = clock.monotonic();
    const look = caughtUp();
    this.#last = look.catch(() => {});
    return look;
  }

  async #rested(): Promise<void> {
    const restMs = this.#lookedMs + LOOK_EVERY_MS - this.#deps.clock.monotonic();
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs).unref());
  }
}
