/** Time since an instant, by whichever clock says more: a process may be stopped, a machine may sleep, a clock may be set. */
import type { Clock } from "../../../base/clock.ts";

export interface Stamp {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const stampOf = (clock: Clock): Stamp => ({ monotonicMs: clock.monotonic(), wallMs: clock.now() });

/** At least the time that passed, milliseconds; never below 0. */
export const elapsedMs = (clock: Clock, since: Stamp): number =>
  Math.max(0, clock.monotonic() - since.monotonicMs, clock.now() - since.wallMs);
