/**
 * What calls taught about one endpoint: how often it fails, how soon and how fast it answers, and whether it is in trouble. In
 * trouble it is tried after all others, but for one call at a time that finds out whether it is well again.
 */
import { CoolDown } from "./cool-down.ts";
import { type DecayedMean, DecayingMean } from "./decaying-mean.ts";
import type { LaneLease } from "./lanes.ts";

const ERROR_HALF_LIFE_MS = 30_000;
/** Also so many calls: ten thousand successes a minute ago say little about twenty failures since. */
const ERROR_HALF_LIFE_CALLS = 20;
const SPEED_HALF_LIFE_MS = 300_000;
const SPEED_HALF_LIFE_CALLS = 50;
/** So much recent evidence (three calls, a little faded) and more than half of it failures mean trouble; so do this many in a row. */
const TROUBLE_WEIGHT = 2.5;
const TROUBLE_ERROR_RATE = 0.5;
const TROUBLE_IN_A_ROW = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Calls in a row that must go well before the trouble is over. */
const RECOVERED_CALLS = 2;
/** What was measured longer ago may have changed: a call finds out. */
const STALE_MS = 60_000;
/** So long the others wait for what it finds, and that long nobody tries again where it found nothing. */
const MEASURING_MS = 30_000;
const MEASURING_PAUSE_MS = 10_000;

/** What one call told. */
export interface Observation {
  /** To the first token of a stream, milliseconds. */
  readonly ttftMs?: number | undefined;
  /** To the end of a whole answer. */
  readonly wholeMs?: number | undefined;
  /** Output tokens a second after the first, of a stream. */
  readonly tokensPerSecond?: number | undefined;
}

/** Of the endpoint as it outlives the process; durations as of the moment it was taken. */
export interface ObservedSnapshot {
  readonly errors: DecayedMean;
  readonly ttft: DecayedMean;
  readonly whole: DecayedMean;
  readonly speed: DecayedMean;
  /** Pauses so far; 0: it is well. */
  readonly troubles: number;
  readonly troubleForMs: number;
}

export class Observed {
  readonly #errors = new DecayingMean(ERROR_HALF_LIFE_MS, ERROR_HALF_LIFE_CALLS);
  readonly #ttft = new DecayingMean(SPEED_HALF_LIFE_MS, SPEED_HALF_LIFE_CALLS);
  readonly #whole = new DecayingMean(SPEED_HALF_LIFE_MS, SPEED_HALF_LIFE_CALLS);
  readonly #speed = new DecayingMean(SPEED_HALF_LIFE_MS, SPEED_HALF_LIFE_CALLS);
  readonly #trouble = new CoolDown();
  #troubleSinceMs = 0;
  #failuresInRow = 0;
  #successesInRow = 0;
  /** The call that finds out whether the trouble is over. */
  #probe: LaneLease | undefined;
  #measuringUntilMs = 0;

  /** Undefined where no call was judged lately. */
  errorRate(nowMs: number): number | undefined {
    return this.#errors.mean(nowMs);
  }

  /** To be tried after all others. False also for the call that may find out whether the trouble is over. */
  isFailing(nowMs: number): boolean {
    return this.#trouble.waitMs(nowMs) > 0;
  }

  /** Somebody is finding out how quick it is now: the others go by what was known. */
  isBeingMeasured(nowMs: number): boolean {
    return nowMs < this.#measuringUntilMs;
  }

  /** Undefined where it was not measured lately and nobody is at it. */
  ttftMs(nowMs: number): number | undefined {
    return this.#known(this.#ttft, nowMs);
  }

  wholeMs(nowMs: number): number | undefined {
    return this.#known(this.#whole, nowMs);
  }

  tokensPerSecond(nowMs: number): number | undefined {
    return this.#known(this.#speed, nowMs);
  }

