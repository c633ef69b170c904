/**
 * Notices that the process stood still: after a gap of its event loop, by the greater of monotonic and wall time, what it has may be
 * old, and it serves nobody until it has caught up.
 */
import type { Clock } from "../clock.ts";

export interface WakefulnessOptions {
  readonly clock: Clock;
  /** Resolves once the cell has everything that was committed before the call. */
  readonly catchUp: () => Promise<void>;
}

const GAP_MS = 500;
const TICK_MS = 100;

export class Wakefulness {
  readonly #options: WakefulnessOptions;
  #timer: NodeJS.Timeout | undefined;
  #monotonicMs = 0;
  #wallMs = 0;
  /** Number of the latest gap, and of the one after which the cell has caught up. */
  #gaps = 0;
  #caughtUp = 0;

  constructor(options: WakefulnessOptions) {
    this.#options = options;
  }

  start(): void {
    this.#note();
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
  }

  /** False from a gap on, also before any timer has run after it, until the cell has caught up. */
  isCurrent(): boolean {
    if (this.#timer !== undefined) this.#look();
    return this.#gaps === this.#caughtUp;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const { clock } = this.#options;
    const gapMs = Math.max(clock.monotonic() - this.#monotonicMs, Math.abs(clock.now() - this.#wallMs));
    this.#note();
    if (gapMs <= GAP_MS) return;
    const gap = ++this.#gaps;
    this.#options.catchUp().then(
      () => {
        this.#caughtUp = Math.max(this.#caughtUp, gap);
      },
      // The process may not go on, and is told so elsewhere.
      () => {},
    );
  }

  #note(): void {
    const { clock } = this.#options;
    this.#monotonicMs = clock.monotonic();
    this.#wallMs = clock.now();
  }
}
