/**
 * Notices that a cell hears of changes and does not apply them: beats and changes come over different connections, and an entry
 * may be one that cannot be applied.
 */
import type { Clock } from "../../../base/clock.ts";

export interface LagOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Version that the cell has applied. */
  readonly applied: () => number;
  /** Called once for each time that the cell stays behind for longer than `LATE_MS`. */
  readonly onLate: () => void;
}

/** Far longer than entries take to come behind a beat that knows of them. */
const LATE_MS = 2000;

export class Lag {
  readonly #options: LagOptions;
  /** A version that the cell has heard of, and since when it lacks it. */
  #missing: { readonly version: number; readonly sinceMs: number } | undefined;
  #isLate = false;

  constructor(options: LagOptions) {
    this.#options = options;
  }

  /** A beat says that this version is committed. */
  heard(version: number): void {
    const { clock, applied, onLate } = this.#options;
    const nowMs = clock.monotonic();
    // After a failover a version that was heard of may never come: then the dataset's own is smaller.
    if (this.#missing !== undefined && Math.min(this.#missing.version, version) <= applied()) {
      this.#missing = undefined;
      this.#isLate = false;
    }
    if (version <= applied()) return;
    this.#missing ??= { version, sinceMs: nowMs };
    if (this.#isLate || nowMs - this.#missing.sinceMs <= LATE_MS) return;
    this.#isLate = true;
    onLate();
  }
}
