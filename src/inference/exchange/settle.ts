/**
 * Settlement: the only way a call ends, and it happens once. The slot and the holds are released, the exact cost is charged,
 * and the record is written, in one commit. The last bytes of an answer are sent after the commit, so an answer that a
 * client has in full is in the ledger, even after kill -9.
 */

import type { Outbox } from "../../analytics/outbox/outbox.ts";
import type { CallTrace } from "../../analytics/telemetry/call-trace.ts";
import type { Clock } from "../../base/clock.ts";
import { asWeirError, fail, type WeirError } from "../../base/errors.ts";
import type { ByokFee } from "../../base/usage.ts";
import type { KeptBytes } from "../../credits/kept/kept-bytes.ts";
import type { KeptPool } from "../../credits/kept/kept-pool.ts";
import type { Limits } from "../../credits/limits/limits.ts";
import type { CallRecord } from "../../record/record.ts";
import type { Store } from "../../store/store.ts";
import { NOTHING_SENT } from "../../wire/extras/sent.ts";
import type { AnswerStream } from "../../wire/format.ts";
import type { ReplyFacts } from "../../wire/neutral/contract.ts";
import { passageTo } from "../../wire/passages.ts";
import { limitWarnings } from "../../wire/relay/limit-warnings.ts";
import { shortPointer } from "../../wire/relay/short-pointer.ts";
import { hasState, lastState } from "./background/states.ts";
import type { Call, KeptWriter } from "./call.ts";
import { chargedOf, type Delivery, deliveryOf } from "./delivery.ts";
import type { DetachedCalls } from "./detached/detached-calls.ts";
import { callerError } from "./failure.ts";
import { type Latencies, modelClass } from "./figures/latencies.ts";
import { NOT_STORED, replayWriter, responseWriter, TURN_LEFT_OUT } from "./kept/keep.ts";
import type { StoredResponses } from "./kept/stored-responses.ts";
import { type Metered, meter } from "./meter.ts";
import { NOTHING_UNSENT, type Outcome, streamOf, unsentOf } from "./outcome.ts";
import { type Ending, keepsText, type RecordDeps, recordOf } from "./record.ts";
import { coveredAt, fittedAt, limitAt, toldAt } from "./reservation/fit.ts";
import { charging, type HoldDeps, type Holds, releaseHolds } from "./reservation/holds.ts";

export interface SettleDeps extends RecordDeps, HoldDeps {
  readonly clock: Clock;
  readonly store: Store;
  readonly limits: Limits;
  readonly outbox: Outbox;
  readonly responses: StoredResponses;
  /** The quota that payloads count in. */
  readonly kept: KeptBytes;
  readonly latencies: Latencies;
  readonly detached: Pick<DetachedCalls, "ending">;
  /** Charged instead of tokens if an org's own provider key answered. */
  readonly byokFee: ByokFee;
  /** Reports a fault of the gateway to the operator's log; clients never see it. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Told of every record, once its commit is on its way. Undefined where nobody traces or measures calls. Never throws. */
  readonly onRecord: ((record: CallRecord, trace: CallTrace | undefined) => void) | undefined;
}

/** Told how a settlement ended: everything is committed and handed to the socket, or not, because of an error. */
export type Settled = (error?: unknown) => void;

/**
 * @param settled called once, after this has returned. With an error, or where this throws, call `releaseAll`. A function in place of a
 *   promise, since every call would make several of them
 */
export function settle(deps: SettleDeps, call: Call, outcome: Outcome, settled: Settled): void {
  if (call.settled) throw new Error(`call ${call.requestId} was settled before`);
  call.settled = true;
  call.settledMs = deps.clock.monotonic();
  let settlement: Settlement;
  try {
    settlement = settlementOf(deps, call, outcome);
  } catch (thrown) {
    // The delivered part is charged; an answer that was not delivered at all is not.
    deps.onFault(thrown, call.requestId);
    const stream = call.streaming ? streamOf(outcome) : undefined;
    const unsent = call.streaming ? unsentOf(outcome) : NOTHING_UNSENT;
    const faulted: Outcome = { kind: "faulted", stream, unsent, error: asWeirError(thrown) };
    close(deps, call, faulted, settlementOf(deps, call, faulted), settled);
    return;
  }
  close(deps, call, outcome, settlement, settled);
}

