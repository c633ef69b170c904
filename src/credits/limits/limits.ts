/**
 * Rate limits of keys: requests and tokens over a sliding minute, and concurrent calls. In memory, exact. All three are
 * checked before any is counted, in one synchronous step: a refusal counts nothing, and simultaneous calls are admitted
 * one after the other.
 */
import type { Clock } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import { SlidingWindow, WINDOW_MS } from "./window.ts";

/** The key's limits (its own, else its plan's). 0 or absent: unlimited. */
export interface KeyLimits {
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
  /**
   * Maximum concurrent calls, streamed or not: both hold a socket, an upstream connection and credit for their
   * duration.
   */
  readonly concurrency?: number | undefined;
}

export interface LimitedKey {
  readonly keyId: string;
  /** Whose windows and slots it has, with all keys of its lineage; absent: its own. */
  readonly lineageId?: string | undefined;
  readonly limits: KeyLimits;
}

export interface Admission {
  readonly admitted: true;
  /** Releases the concurrency slot; every exit path calls it, a second call does nothing. */
  release(): void;
}

export interface Refusal {
  readonly admitted: false;
  readonly code: "rpm" | "tpm" | "concurrency";
  /** Value of the exceeded limit. */
  readonly limit: number;
  /**
   * For rpm and tpm exact: the same request, if it is the key's only one, is admitted after this wait and refused one
   * millisecond earlier. For concurrency an estimate, because the end of a call is unknown. With `isHopeless` a whole
   * window, after which the full limit is available to a request that fits it.
   */
  readonly retryAfterMs: number;
  /** The request alone exceeds the limit: waiting does not help. */
  readonly isHopeless: boolean;
}

/** One limit as the `x-ratelimit-*` headers show it. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the full limit is available again. */
  readonly resetMs: number;
}

/** State of each limit; undefined where there is none. */
export interface LimitState {
  readonly requests: RateState | undefined;
  readonly tokens: RateState | undefined;
  readonly concurrencyInUse: number;
}

export interface LimitStates {
  readonly states: readonly LimitState[];
  readonly isKnown: boolean;
}

export interface Limits {
  /**
   * Returns a promise where slots are kept in another process.
   * @param tokens what counts against tpm: prompt estimate + `max_tokens`
   */
  admit(key: LimitedKey, tokens: number): Admission | Refusal | Promise<Admission | Refusal>;
  state(key: LimitedKey): LimitState;
  /**
   * What all processes together have used of each key's limits, in the order of the keys; for those who look at it.
   * @returns `isKnown` false: the others could not be asked in time, and the states are what this process knows
   */
  statesOf(keys: readonly LimitedKey[]): MaybePromise<LimitStates>;
  /** Calls in flight of all keys: zero when idle. */
  inFlight(): number;
  /** Keys with state in memory; a key idle for a minute is dropped while others are admitted. */
  tracked(): number;
}

/** The time until a slot is released is unknown; most calls last about a second. */
export const CONCURRENCY_RETRY_MS = 1000;

class KeyState {
  readonly requests = new SlidingWindow();
  readonly tokens = new SlidingWindow();
  inFlight = 0;

  idle(nowMs: number): boolean {
    return this.inFlight === 0 && this.requests.total(nowMs) === 0 && this.tokens.total(nowMs) === 0;
  }
}

class Slot implements Admission {
  readonly admitted = true;
  #state: KeyState | undefined;

  constructor(state: KeyState) {
    this.#state = state;
    state.inFlight += 1;
  }

