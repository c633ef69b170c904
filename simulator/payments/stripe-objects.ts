/** Objects of Stripe's API, made of what the engine knows: the fields that an integration reads, under Stripe's names. */
import type { Engine } from "./engine.ts";
import type {
  SimCheckout,
  SimDispute,
  SimLine,
  SimMandate,
  SimPayment,
  SimRefund,
  SimSettlement,
} from "./state.ts";

const HOUSE = "stripe";
const seconds = (ms: number): number => Math.floor(ms / 1000);
const suffix = (id: string): string => id.slice(id.lastIndexOf("_") + 1);

export const chargeIdOf = (paymentId: string): string => `ch_${suffix(paymentId)}`;
export const paymentIdOf = (chargeId: string): string => `pi_${suffix(chargeId)}`;
export const setupIdOf = (checkoutId: string): string => `seti_${suffix(checkoutId)}`;

/** Names of methods, ours and Stripe's. */
export const STRIPE_TYPES: Readonly<Record<string, string>> = {
  card: "card",
  link: "link",
  ach_debit: "us_bank_account",
};

/** As JSON. */
type StripeObject = Readonly<Record<string, unknown>> & { readonly id: string };

const metadataOf = (reference: string): Record<string, string> => (reference === "" ? {} : { reference });

export function sessionObject(engine: Engine, checkout: SimCheckout, url: string, isExpanded: boolean) {
  const { id, mode, state, reference, amount, currency, customerId, expiresAtMs, cap } = checkout;
  const payment = engine.state.get("payments", checkout.paymentIds.at(-1) ?? "");
  const isPaid = payment?.state === "paid" || payment?.state === "authorized";
  return {
    id,
    object: "checkout.session",
    mode: mode === "payment" ? "payment" : "setup",
    status: state,
    url: state === "open" ? url : null,
    client_reference_id: reference,
    amount_total: amount,
    metadata: { ...metadataOf(reference), ...(mode === "mandate" && { cap_minor: String(cap) }) },
    currency: currency.toLowerCase(),
    customer: customerId || null,
    livemode: false,
    created: seconds(checkout.createdAtMs),
    expires_at: seconds(expiresAtMs),
    success_url: checkout.returnUrl,
    payment_status: isPaid ? "paid" : "unpaid",
    payment_intent:
      payment === undefined ? null : isExpanded ? intentObject(engine, payment, true) : payment.id,
    setup_intent: mode === "payment" ? null : isExpanded ? setupObject(engine, checkout) : setupIdOf(id),
  };
}

/** A payment that the payer, and not the seller, began needs the payer for its next try. */
const INTENT_STATES: Readonly<Record<SimPayment["state"], string>> = {
  prepared: "requires_confirmation",
  processing: "processing",
  authorized: "requires_capture",
  paid: "succeeded",
  failed: "requires_payment_method",
  returned: "canceled",
};

export function intentObject(engine: Engine, payment: SimPayment, isExpanded: boolean) {
  const { id, amount, currency, state, reference, mandateId, failure, createdAtMs } = payment;
  const hasCharge = state !== "prepared";
  const error = failure && {
    type: "card_error",
    code: "card_declined",
    decline_code: failure.code,
    message: failure.message,
  };
  return {
    id,
    object: "payment_intent",
    amount,
    amount_received: state === "paid" ? amount : 0,
    currency: currency.toLowerCase(),
    status: INTENT_STATES[state],
    metadata: metadataOf(reference),
    customer: payment.customerId || null,
    payment_method: mandateId || null,
    livemode: false,
    last_payment_error: error,
    created: seconds(createdAtMs),
    capture_method: "automatic",
    latest_charge: hasCharge ? (isExpanded ? chargeObject(engine, payment, true) : chargeIdOf(id)) : null,
  };
}

export function chargeObject(engine: Engine, payment: SimPayment, isExpanded: boolean): StripeObject {
  const { id, amount, currency, state, reference, createdAtMs, refundedMinor } = payment;
  const line = [...engine.state.all("lines")].find((l) => l.kind === "payment" && l.ref === id);
  return {
    id: chargeIdOf(id),
    object: "charge",
    amount,
    amount_refunded: refundedMinor,
    paid: state === "paid",
    currency: currency.toLowerCase(),
    captured: state === "paid",
    created: seconds(createdAtMs),

    payment_intent: id,
    metadata: metadataOf(reference),
    status: state === "failed" ? "failed" : "succeeded",
    payment_method_details: { type: STRIPE_TYPES[payment.method] ?? payment.method },
    balance_transaction:
      line === undefined ? null : isExpanded ? transactionObject(engine, line, false) : line.id,
  };
}

