/**
 * What recent calls taught about each endpoint: cool-down after saturation, error rate, time to first token, speed.
 * Memory only, O(1) a result; old observations fade by half-lives, so an endpoint is never judged on a distant past.
 */
import type { Clock } from "../clock.ts";
import type { AttemptOutcome, ErrorClass } from "../record.ts";

export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  readonly errorClass: ErrorClass;
  /** The upstream's own Retry-After, milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly ttftMs?: number | undefined;
  /** Output tokens a second after the first. */
  readonly tokensPerSecond?: number | undefined;
}

/** One endpoint as the planner sees it at one instant. */
export interface EndpointHealth {
  /** Milliseconds until it may be tried again; 0: now. */
  readonly outForMs: number;
  /** 0 to 1, over roughly the last minute. */
  readonly errorRate: number;
  /** Most recent calls failed: tried after all others. */
  readonly failing: boolean;
  /** Undefined when nothing was observed lately. */
  readonly ttftMs: number | undefined;
  readonly tokensPerSecond: number | undefined;
}

export interface HealthView {
  /** Undefined for an endpoint of which nothing is known. */
  of(endpointId: string): EndpointHealth | undefined;
}

const FIRST_COOL_DOWN_MS = 1_000;
const LONGEST_COOL_DOWN_MS = 60_000;
/** A daily quota may ask for hours; beyond one the value is taken for a mistake. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** A probe whose result never comes gives way to the next after this. */
const PROBE_LEASE_MS = 30_000;
/** While a probe is out, others are told to look again this soon. */
const PROBE_WAIT_MS = 1_000;
const ERROR_HALF_LIFE_MS = 30_000;
const SPEED_HALF_LIFE_MS = 300_000;
/** A measurement counts while its weight is that of one call this many half-lives ago. */
const REMEMBERED_HALF_LIVES = 4;
/** So much recent evidence, and more than half of it failures, makes an endpoint `failing`. */
const FAILING_WEIGHT = 3;

/** A mean whose samples lose half their weight every half-life. */
class FadingMean {
  #weight = 0;
  #sum = 0;
  #atMs = 0;
  readonly #halfLifeMs: number;

  constructor(halfLifeMs: number) {
    this.#halfLifeMs = halfLifeMs;
  }

  add(value: number, nowMs: number): void {
    const left = this.#left(nowMs);
    this.#weight = this.#weight * left + 1;
    this.#sum = this.#sum * left + value;
    this.#atMs = nowMs;
  }

  weight(nowMs: number): number {
    return this.#weight === 0 ? 0 : this.#weight * this.#left(nowMs);
  }

  mean(nowMs: number): number | undefined {
    if (this.#weight === 0) return undefined;
    // The last sample alone weighs enough in this span: no power to compute on the planner's path.
    const isRecent = nowMs - this.#atMs <= REMEMBERED_HALF_LIVES * this.#halfLifeMs;
    if (!isRecent && this.weight(nowMs) < 2 ** -REMEMBERED_HALF_LIVES) return undefined;
    return this.#sum / this.#weight;
  }

  #left(nowMs: number): number {
    return 2 ** ((this.#atMs - nowMs) / this.#halfLifeMs);
  }
}

class Observed {
  /** Saturations in a row; 0: not cooling down and not on probation. */
  streak = 0;
  outUntilMs = 0;
  /** While above now, one call is trying whether the endpoint is back. */
  probeUntilMs = 0;
  readonly errors = new FadingMean(ERROR_HALF_LIFE_MS);
  readonly ttft = new FadingMean(SPEED_HALF_LIFE_MS);
  readonly speed = new FadingMean(SPEED_HALF_LIFE_MS);

  outForMs(nowMs: number): number {
    if (this.streak === 0) return 0;
    if (nowMs < this.outUntilMs) return this.outUntilMs - nowMs;
    return nowMs < this.probeUntilMs ? Math.min(this.probeUntilMs - nowMs, PROBE_WAIT_MS) : 0;
  }
}

export class Health implements HealthView {
  readonly #clock: Clock;
  readonly #observed = new Map<string, Observed>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(endpointId: string): EndpointHealth | undefined {
    const seen = this.#observed.get(endpointId);
    if (seen === undefined) return undefined;
    const nowMs = this.#clock.monotonic();
    const errorRate = seen.errors.mean(nowMs) ?? 0;
    return {
      outForMs: seen.outForMs(nowMs),
      errorRate,
      failing: errorRate > 0.5 && seen.errors.weight(nowMs) >= FAILING_WEIGHT,
      ttftMs: seen.ttft.mean(nowMs),
      tokensPerSecond: seen.speed.mean(nowMs),
    };
  }

  /**
   * Asks to start a call now. False: the endpoint cools down, or another call is already trying whether it is back;
   * go to the next one. Whoever got true must report with `onResult`, whatever happens.
   */
  begin(endpointId: string): boolean {
    const seen = this.#observed.get(endpointId);
    if (seen === undefined || seen.streak === 0) return true;
    const nowMs = this.#clock.monotonic();
    if (seen.outForMs(nowMs) > 0) return false;
    seen.probeUntilMs = nowMs + PROBE_LEASE_MS;
    return true;
  }

  onResult(endpointId: string, result: AttemptResult): void {
    let seen = this.#observed.get(endpointId);
    if (seen === undefined) {
      seen = new Observed();
      this.#observed.set(endpointId, seen);
    }
    const nowMs = this.#clock.monotonic();
    // During the cool-down, only calls begun before it report; they say nothing about what comes after.
    const isCooling = seen.streak > 0 && nowMs < seen.outUntilMs;
    if (!isCooling) seen.probeUntilMs = 0;
    if (result.ttftMs !== undefined && result.ttftMs >= 0) seen.ttft.add(result.ttftMs, nowMs);
    if (result.tokensPerSecond !== undefined && result.tokensPerSecond > 0) {
      seen.speed.add(result.tokensPerSecond, nowMs);
    }
    if (result.errorClass === "capacity") {
      coolDown(seen, nowMs, isCooling, result.retryAfterMs);
    } else if (result.outcome === "ok") {
      seen.errors.add(0, nowMs);
      if (!isCooling) seen.streak = 0;
    } else if (result.outcome !== "cancelled" && result.errorClass !== "client") {
      // The caller's own errors and departures say nothing about the endpoint.
      seen.errors.add(1, nowMs);
    }
  }
}

/** 1 s, 2 s, 4 s … 60 s, or what the upstream asked for. Calls refused together count as one step. */
function coolDown(seen: Observed, nowMs: number, isCooling: boolean, retryAfterMs: number | undefined): void {
  if (!isCooling) seen.streak += 1;
  const backoffMs = Math.min(FIRST_COOL_DOWN_MS * 2 ** (seen.streak - 1), LONGEST_COOL_DOWN_MS);
  const isAsked = retryAfterMs !== undefined && retryAfterMs > 0;
  const waitMs = isAsked ? Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS) : backoffMs;
  if (!isCooling) seen.outUntilMs = nowMs + waitMs;
  else if (isAsked) seen.outUntilMs = Math.max(seen.outUntilMs, nowMs + waitMs);
}
