/**
 * Notices that the process stood still: after a gap of its event loop, by the greater of monotonic and wall time, what it has may be
 * old, and it serves nobody until it has caught up.
 */
import type { Clock } from "../../../base/clock.ts";

export interface WakefulnessOptions {
  readonly clock: Clock;
  /** Resolves once the cell has everything that was committed before the call. */
  readonly catchUp: () => Promise<void>;
}

/** What comes right after a gap waits so long at most. */
const SOON_MS = 1000;
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
  /** Ends when the cell has caught up after the latest gap, or may not go on. */
  #catching: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #soon: Promise<boolean> | undefined;

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

  /** Resolves true once the cell has caught up, false if that takes longer than a second. */
  currentSoon(): Promise<boolean> {
    this.#soon ??= this.#waited().finally(() => {
      this.#soon = undefined;
    });
    return this.#soon;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #waited(): Promise<boolean> {
    let isLate = false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        isLate = true;
        resolve();
      }, SOON_MS);
    });
    // A process that has little of its processor may have one gap after another.
    while (!this.isCurrent() && !isLate && !this.#hasFailed) await Promise.race([this.#catching, late]);
    clearTimeout(timer);
    return this.isCurrent();
  }

  #look(): void {
    const { clock } = this.#options;
    const gapMs = Math.max(clock.monotonic() - this.#monotonicMs, Math.abs(clock.now() - this.#wallMs));
    this.#note();
    if (gapMs > GAP_MS) this.missed();
  }

  /** What the cell has may be old: it is not current until it has caught up. */
  missed(): void {
    const gap = ++this.#gaps;
    this.#catching = this.#options.catchUp().then(
      () => {
        this.#caughtUp = Math.max(this.#caughtUp, gap);
      },
      // The process may not go on, and is told so elsewhere.
      () => {
        this.#hasFailed = true;
      },
    );
  }

  #note(): void {
    const { clock } = this.#options;
    this.#monotonicMs = clock.monotonic();
    this.#wallMs = clock.now();
  }
}
