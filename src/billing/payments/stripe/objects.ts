/** Stripe's objects as the port tells them. All were read from Stripe's API, never taken from a webhook. */
import type Stripe from "stripe";
import { type Amount, CURRENCIES } from "../../../base/currency.ts";
import {
  type Checkout,
  type Dispute,
  GatewayError,
  type GatewayMandate,
  type GatewayRefund,
  type Method,
  type Payment,
} from "../gateway.ts";
import { CANCELLED, failureOfIntent } from "./failure.ts";

/** Our methods, and their types at Stripe. */
const TYPES = { card: "card", link: "link", ach_debit: "us_bank_account" } as const;
export type StripeType = (typeof TYPES)[keyof typeof TYPES];

/** @throws GatewayError `refused` for a method that Stripe does not have */
export function typeOf(method: Method | ""): StripeType {
  if (method in TYPES) return TYPES[method as keyof typeof TYPES];
  throw new GatewayError("refused", `stripe: it has no method "${method}"`);
}

const METHOD_OF = new Map<string, Method>(
  Object.entries(TYPES).map(([method, type]) => [type, method as Method]),
);

/** @param minor integer @throws GatewayError `refused` for another currency, or what is no whole amount */
export function amountOf(minor: number, currency: string): Amount {
  const known = CURRENCIES.find((name) => name.toLowerCase() === currency);
  if (known === undefined || !Number.isSafeInteger(minor))
    throw new GatewayError("refused", "stripe: an amount is in no currency of ours");
  return { currency: known, minor };
}

export const msOf = (seconds: number): number => seconds * 1000;

/** What was expanded; undefined where only its id is there. */
const expanded = <T extends object>(value: T | string | null | undefined): T | undefined =>
  typeof value === "object" && value !== null ? value : undefined;

export const idOf = (value: { readonly id: string } | string | null | undefined): string =>
  (typeof value === "string" ? value : value?.id) ?? "";

export const referenceOf = (metadata: Stripe.Metadata | null | undefined): string =>
  metadata?.reference ?? "";

/** @param intent with `latest_charge.balance_transaction` */
export function paymentOf(intent: Stripe.PaymentIntent): Payment {
  const charge = expanded(intent.latest_charge);
  const booked = expanded(charge?.balance_transaction);
  const state = stateOf(intent, charge);
  const isPaid = state === "paid";
  const madeMs = booked?.created ?? charge?.created ?? intent.created;
  return {
    ref: intent.id,
    reference: referenceOf(intent.metadata),
    state,
    total: amountOf(isPaid ? intent.amount_received : intent.amount, intent.currency),
    feeMinor: isPaid ? (booked?.fee ?? 0) : 0,
    method: METHOD_OF.get(charge?.payment_method_details?.type ?? "") ?? "",
    paidAtMs: isPaid ? msOf(madeMs) : null,
    failure: state === "failed" ? (failureOfIntent(intent) ?? CANCELLED) : null,
    refundedMinor: charge?.amount_refunded ?? 0,
  };
}

function stateOf(intent: Stripe.PaymentIntent, charge: Stripe.Charge | undefined): Payment["state"] {
  switch (intent.status) {
    case "succeeded":
      return "paid";
    case "requires_capture":
      return "authorized";
    case "canceled":
      return charge !== undefined && charge.status === "succeeded" ? "returned" : "failed";
    case "processing":
      return "processing";
    default:
      return intent.last_payment_error ? "failed" : "processing";
  }
}

/** Nobody has tried to pay it yet. */
const isUntried = ({ status, last_payment_error: error }: Stripe.PaymentIntent): boolean =>
  !error && (status === "requires_payment_method" || status === "requires_confirmation");

/** @param session with `payment_intent.latest_charge.balance_transaction`: a session has one payment, tried again and again */
export function checkoutOf(session: Stripe.Checkout.Session): Checkout {
  const intent = expanded(session.payment_intent);
  // What Stripe cancels with its session was never tried either.
  const isGone = intent?.status === "canceled" && intent.latest_charge === null;
  return {
    ref: session.id,
    state: sessionState(session),
    payments: intent === undefined || isUntried(intent) || isGone ? [] : [paymentOf(intent)],
  };
}

function sessionState({ status }: Stripe.Checkout.Session): Checkout["state"] {
  if (status === "complete") return "complete";
  return status === "expired" ? "expired" : "open";
}

export function refundOf(refund: Stripe.Refund): GatewayRefund {
  const state = refundState(refund.status);
  const code = refund.failure_reason ?? "canceled";
  return {
    ref: refund.id,
    reference: referenceOf(refund.metadata),
    paymentRef: idOf(refund.payment_intent),
    total: amountOf(refund.amount, refund.currency),
    state,
    createdAtMs: msOf(refund.created),
    failure: state === "failed" ? { code, message: "The refund did not arrive.", kind: "hard" } : null,
  };
}

function refundState(status: string | null): GatewayRefund["state"] {
  if (status === "succeeded") return "refunded";
  return status === "failed" || status === "canceled" ? "failed" : "pending";
}

/** Whether the money is gone is read from the account's lines: Stripe's status says how the argument stands. */
export function disputeOf(dispute: Stripe.Dispute): Dispute {
  const { id, amount, currency, reason, payment_intent: intent } = dispute;
  return {
    ref: id,
    paymentRef: idOf(intent),
    amount: amountOf(amount, currency),
    reason,
    state: disputeState(dispute),
  };
}

function disputeState({ status, balance_transactions: lines }: Stripe.Dispute): Dispute["state"] {
  if (status === "lost") return "lost";
  if (lines.reduce((sum, { amount }) => sum + amount, 0) < 0) return "withdrawn";
  if (lines.length > 0) return "reinstated";
  if (status === "won" || status === "warning_closed" || status === "prevented") return "won";
  return status.startsWith("warning_") ? "warning" : "open";
}

/** @param session of mode `setup`, with `setup_intent.payment_method` */
export function mandateOf(session: Stripe.Checkout.Session): GatewayMandate {
  const setup = expanded(session.setup_intent);
  const paid = setup?.status === "succeeded" ? expanded(setup.payment_method) : undefined;
  const customer = idOf(session.customer);
  const cap = Number(session.metadata?.cap_minor ?? 0);
  return {
    ref: session.id,
    reference: referenceOf(session.metadata),
    state: mandateState(session, paid),
    isSubmitted: session.status === "complete",
    tokenRef: paid === undefined ? "" : `${customer}/${paid.id}`,
    method: METHOD_OF.get(paid?.type ?? session.payment_method_types?.[0] ?? "") ?? "",
    cap: amountOf(cap, session.currency ?? "usd"),
  };
}

function mandateState(
  session: Stripe.Checkout.Session,
  method: Stripe.PaymentMethod | undefined,
): GatewayMandate["state"] {
  if (method !== undefined) return method.customer === null ? "cancelled" : "active";
  const isOver = session.status === "expired" || expanded(session.setup_intent)?.status === "canceled";
  return isOver ? "failed" : "pending";
}
