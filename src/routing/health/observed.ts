/**
 * Observations of one endpoint: error rate, time to first token, speed, and whether it is failing. While it fails it
 * ranks after all others, except for one call at a time that probes it.
 */
import type { ErrorClass } from "../../record/record.ts";
import { CoolDown } from "./cool-down.ts";
import { type DecayedMean, DecayingMean } from "./decaying-mean.ts";
import { Evidence } from "./evidence.ts";
import type { LaneLease } from "./lanes.ts";

export const ERROR_HALF_LIFE_MS = 30_000;
/** Errors also decay by calls: ten thousand successes a minute ago say little about twenty failures since. */
const ERROR_HALF_LIFE_CALLS = 20;
const SPEED_HALF_LIFE_MS = 300_000;
const SPEED_HALF_LIFE_CALLS = 50;
/**
 * This weight of recent results (three calls, slightly decayed), more than half of them failures, means trouble; so do
 * this many failures in a row.
 */
const TROUBLE_WEIGHT = 2.5;
const TROUBLE_ERROR_RATE = 0.5;
const TROUBLE_IN_A_ROW = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Calls in a row that must succeed before the endpoint counts as recovered. */
const RECOVERED_CALLS = 2;
/** Older measurements may be outdated: one call measures again. */
const STALE_MS = 60_000;
/** How long other calls leave the measuring to one call, and how long none measures again where it found nothing. */
const MEASURING_MS = 30_000;
const MEASURING_PAUSE_MS = 10_000;

/** What one call measured. */
export interface Observation {
  /** To the first token of a stream, milliseconds. */
  readonly ttftMs?: number | undefined;
  /** To the end of a non-streamed answer, milliseconds. */
  readonly wholeMs?: number | undefined;
  /** Output tokens a second after the first, of a stream. */
  readonly tokensPerSecond?: number | undefined;
}

/** State of an endpoint that survives a restart; durations are relative to the snapshot. */
export interface ObservedSnapshot {
  readonly errors: DecayedMean;
  readonly ttft: DecayedMean;
  readonly whole: DecayedMean;
  readonly speed: DecayedMean;
  /** Cool-downs in a row; 0: it is healthy. */
  readonly troubles: number;
  readonly troubleForMs: number;
}

export class Observed {
  /** 0 for a success, 1 for a failure. */
  readonly errors = new DecayingMean(ERROR_HALF_LIFE_MS, ERROR_HALF_LIFE_CALLS);
  readonly #ttft = new DecayingMean(SPEED_HALF_LIFE_MS, SPEED_HALF_LIFE_CALLS);
  readonly #whole = new DecayingMean(SPEED_HALF_LIFE_MS, SPEED_HALF_LIFE_CALLS);
  readonly #speed = new DecayingMean(SPEED_HALF_LIFE_MS, SPEED_HALF_LIFE_CALLS);
  readonly #trouble = new CoolDown();
  #troubleSinceMs = 0;
  /** When the first of the cool-downs in a row began. */
  #outageSinceMs = 0;
  /** The class of the newest failure. */
  #failedFor: ErrorClass = "";
  #failuresInRow = 0;
  #successesInRow = 0;
  /** The call that probes whether the endpoint has recovered. */
  #probe: LaneLease | undefined;
  #measuringUntilMs = 0;
  readonly #evidence = new Evidence();

  /** Ranks after all others. False also for the call that may probe the endpoint. */
  isFailing(nowMs: number): boolean {
    return this.#trouble.waitMs(nowMs) > 0;
  }

  /** Class of the last failure since the start that counted; empty: none did. */
  get failedFor(): ErrorClass {
    return this.#failedFor;
  }

  /** Since when it fails, and what its newest failure was; undefined: it does not. */
  outage(): { readonly sinceMs: number; readonly reason: ErrorClass } | undefined {
    return this.#trouble.streak > 0 ? { sinceMs: this.#outageSinceMs, reason: this.#failedFor } : undefined;
  }

  /** A call is measuring its speed: until then other calls use the old figures. */
  isBeingMeasured(nowMs: number): boolean {
    return nowMs < this.#measuringUntilMs;
  }

  /** Undefined without a recent measurement, unless one is under way. */
  ttftMs(nowMs: number): number | undefined {
    return this.#known(this.#ttft, nowMs);
  }

  wholeMs(nowMs: number): number | undefined {
    return this.#known(this.#whole, nowMs);
  }

  tokensPerSecond(nowMs: number): number | undefined {
    return this.#known(this.#speed, nowMs);
  }

  /** Usual time until an answer, milliseconds; undefined where nothing is known. */
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
    if (this.#measuringUntilMs > 0)
      this.#measuringUntilMs = this.#isStale(nowMs) ? nowMs + MEASURING_PAUSE_MS : 0;
  }

