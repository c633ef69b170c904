/**
 * Signs of life: the cell tells how far it followed the stream, and learns how far the others did. A cell that heard nothing for
 * `cells.stale_ms` must admit nothing, because keys may have been revoked since.
 */
import type { Clock } from "../../../base/clock.ts";
import type { SharedClock } from "../clock/shared-clock.ts";
import type { Lane } from "../exchange/exchange.ts";
import { within } from "../within.ts";

export interface Beat {
  /** Version of the documents. */
  readonly version: number;
  /** The least version that a cell with a sign of life has applied. */
  readonly least: number;
  /** Cells that have not said yet what they know in this term. */
  readonly restating: number;
  /** In which cells write now: it never falls. */
  readonly format: number;
  /** Cells with a sign of life, this one included. */
  readonly alive: number;
}

export interface BeatsOptions {
  readonly lane: Lane;
  readonly clock: Clock;
  /** `cells.stale_ms` */
  readonly staleMs: number;
  /** Hears Redis's time. */
  readonly time: SharedClock;
  /** Called before a beat counts that is the first one after `staleMs`: changes may be behind it on their way. */
  readonly onStale: () => void;
  /** Called with the version of each beat. */
  readonly onVersion: (version: number) => void;
  /** What the cell has applied. */
  readonly applied: () => number;
  /** Until when the cell's records are in ClickHouse, milliseconds since 1970; 0: not known. */
  readonly insertedMs: () => number;
}

/** A cell that said nothing for so long is taken to be away, by other cells and by the script of beats (`30-registry.lua`). */
export const SILENT_MS = 2000;
const EVERY_MS = 250;
/** Between two beats while somebody waits for other cells. */
const WAITING_MS = 5;

export class Beats {
  readonly #options: BeatsOptions;
  #latest: Beat = { version: 0, least: 0, restating: 0, format: 0, alive: 1 };
  /** When the latest one was sent. */
  #heardMs = Number.NEGATIVE_INFINITY;
  #stopping = false;
  #wake: (() => void) | undefined;
  #isAsked = false;
  #running: Promise<void> | undefined;
  #listeners: (() => void)[] = [];

  constructor(options: BeatsOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The next beat goes out now: other cells wait to hear that this one has applied something. */
  soon(): void {
    this.#isAsked = true;
    this.#wake?.();
  }

  isFresh(): boolean {
    return this.ageMs() < this.#options.staleMs;
  }

  /** Since the latest beat that was answered was sent. */
  ageMs(): number {
    return this.#options.clock.monotonic() - this.#heardMs;
  }

  get latest(): Beat {
    return this.#latest;
  }

  /** Resolves once Redis has answered the next beat. */
  heard(): Promise<void> {
    return new Promise((resolve) => void this.#listeners.push(resolve));
  }

  /** One beat, sent after this call. @throws Error once this process may not go on */
  async now(): Promise<Beat> {
    const { lane, clock, time, applied, insertedMs } = this.#options;
    const sentMs = clock.monotonic();
    const beat = ["beat", applied(), insertedMs()] as const;
    const [answer = []] = (await lane.send([beat])) as number[][];
    const [redisMs, version = 0, least = 0, restating = 0, format = 0, alive = 1, shiftMs = 0, changes = 0] =
      answer;
    this.#latest = { version, least, restating, format, alive };
    if (this.#heardMs > Number.NEGATIVE_INFINITY && !this.isFresh()) this.#options.onStale();
    this.#heardMs = sentMs;
    if (redisMs !== undefined) time.read({ redisMs, shiftMs, changes }, sentMs);
    this.#options.onVersion(version);
    for (const listener of this.#listeners.splice(0)) listener();
    return this.#latest;
  }

  /** Resolves once every cell with a sign of life has applied the version, or after this time. */
  async everyoneHas(version: number, withinMs: number): Promise<void> {
    const { clock } = this.#options;
    const end = clock.monotonic() + withinMs;
    while (this.#latest.least < version) {
      if (clock.monotonic() >= end || this.#stopping) return;
      const heard = this.heard();
      this.soon();
      await within(end - clock.monotonic(), heard);
      if (this.#latest.least < version)
        await new Promise((resolve) => setTimeout(resolve, WAITING_MS).unref());
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      this.#isAsked = false;
      try {
        await this.now();
      } catch {
        // The session has told whoever must know.
        return;
      }
      if (!this.#isAsked && !this.#stopping) await this.#rest();
    }
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, EVERY_MS);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