  /** How long a call may be silent before that says something; undefined where nothing is known. */
  usualMs(isStream: boolean, nowMs: number): number | undefined {
    return (isStream ? this.#ttft : this.#whole).mean(nowMs);
  }

  begins(lane: LaneLease, nowMs: number): void {
    if (this.#trouble.streak > 0 && this.#trouble.waitMs(nowMs) === 0) {
      this.#trouble.probe(nowMs);
      this.#probe = lane;
    }
    if (!this.isBeingMeasured(nowMs) && this.#isStale(nowMs)) this.#measuringUntilMs = nowMs + MEASURING_MS;
  }

  measured({ ttftMs, wholeMs, tokensPerSecond }: Observation, nowMs: number): void {
    if (ttftMs !== undefined && ttftMs >= 0) addFresh(this.#ttft, ttftMs, nowMs);
    if (wholeMs !== undefined && wholeMs >= 0) addFresh(this.#whole, wholeMs, nowMs);
    if (tokensPerSecond !== undefined && tokensPerSecond > 0) addFresh(this.#speed, tokensPerSecond, nowMs);
    if (this.#measuringUntilMs > 0) this.#measuringUntilMs = this.#isStale(nowMs) ? nowMs + MEASURING_PAUSE_MS : 0;
  }

  succeeded(lane: LaneLease, nowMs: number): void {
    this.#errors.add(0, nowMs);
    this.#failuresInRow = 0;
    // One that began before the trouble says nothing of what came after.
    if (this.#trouble.streak === 0 || lane.sinceMs <= this.#troubleSinceMs) return;
    this.#successesInRow += 1;
    this.#probed(lane);
    if (this.#successesInRow < RECOVERED_CALLS) return;
    this.#trouble.end();
    this.#errors.forget();
  }

  failed(lane: LaneLease, nowMs: number): void {
    this.#errors.add(1, nowMs);
    this.#failuresInRow += 1;
    const isProbe = this.#probed(lane);
    const isRenewed = isProbe || (lane.sinceMs > this.#troubleSinceMs && !this.#trouble.isCooling(nowMs));
    if (this.#trouble.streak > 0 ? isRenewed : this.#isTrouble(nowMs)) this.#pause(nowMs);
  }

  /** It ended in a way that tells nothing of the endpoint. */
  endedOtherwise(lane: LaneLease): void {
    this.#probed(lane);
  }

  snapshot(nowMs: number): ObservedSnapshot {
    return {
      errors: this.#errors.faded(nowMs),
      ttft: this.#ttft.faded(nowMs),
      whole: this.#whole.faded(nowMs),
      speed: this.#speed.faded(nowMs),
      troubles: this.#trouble.streak,
      troubleForMs: Math.max(this.#trouble.untilMs - nowMs, 0),
    };
  }

  restore(snapshot: ObservedSnapshot, nowMs: number): void {
    this.#errors.restore(snapshot.errors, nowMs);
    this.#ttft.restore(snapshot.ttft, nowMs);
    this.#whole.restore(snapshot.whole, nowMs);
    this.#speed.restore(snapshot.speed, nowMs);
    this.#trouble.streak = snapshot.troubles;
    this.#trouble.untilMs = nowMs + Math.min(snapshot.troubleForMs, LONGEST_PAUSE_MS);
    this.#troubleSinceMs = nowMs;
  }

  #known(mean: DecayingMean, nowMs: number): number | undefined {
    return mean.ageMs(nowMs) > STALE_MS && !this.isBeingMeasured(nowMs) ? undefined : mean.mean(nowMs);
  }

  #isStale(nowMs: number): boolean {
    return Math.min(this.#ttft.ageMs(nowMs), this.#whole.ageMs(nowMs)) > STALE_MS;
  }

  #isTrouble(nowMs: number): boolean {
    if (this.#failuresInRow >= TROUBLE_IN_A_ROW) return true;
    return (
      (this.#errors.mean(nowMs) ?? 0) > TROUBLE_ERROR_RATE && this.#errors.weight(nowMs) >= TROUBLE_WEIGHT
    );
  }

  /** 1 s, 2 s, 4 s … 30 s. */
  #pause(nowMs: number): void {
    this.#successesInRow = 0;
    this.#troubleSinceMs = nowMs;
    this.#trouble.start(nowMs, Math.min(FIRST_PAUSE_MS * 2 ** this.#trouble.streak, LONGEST_PAUSE_MS));
  }

  /** The next one may find out. */
  #probed(lane: LaneLease): boolean {
    if (lane !== this.#probe) return false;
    this.#probe = undefined;
    this.#trouble.probed();
    return true;
  }
}

/** What is stale gives way to what a call found out. */
function addFresh(mean: DecayingMean, value: number, nowMs: number): void {
  if (mean.ageMs(nowMs) > STALE_MS) mean.forget();
  mean.add(value, nowMs);
}