/** The result of a call, before any of it is committed. */
interface Settlement {
  readonly error: WeirError | undefined;
  readonly facts: ReplyFacts | undefined;
  readonly metered: Metered;
  readonly kept: Buffer | undefined;
  readonly payloadPool: KeptPool | undefined;
  readonly isPayloadLeftOut: boolean;
  readonly delivery: Delivery;
}

function settlementOf(deps: SettleDeps, call: Call, outcome: Outcome): Settlement {
  const error = errorOf(outcome, call);
  const facts = factsOf(outcome);
  const fee = call.lane?.key.isByok ? deps.byokFee : undefined;
  const metered = meter(call.request?.facts, call.endpoint, facts, coveredAt(call), fee, call.sent);
  const stream = streamOf(outcome);
  const kept = stream?.kept();
  warn(call, stream, facts, metered);
  if (stream !== undefined && kept === undefined) call.warnings.push("payload_truncated");
  const payloadPool = payloadPoolOf(deps, call, outcome);
  const isPayloadLeftOut = payloadPool !== undefined && !fitsPayload(deps, call, payloadPool, outcome, kept);
  if (isPayloadLeftOut) call.warnings.push("payload_not_kept: quota");
  const delivery = deliveryOf(deps, call, outcome, error, metered);
  return { error, facts, metered, kept, payloadPool, isPayloadLeftOut, delivery };
}

/** The pool that the call's payload counts in; undefined where none is kept in any case. */
function payloadPoolOf(
  { kept, maxPayloadBytes }: SettleDeps,
  call: Call,
  { kind }: Outcome,
): KeptPool | undefined {
  const { body } = call.incoming;
  if (kind === "refused" || body.length > maxPayloadBytes || !keepsText(call, call.isZdr)) return undefined;
  return kept.pool(call.key);
}

/** Asked before the answer is written, which holds the warning: so a whole answer counts with its bound. */
function fitsPayload(
  { maxPayloadBytes }: SettleDeps,
  call: Call,
  pool: KeptPool,
  outcome: Outcome,
  captured: Buffer | undefined,
): boolean {
  const answerBytes = outcome.kind === "whole" ? maxPayloadBytes : (captured?.length ?? 0);
  return pool.fitsUsual(call.incoming.body.length + answerBytes);
}

function close(
  deps: SettleDeps,
  call: Call,
  outcome: Outcome,
  settlement: Settlement,
  settled: Settled,
): void {
  const { error, facts, metered, kept, payloadPool, isPayloadLeftOut, delivery } = settlement;
  const stream = streamOf(outcome);
  if (outcome.kind === "refused" && error?.kind === "storage_unavailable") {
    // Refused because the store fails: its record would wait in memory, as would those of all calls after it. At a cell also because
    // credit could not be looked up, when it had its slot already.
    releaseAll(deps, call);
    if (call.detached !== undefined) logEnd(deps, call, delivery);
    delivery.send();
    queueMicrotask(settled);
    return;
  }
  const { gone } = call.incoming.reply;
  call.bytesOut += delivery.bytes.length;
  const ending: Ending = {
    status: statusOf(outcome, gone),
    httpStatus: gone ? 499 : delivery.status,
    error,
    metered,
    stopReason: facts?.stopReason ?? "",
    toolCalls: facts?.toolCalls ?? 0,
    response: outcome.kind === "whole" ? delivery.bytes : kept,
    isPayloadLeftOut: isPayloadLeftOut || (stream !== undefined && kept === undefined),
  };
  call.shadow?.primaryEnded(ending);
  const putLog = call.detached && logEnd(deps, call, delivery);
  const answered = isAnswered(outcome, error, metered);
  // First, because its client asked for it.
  const storeReplay = answered ? replayWriter(call, outcome, error, delivery.bytes, gone) : undefined;
  const storeResponse = responseOf(deps, call, outcome, settlement);
  const record = recordOf(deps, call, ending, call.settledMs);
  const prepared = deps.outbox.prepare(record);
  deps.latencies.observe(
    {
      route: call.incoming.format.name,
      modelClass: modelClass(call.model, call.endpoint),
      outcome: outcome.kind,
    },
    record,
    call.waitedMs,
  );
  call.admission?.release();
  if (payloadPool !== undefined) payloadPool.payloadBytes += payloadBytes(record);
  const committed = charge(deps, call.reservation?.holds, call, metered, () => {
    deps.outbox.put(prepared);
    storeReplay?.();
    storeResponse?.put();
    putLog?.();
    if (payloadPool !== undefined) deps.kept.cover(payloadPool);
  });
  // What was stored counts by now.
  call.keptRoom?.release();
  deps.onRecord?.(record, call.incoming.trace);
  if (metered.cost.total_micro_usd > 0 || error === undefined || call.hasState) {
    const shown = answered || call.hasState ? storeResponse : undefined;
    committed.then(() => sendLast(call, shown, delivery, settled), settled);
    return;
  }
  // Nothing was charged and no part of an answer waits: an error is sent without waiting for the disk.
  const told = call.idempotencyLock?.release();
  if (told === undefined) delivery.send();
  const sent = told === undefined ? committed : Promise.all([committed, told.then(() => delivery.send())]);
  sent.then(() => settled(), settled);
}