  release(): void {
    if (this.#state === undefined) return;
    this.#state.inFlight -= 1;
    this.#state = undefined;
  }
}

/** Limits within one process: it sees all calls, so it answers synchronously. */
export interface LocalLimits extends Limits {
  admit(key: LimitedKey, tokens: number): Admission | Refusal;
}

export function openLimits({ clock }: { readonly clock: Clock }): LocalLimits {
  const keys = new Map<string, KeyState>();
  let sweep = keys.entries();
  // Monotonic: a corrected wall clock must neither free nor freeze a key. Whole milliseconds keep waits exact.
  const now = () => Math.floor(clock.monotonic());

  /** Checks one key per admission, in rotation: idle ones are dropped without a timer and without a long pause. */
  function sweepOne(nowMs: number): void {
    const step = sweep.next();
    if (step.done) sweep = keys.entries();
    else if (step.value[1].idle(nowMs)) keys.delete(step.value[0]);
  }

  function state({ keyId, lineageId = keyId, limits: { rpm = 0, tpm = 0 } }: LimitedKey): LimitState {
    const nowMs = now();
    const known = keys.get(lineageId);
    return {
      requests: rpm === 0 ? undefined : rateState(known?.requests, rpm, nowMs),
      tokens: tpm === 0 ? undefined : rateState(known?.tokens, tpm, nowMs),
      concurrencyInUse: known?.inFlight ?? 0,
    };
  }

  return {
    admit({ keyId, lineageId = keyId, limits }, tokens) {
      const nowMs = now();
      sweepOne(nowMs);
      let state = keys.get(lineageId);
      if (state === undefined) {
        state = new KeyState();
        keys.set(lineageId, state);
      }
      const { rpm = 0, tpm = 0, concurrency = 0 } = limits;
      const requestsWaitMs = rpm === 0 ? 0 : state.requests.waitMs(nowMs, 1, rpm);
      const tokensWaitMs = tpm === 0 ? 0 : state.tokens.waitMs(nowMs, tokens, tpm);
      // Report the longer wait: after the shorter one the request would be refused again.
      if (tokensWaitMs > requestsWaitMs) return refusalOf("tpm", tpm, tokensWaitMs);
      if (requestsWaitMs > 0) return refusalOf("rpm", rpm, requestsWaitMs);
      if (concurrency !== 0 && state.inFlight >= concurrency) {
        return refusalOf("concurrency", concurrency, CONCURRENCY_RETRY_MS);
      }
      // Windows without a limit are not kept: a limit set on an active key starts with an empty minute.
      if (rpm !== 0) state.requests.add(nowMs, 1);
      if (tpm !== 0) state.tokens.add(nowMs, tokens);
      return new Slot(state);
    },
    state,
    statesOf: (some) => ({ states: some.map(state), isKnown: true }),
    inFlight() {
      let sum = 0;
      for (const state of keys.values()) sum += state.inFlight;
      return sum;
    },
    tracked: () => keys.size,
  };
}

/** @param waitMs infinite: waiting does not help */
export const refusalOf = (code: Refusal["code"], limit: number, waitMs: number): Refusal =>
  Number.isFinite(waitMs)
    ? { admitted: false, code, limit, retryAfterMs: waitMs, isHopeless: false }
    : { admitted: false, code, limit, retryAfterMs: WINDOW_MS, isHopeless: true };

function rateState(window: SlidingWindow | undefined, limit: number, nowMs: number): RateState {
  const used = window?.total(nowMs) ?? 0;
  return { limit, remaining: Math.max(0, limit - used), resetMs: window?.emptyInMs(nowMs) ?? 0 };
}

/** The 429 for a refusal. `x-should-retry: false` where waiting does not help. */
export function refusalError({ code, limit, retryAfterMs, isHopeless }: Refusal): WeirError {
  if (isHopeless) {
    const message = `This request alone counts more tokens (prompt estimate + max_tokens) than the key's limit of ${limit} a minute. Lower max_tokens or raise the limit.`;
    return fail(code, message, { retryable: false, retryAfterMs });
  }
  const unit = { rpm: "requests a minute", tpm: "tokens a minute", concurrency: "calls in flight" }[code];
  return fail(code, `The key's limit of ${limit} ${unit} is reached.`, { retryAfterMs });
}
