/**
 * Refunds. Credit is taken in the act that asks for one, so it cannot be spent meanwhile, and comes back if the refund fails. The
 * payment gateway is asked by a job; after an unclear answer the job reads what refunds there are, and never asks twice for one.
 */

import { z } from "zod";
import type { CreditLeft } from "../../account/credit-left.ts";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time.ts";
import type { Book } from "../../credits/ledger/book.ts";
import { type CreditLots, REFUND_FAILED } from "../../credits/ledger/lots.ts";
import type { Purse } from "../../credits/ledger/purse.ts";
import type { Trail } from "../../store/events/trail.ts";
import { type JobEnding, type JobHandler, jobKind } from "../../store/jobs/job.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import { type DisputeTable, takeDisputed } from "../disputes/dispute.ts";
import { type InvoiceIssuer, type InvoiceOrder, oneOf, type TaxedAmount } from "../invoices/invoice.ts";
import { NO_AMOUNT, plus, taxOf } from "../invoices/tax.ts";
import {
  GatewayError,
  type GatewayId,
  type GatewayRefund,
  mustBeOpen,
  type PaymentGateway,
} from "../payments/gateway.ts";
import { GATEWAY_JOB } from "../payments/gateway-job.ts";
import { shareUp } from "../rates/rate.ts";
import { isPossible } from "../state-moves.ts";
import type { TopupTables } from "../topups/tables.ts";
import { isPaid, settledStatus, type TopupRow } from "../topups/topup.ts";
import { refundFailed, refundSettled } from "./events.ts";
import { REFUND_MOVES, type RefundRow, refundWire } from "./refund.ts";
import type { RefundTables } from "./tables.ts";

/** How long an unclear answer is asked for again with the same key. */
const STORED_FAILURE_MS = 15 * MINUTE_MS;

/** Refunds of one top-up, failed ones included: each reads those before it, and most have a credit note and a mail. */
const MOST_REFUNDS = 100;

export const sendRefund = jobKind({
  name: "billing.refund",
  payload: z.object({ refundId: z.string() }),
  ...GATEWAY_JOB,
  atOncePerLane: 1,
  isKeptOnErasure: true,
});

export interface RefundDeps {
  readonly clock: Clock;
  readonly book: Pick<Book, "post">;
  readonly purse: Pick<Purse, "funds">;
  readonly lots: CreditLots;
  readonly topups: TopupTables;
  readonly refunds: RefundTables;
  readonly disputes: DisputeTable;
  readonly invoices: Pick<InvoiceIssuer, "issue" | "creditShare" | "creditSplit">;
  readonly events: Trail["events"];
  readonly jobs: Pick<JobQueue, "enqueue">;
  readonly gatewayOf: (id: GatewayId) => PaymentGateway | undefined;
}

export interface RefundRequest {
  readonly amountMinor: number;
  readonly reason: string;
  readonly idempotencyKey: string;
}

/** What of a top-up could be refunded now, before tax. */
export interface Refundable {
  readonly minor: number;
  /** Credit that takes. */
  readonly microUsd: number;
}

/**
 * Unspent paid credit only: what is available and no grant, and never more than the top-up bought and has left. Only in an act,
 * or of committed rows.
 */
export function refundableOf(deps: Pick<RefundDeps, "purse" | "lots">, row: TopupRow): Refundable {
  const { quote, refundedMinor, refundedMicroUsd, openDisputes } = row;
  if (!isPaid(row) || openDisputes.length > 0) return { minor: 0, microUsd: 0 };
  const leftMinor = quote.amountMinor - refundedMinor;
  const leftMicroUsd = quote.creditsMicroUsd - refundedMicroUsd;
  const microUsd = Math.min(leftMicroUsd, unspentPaid(deps, row.orgId));
  if (microUsd === leftMicroUsd) return { minor: leftMinor, microUsd };
  // Rounded down, because the credit for it is rounded up.
  const minor = Number((BigInt(quote.amountMinor) * BigInt(microUsd)) / BigInt(quote.creditsMicroUsd));
  return { minor: Math.min(minor, leftMinor), microUsd };
}

/** Paid credit that is neither spent nor held for calls that run, micro-USD. */
const unspentPaid = (deps: Pick<RefundDeps, "purse" | "lots">, orgId: string): number =>
  Math.max(0, deps.purse.funds(orgId).availableMicroUsd - leftOfGrants(deps, orgId));

