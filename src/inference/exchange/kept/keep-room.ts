/**
 * Before an upstream is asked: room in the org's quota of kept bytes for what the call will keep. Without room a call whose answer must be
 * kept (`Idempotency-Key`, an explicit `store: true`) is refused; what is kept by default is left out, with a warning.
 *
 * How long an answer will be is not known, so the room is an estimate by the output limit. A longer answer takes more as it is stored, if
 * there is more; if not, its call is charged and only the fact is kept. So the quota holds in every case.
 */
import { fail, type WeirError } from "../../../base/errors.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import type { KeptBytes } from "../../../credits/kept/kept-bytes.ts";
import { type KeptPool, KeptRoom } from "../../../credits/kept/kept-pool.ts";
import type { Call, PlannedCall } from "../call.ts";
import { notKept } from "./conversations/conversations.ts";
import { answerBytes } from "./idempotency.ts";
import { mayKeep } from "./stored-responses.ts";

export interface KeepRoomDeps {
  readonly kept: KeptBytes;
  readonly defaultMaxTokens: number;
  /** The largest answer that is kept, in bytes. */
  readonly maxAnswerBytes: number;
}

/** Bytes of an answer beside its text. */
const ENVELOPE_BYTES = 4096;
/** Four of text, and JSON around them; a chunk of a stream has JSON of its own, and often one token. */
const BYTES_A_TOKEN = 16;
const BYTES_A_STREAMED_TOKEN = 256;

/** @throws WeirError 403 `plan_limit`. Returns a promise where other cells must be asked for room first. */
export function takeKeptRoom(deps: KeepRoomDeps, call: PlannedCall): MaybePromise<PlannedCall> {
  const { request, idempotencyLock } = call;
  const { history } = call.incoming.format;
  const stores = history !== undefined && mayKeep(call, history, request);
  if (call.conversation !== undefined && !stores) throw notKept();
  if (call.isBackground && !stores) throw notStored(call);
  if (idempotencyLock === undefined && !stores) return call;
  const asked = (idempotencyLock === undefined ? 0 : answerEstimate(deps, call)) + turnEstimate(deps, call);
  const stored = stores ? storedEstimate(deps, call) : 0;
  const isAskedFor = stores && (call.isBackground || history.asksToKeep(request));
  const mustBytes = asked + (isAskedFor ? stored : 0);
  const needed = { mustBytes, usualBytes: isAskedFor ? 0 : stored };
  const bytes = mustBytes + needed.usualBytes;
  const pool = deps.kept.pool(call.key);
  const exchanged = pool.fits(bytes) || !pool.mayFitSoon(bytes) ? undefined : deps.kept.askOthers();
  return exchanged === undefined ? taken(call, pool, needed) : takenLater(exchanged, call, pool, needed);
}

interface NeededRoom {
  readonly mustBytes: number;
  readonly usualBytes: number;
}

const takenLater = (exchanged: Promise<unknown>, call: PlannedCall, pool: KeptPool, needed: NeededRoom) =>
  exchanged.then(() => taken(call, pool, needed));

/** No await between check and taking. */
function taken(call: PlannedCall, pool: KeptPool, { mustBytes, usualBytes }: NeededRoom): PlannedCall {
  if (mustBytes > 0 && !pool.fits(mustBytes)) throw quotaError(call, pool, mustBytes);
  call.isStoreLeftOut = usualBytes > 0 && !pool.fitsUsual(mustBytes + usualBytes);
  const bytes = mustBytes + (call.isStoreLeftOut ? 0 : usualBytes);
  if (bytes > 0) call.keptRoom = new KeptRoom(pool, bytes);
  return call;
}

function outputBytes({ defaultMaxTokens }: KeepRoomDeps, { request }: PlannedCall, aToken: number): number {
  const { maxTokens = defaultMaxTokens, choices } = request.facts;
  return ENVELOPE_BYTES + maxTokens * choices * aToken;
}

function answerEstimate(deps: KeepRoomDeps, call: PlannedCall): number {
  if (call.isZdr) return answerBytes(0);
  // The answer to its client repeats what its request says.
  if (call.isPolled)
    return answerBytes(Math.min(deps.maxAnswerBytes, ENVELOPE_BYTES + call.request.bytes.length));
  const aToken = call.request.facts.stream ? BYTES_A_STREAMED_TOKEN : BYTES_A_TOKEN;
  return answerBytes(Math.min(deps.maxAnswerBytes, outputBytes(deps, call, aToken)));
}

/** The conversation with its answer, and the response, which has the answer once more. */
function storedEstimate(deps: KeepRoomDeps, call: PlannedCall): number {
  const bytes = call.request.bytes.length + 2 * outputBytes(deps, call, BYTES_A_TOKEN);
  return Math.min(deps.maxAnswerBytes, bytes);
}

/** What the call adds to its conversation. */
function turnEstimate(deps: KeepRoomDeps, call: PlannedCall): number {
  const { conversation } = call;
  if (conversation === undefined) return 0;
  return Math.max(0, conversation.growthBytes(call)) + outputBytes(deps, call, BYTES_A_TOKEN);
}

/** An answer that is asked for by its id must be kept until then. */
function notStored({ isZdr }: Call): WeirError {
  const why = isZdr
    ? "zero data retention holds for this call"
    : "the organisation's data policy keeps no payloads (data_policy.logging, data_policy.retention_days)";
  const message = `A background response is kept until it is asked for, and ${why}. With svc.on_disconnect "detach" in place of background, the call goes on without its client, ${isZdr ? "in memory alone, " : ""}and GET /v1/generation/{id}/stream reads it for ten minutes after its end.`;
  return fail("unsupported_option", message, { param: "/background" });
}

function asksOf({ idempotencyLock, conversation, isBackground }: Call): (typeof ASKS)[keyof typeof ASKS] {
  if (idempotencyLock !== undefined) return ASKS.key;
  if (conversation !== undefined) return ASKS.conversation;
  return isBackground ? ASKS.background : ASKS.store;
}

function quotaError(
  call: Call,
  { bytes, reservedBytes, maxBytes }: { bytes: number; reservedBytes: number; maxBytes: number },
  neededBytes: number,
): WeirError {
  const { environment } = call.key;
  const asks = asksOf(call);
  const message =
    `${asks.what}, and the organisation's quota for what is kept of calls with ${environment} keys has no room for it: ` +
    `${bytes} of ${maxBytes} bytes are kept, and ${reservedBytes} are taken by calls under way. ` +
    "GET /v1/limits says what of (kept). Make room with DELETE /v1/responses/{id} or a shorter data_policy.retention_days (a day later), " +
    `wait (answers to Idempotency-Keys go after 25 hours), or send the call without ${asks.without}.`;
  return fail("plan_limit", message, {
    param: asks.param,
    details: {
      environment,
      bytes,
      reserved_bytes: reservedBytes,
      max_bytes: maxBytes,
      needed_bytes: neededBytes,
    },
  });
}

/** What asks for something to be kept, in the order in which it is named. */
const ASKS = {
  key: {
    what: "An Idempotency-Key asks to keep the answer",
    without: "the header",
    param: "Idempotency-Key",
  },
  conversation: {
    what: "`conversation` asks to keep the answer",
    without: "conversation",
    param: "/conversation",
  },
  background: {
    what: "A background response is kept",
    without: 'background (svc.on_disconnect "detach" keeps none of it for longer than ten minutes)',
    param: "/background",
  },
  store: { what: "`store: true` asks to keep the answer", without: "store", param: "/store" },
} as const;