/** A mandate that is registered, or is to be. */
function setupObject(engine: Engine, checkout: SimCheckout) {
  const { id, mandateId, reference, customerId } = checkout;
  const mandate = mandateId === "" ? undefined : engine.mandate(HOUSE, mandateId);
  const isSet = mandate !== undefined && mandate.state !== "failed";
  return {
    id: setupIdOf(id),
    object: "setup_intent",
    metadata: metadataOf(reference),
    customer: customerId,
    status: isSet ? "succeeded" : "requires_payment_method",
    payment_method: isSet ? methodObject(mandate) : null,
    last_setup_error: mandate?.state === "failed" ? { code: "setup_intent_authentication_failure" } : null,
  };
}

export const methodObject = ({ id, method, customerId, state, createdAtMs }: SimMandate) => ({
  id,
  object: "payment_method",
  type: STRIPE_TYPES[method] ?? method,
  livemode: false,
  customer: state === "cancelled" ? null : customerId,
  created: seconds(createdAtMs),
});

const REFUND_STATES = { pending: "pending", refunded: "succeeded", failed: "failed" } as const;

export const refundObject = (refund: SimRefund) => ({
  id: refund.id,
  object: "refund",
  amount: refund.amount,
  currency: refund.currency.toLowerCase(),
  payment_intent: refund.paymentId,
  charge: chargeIdOf(refund.paymentId),
  status: REFUND_STATES[refund.state],
  metadata: metadataOf(refund.reference),
  created: seconds(refund.createdAtMs),
  ...(refund.failure && { failure_reason: refund.failure.code }),
});

const DISPUTE_STATES: Readonly<Record<SimDispute["state"], string>> = {
  warning: "warning_needs_response",
  open: "needs_response",
  withdrawn: "needs_response",
  reinstated: "won",
  lost: "lost",
  won: "won",
};

export function disputeObject(engine: Engine, dispute: SimDispute): StripeObject {
  const { id, amount, currency, paymentId, reason, state, createdAtMs } = dispute;
  const lines = [...engine.state.all("lines")].filter((line) => line.kind === "dispute" && line.ref === id);
  return {
    id,
    object: "dispute",
    amount,
    currency: currency.toLowerCase(),
    reason,
    charge: chargeIdOf(paymentId),
    payment_intent: paymentId,
    status: DISPUTE_STATES[state],
    is_charge_refundable: state === "warning",
    created: seconds(createdAtMs),
    metadata: {},
    balance_transactions: lines.map((line) => transactionObject(engine, line, false)),
  };
}

export function transactionObject(engine: Engine, line: SimLine, isExpanded: boolean): StripeObject {
  const { id, amount, feeMinor, currency, createdAtMs, ref } = line;
  const [type, category] = typeOf(line);
  const source = line.kind === "payment" ? chargeIdOf(ref) : ref;
  return {
    id,
    object: "balance_transaction",
    amount,
    fee: feeMinor,
    net: amount - feeMinor,
    type,
    currency: currency.toLowerCase(),
    created: seconds(createdAtMs),
    reporting_category: category,
    source: isExpanded ? sourceOf(engine, line) : source,
  };
}

function typeOf({ kind, amount }: SimLine): [type: string, category: string] {
  if (kind === "payment") return ["charge", "charge"];
  if (kind === "refund") return amount < 0 ? ["refund", "refund"] : ["refund_failure", "refund_failure"];
  return ["adjustment", amount < 0 ? "dispute" : "dispute_reversal"];
}

function sourceOf(engine: Engine, { kind, ref }: SimLine): StripeObject {
  if (kind === "payment") return chargeObject(engine, engine.payment(HOUSE, ref), false);
  if (kind === "refund") return refundObject(engine.refundById(HOUSE, ref));
  return disputeObject(engine, engine.disputeById(HOUSE, ref));
}

export const payoutObject = ({ id, amount, currency, createdAtMs }: SimSettlement) => ({
  id,
  object: "payout",
  amount,
  currency: currency.toLowerCase(),
  automatic: true,
  status: "paid",
  created: seconds(createdAtMs),
  arrival_date: seconds(createdAtMs),
});
