/**
 * What a webhook of a payment gateway sets off: the object that it names is read, and settled as after any other reading. So a
 * webhook may come twice, late, or before the one that it follows.
 */

import { type DisputeDeps, followDispute } from "../disputes/dispute.ts";
import {
  type GatewayId,
  type Notice,
  orMissing,
  type Payment,
  type PaymentGateway,
} from "../payments/gateway.ts";
import type { NoticeEnding } from "../payments/inbound.ts";
import { type ForeignRefundDeps, followListed, followRefund } from "../refunds/foreign-refunds.ts";
import { settle } from "../topups/settlement.ts";
import { lookAt, type TopupWatchDeps } from "../topups/watch.ts";

export type NoticeDeps = TopupWatchDeps &
  ForeignRefundDeps &
  DisputeDeps & {
    /** Port: a mandate of ours changed. */
    readonly onMandate: (
      gateway: PaymentGateway,
      ref: string,
      signal: AbortSignal,
    ) => Promise<NoticeEnding | undefined>;
  };

/** @throws GatewayError for another try */
export async function onNotice(
  deps: NoticeDeps,
  gatewayId: GatewayId,
  { subject }: Notice,
  signal: AbortSignal,
): Promise<NoticeEnding | undefined> {
  const gateway = deps.gatewayOf(gatewayId);
  if (gateway === undefined || subject.kind === "none") return undefined;
  const { kind, ref, reference } = subject;
  if (kind === "mandate") return await deps.onMandate(gateway, ref, signal);
  if (kind === "checkout") return await onCheckout(deps, gatewayId, ref, reference, signal);
  if (kind === "dispute")
    return await afterPayment(deps, gateway, gateway.readDispute(ref, { signal }), signal, followDispute);
  if (kind === "refund")
    return await afterPayment(deps, gateway, gateway.readRefund(ref, { signal }), signal, followRefund);
  return await onPayment(deps, gateway, ref, reference, signal);
}

async function onCheckout(
  deps: NoticeDeps,
  gatewayId: GatewayId,
  ref: string,
  reference: string,
  signal: AbortSignal,
): Promise<NoticeEnding | undefined> {
  const row = deps.topups.ofCheckout(gatewayId, ref) ?? deps.topups.find(reference);
  if (row?.gateway !== gatewayId) return undefined;
  // The notice may come before the act that stores the checkout's id.
  const look = await lookAt(deps, row.gatewayRef === "" ? { ...row, gatewayRef: ref } : row, signal);
  return { act: () => look && settle(deps, row.id, look.checkout), orgId: () => row.orgId };
}

async function onPayment(
  deps: NoticeDeps,
  gateway: PaymentGateway,
  ref: string,
  reference: string,
  signal: AbortSignal,
): Promise<NoticeEnding | undefined> {
  const known = deps.topups.ofPayment(gateway.id, ref) ?? deps.topups.find(reference);
  const payment = await gateway.readPayment(ref, { signal });
  const row = known ?? deps.topups.find(payment.reference);
  if (row?.gateway !== gateway.id) {
    return payment.state === "paid" ? { act: () => parkUnknown(deps, gateway.id, payment) } : undefined;
  }
  const refunds = payment.refundedMinor > 0 ? await gateway.refundsOf(ref, { signal }) : [];
  const look = payment.state === "paid" ? undefined : await lookAt(deps, row, signal);
  return {
    act() {
      settle(deps, row.id, look?.checkout ?? { ref: row.gatewayRef, state: "open", payments: [payment] });
      const topup = deps.topups.ofPayment(gateway.id, ref);
      if (topup !== undefined) followListed(deps, topup.id, refunds);
    },
    orgId: () => row.orgId,
  };
}

/**
 * Follows a refund or a dispute of a payment. A payment that is not credited yet is credited first, for webhooks come in any
 * order. Refunds and disputes of a second payment of a top-up are no business of its credit.
 */
async function afterPayment<T extends { readonly paymentRef: string }>(
  deps: NoticeDeps,
  gateway: PaymentGateway,
  reading: Promise<T>,
  signal: AbortSignal,
  follow: (deps: NoticeDeps, topupId: string, read: T) => void,
): Promise<NoticeEnding | undefined> {
  const read = await orMissing(reading);
  if (read === undefined) return undefined;
  const { paymentRef } = read;
  const isKnown = deps.topups.ofPayment(gateway.id, paymentRef) !== undefined;
  const first = isKnown ? undefined : await onPayment(deps, gateway, paymentRef, "", signal);
  return {
    act() {
      first?.act?.();
      const topup = deps.topups.ofPayment(gateway.id, paymentRef);
      if (topup !== undefined) follow(deps, topup.id, read);
    },
    // The first reading knows the org of a top-up's second payment.
    orgId: () => deps.topups.ofPayment(gateway.id, paymentRef)?.orgId ?? first?.orgId?.(),
  };
}

/** Only in an act. Money came that no top-up asked for. */
function parkUnknown(
  { parked, clock }: NoticeDeps,
  gateway: GatewayId,
  { ref, reference, total }: Payment,
): void {
  const detail =
    reference === "" ? "A payment without our reference" : `A payment of the unknown ${reference}`;
  const given = { gateway, ref, orgId: "", topupId: "", currency: total.currency, minor: total.minor };
  parked.park({ ...given, detail: detail.slice(0, 500), reason: "unknown_payment" }, clock.now());
}