  /** @param orgId whose call it was */
  succeeded(lane: LaneLease, nowMs: number, orgId = ""): void {
    this.#evidence.answered(orgId, nowMs);
    this.errors.add(0, nowMs);
    this.#failuresInRow = 0;
    // A call that started before the trouble proves nothing about the time after it.
    if (this.#trouble.streak === 0 || lane.sinceMs <= this.#troubleSinceMs) return;
    this.#successesInRow += 1;
    this.endProbe(lane);
    if (this.#successesInRow < RECOVERED_CALLS) return;
    this.#trouble.end();
    this.errors.forget();
  }

  /**
   * @param orgId whose call it was: failures of one org alone, while others are answered, say nothing about the endpoint
   * @param isUnreached no connection could be made, which no caller's words can cause
   */
  failed(lane: LaneLease, nowMs: number, errorClass: ErrorClass, orgId = "", isUnreached = false): void {
    if (this.#evidence.isContradicted(orgId, nowMs) && !isUnreached) {
      this.endProbe(lane);
      return;
    }
    this.#failedFor = errorClass;
    this.errors.add(1, nowMs);
    this.#failuresInRow += 1;
    const isProbe = this.endProbe(lane);
    const isRenewed = isProbe || (lane.sinceMs > this.#troubleSinceMs && !this.#trouble.isCooling(nowMs));
    if (this.#trouble.streak > 0 ? isRenewed : this.#isTrouble(nowMs)) this.#pause(nowMs);
  }

  snapshot(nowMs: number): ObservedSnapshot {
    return {
      errors: this.errors.faded(nowMs),
      ttft: this.#ttft.faded(nowMs),
      whole: this.#whole.faded(nowMs),
      speed: this.#speed.faded(nowMs),
      troubles: this.#trouble.streak,
      troubleForMs: Math.max(this.#trouble.untilMs - nowMs, 0),
    };
  }

  restore(snapshot: ObservedSnapshot, nowMs: number): void {
    this.errors.restore(snapshot.errors, nowMs);
    this.#ttft.restore(snapshot.ttft, nowMs);
    this.#whole.restore(snapshot.whole, nowMs);
    this.#speed.restore(snapshot.speed, nowMs);
    this.#trouble.streak = snapshot.troubles;
    this.#trouble.untilMs = nowMs + Math.min(snapshot.troubleForMs, LONGEST_PAUSE_MS);
    this.#troubleSinceMs = nowMs;
    this.#outageSinceMs = nowMs;
  }

  #known(mean: DecayingMean, nowMs: number): number | undefined {
    return mean.ageMs(nowMs) > STALE_MS && !this.isBeingMeasured(nowMs) ? undefined : mean.mean(nowMs);
  }

  #isStale(nowMs: number): boolean {
    return Math.min(this.#ttft.ageMs(nowMs), this.#whole.ageMs(nowMs)) > STALE_MS;
  }

  #isTrouble(nowMs: number): boolean {
    if (this.#failuresInRow >= TROUBLE_IN_A_ROW) return true;
    return (this.errors.mean(nowMs) ?? 0) > TROUBLE_ERROR_RATE && this.errors.weight(nowMs) >= TROUBLE_WEIGHT;
  }

  /** 1 s, 2 s, 4 s … 30 s. */
  #pause(nowMs: number): void {
    this.#successesInRow = 0;
    if (this.#trouble.streak === 0) this.#outageSinceMs = nowMs;
    this.#troubleSinceMs = nowMs;
    this.#trouble.start(nowMs, Math.min(FIRST_PAUSE_MS * 2 ** this.#trouble.streak, LONGEST_PAUSE_MS));
  }

  /** Ends the probe if this call was it, however it ended: the next call may probe. @returns whether it was */
  endProbe(lane: LaneLease): boolean {
    if (lane !== this.#probe) return false;
    this.#probe = undefined;
    this.#trouble.probed();
    return true;
  }
}

/**
 * An overtaken call was late after this many times the usual time: the other endpoint's answer allows a stricter
 * judgement.
 */
const OVERTAKEN_PATIENCE = 3;

/** A hedge hides a late endpoint from callers; it must not hide it from the plans. */
export function isOvertakenLate(
  seen: Observed,
  { sinceMs }: LaneLease,
  { ttftMs }: Observation,
  nowMs: number,
): boolean {
  const usualMs = seen.usualMs(ttftMs !== undefined, nowMs);
  return usualMs !== undefined && nowMs - sinceMs >= usualMs * OVERTAKEN_PATIENCE;
}

/** Adds a measurement; a stale mean starts over. */
function addFresh(mean: DecayingMean, value: number, nowMs: number): void {
  if (mean.ageMs(nowMs) > STALE_MS) mean.forget();
  mean.add(value, nowMs);
}
