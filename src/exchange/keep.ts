/**
 * What is kept of an answer after its call: for a repetition of the request (`Idempotency-Key`), and for requests that read or
 * continue it later (stored responses). Both go into the commit that settles the call, so a crash leaves all of it or nothing.
 */
import type { WeirError } from "../errors.ts";
import type { ClientRequest, History } from "../wire/format.ts";
import type { Call } from "./call.ts";
import type { Outcome } from "./outcome.ts";
import { mayKeep, type StoredResponse, type StoredResponses } from "./stored-responses.ts";

/**
 * Keeps an answer that was charged or given in full for repetitions of its request; anything else may be tried again. Only inside
 * the commit that charges.
 * @param bytes what is still to be sent of the answer
 * @param gone the client left: of a stream that was read on for its bill, the rest is not there.
 */
export function keepForReplay(
  call: Call,
  { kind }: Outcome,
  error: WeirError | undefined,
  bytes: Buffer,
  gone: boolean,
): void {
  const isStream = call.streaming || kind === "streamed";
  const status = error === undefined || isStream ? 200 : error.status;
  const isIncomplete = kind === "cancelled" || (isStream && gone);
  const notKept = isIncomplete ? "cut" : call.isZdr ? "private" : undefined;
  call.idempotencyLock?.keep({ requestId: call.requestId, status, isStream }, bytes, notKept);
}

/**
 * What puts an answer that a later request may ask for or continue into the commit; undefined where it is not kept. Made
 * before the commit: what throws there would take the charge with it.
 */
export function responseWriter(
  responses: StoredResponses,
  call: Call,
  outcome: Outcome,
  bytes: Buffer,
): (() => void) | undefined {
  const { history, idPrefix } = call.incoming.format;
  const { request, key } = call;
  if (history === undefined || request === undefined || !mayKeep(call, history, request)) return undefined;
  // Not made text only to be found too large (T54).
  if (!responses.fits(request.bytes.length)) return undefined;
  const answer =
    outcome.kind === "whole"
      ? bytes.toString()
      : outcome.kind === "streamed"
        ? outcome.stream.responseJson?.()
        : undefined;
  if (answer === undefined) return undefined;
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
  return () => responses.put(key, idPrefix + call.requestId, stored);
}

/** Undefined where a provider's odd answer cannot be taken apart: it is delivered all the same. */
function conversationOf(
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

/** Of an item that can be named later. */
const MAX_ID_LENGTH = 256;
