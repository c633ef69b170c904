/**
 * Rate limits of keys: requests and tokens over a sliding minute, and calls in flight. In memory, exact.
 * All three are checked before any is counted, in one synchronous step: a refusal counts nothing, and any number of
 * simultaneous callers are admitted one after the other.
 */
import type { Clock } from "../clock.ts";
import { fail, type WeirError } from "../errors.ts";
import { SlidingWindow, WINDOW_MS } from "./window.ts";

/** As in force for the key (its own, else its plan's). 0 or absent: unlimited. */
export interface KeyLimits {
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
  /** Calls in flight, streamed or not: both hold a socket, an upstream slot and credit for as long as they last. */
  readonly concurrency?: number | undefined;
}

export interface LimitedKey {
  readonly keyId: string;
  readonly limits: KeyLimits;
}

export interface Admission {
  readonly admitted: true;
  /** Gives the concurrency slot back; every exit path calls it, a second call does nothing. */
  release(): void;
}

export interface Refusal {
  readonly admitted: false;
  readonly code: "rpm" | "tpm" | "concurrency";
  /** The limit that refused. */
  readonly limit: number;
  /**
   * For rpm and tpm exact: the same request, alone on its key, is admitted after this wait and refused one
   * millisecond earlier. For concurrency it is a guess, because the end of a call is not known. Where `isHopeless`, a whole
   * window: then all of the limit is free for a request that fits it.
   */
  readonly retryAfterMs: number;
  /** The request alone is more than the limit: no wait lets it in. */
  readonly isHopeless: boolean;
}

/** One dimension as the `x-ratelimit-*` headers show it. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of the limit is free again. */
  readonly resetMs: number;
}

/** A dimension without a limit is undefined. */
interface LimitState {
  readonly requests: RateState | undefined;
  readonly tokens: RateState | undefined;
  readonly concurrencyInUse: number;
}

export interface Limits {
  /**
   * A promise where a slot must be asked for elsewhere.
   * @param tokens what counts against tpm: prompt estimate + `max_tokens`
   */
  admit(key: LimitedKey, tokens: number): Admission | Refusal | Promise<Admission | Refusal>;
  state(key: LimitedKey): LimitState;
  /** Calls in flight over all keys: zero at idle. */
  inFlight(): number;
  /** Keys with anything in memory; a key idle for a minute is dropped as others are admitted. */
  tracked(): number;
}

/** When a slot frees is unknown; most calls last about a second. */
const CONCURRENCY_RETRY_MS = 1000;

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

/** Those of one process: it sees all calls, and so answers at once. */
export interface LocalLimits extends Limits {
  admit(key: LimitedKey, tokens: number): Admission | Refusal;
}

export function openLimits({ clock }: { readonly clock: Clock }): LocalLimits {
  const keys = new Map<string, KeyState>();
  let sweep = keys.entries();
  // Monotonic: a corrected wall clock must neither free nor freeze a key. Whole milliseconds keep waits exact.
  const now = () => Math.floor(clock.monotonic());

  /** Looks at one key an admission, round and round: idle ones leave without a timer and without a long pause. */
  function sweepOne(nowMs: number): void {
    const step = sweep.next();
    if (step.done) sweep = keys.entries();
    else if (step.value[1].idle(nowMs)) keys.delete(step.value[0]);
  }

  return {
    admit({ keyId, limits }, tokens) {
      const nowMs = now();
      sweepOne(nowMs);
      let state = keys.get(keyId);
      if (state === undefined) {
        state = new KeyState();
        keys.set(keyId, state);
      }
      const { rpm = 0, tpm = 0, concurrency = 0 } = limits;
      const requestsWaitMs = rpm === 0 ? 0 : state.requests.waitMs(nowMs, 1, rpm);
      const tokensWaitMs = tpm === 0 ? 0 : state.tokens.waitMs(nowMs, tokens, tpm);
      // The longer wait is the one to name: after the shorter the request would only be refused again.
      if (tokensWaitMs > requestsWaitMs) return refusal("tpm", tpm, tokensWaitMs);
      if (requestsWaitMs > 0) return refusal("rpm", rpm, requestsWaitMs);
      if (concurrency !== 0 && state.inFlight >= concurrency) {
        return refusal("concurrency", concurrency, CONCURRENCY_RETRY_MS);
      }
      // A window without a limit is not kept: a limit set on a running key starts from an empty minute.
      if (rpm !== 0) state.requests.add(nowMs, 1);
      if (tpm !== 0) state.tokens.add(nowMs, tokens);
      return new Slot(state);
    },
    state({ keyId, limits: { rpm = 0, tpm = 0 } }) {
      const nowMs = now();
      const state = keys.get(keyId);
      return {
        requests: rpm === 0 ? undefined : rateState(state?.requests, rpm, nowMs),
        tokens: tpm === 0 ? undefined : rateState(state?.tokens, tpm, nowMs),
        concurrencyInUse: state?.inFlight ?? 0,
      };
    },
    inFlight() {
      let sum = 0;
      for (const state of keys.values()) sum += state.inFlight;
      return sum;
    },
    tracked: () => keys.size,
  };
}

const refusal = (code: Refusal["code"], limit: number, waitMs: number): Refusal =>
  Number.isFinite(waitMs)
    ? { admitted: false, code, limit, retryAfterMs: waitMs, isHopeless: false }
    : { admitted: false, code, limit, retryAfterMs: WINDOW_MS, isHopeless: true };

function rateState(window: SlidingWindow | undefined, limit: number, nowMs: number): RateState {
  const used = window?.total(nowMs) ?? 0;
  return { limit, remaining: Math.max(0, limit - used), resetMs: window?.emptyInMs(nowMs) ?? 0 };
}

/** The 429 for a refusal. One that no wait cures says so (`x-should-retry: false`). */
export function refusalError({ code, limit, retryAfterMs, isHopeless }: Refusal): WeirError {
  if (isHopeless) {
    const message = `This request alone counts more tokens (prompt estimate + max_tokens) than the key's limit of ${limit} a minute. Lower max_tokens or raise the limit.`;
    return fail(code, message, { retryable: false, retryAfterMs });
  }
  const unit = { rpm: "requests a minute", tpm: "tokens a minute", concurrency: "calls in flight" }[code];
  return fail(code, `The key's limit of ${limit} ${unit} is reached.`, { retryAfterMs });
}