const leftOfGrants = ({ lots }: Pick<RefundDeps, "lots">, orgId: string): number =>
  lots.of(orgId).grants.reduce((sum, { leftMicroUsd }) => sum + leftMicroUsd, 0);

/** Refunds that are looked at for those under way: a closing must not wait for all that an org ever had. */
const MOST_LOOKED_AT = 100;

/** Only in an act: what an org that is closed leaves. */
export function creditLeft(deps: Pick<RefundDeps, "purse" | "lots" | "refunds">, orgId: string): CreditLeft {
  const refunds: RefundRow[] = [];
  let looked = 0;
  for (const refund of deps.refunds.of(orgId)) {
    if (looked++ === MOST_LOOKED_AT) break;
    if (refund.status === "pending") refunds.push(refund);
  }
  return {
    paidMicroUsd: unspentPaid(deps, orgId),
    grantedMicroUsd: leftOfGrants(deps, orgId),
    refunds,
  };
}

/**
 * Only in an act. @returns the refund, and whether it was asked for before
 * @throws WeirError 404, 409 `not_refundable` or `idempotency_mismatch`
 */
export function askRefund(
  deps: RefundDeps,
  orgId: string,
  topupId: string,
  request: RefundRequest,
): { readonly refund: RefundRow; readonly replay: boolean } {
  const { topups, refunds, lots } = deps;
  const topup = topups.mustGet(orgId, topupId);
  const earlier = refunds.ofKey(orgId, topupId, request.idempotencyKey);
  if (earlier !== undefined) {
    if (earlier.amountMinor === request.amountMinor) return { refund: earlier, replay: true };
    throw fail("idempotency_mismatch", "This idempotency_key was used for another amount.", {
      param: "/idempotency_key",
    });
  }
  assertRefundable(deps, topup, request.amountMinor);
  lots.advance(orgId);
  const refund = newRefund(deps, topup, request);
  take(deps, topup, refund);
  orderRefund(deps, refund, deps.clock.now());
  return { refund, replay: false };
}

/** Only in an act: the job that makes it, or only looks after one that the payment gateway has already. */
export function orderRefund(
  { jobs }: Pick<RefundDeps, "jobs">,
  { id, orgId, gateway }: RefundRow,
  dueMs: number,
): void {
  jobs.enqueue(sendRefund, { key: id, orgId, lane: gateway, dueMs, payload: { refundId: id } });
}

/** Why nothing of a top-up can be refunded, whatever credit there is; undefined where nothing keeps it from being. */
export function refundBar({ refunds }: Pick<RefundDeps, "refunds">, topup: TopupRow): string | undefined {
  if (!isPaid(topup)) return `The top-up is ${topup.status}: nothing was paid.`;
  if (topup.openDisputes.length > 0) return "The payment is disputed.";
  if (topup.gateway === "offline") return "It was paid outside of any payment gateway: ask the operator.";
  let made = 0;
  for (const { status } of refunds.ofTopup(topup.id)) {
    if (status === "pending") return "A refund of this top-up is under way: wait until it has ended.";
    if (++made === MOST_REFUNDS) return `It was refunded ${made} times already: ask the operator.`;
  }
  return undefined;
}

/** @throws WeirError 409 `not_refundable` */
export function assertRefundable(deps: RefundDeps, topup: TopupRow, amountMinor: number): void {
  const no = (message: string, minor = 0) =>
    fail("not_refundable", message, { param: "/amount_minor", details: { refundable_minor: minor } });
  const bar = refundBar(deps, topup);
  if (bar !== undefined) throw no(bar);
  const { minor } = refundableOf(deps, topup);
  if (amountMinor > minor) throw no(`${minor} of this top-up can be refunded, before tax.`, minor);
}

/** What credit notes of refunds that are under way will take back of the invoice. */
export function reservedOf({ refunds }: Pick<RefundDeps, "refunds">, topupId: string): TaxedAmount {
  let sum = NO_AMOUNT;
  for (const { status, amountMinor: taxableMinor, heads } of refunds.ofTopup(topupId))
    if (status === "pending") sum = plus(sum, { taxableMinor, heads });
  return sum;
}

