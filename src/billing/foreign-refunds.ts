/**
 * Refunds that were made in a payment gateway's dashboard. The money has gone back, so they become refunds of ours: the credit is
 * taken, below zero if it must be, and a credit note is written. What does not fit the top-up is parked.
 */
import type { GatewayRefund } from "../payments/gateway.ts";
import type { ParkedPayments } from "./parked.ts";
import { amountText, shareDown } from "./rate.ts";
import type { RefundRow } from "./refund.ts";
import { failRefund, newRefund, type RefundingDeps, settleRefund, take } from "./refunding.ts";
import type { TopupRow } from "./topup.ts";

export interface ForeignRefundDeps extends RefundingDeps {
  readonly parked: ParkedPayments;
}

/** Only in an act: makes our refunds agree with what the payment gateway has of a payment. */
export function followRefunds(
  deps: ForeignRefundDeps,
  topupId: string,
  made: readonly GatewayRefund[],
): void {
  for (const one of made) {
    const ours = ourRefund(deps, one);
    if (ours === undefined) adopt(deps, topupId, one);
    else follow(deps, ours, one);
  }
}

const ourRefund = (
  { refunds }: ForeignRefundDeps,
  { ref, reference }: GatewayRefund,
): RefundRow | undefined =>
  (reference === "" ? undefined : refunds.find(reference)) ??
  (ref === ""
    ? undefined
    : (refunds.ofRef("stripe", ref) ?? refunds.ofRef("razorpay", ref) ?? refunds.ofRef("simulated", ref)));

function follow(deps: ForeignRefundDeps, ours: RefundRow, { ref, state, failure }: GatewayRefund): void {
  if (state === "refunded") settleRefund(deps, ours.id, ref);
  // An earlier attempt may have failed while a later one is under way.
  if (state === "failed" && ours.gatewayRef === ref) failRefund(deps, ours.id, failure?.message ?? "");
}

function adopt(deps: ForeignRefundDeps, topupId: string, made: GatewayRefund): void {
  if (made.state === "failed") return;
  const topup = deps.topups.find(topupId);
  if (topup === undefined) return;
  const amountMinor = netOf(topup, made.total.minor);
  const leftMinor = topup.quote.amountMinor - topup.refundedMinor;
  if (amountMinor === 0 || amountMinor > leftMinor || made.total.currency !== topup.quote.currency) {
    park(deps, topup, made);
    return;
  }
  deps.lots.advance(topup.orgId);
  const request = { amountMinor, reason: "Refunded at the payment gateway", idempotencyKey: "" };
  const refund = newRefund(deps, topup, request, { gatewayRef: made.ref, totalMinor: made.total.minor });
  take(deps, topup, refund, { mayOverdraw: true });
  if (made.state === "refunded") settleRefund(deps, refund.id, made.ref);
}

/** Before tax; the whole of what is left where the whole came back. */
function netOf({ quote }: TopupRow, totalMinor: number): number {
  return Math.min(quote.amountMinor, shareDown(quote.amountMinor, totalMinor, quote.totalMinor));
}

function park(
  { parked, clock }: ForeignRefundDeps,
  { id, orgId, gateway }: TopupRow,
  made: GatewayRefund,
): void {
  const { currency, minor } = made.total;
  const detail = `The payment gateway refunded ${amountText(minor, currency)}, more than the top-up has left`;
  const given = { gateway, ref: made.ref, orgId, topupId: id, currency, minor, detail };
  parked.park({ ...given, reason: "refund_does_not_fit" }, clock.now());
}
