/**
 * A pause of an endpoint in trouble, and the way back: when it is over, one call at a time tries whether things are well again
 * (half-open), and all others are sent elsewhere first, where there is such a place. A call that never reports gives way after
 * its lease.
 */

/** A probe whose result never comes gives way to the next after this. */
const PROBE_LEASE_MS = 30_000;
/** While a probe is out, others are told to look again this soon. */
const PROBE_WAIT_MS = 1_000;

export class CoolDown {
  /** Refusals in a row; 0: neither cooling down nor on probation. */
  streak = 0;
  untilMs = 0;
  /** While above now, one call is trying whether it is over. */
  #probeUntilMs = 0;

  /** Milliseconds until it may be tried; 0: now. */
  waitMs(nowMs: number): number {
    if (this.streak === 0) return 0;
    if (nowMs < this.untilMs) return this.untilMs - nowMs;
    return nowMs < this.#probeUntilMs ? Math.min(this.#probeUntilMs - nowMs, PROBE_WAIT_MS) : 0;
  }

  isCooling(nowMs: number): boolean {
    return this.streak > 0 && nowMs < this.untilMs;
  }

  /** A call starts: on probation, the others wait for it. */
  probe(nowMs: number): void {
    if (this.streak > 0) this.#probeUntilMs = nowMs + PROBE_LEASE_MS;
  }

  /** The probe is back, whatever it found. */
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