/** @param known what a payment gateway says of a refund that was made with it, and the heads of its tax */
export function newRefund(
  deps: Pick<RefundDeps, "clock" | "invoices" | "refunds">,
  topup: TopupRow,
  { amountMinor, reason, idempotencyKey }: RefundRequest,
  known: Partial<Pick<RefundRow, "gatewayRef" | "heads" | "totalMinor">> = {},
): RefundRow {
  const { clock, invoices } = deps;
  const nowMs = clock.now();
  const { orgId, invoiceId } = topup;
  const heads =
    known.heads ?? invoices.creditShare(orgId, invoiceId, amountMinor, reservedOf(deps, topup.id)).heads;
  const { quote, refundedMinor, refundedMicroUsd } = topup;
  const isRest = refundedMinor + amountMinor === quote.amountMinor;
  const left = quote.creditsMicroUsd - refundedMicroUsd;
  return {
    id: newId("rfd", nowMs),
    orgId: topup.orgId,
    topupId: topup.id,
    status: "pending",
    gateway: topup.gateway,
    paymentRef: topup.paymentRef,
    gatewayRef: "",
    currency: quote.currency,
    amountMinor,
    heads,
    fxRate: quote.fxRate,
    totalMinor: amountMinor + taxOf(heads),
    // At the top-up's rate, rounded up; the last one takes what is left.
    creditsMicroUsd: isRest
      ? left
      : Math.min(left, shareUp(quote.creditsMicroUsd, amountMinor, quote.amountMinor)),
    creditNoteId: "",
    reason,
    idempotencyKey,
    attempt: 1,
    failure: "",
    createdAtMs: nowMs,
    settledAtMs: null,
    ...known,
  };
}

/** Only in an act. @throws WeirError 409 where the credit was spent meanwhile */
export function take(
  { book, topups, refunds }: Pick<RefundDeps, "book" | "topups" | "refunds">,
  topup: TopupRow,
  refund: RefundRow,
  { mayOverdraw = false } = {},
): void {
  const { orgId, id: refId, creditsMicroUsd } = refund;
  if (creditsMicroUsd > 0) {
    const amountMicroUsd = -creditsMicroUsd;
    const posted = book.post(orgId, {
      kind: "refund",
      amountMicroUsd,
      refType: "refund",
      refId,
      mayOverdraw,
    });
    if (posted.outcome !== "posted") throw fail("not_refundable", "The credit was spent meanwhile.");
  }
  refunds.put(refund);
  putRefunded(topups, topup, refund, 1);
}

function putRefunded(topups: TopupTables, topup: TopupRow, refund: RefundRow, sign: 1 | -1): void {
  const next = {
    ...topup,
    refundedMinor: topup.refundedMinor + sign * refund.amountMinor,
    refundedMicroUsd: topup.refundedMicroUsd + sign * refund.creditsMicroUsd,
  };
  topups.put({ ...next, status: settledStatus(next) });
}

/** Only in an act: the money has gone back. */
export function settleRefund(deps: RefundDeps, refundId: string, gatewayRef: string): void {
  const { clock, refunds, topups, invoices, events } = deps;
  const row = refunds.find(refundId);
  const topup = topups.find(row?.topupId ?? "");
  if (row === undefined || topup === undefined || isPossible(REFUND_MOVES.settle, row.status) !== "now")
    return;
  const note = invoices.issue(noteOrder(deps, row, topup));
  const settled: RefundRow = {
    ...row,
    status: "refunded",
    gatewayRef,
    creditNoteId: note.id,
    settledAtMs: clock.now(),
  };
  refunds.put(settled);
  events.emit(refundSettled, row.orgId, refundWire(settled));
}

/**
 * Against the invoice that is in force, and to whom that was issued: a correction may have replaced the first one and given it a
 * GSTIN, by which the note is registered and reported. The tax is what the refund was made with, so that the note is of the money that
 * went back, unless the correction has other heads.
 */
function noteOrder({ invoices }: RefundDeps, row: RefundRow, { invoiceId, quote }: TopupRow): InvoiceOrder {
  const share = invoices.creditShare(row.orgId, invoiceId, row.amountMinor);
  const { originalId, treatment, recipient, heads } = share;
  const isOther = treatment.kind === "intra" ? row.heads.igstMinor > 0 : row.heads.cgstMinor > 0;
  return {
    orgId: row.orgId,
    reference: { type: "refund", id: row.id },
    kind: "credit_note",
    currency: row.currency,
    lines: [oneOf("credits", "Refund of prepaid credit for AI model inference", row.amountMinor)],
    taxableMinor: row.amountMinor,
    heads: isOther ? heads : row.heads,
    treatment,
    recipient,
    rate: quote.rate,
    topupId: row.topupId,
    originalId,
  };
}

