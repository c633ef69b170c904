/**
 * What a webhook of a payment gateway sets off: the object that it names is read, and settled as after any other reading. So a
 * webhook may come twice, late, or before the one that it follows.
 */
import type { JobEnding } from "../jobs/job.ts";
import {
  type Dispute,
  GatewayError,
  type GatewayId,
  type Notice,
  type PaymentGateway,
} from "../payments/gateway.ts";
import { type DisputingDeps, followDispute } from "./dispute.ts";
import { type ForeignRefundDeps, followRefunds } from "./foreign-refunds.ts";
import { settle } from "./settling.ts";
import type { TopupRow } from "./topup.ts";
import { lookAt, type WatchingDeps } from "./watching.ts";

export type NoticeDeps = WatchingDeps &
  ForeignRefundDeps &
  DisputingDeps & {
    /** Port: a mandate of ours changed. */
    readonly onMandate: (
      gateway: PaymentGateway,
      ref: string,
      signal: AbortSignal,
    ) => Promise<JobEnding | undefined>;
  };

/** @throws GatewayError for another try */
export async function onNotice(
  deps: NoticeDeps,
  gatewayId: GatewayId,
  { subject }: Notice,
  signal: AbortSignal,
): Promise<JobEnding | undefined> {
  const gateway = deps.gatewayOf(gatewayId);
  if (gateway === undefined || subject.kind === "none") return undefined;
  const { kind, ref, reference } = subject;
  if (kind === "mandate") return await deps.onMandate(gateway, ref, signal);
  if (kind === "checkout") return await onCheckout(deps, gatewayId, ref, reference, signal);
  if (kind === "dispute") return await onDispute(deps, gateway, ref, signal);
  // A refund's notice names its payment.
  return await onPayment(deps, gateway, ref, reference, signal);
}

async function onCheckout(
  deps: NoticeDeps,
  gatewayId: GatewayId,
  ref: string,
  reference: string,
  signal: AbortSignal,
): Promise<JobEnding | undefined> {
  const row = deps.topups.ofCheckout(gatewayId, ref) ?? deps.topups.find(reference);
  if (row?.gateway !== gatewayId) return undefined;
  // The notice may come before the act that stores the checkout's id.
  const look = await lookAt(deps, row.gatewayRef === "" ? { ...row, gatewayRef: ref } : row, signal);
  return look && { act: () => settle(deps, row.id, look.checkout) };
}

async function onPayment(
  deps: NoticeDeps,
  gateway: PaymentGateway,
  ref: string,
  reference: string,
  signal: AbortSignal,
): Promise<JobEnding | undefined> {
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
      if (isOf(deps.topups.find(row.id), ref)) followRefunds(deps, row.id, refunds);
    },
  };
}

/** Refunds and disputes of a second payment of a top-up are no business of its credit. */
const isOf = (row: TopupRow | undefined, paymentRef: string): boolean => row?.paymentRef === paymentRef;

async function onDispute(
  deps: NoticeDeps,
  gateway: PaymentGateway,
  ref: string,
  signal: AbortSignal,
): Promise<JobEnding | undefined> {
  let dispute: Dispute;
  try {
    dispute = await gateway.readDispute(ref, { signal });
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "missing") return undefined;
    throw error;
  }
  const row = deps.topups.ofPayment(gateway.id, dispute.paymentRef);
  if (row === undefined) return undefined;
  return { act: () => followDispute(deps, row.id, dispute) };
}

/** Only in an act. Money came that no top-up asked for. */
function parkUnknown(
  { parked, clock }: NoticeDeps,
  gateway: GatewayId,
  {
    ref,
    reference,
    total,
  }: { ref: string; reference: string; total: { currency: "INR" | "USD"; minor: number } },
): void {
  const detail =
    reference === "" ? "A payment without our reference" : `A payment of the unknown ${reference}`;
  const given = { gateway, ref, orgId: "", topupId: "", currency: total.currency, minor: total.minor };
  parked.park({ ...given, detail: detail.slice(0, 500), reason: "unknown_payment" }, clock.now());
}
