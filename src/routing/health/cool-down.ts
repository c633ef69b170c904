/**
 * Cool-down of an endpoint that fails. When it is over, one call at a time probes the endpoint (half-open) while other
 * calls prefer other endpoints. A probe that never reports its result gives way to the next one after its lease.
 */

/** A probe that has not reported after this is given up, and another call may probe. */
const PROBE_LEASE_MS = 30_000;
/** While a probe is under way, other calls are told to look again this soon. */
const PROBE_WAIT_MS = 1_000;

export class CoolDown {
  /** Cool-downs in a row; 0: the endpoint is neither cooling down nor half-open. */
  streak = 0;
  untilMs = 0;
  /** While this is in the future, a probe is under way. */
  #probeUntilMs = 0;

  /** Milliseconds until the endpoint may be tried; 0: now. */
  waitMs(nowMs: number): number {
    if (this.streak === 0) return 0;
    if (nowMs < this.untilMs) return this.untilMs - nowMs;
    return nowMs < this.#probeUntilMs ? Math.min(this.#probeUntilMs - nowMs, PROBE_WAIT_MS) : 0;
  }

  isCooling(nowMs: number): boolean {
    return this.streak > 0 && nowMs < this.untilMs;
  }

  /** A call starts. While the endpoint is half-open, that call is the probe and the others wait for it. */
  probe(nowMs: number): void {
    if (this.streak > 0) this.#probeUntilMs = nowMs + PROBE_LEASE_MS;
  }

  /** The probe has ended, with whatever result. */
  probed(): void {
    this.#probeUntilMs = 0;
  }

  start(nowMs: number, waitMs: number): void {
    this.streak += 1;
    this.untilMs = nowMs + waitMs;
    this.#probeUntilMs = 0;
  }

  end(): void {
    this.streak = 0;
    this.#probeUntilMs = 0;
  }
}