/** Only in an act: no money has moved, so the credit is available again. */
export function failRefund(deps: RefundDeps, refundId: string, message: string): void {
  const { book, refunds, topups, events } = deps;
  const row = refunds.find(refundId);
  const topup = topups.find(row?.topupId ?? "");
  if (row === undefined || topup === undefined || isPossible(REFUND_MOVES.fail, row.status) !== "now") return;
  const { orgId, id: refId, creditsMicroUsd: amountMicroUsd } = row;
  if (amountMicroUsd > 0)
    book.post(orgId, { kind: "adjustment", amountMicroUsd, refType: REFUND_FAILED, refId });
  const failed: RefundRow = { ...row, status: "failed", failure: message };
  refunds.put(failed);
  putRefunded(topups, topup, row, -1);
  takeDisputed(deps, topup.id);
  events.emit(refundFailed, orgId, refundWire(failed));
}

export const refunder = (deps: RefundDeps): JobHandler<{ refundId: string }> => ({
  async run({ refundId }, { signal }): Promise<JobEnding | undefined> {
    const row = deps.refunds.find(refundId);
    if (row?.status !== "pending" || row.gateway === "offline") return undefined;
    const gateway = mustBeOpen(deps, row.gateway);
    try {
      return ended(deps, refundId, await refundWith(gateway, row, signal));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return afterError(deps, gateway, row, error, signal);
    }
  },
});

/** One that was made before is found by its reference: the payment gateway may have forgotten the idempotency key. */
async function refundWith(
  gateway: PaymentGateway,
  row: RefundRow,
  signal: AbortSignal,
): Promise<GatewayRefund> {
  if (row.gatewayRef !== "") return await gateway.readRefund(row.gatewayRef, { signal });
  const made = await madeBefore(gateway, row, signal);
  if (made !== undefined) return made;
  const { id: reference, paymentRef, currency, totalMinor: minor, attempt } = row;
  const order = { reference, paymentRef, total: { currency, minor } };
  return await gateway.refund(order, { idempotencyKey: `${reference}_${attempt}`, signal });
}

const madeBefore = async (gateway: PaymentGateway, row: RefundRow, signal: AbortSignal) =>
  (await gateway.refundsOf(row.paymentRef, { signal })).find(
    ({ reference, state }) => reference === row.id && state !== "failed",
  );

/**
 * Money is believed to be back only once the refund was read by the id that is stored. An answer to the request may be one that the
 * payment gateway kept for its idempotency key, of a refund that has failed since; and a notice of that failure counts only for the
 * refund whose id we have.
 */
function ended(deps: RefundDeps, refundId: string, made: GatewayRefund): JobEnding {
  const { clock, refunds } = deps;
  const isKnown = refunds.find(refundId)?.gatewayRef === made.ref;
  if (made.state === "refunded" && isKnown) return { act: () => settleRefund(deps, refundId, made.ref) };
  if (made.state === "failed") return { act: () => failRefund(deps, refundId, made.failure?.message ?? "") };
  const act = () => {
    const row = refunds.find(refundId);
    if (row?.status === "pending" && row.gatewayRef !== made.ref)
      refunds.put({ ...row, gatewayRef: made.ref });
  };
  if (made.state === "refunded") return { act, againAtMs: clock.now() };
  const ageMs = clock.now() - made.createdAtMs;
  return { act, againAtMs: clock.now() + (ageMs < 10 * MINUTE_MS ? MINUTE_MS : HOUR_MS) };
}

/** @throws GatewayError for another try */
async function afterError(
  deps: RefundDeps,
  gateway: PaymentGateway,
  row: RefundRow,
  error: GatewayError,
  signal: AbortSignal,
): Promise<JobEnding> {
  if (error.kind === "declined") {
    return { act: () => failRefund(deps, row.id, error.failure?.message ?? error.message) };
  }
  if (error.kind === "busy") return { againAtMs: deps.clock.now() + (error.retryAfterMs ?? MINUTE_MS) };
  if (error.kind !== "unclear") throw error;
  const made = await madeBefore(gateway, row, signal);
  if (made !== undefined) return ended(deps, row.id, made);
  // It shows no effect, but a request that timed out may still have one: for a while the same key is asked again. Then another
  // key is needed, because a payment gateway repeats its stored failure to the old one.
  if (deps.clock.now() - row.createdAtMs < row.attempt * STORED_FAILURE_MS) throw error;
  return {
    act: () => {
      const now = deps.refunds.find(row.id);
      if (now?.status === "pending") deps.refunds.put({ ...now, attempt: now.attempt + 1 });
    },
    againAtMs: deps.clock.now() + MINUTE_MS,
  };
}
