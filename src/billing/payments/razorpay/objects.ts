/** Razorpay's entities, as far as they are read, and what the port calls them. Amounts are paise. */
import { z } from "zod";
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
import { failureOf } from "./failure.ts";

const id = z.string().min(1).max(200);
const text = z.string().max(2000).nullish();
const paise = z.coerce.number().int();
const seconds = z.coerce.number().int().nonnegative();
/** Razorpay writes an empty list for no notes. */
const notes = z
  .object({ reference: z.string().optional(), key: z.string().optional(), cap_minor: z.string().optional() })
  .catch({});

export const paymentEntity = z.object({
  id,
  amount: paise,
  currency: z.string(),
  method: text,
  order_id: text,
  notes,
  created_at: seconds,
  status: z.enum(["created", "authorized", "captured", "refunded", "failed"]),
  international: z.boolean().nullish(),
  captured: z.boolean().nullish(),
  amount_refunded: paise.nullish(),
  fee: paise.nullish(),
  error_code: text,
  error_description: text,
  error_reason: text,
  token_id: text,
  customer_id: text,
});
export type PaymentEntity = z.output<typeof paymentEntity>;

export const linkEntity = z.object({
  id,
  short_url: z.url(),
  reference_id: text,
  order_id: text,
  status: z.enum(["created", "partially_paid", "expired", "cancelled", "paid"]),
  payments: z
    .array(z.object({ payment_id: id }))
    .nullish()
    .catch(null),
});
export type LinkEntity = z.output<typeof linkEntity>;

export const orderEntity = z.object({ id, receipt: text, notes, amount: paise, currency: z.string() });

export const refundEntity = z.object({
  id,
  amount: paise,
  currency: z.string(),
  payment_id: id,
  notes,
  created_at: seconds,
  status: z.enum(["pending", "processed", "failed"]).catch("pending"),
});
export type RefundEntity = z.output<typeof refundEntity>;

export const disputeEntity = z.object({
  id,
  payment_id: id,
  amount: paise,
  currency: z.string(),
  created_at: seconds,
  amount_deducted: paise.nullish(),
  reason_code: text,
  status: z.string(),
  phase: text,
});
export type DisputeEntity = z.output<typeof disputeEntity>;

export const invoiceEntity = z.object({
  id,
  short_url: z.url().nullish(),
  receipt: text,
  payment_id: text,
  customer_id: text,
  notes,
  status: z.string().nullish(),
  token: z.object({ method: text }).nullish().catch(null),
});
export type InvoiceEntity = z.output<typeof invoiceEntity>;

export const tokenEntity = z.object({
  id,
  method: text,
  recurring_details: z.object({ status: text }).nullish(),
});
export type TokenEntity = z.output<typeof tokenEntity>;

export const reconLine = z.object({
  settlement_id: text,
  settled_at: seconds.nullish(),
  currency: z.string(),
  debit: paise,
  credit: paise,
  fee: paise.nullish(),
});

export const MAX_PAGE = 100;
export const listOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item).max(1000) });
/** An answer of which nothing is read. */
export const anything = z.unknown();

/** @throws GatewayError `refused` for another currency */
export function amountOf(minor: number, currency: string): Amount {
  const known = CURRENCIES.find((name) => name === currency);
  if (known === undefined) throw new GatewayError("refused", "razorpay: an amount is in no currency of ours");
  return { currency: known, minor };
}

const STATES = {
  created: "processing",
  authorized: "authorized",
  captured: "paid",
  refunded: "paid",
  failed: "failed",
} as const;