const payloadBytes = ({ request, response }: CallRecord): number =>
  (request?.length ?? 0) + (response?.length ?? 0);

/** Whether a whole answer, or a part that was charged, is delivered. */
const isAnswered = ({ kind }: Outcome, error: WeirError | undefined, { cost }: Metered): boolean =>
  (error === undefined && kind !== "cancelled") || cost.total_micro_usd > 0;

/** How the answer is stored, for those who ask for it later; undefined where it is not. */
function responseOf(
  deps: SettleDeps,
  call: Call,
  outcome: Outcome,
  { error, metered, delivery }: Settlement,
): KeptWriter | undefined {
  if (hasState(call)) return lastState(deps, call, { outcome, error, charged: chargedOf(call, metered) });
  // A provider that bills an answer in full also where it was cancelled has said it to the end: it is not what the client gets.
  const isGiven = error === undefined && call.detached?.gone !== true;
  return isGiven ? responseWriter(deps.responses, call, outcome, delivery.bytes) : undefined;
}

/** @returns puts the end of a detached call's log, in the act that charges the call */
const logEnd = (deps: SettleDeps, { requestId }: Call, { bytes, told, status }: Delivery): (() => void) =>
  deps.detached.ending(requestId, told?.() ?? bytes, status);

/** Nobody repeats or continues a call before its last bytes: other cells are told first. Alone there is nothing to wait for. */
function sendLast(
  { idempotencyLock }: Call,
  storeResponse: KeptWriter | undefined,
  delivery: Delivery,
  settled: Settled,
): void {
  let sent: Promise<void> | undefined;
  try {
    const released = idempotencyLock?.release();
    const shared = storeResponse?.shared();
    if (released === undefined && shared === undefined) delivery.send();
    else sent = Promise.all([released, shared]).then(() => delivery.send());
  } catch (error) {
    settled(error);
    return;
  }
  if (sent === undefined) settled();
  else sent.then(() => settled(), settled);
}

/**
 * Closes the holds, charges the call, and writes its record in one act, at once and in the order of the calls.
 * @param holds undefined where nothing is charged
 */
export function charge(
  deps: HoldDeps & { readonly clock: Clock; readonly store: Pick<Store, "act"> },
  holds: Holds | undefined,
  { requestId }: Call,
  { cost }: Metered,
  record: () => void,
): Promise<unknown> {
  if (holds === undefined) return deps.store.act(record, OWED);
  const amountMicroUsd = cost.total_micro_usd;
  const charged = { requestId, amountMicroUsd, atMs: deps.clock.now() };
  return deps.store.act(charging(deps, holds, charged, record), OWED);
}

const OWED = { isOwed: true } as const;

/** Releases slot and holds after a fault in settlement, in every case (T26, T65). */
export function releaseAll(deps: HoldDeps, call: Call): void {
  const { holds } = call.reservation ?? {};
  call.admission?.release();
  call.keptRoom?.release();
  if (holds !== undefined) releaseHolds(deps, holds);
}

