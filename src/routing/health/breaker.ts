/**
 * Circuit breaker with slow start, for a lane that is saturated or a key that the provider refuses. A refusal opens it
 * for a while. Then a few calls at a time probe whether calls are accepted again (1, and twice as many after each
 * accepted probe), until it closes and all calls pass. A probe counts as accepted at its first content, not at its end.
 */

/** Refusals arrive quickly: a probe without an answer for this long counts as accepted, and the next one may start. */
export const SILENT_PROBE_MS = 3_000;
/** While no more probes may start, other calls are told to look again this soon. */
const PROBE_WAIT_MS = 1_000;
/** Once this many probes may run at once, the breaker closes. */
export const MOST_PROBES = 32;
/** The slow start lasts at most this long after the first accepted probe. */
export const SLOW_START_MS = 5_000;
/** A call without another endpoint waits at most this long, unless the provider itself asked for more. */
export const LAST_RESORT_OPEN_MS = 2_000;

const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 60_000;

/** 1 s, 2 s, 4 s … 60 s. @param streak openings in a row before this one. */
export const backoffMs = (streak: number): number => Math.min(FIRST_OPEN_MS * 2 ** streak, LONGEST_OPEN_MS);

/** A call that tests whether calls are accepted again. */
export interface Probe {
  readonly sinceMs: number;
  /** Refusals in a row before it. */
  readonly streak: number;
  /** Number of the opening after which it started. */
  readonly opening: number;
}

/** How long a breaker stays open after a refusal, milliseconds. */
export interface OpenPeriod {
  readonly forMs: number;
  /** The part of it that the provider asked for; the rest is the gateway's own caution. */
  readonly askedMs: number;
}

export class Breaker {
  /** Refusals in a row since the last accepted call. */
  streak = 0;
  untilMs = 0;
  askedUntilMs = 0;
  #lastResortUntilMs = 0;
  #openings = 0;
  /** How many probes may run at once; infinite: the breaker is closed. */
  #maxProbes = Number.POSITIVE_INFINITY;
  /** Probes without an answer so far, oldest first. */
  #probes: Probe[] = [];
  #closeAtMs = Number.POSITIVE_INFINITY;

  /**
   * Milliseconds until a call may start; 0: now.
   * @param isLastResort the call has no other endpoint: it waits in full only for what the provider asked for
   */
  waitMs(nowMs: number, isLastResort = false): number {
    if (this.#maxProbes === Number.POSITIVE_INFINITY) return 0;
    const untilMs = isLastResort ? Math.max(this.askedUntilMs, this.#lastResortUntilMs) : this.untilMs;
    if (nowMs < untilMs) return untilMs - nowMs;
    this.#advance(nowMs);
    const [oldest] = this.#probes;
    if (oldest === undefined || this.#probes.length < this.#maxProbes) return 0;
    return Math.min(oldest.sinceMs + SILENT_PROBE_MS - nowMs, PROBE_WAIT_MS);
  }

  isOpen(nowMs: number): boolean {
    return this.streak > 0 && nowMs < this.untilMs;
  }

  /** A call starts. @returns undefined where the breaker is closed and there is nothing to test. */
  enter(nowMs: number): Probe | undefined {
    if (this.#maxProbes === Number.POSITIVE_INFINITY && this.streak === 0) return undefined;
    const probe = { sinceMs: nowMs, streak: this.streak, opening: this.#openings };
    if (this.#maxProbes !== Number.POSITIVE_INFINITY) this.#probes.push(probe);
    return probe;
  }

  /** The probe was accepted: twice as many may run now. A probe that started before the last opening proves nothing. */
  accepted(probe: Probe, nowMs: number): void {
    if (probe.opening !== this.#openings) return;
    const isFirst = this.#remove(probe);
    this.streak = 0;
    // The answer may come while the breaker is still open.
    this.untilMs = Math.min(this.untilMs, nowMs);
    // A probe that counted as accepted for its silence has raised the limit already.
    if (isFirst) this.#grow();
    if (this.#closeAtMs === Number.POSITIVE_INFINITY) this.#closeAtMs = nowMs + SLOW_START_MS;
    this.#advance(nowMs);
  }

  /** It is known that calls are accepted, not by one of them: nothing remains to be tested. */
  end(nowMs: number): void {
    this.#openings += 1;
    this.streak = 0;
    this.untilMs = Math.min(this.untilMs, nowMs);
    this.#closeAtMs = Number.POSITIVE_INFINITY;
    this.#close();
  }

  /** The probe ended without proving anything: another may start in its place. */
  released(probe: Probe): void {
    if (probe.opening === this.#openings) this.#remove(probe);
  }

  /**
   * A refusal. One of a call that started before the breaker opened lengthens the opening if the provider asks for
   * that, and does not count as a new one.
   * @returns whether a new opening begins
   */
  refused({ forMs, askedMs }: OpenPeriod, nowMs: number, probe?: Probe): boolean {
    if (this.isOpen(nowMs) && probe?.opening !== this.#openings) {
      this.askedUntilMs = Math.max(this.askedUntilMs, nowMs + askedMs);
      this.untilMs = Math.max(this.untilMs, this.askedUntilMs);
      return false;
    }
    // A probe that already counted as accepted may still be refused: that continues the streak.
    this.streak = Math.max(this.streak, probe?.streak ?? 0) + 1;
    this.open(nowMs, { forMs, askedMs });
    return true;
  }

  /** Opens the breaker without changing the streak. */
  open(nowMs: number, { forMs, askedMs }: OpenPeriod): void {
    this.#openings += 1;
    this.untilMs = nowMs + forMs;
    this.askedUntilMs = nowMs + askedMs;
    this.#lastResortUntilMs = nowMs + Math.min(forMs, LAST_RESORT_OPEN_MS);
    this.#maxProbes = 1;
    this.#probes = [];
    this.#closeAtMs = Number.POSITIVE_INFINITY;
  }

  /** Accepts probes that have been silent for long enough, and ends a slow start that is over. */
  #advance(nowMs: number): void {
    while (this.#probes[0] !== undefined && nowMs - this.#probes[0].sinceMs >= SILENT_PROBE_MS) {
      this.#probes.shift();
      this.#grow();
    }
    if (nowMs >= this.#closeAtMs) this.#close();
  }

  #grow(): void {
    this.#maxProbes *= 2;
    if (this.#maxProbes > MOST_PROBES) this.#close();
  }

  #close(): void {
    this.#maxProbes = Number.POSITIVE_INFINITY;
    this.#probes = [];
  }

  #remove(probe: Probe): boolean {
    const at = this.#probes.indexOf(probe);
    if (at >= 0) this.#probes.splice(at, 1);
    return at >= 0;
  }
}
