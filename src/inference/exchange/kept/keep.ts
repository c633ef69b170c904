/**
 * Stores an answer after its call: for repetitions of the request (`Idempotency-Key`), and for requests that read or
 * continue it later (stored responses). Both are part of the commit that settles the call, so a crash leaves all of it or
 * nothing.
 */
import type { WeirError } from "../../../base/errors.ts";
import type { ClientRequest, History } from "../../../wire/format.ts";
import type { Call, KeptWriter } from "../call.ts";
import type { Outcome } from "../outcome.ts";
import { answerBytes } from "./idempotency.ts";
import type { StoredResponse } from "./kept-rows.ts";
import { MAX_ID_LENGTH, mayKeep, responseBytes, type StoredResponses } from "./stored-responses.ts";

/**
 * Prepares the storage of an answer that was charged or complete, for repetitions of its request; after any other outcome a retry is a
 * new call. @returns what stores it, inside the commit that charges
 * @param bytes the bytes of the answer that are not sent yet
 * @param gone the client left: of a stream that was read on for its bill, the rest was not recorded
 */
export function replayWriter(
  call: Call,
  { kind }: Outcome,
  error: WeirError | undefined,
  bytes: Buffer,
  gone: boolean,
): (() => void) | undefined {
  const { idempotencyLock: lock, requestId } = call;
  if (lock === undefined) return undefined;
  const isStream = call.streaming || kind === "streamed";
  const status = error === undefined || isStream ? 200 : error.status;
  const isCancelled = kind === "cancelled" || call.detached?.gone === true;
  const isIncomplete = isCancelled || (isStream && gone);
  const reason = isIncomplete ? "cut" : call.isZdr ? "private" : undefined;
  const hasRoom = call.keptRoom?.use(reason === undefined ? lock.keptBytes(bytes) : answerBytes(0)) ?? true;
  // The fact that there was an answer always has room: the call took it for more than that.
  if (!hasRoom) call.keptRoom?.use(answerBytes(0));
  const notKept = reason ?? (hasRoom ? undefined : "quota");
  return () => lock.keep({ requestId, status, isStream }, bytes, notKept);
}

/** Warning of a call whose answer was not stored for want of room. */
export const NOT_STORED = "response_not_stored: quota";

/** Warning of a call that added nothing to the conversation that it went on from, because its client stores nothing. */
export const TURN_LEFT_OUT = "conversation_not_extended: store";

/**
 * Prepares the storage of an answer that later requests may read or continue, and of its turn in a conversation. @returns undefined if
 * nothing is stored. Called before the commit, because an error inside it would undo the charge.
 */
export function responseWriter(
  responses: StoredResponses,
  call: Call,
  outcome: Outcome,
  bytes: Buffer,
): KeptWriter | undefined {
  const { history } = call.incoming.format;
  const { request, conversation } = call;
  if (history === undefined || request === undefined || !mayKeep(call, history, request)) return undefined;
  // Checked first, because to make text of a body that is too large takes long (T54).
  const isStored = !call.isStoreLeftOut && responses.fits(request.bytes.length);
  if (!isStored && conversation === undefined) return undefined;
  const answer =
    outcome.kind === "whole"
      ? bytes.toString()
      : outcome.kind === "streamed"
        ? outcome.stream.responseJson?.()
        : undefined;
  if (answer === undefined) return undefined;
  // First, because its client asked for it.
  const turn = conversation?.writer(call, history, answer);
  const stored = isStored ? storedWriter(responses, call, history, request, answer) : undefined;
  return stored === undefined ? turn : both(turn, stored);
}

/** Both are stored in the one commit. */
export function both(turn: KeptWriter | undefined, stored: KeptWriter): KeptWriter {
  if (turn === undefined) return stored;
  return {
    put() {
      turn.put();
      stored.put();
    },
    async shared() {
      await Promise.all([turn.shared(), stored.shared()]);
    },
  };
}

function storedWriter(
  responses: StoredResponses,
  call: Call,
  history: History,
  request: ClientRequest,
  answer: string,
): KeptWriter | undefined {
  const { key } = call;
  const { id: endpointId = "", provider } = call.endpoint ?? {};
  const kept = conversationOf(history, request, answer);
  if (kept === undefined) return undefined;
  const stored = {
    ...kept,
    response: answer,
    endpointId,
    provider: provider?.id ?? "",
    keyId: call.lane?.key.id ?? "",
  };
  const id = call.incoming.format.idPrefix + call.requestId;
  if (!responses.fits(Buffer.byteLength(stored.response) + Buffer.byteLength(stored.items))) return undefined;
  if (call.keptRoom?.use(responseBytes(stored)) === false) {
    // Larger than the room that the call took, and there is no more. The answer is written already: the record says so.
    call.warnings.push(NOT_STORED);
    return undefined;
  }
  return { put: () => responses.put(key, id, stored), shared: () => responses.shared(key, id) };
}

/** Undefined if a provider's answer cannot be parsed: it is delivered all the same. */
export function conversationOf(
  history: History,
  request: ClientRequest,
  answer: string,
): Pick<StoredResponse, "items" | "itemIds"> | undefined {
  try {
    const itemIds = [...history.itemsOf(answer).keys()].filter((id) => id.length <= MAX_ID_LENGTH);
    return { items: history.itemsAfter(request, answer), itemIds };
  } catch {
    return undefined;
  }
}
