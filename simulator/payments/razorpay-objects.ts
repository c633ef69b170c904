/** Entities of Razorpay's API, made of what the engine knows: the fields that an integration reads, under Razorpay's names. */
import type { Engine } from "./engine.ts";
import type { SimCheckout, SimDispute, SimLine, SimOrder, SimPayment, SimRefund } from "./state.ts";

const HOUSE = "razorpay";
const seconds = (ms: number): number => Math.floor(ms / 1000);
const suffix = (id: string): string => id.slice(id.lastIndexOf("_") + 1);
/** Razorpay writes an empty list for no notes. */
const notesOf = (reference: string) => (reference === "" ? [] : { reference });

/** A page belongs to an order, whose id is made of its own. */
export const orderIdOf = (checkoutId: string): string => `order_${suffix(checkoutId)}`;
export const linkIdOf = (orderId: string): string => `plink_${suffix(orderId)}`;
export const authPaymentIdOf = (checkoutId: string): string => `pay_${suffix(checkoutId)}`;
export const registrationIdOf = (paymentId: string): string => `inv_${suffix(paymentId)}`;

export function linkEntity(engine: Engine, checkout: SimCheckout, url: string) {
  const { id, amount, currency, reference, state, isCancelled, createdAtMs, expiresAtMs } = checkout;
  const ended = isCancelled ? "cancelled" : "expired";
  const status = state === "open" ? "created" : state === "complete" ? "paid" : ended;
  const paid = checkout.paymentIds
    .map((paymentId) => engine.payment(HOUSE, paymentId))
    .filter((payment) => payment.state === "paid");
  return {
    id,
    entity: "payment_link",
    amount,
    currency,
    reference_id: reference,
    status,
    short_url: url,
    order_id: orderIdOf(id),
    notes: notesOf(reference),
    created_at: seconds(createdAtMs),
    expire_by: seconds(expiresAtMs),
    amount_paid: status === "paid" ? amount : 0,
    payments: paid.map((payment) => ({ payment_id: payment.id, amount, status: "captured" })),
  };
}

const STATUS: Readonly<Record<SimPayment["state"], string>> = {
  prepared: "created",
  processing: "created",
  authorized: "authorized",
  paid: "captured",
  failed: "failed",
  returned: "refunded",
};

export function paymentEntity(payment: SimPayment) {
  const { id, amount, currency, state, method, checkoutId, orderId, failure, refundedMinor } = payment;
  const status = state === "paid" && refundedMinor === amount ? "refunded" : STATUS[state];
  return {
    id,
    entity: "payment",
    amount,
    currency,
    status,
    captured: state === "paid",
    order_id: orderId || (checkoutId === "" ? null : orderIdOf(checkoutId)),

    method: method.startsWith("card") ? "card" : method,
    international: method === "card_international",
    amount_refunded: state === "returned" ? amount : refundedMinor,
    notes: notesOf(payment.reference),
    fee: state === "paid" ? payment.feeMinor : null,
    created_at: seconds(payment.createdAtMs),
    error_code: failure && "BAD_REQUEST_ERROR",
    error_reason: failure?.code ?? null,
    error_description: failure?.message ?? null,
    customer_id: payment.customerId || null,
    token_id: payment.mandateId || null,
  };
}

/** The payment by which a mandate was registered. */
export function authPaymentEntity(engine: Engine, checkout: SimCheckout) {
  const { id, mandateId, reference, amount, currency, customerId, createdAtMs } = checkout;
  const { method } = engine.mandate(HOUSE, mandateId);
  return {
    id: authPaymentIdOf(id),
    entity: "payment",
    amount,
    currency,
    status: "captured",
    captured: true,
    method: method.startsWith("card") ? "card" : method,
    order_id: orderIdOf(id),
    fee: 0,
    customer_id: customerId,
    token_id: mandateId,
    notes: notesOf(reference),
    created_at: seconds(createdAtMs),
    invoice_id: id,
    amount_refunded: 0,
    international: false,
  };
}

export function invoiceEntity(engine: Engine, checkout: SimCheckout, url: string) {
  const { id, state, isCancelled, reference, cap, amount, currency, customerId, mandateId } = checkout;
  const isRegistered = mandateId !== "" && engine.mandate(HOUSE, mandateId).state !== "failed";
  const ended = isCancelled ? "cancelled" : "expired";
  return {
    id,
    entity: "invoice",
    type: "link",
    receipt: reference,
    amount,
    currency,
    short_url: url,
    status: state === "open" ? "issued" : isRegistered ? "paid" : ended,
    payment_id: isRegistered ? authPaymentIdOf(id) : null,
    order_id: orderIdOf(id),
    customer_id: customerId,
    notes: { reference, cap_minor: String(cap) },
    token: { method: tokenMethod(checkout.methods[0] ?? ""), max_amount: cap },
  };
}

export const tokenMethod = (method: string): string => (method.startsWith("card") ? "card" : method);

const TOKEN_STATUS: Readonly<Record<string, string>> = {
  pending: "initiated",
  active: "confirmed",
  paused: "paused",
  failed: "rejected",
  cancelled: "cancelled",
};

export function tokenEntity(engine: Engine, id: string) {
  const { method, state, cap } = engine.mandate(HOUSE, id);
  const details = { status: TOKEN_STATUS[state], failure_reason: null };
  return {
    id,
    entity: "token",
    method: tokenMethod(method),
    recurring: true,
    max_amount: cap,
    recurring_details: details,
  };
}

export const orderEntity = ({ id, amount, currency, receipt, notes, createdAtMs }: SimOrder) => ({
  id,
  entity: "order",
  amount,
  currency,
  receipt,
  notes,
  created_at: seconds(createdAtMs),
});

const REFUND_STATUS = { pending: "pending", refunded: "processed", failed: "failed" } as const;

export const refundEntity = (refund: SimRefund) => ({
  id: refund.id,
  entity: "refund",
  amount: refund.amount,
  currency: refund.currency,
  payment_id: refund.paymentId,
  notes: notesOf(refund.reference),
  receipt: refund.reference || null,

  status: REFUND_STATUS[refund.state],
  created_at: seconds(refund.createdAtMs),
  speed_requested: "normal",
});

const DISPUTE_STATUS: Readonly<Record<SimDispute["state"], string>> = {
  warning: "open",
  open: "open",
  withdrawn: "under_review",
  reinstated: "won",
  won: "won",
  lost: "lost",
};

export const disputeEntity = ({
  id,
  paymentId,
  amount,
  currency,
  reason,
  state,
  createdAtMs,
}: SimDispute) => ({
  id,
  entity: "dispute",
  payment_id: paymentId,
  amount,
  currency,
  reason_code: reason,
  amount_deducted: state === "withdrawn" || state === "lost" ? amount : 0,
  status: DISPUTE_STATUS[state],
  phase: state === "warning" ? "retrieval" : "chargeback",
  created_at: seconds(createdAtMs),
});

/** A line of the report of settlements. */
export const reconEntity = (line: SimLine, settledAtMs: number) => ({
  entity_id: line.ref,
  type: line.kind === "dispute" ? "adjustment" : line.kind,
  currency: line.currency,
  amount: Math.abs(line.amount),
  fee: line.feeMinor,
  tax: 0,
  on_hold: false,
  settled: true,
  credit: line.amount > 0 ? line.amount - line.feeMinor : 0,
  debit: line.amount < 0 ? -line.amount : 0,
  settlement_id: line.settlementId,
  settled_at: seconds(settledAtMs),
  payment_id: line.paymentId,
  created_at: seconds(line.createdAtMs),
});