function warn(
  call: Call,
  stream: AnswerStream | undefined,
  facts: ReplyFacts | undefined,
  metered: Metered,
): void {
  // Each warning must be given once, also if the answer could not be written and is settled again as an error.
  if (call.warnings.length > 0) call.warnings.length = 0;
  if (call.isOtherName) call.warnings.push(call.nameWarning);
  const held = call.reservation?.holds?.credit.amountMicroUsd;
  if (held !== undefined && metered.cost.total_micro_usd > held) {
    call.reserveExceeded = true;
    call.warnings.push("reserve_exceeded");
  }
  const fitted = fittedAt(call, call.endpoint);
  if (fitted !== undefined) call.warnings.push(`hold_fitted: ${fitted}`);
  if (call.plan?.limits !== undefined) warnOfLimit(call, fitted !== undefined);
  if (call.waitedMs > 0) call.warnings.push(`hold_waited: ${Math.ceil(call.waitedMs)}`);
  if (call.isStoreLeftOut) call.warnings.push(NOT_STORED);
  if (call.isTurnLeftOut) call.warnings.push(TURN_LEFT_OUT);
  if (stream !== undefined && stream.malformed > 0) call.warnings.push("malformed_upstream_event");
  if (call.answeredAs !== undefined) call.warnings.push(`answer_form: ${call.answeredAs}`);
  const lost = facts?.lost;
  if (lost !== undefined) for (const kind of lost) call.warnings.push(`answer_dropped: ${kind}`);
  for (const pointer of call.dropped.slice(0, MAX_DROPPED))
    call.warnings.push(`dropped: ${shortPointer(pointer)}`);
  const more = call.dropped.length - MAX_DROPPED + call.droppedMore;
  if (more > 0) call.warnings.push(`dropped: ${more} more`);
  if (call.sent !== NOTHING_SENT)
    for (const said of call.sent.unpriced.slice(0, MAX_DROPPED)) call.warnings.push(`no_price: ${said}`);
  const { unpriced } = metered;
  if (unpriced !== undefined) for (const said of unpriced) call.warnings.push(`unpriced: ${said}`);
  call.unpricedReports = unpriced?.length ?? 0;
}

/** Names what the endpoint was told less of than the client asks for. */
function warnOfLimit(call: Call, isFitted: boolean): void {
  const { request, endpoint, incoming, dropped } = call;
  const limit = limitAt(call, endpoint);
  if (request === undefined || endpoint === undefined || limit === undefined) return;
  const { format } = incoming;
  const isSplice = passageTo(format, endpoint)?.isSplice === true;
  const way = { format: format.name, isSplice, isFitted, dropped };
  call.warnings.push(...limitWarnings(request, endpoint, toldAt(call, endpoint, limit), way));
}

/** Pointers that are listed one by one: a body of megabytes may have any number of members that a dialect cannot express. */
const MAX_DROPPED = 100;

function errorOf(outcome: Outcome, call: Call): WeirError | undefined {
  switch (outcome.kind) {
    case "refused":
    case "faulted":
      return outcome.error;
    case "failed":
    case "broken":
      return callerError(outcome.failure, call);
    case "exhausted":
      return (
        outcome.error ?? fail("insufficient_credits", "The credit ran out while the answer was streamed.")
      );
    case "shut_down":
      return fail("shutting_down", "The gateway is shutting down.", { retryAfterMs: 1000 });
    default:
      return undefined;
  }
}

/** What was read of the answer so far, as far as it was delivered; undefined if no upstream answered. */
export function factsOf(outcome: Outcome): ReplyFacts | undefined {
  if (outcome.kind === "whole") return outcome.answer.facts;
  const facts = streamOf(outcome)?.facts;
  if (outcome.kind !== "exhausted" || facts === undefined) return facts;
  // The upstream's report may count text that was not delivered.
  const { textBytes } = outcome.delivered;
  return { ...facts, usage: undefined, outputBytes: textBytes, unreportedBytes: textBytes };
}

function statusOf(outcome: Outcome, gone: boolean): Ending["status"] {
  if (outcome.kind === "refused") return "rejected";
  if (outcome.kind === "cancelled" || gone) return "cancelled";
  return outcome.kind === "whole" || outcome.kind === "streamed" ? "ok" : "error";
}
