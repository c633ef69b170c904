/** What a client is sent once its call is settled: the rest of an answer, or the error that ends it. */
import type { Clock } from "../../base/clock.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import type { Limits } from "../../credits/limits/limits.ts";
import type { Charged } from "../../wire/format.ts";
import type { SvcReply } from "../../wire/neutral/contract.ts";
import { hasState, wordsOf } from "./background/states.ts";
import type { Call, ReadCall } from "./call.ts";
import { errorEvents, isToldInStream } from "./errors/error-events.ts";
import { answerHeaders, retryHeaders, streamHeaders, typelessHeaders } from "./headers.ts";
import type { Metered } from "./meter.ts";
import { NOTHING_UNSENT, type Outcome, streamOf, unsentOf } from "./outcome.ts";

export interface DeliveryDeps {
  readonly clock: Clock;
  readonly limits: Limits;
}

/** What is sent after the charge is committed. */
export interface Delivery {
  readonly bytes: Buffer;
  /** Where readers of a detached call get something else. */
  readonly told?: () => Buffer;
  /** The status that the client sees. */
  readonly status: number;
  send(): void;
}

export function deliveryOf(
  deps: DeliveryDeps,
  call: Call,
  outcome: Outcome,
  error: WeirError | undefined,
  metered: Metered,
): Delivery {
  const isCancelled = outcome.kind === "cancelled" || call.detached?.gone === true;
  if (isCancelled && call.detached === undefined) return NO_DELIVERY;
  if (isCancelled && hasState(call)) return cancelledResponse(deps, call, outcome, metered);
  if (isCancelled) return failedDelivery(deps, call, outcome, { failure: CANCELLED, metered });
  if (outcome.kind === "whole")
    return wholeAnswer(deps, call, outcome.answer.write(metered.usage, svcReply(call, metered)));
  if (outcome.kind === "streamed") {
    const { unsent, stream } = outcome;
    const end = stream.close(metered.usage, svcReply(call, metered));
    const bytes = Buffer.allocUnsafe(unsent.length + end.length);
    bytes.set(unsent);
    bytes.write(end, unsent.length, "latin1");
    return lastEvents(deps, call, bytes);
  }
  const failure = error ?? fail("internal", "The call ended without an answer.");
  return failedDelivery(deps, call, outcome, { failure, metered });
}

/** How the stream of a response in the background ends that was cancelled. */
function cancelledResponse(deps: DeliveryDeps, call: ReadCall, outcome: Outcome, metered: Metered): Delivery {
  const { background } = wordsOf(call);
  const response = background.cancelled(call.request, call.answerNames(deps.clock), chargedOf(call, metered));
  const event = background.endedEvent(response, sequenceOf(call, outcome));
  return lastEvents(deps, call, Buffer.from(event, "latin1"));
}

interface Failed {
  readonly failure: WeirError;
  readonly metered: Metered;
}

function failedDelivery(
  deps: DeliveryDeps,
  call: Call,
  outcome: Outcome,
  { failure, metered }: Failed,
): Delivery {
  if (call.streaming || isToldInStream(call, failure)) {
    const at = {
      unsent: call.detached?.gone ? NOTHING_UNSENT : unsentOf(outcome),
      sequence: call.streaming ? sequenceOf(call, outcome) : 0,
      charged: call.hasState ? chargedOf(call, metered) : undefined,
    };
    return lastEvents(deps, call, errorEvents(deps.clock, call, failure, at));
  }
  return errorAnswer(deps, call, failure);
}

/** The number of the event that comes next, in formats that number their events. */
function sequenceOf({ detached, hasState: isBegun }: Call, outcome: Outcome): number {
  if (detached?.gone) return detached.events.next;
  const { nextSequence } = outcome.kind === "exhausted" ? outcome.delivered : (streamOf(outcome) ?? {});
  // The gateway has told the first events itself.
  return nextSequence ?? (isBegun ? (detached?.events.next ?? 0) : 0);
}

const CANCELLED = fail("cancelled", "The call was cancelled. What it had said was charged.");

const wholeAnswer = ({ limits }: DeliveryDeps, call: Call, bytes: Buffer): Delivery => ({
  bytes,
  status: 200,
  send: () => call.incoming.reply.sendJson(200, typelessHeaders(limits, call), bytes),
});

function errorAnswer({ clock, limits }: DeliveryDeps, call: Call, failure: WeirError): Delivery {
  const { reply, format } = call.incoming;
  const envelope = format.errorBody(failure, call.requestId);
  const headers = answerHeaders(limits, call) + retryHeaders(failure);
  const { status } = failure;
  const send = () => reply.send(status, headers, envelope);
  const bytes = Buffer.from(envelope);
  if (call.detached?.call.isStream !== true) return { bytes, status, send };
  // Who reads the stream later has begun to read one.
  const told = () => errorEvents(clock, call, failure, { unsent: NOTHING_UNSENT, sequence: 0 });
  return { bytes, status, told, send };
}

/** Events that end a stream. They are all of it where nothing was sent before. */
const lastEvents = ({ limits }: DeliveryDeps, call: Call, bytes: Buffer): Delivery => ({
  bytes,
  status: 200,
  send() {
    const { reply, format } = call.incoming;
    if (!call.streaming) reply.openStream(streamHeaders(limits, call), format.keepAlive);
    reply.end(bytes);
  },
});

const NO_DELIVERY: Delivery = { bytes: Buffer.alloc(0), status: 200, send: () => {} };

export const chargedOf = (call: Call, metered: Metered): Charged => ({
  usage: metered.usage,
  svc: svcReply(call, metered),
});

const svcReply = (call: Call, metered: Metered): SvcReply => ({
  request_id: call.requestId,
  provider: call.endpoint?.provider.id ?? "",
  endpoint_id: call.endpoint?.id ?? "",
  cost: metered.cost,
  warnings: call.warnings,
});
