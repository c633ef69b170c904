/**
 * Refunds that were made in a payment gateway's dashboard. The money has gone back, so they become refunds of ours: the credit is
 * taken, below zero if it must be, and a credit note is written. What does not fit the top-up is parked.
 */

import { moneyText } from "../../base/currency.ts";
import { leaveToRefunds } from "../disputes/dispute.ts";
import type { TaxedAmount } from "../invoices/invoice.ts";
import type { ParkedPayments, ParkedReason } from "../parked.ts";
import type { GatewayId, GatewayRefund } from "../payments/gateway.ts";
import { readNotice } from "../payments/inbound.ts";
import type { TopupRow } from "../topups/topup.ts";
import {
  failRefund,
  newRefund,
  orderRefund,
  type RefundDeps,
  reservedOf,
  settleRefund,
  take,
} from "./acts.ts";
import type { RefundRow } from "./refund.ts";

const LOOK_AGAIN_MS = 60_000;

export interface ForeignRefundDeps extends RefundDeps {
  readonly parked: ParkedPayments;
}

/**
 * Only in an act: makes our refunds agree with what the payment gateway has of a payment. One that is not known yet is only read
 * again, in its own turn: a list may be older than what has been read of a refund since.
 */
export function followListed(
  deps: ForeignRefundDeps,
  topupId: string,
  listed: readonly GatewayRefund[],
): void {
  const gatewayId = deps.topups.find(topupId)?.gateway;
  if (gatewayId === undefined || gatewayId === "offline") return;
  for (const one of listed) {
    const ours = ourRefund(deps, gatewayId, one);
    if (ours !== undefined) follow(deps, ours, one);
    else if (one.state !== "failed") readAgain(deps, gatewayId, one);
  }
}

function readAgain(
  { jobs }: ForeignRefundDeps,
  gatewayId: GatewayId,
  { ref, reference }: GatewayRefund,
): void {
  const eventId = `listed:${ref}`;
  jobs.enqueue(readNotice, {
    key: `${gatewayId}:${eventId}`,
    lane: `${gatewayId}:${ref}`,
    orgId: "",
    payload: { gatewayId, eventId, kind: "refund", ref, reference },
  });
}

/** Only in an act: makes our refund agree with one that was read by its id. */
export function followRefund(deps: ForeignRefundDeps, topupId: string, made: GatewayRefund): void {
  const gatewayId = deps.topups.find(topupId)?.gateway;
  if (gatewayId === undefined || gatewayId === "offline") return;
  const ours = ourRefund(deps, gatewayId, made);
  if (ours === undefined) adopt(deps, topupId, made);
  else follow(deps, ours, made);
}

/** A reference may have been written in a dashboard by anyone: it counts for a refund of this payment only. */
function ourRefund(
  { refunds }: ForeignRefundDeps,
  gatewayId: GatewayId,
  { ref, reference, paymentRef }: GatewayRefund,
): RefundRow | undefined {
  const named = reference === "" ? undefined : refunds.find(reference);
  return named?.paymentRef === paymentRef ? named : refunds.ofRef(gatewayId, ref);
}

function follow(deps: ForeignRefundDeps, ours: RefundRow, made: GatewayRefund): void {
  const { ref, state, failure } = made;
  const topup = deps.topups.find(ours.topupId);
  if (topup === undefined) return;
  const isLast = ours.gatewayRef === ref;
  if (ours.status === "refunded" && isLast && state === "failed") {
    park(deps, topup, made, {
      reason: "refund_failed_late",
      what: "came back after it had succeeded: its credit note stands",
    });
  } else if (ours.status === "refunded" && !isLast && state !== "failed") {
    park(deps, topup, made, { reason: "refund_does_not_fit", what: `was made a second time for ${ours.id}` });
  }
  if (state === "refunded") settleRefund(deps, ours.id, ref);
  // An earlier attempt may have failed while a later one is under way.
  if (state === "failed" && isLast) failRefund(deps, ours.id, failure?.message ?? "");
}

function adopt(deps: ForeignRefundDeps, topupId: string, made: GatewayRefund): void {
  if (made.state === "failed") return;
  const topup = deps.topups.find(topupId);
  if (topup === undefined) return;
  const part = made.total.currency === topup.quote.currency && partOf(deps, topup, made.total.minor);
  if (!part) {
    park(deps, topup, made, { reason: "refund_does_not_fit", what: "is more than the top-up has left" });
    return;
  }
  deps.lots.advance(topup.orgId);
  const { taxableMinor: amountMinor, heads } = part;
  const request = { amountMinor, reason: "Refunded at the payment gateway", idempotencyKey: "" };
  const refund = newRefund(deps, topup, request, {
    gatewayRef: made.ref,
    heads,
    totalMinor: made.total.minor,
  });
  take(deps, topup, refund, { mayOverdraw: true });
  leaveToRefunds(deps, topupId);
  if (made.state === "refunded") settleRefund(deps, refund.id, made.ref);
  // The webhook of its end may be lost.
  else orderRefund(deps, refund, deps.clock.now() + LOOK_AGAIN_MS);
}

/**
 * Amount and tax of money that went back: to the paisa, and what empties the top-up empties its invoice, though a correction may
 * have moved that by a paisa. @returns undefined where it does not fit
 */
function partOf(
  deps: ForeignRefundDeps,
  { id, orgId, invoiceId, quote, refundedMinor }: TopupRow,
  minor: number,
): TaxedAmount | undefined {
  const { invoices, refunds } = deps;
  let sum = minor;
  for (const { status, totalMinor } of refunds.ofTopup(id)) if (status !== "failed") sum += totalMinor;
  const leftMinor = quote.amountMinor - refundedMinor;
  if (sum > quote.totalMinor || leftMinor <= 0) return undefined;
  const reserved = reservedOf(deps, id);
  if (sum < quote.totalMinor) return invoices.creditSplit(orgId, invoiceId, minor, reserved);
  return {
    taxableMinor: leftMinor,
    heads: invoices.creditShare(orgId, invoiceId, leftMinor, reserved).heads,
  };
}

function park(
  { parked, clock }: ForeignRefundDeps,
  { id, orgId, gateway }: TopupRow,
  made: GatewayRefund,
  { reason, what }: { reason: ParkedReason; what: string },
): void {
  const { currency, minor } = made.total;
  const detail = `The payment gateway's refund of ${moneyText(minor, currency)} ${what}`;
  const given = { gateway, ref: made.ref, orgId, topupId: id, currency, minor, detail };
  parked.park({ ...given, reason }, clock.now());
}