/** @param reference ours, where the notes lack it */
export function paymentOf(entity: PaymentEntity, reference: string): Payment {
  const { amount, currency, error_reason, error_code, error_description } = entity;
  // An authorization that nobody captured is refunded by Razorpay itself.
  const isReturned = entity.status === "refunded" && entity.captured === false;
  const state = isReturned ? "returned" : STATES[entity.status];
  return {
    ref: entity.id,
    reference: entity.notes.reference ?? reference,
    state,
    total: amountOf(amount, currency),
    feeMinor: state === "paid" ? (entity.fee ?? 0) : 0,
    method: methodOf(entity.method, entity.international === true),
    paidAtMs: state === "paid" ? entity.created_at * 1000 : null,
    failure: state === "failed" ? failureOf(error_reason, error_code, error_description) : null,
    refundedMinor: isReturned ? 0 : (entity.amount_refunded ?? 0),
  };
}

export function methodOf(name: string | null | undefined, isAbroad: boolean): Method | "" {
  if (name === "card") return isAbroad ? "card_international" : "card_domestic";
  if (name === "nach") return "emandate";
  return name === "upi" || name === "netbanking" || name === "emandate" ? name : "";
}

const LINK_STATES = {
  created: "open",
  partially_paid: "open",
  expired: "expired",
  cancelled: "expired",
  paid: "complete",
} as const;

/** @param payments of the link's order, oldest first */
export function checkoutOf(link: LinkEntity, payments: readonly PaymentEntity[]): Checkout {
  const reference = link.reference_id ?? "";
  return {
    ref: link.id,
    state: LINK_STATES[link.status],
    payments: payments.map((payment) => paymentOf(payment, reference)),
  };
}

const REFUND_STATES = { pending: "pending", processed: "refunded", failed: "failed" } as const;

export function refundOf(entity: RefundEntity): GatewayRefund {
  const state = REFUND_STATES[entity.status];
  const failure = { code: "failed", message: "The refund did not arrive.", kind: "hard" } as const;
  return {
    ref: entity.id,
    reference: entity.notes.reference ?? "",
    paymentRef: entity.payment_id,
    state,
    total: amountOf(entity.amount, entity.currency),
    createdAtMs: entity.created_at * 1000,
    failure: state === "failed" ? failure : null,
  };
}

export const disputeOf = (entity: DisputeEntity): Dispute => ({
  ref: entity.id,
  paymentRef: entity.payment_id,
  reason: entity.reason_code ?? "",
  amount: amountOf(entity.amount, entity.currency),
  state: disputeState(entity),
});

/** Razorpay says how much it has taken; a question (`retrieval`, `fraud`) takes nothing yet. */
function disputeState({ status, phase, amount_deducted: taken }: DisputeEntity): Dispute["state"] {
  const isTaken = (taken ?? 0) > 0;
  if (status === "lost" || (status === "closed" && isTaken)) return "lost";
  if (status === "won" || status === "closed") return "won";
  if (isTaken) return "withdrawn";
  return phase === "retrieval" || phase === "fraud" ? "warning" : "open";
}

const TOKEN_STATES: Readonly<Record<string, GatewayMandate["state"]>> = {
  confirmed: "active",
  rejected: "failed",
  paused: "paused",
  cancelled: "cancelled",
};

/** @param token undefined: none was made, `gone`: it was deleted */
export function mandateOf(
  invoice: InvoiceEntity,
  tokenRef: string,
  token: TokenEntity | "gone" | undefined,
): GatewayMandate {
  const known = token === undefined || token === "gone" ? undefined : token;
  const isOver = ["expired", "cancelled", "deleted"].includes(invoice.status ?? "");
  const registered = TOKEN_STATES[known?.recurring_details?.status ?? ""] ?? "pending";
  const unregistered = isOver ? "failed" : "pending";
  return {
    ref: invoice.id,
    tokenRef,
    reference: invoice.notes.reference ?? invoice.receipt ?? "",
    state: token === "gone" ? "cancelled" : known === undefined ? unregistered : registered,
    isSubmitted: (invoice.payment_id ?? "") !== "",
    method: methodOf(known?.method ?? invoice.token?.method, false),
    cap: { currency: "INR", minor: Number(invoice.notes.cap_minor ?? 0) },
  };
}

export const linkList = z.object({ payment_links: z.array(linkEntity).max(1000) });
export const madePayment = z.object({ razorpay_payment_id: id });
