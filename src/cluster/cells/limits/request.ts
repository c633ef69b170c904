/**
 * One key in a request to the dataset: what the cell tells and asks, and what the answer changes. The operation and its result are those
 * of `scripts/exchange/50-limits.lua`.
 */
import type { Clock } from "../../../base/clock.ts";
import { CONCURRENCY_RETRY_MS, refusalOf } from "../../../credits/limits/limits.ts";
import type { Operation } from "../exchange/exchange.ts";
import type { RedisValue } from "../redis/redis.ts";
import type { Ask, Batch, KeyState } from "./key-state.ts";
import type { Stamp } from "./stamp.ts";

/** Calls of one key that one request asks for. */
export const MOST_ASKS = 1000;
/** A refusal is repeated for this long without another question: what was freed meanwhile elsewhere is seen so much later. */
const REPEAT_WINDOW_MS = 20;
const REPEAT_SLOTS_MS = 5;

const CODES = ["rpm", "rpm", "tpm", "concurrency"] as const;

/** What was sent of a key. */
export interface Sent {
  readonly state: KeyState;
  readonly operation: Operation;
  readonly asks: readonly Ask[];
  readonly sent: Stamp;
  /** Left of batches that the cell goes on using. */
  readonly kept: { readonly requests: number; readonly tokens: number };
  /** What the cell had admitted when it was sent: what is more is of the answer. */
  readonly own: { readonly requests: number; readonly tokens: number };
  readonly limits: KeyState["limits"];
}

export interface Sending {
  readonly clock: Clock;
  /** Whole milliseconds of the monotonic clock. */
  readonly nowMs: number;
  readonly sent: Stamp;
  /** What Redis takes to reply. */
  readonly replyMs: number;
}

/** Takes what the cell has to say of a key, and the calls that wait. */
export function requestOf(state: KeyState, { clock, nowMs, sent, replyMs }: Sending): Sent {
  const { limits } = state;
  const told = tellBatches(state, clock);
  const kept = { requests: 0, tokens: 0 };
  for (const { requests, tokens } of state.batches) {
    kept.requests += requests;
    kept.tokens += tokens;
  }
  const asks = state.asks.splice(0, MOST_ASKS).filter(({ answer }) => answer !== undefined);
  const undone = state.undone.splice(0);
  const offered = limits.concurrency === 0 ? 0 : Math.min(state.free, asks.length);
  state.held = slotsToKeep(state, offered, nowMs);
  state.offered = offered;
  const { keyId } = state;
  const weights = asks.map(({ tokens }) => tokens);
  const wish = state.wish(clock, nowMs, replyMs, asks.length);
  state.isSent = true;
  const numbers = [limits.rpm, limits.tpm, limits.concurrency] as const;
  return {
    state,
    asks,
    sent,
    kept,
    limits,
    own: { requests: state.requests.total(nowMs), tokens: state.tokens.total(nowMs) },
    operation: ["limit", keyId, ...numbers, told, undone, weights, wish, state.held, offered],
  };
}

function slotsToKeep(state: KeyState, offered: number, nowMs: number): number {
  const { concurrency } = state.limits;
  if (concurrency === 0) return 0;
  return state.inFlight + offered + (state.givesBack(nowMs) ? 0 : state.free - offered);
}

/** Uses that were not told yet, and what is left; batches that have ended are given back. */
function tellBatches(state: KeyState, clock: Clock): number[] {
  const told: number[] = [];
  const kept: KeyState["batches"] = [];
  const done = state.batches.filter((batch) => state.isDone(batch, clock));
  for (const batch of state.batches) {
    if (done.includes(batch)) {
      batch.requests = 0;
      batch.tokens = 0;
    }
    const isSpent = batch.requests === 0 && batch.tokens === 0;
    if (isSpent || batch.uses.length > 0) {
      told.push(batch.id, batch.atMs, batch.requests, batch.tokens, batch.uses.length / 3, ...batch.uses);
      batch.uses = [];
    }
    if (!isSpent) kept.push(batch);
  }
  state.batches = kept;
  state.surrenders = false;
  return told;
}

/**
 * Applies the answer to a request.
 * @param admitted makes the call's admission; it is in flight from then on
 * @returns the batch that it granted
 */
export function answered(
  request: Sent,
  result: RedisValue[],
  clock: Clock,
  nowMs: number,
  admitted: (ask: Ask) => void,
): Batch | undefined {
  const { state, asks, sent, kept, own } = request;
  const [
    atMs = 0,
    requests = 0,
    requestsMs = 0,
    tokens = 0,
    tokensMs = 0,
    requestsAt = 0,
    tokensAt = 0,
    ...rest
  ] = result as number[];
  const [id = 0, moreRequests = 0, moreTokens = 0, goodMs = 0, held = 0, heldByAll = 0, ...codes] = rest;
  const granted = { requests: moreRequests, tokens: moreTokens };
  const batch = id === 0 ? undefined : { id, atMs, sent, goodMs, granted, ...granted, uses: [] };
  if (batch !== undefined) state.batches.push(batch);
  state.isSent = false;
  const freeBefore = state.free;
  state.held = held;
  state.heldByAll = heldByAll;
  state.heldByOthers = Math.max(0, heldByAll - held);
  for (const look of state.looks.splice(0)) look();
  state.offered = 0;
  state.heldSent = sent;
  let byAsks = 0;
  let tokensByAsks = 0;
  const again: Ask[] = [];
  const hasLeft = state.hasBatch(clock);
  asks.forEach((ask, i) => {
    const code = codes[i * 2] ?? 0;
    if (code === 0) {
      byAsks++;
      tokensByAsks += ask.tokens;
      if (ask.answer === undefined) state.undone.push(requestsAt, tokensAt, ask.tokens);
      else admitted(ask);
    } else if (code !== 3 && hasLeft) again.push(ask);
    else refuse(request, ask, code, codes[i * 2 + 1] ?? 0, nowMs);
  });
  if (again.length > 0) {
    state.asks.unshift(...again);
    state.surrenders = true;
  }
  if (state.free > 0) state.freeSinceMs = nowMs;
  state.lowSlots = state.free > freeBefore ? state.free / 2 : 0;
  state.othersRequests = Math.max(0, requests - kept.requests - moreRequests - own.requests - byAsks);
  state.othersTokens = Math.max(0, tokens - kept.tokens - moreTokens - own.tokens - tokensByAsks);
  const hasOthers = state.othersRequests + state.othersTokens > 0;
  state.othersUntilMs = hasOthers ? nowMs + Math.max(requestsMs, tokensMs) : 0;
  return batch;
}

function refuse({ state, limits }: Sent, ask: Ask, code: number, waitMs: number, nowMs: number): void {
  const name = CODES[code] ?? "rpm";
  const isSlots = name === "concurrency";
  const retryAfterMs = isSlots ? CONCURRENCY_RETRY_MS : waitMs;
  const refusal = refusalOf(name, limits[name], retryAfterMs);
  const repeatMs = isSlots ? REPEAT_SLOTS_MS : Math.min(waitMs, REPEAT_WINDOW_MS);
  state.refusal = { tokens: ask.tokens, refusal, fromMs: nowMs, untilMs: nowMs + repeatMs };
  ask.answer?.resolve(refusal);
  ask.answer = undefined;
}
