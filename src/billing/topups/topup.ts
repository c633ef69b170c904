/** Top-ups: what an org pays for credit. States and moves, the stored row, and its wire shape. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { taxOf } from "../invoices/tax.ts";
import type { GatewayId } from "../payments/gateway.ts";
import { type Quote, SPREAD_FIELDS, spreadWire } from "../rates/quote.ts";
import { moves } from "../state-moves.ts";

export const TOPUP_STATUSES = [
  "pending",
  "paid",
  "failed",
  "expired",
  "partially_refunded",
  "refunded",
  "disputed",
] as const;
export type TopupStatus = (typeof TOPUP_STATUSES)[number];

export const TOPUP_SOURCES = ["checkout", "auto_topup", "offline"] as const;

/**
 * Refunds and disputes move a paid top-up; what it is after them follows from how much is refunded and whether a dispute is open
 * (`settledStatus`), so these moves have no row of their own.
 */
export const TOPUP_MOVES = moves<TopupStatus>()({
  pay: {
    from: ["pending", "failed", "expired"],
    to: "paid",
    by: "the payment gateway",
    puts: "credit, the invoice, event `topup.paid`, a receipt by mail",
  },
  fail: { from: ["pending"], to: "failed", by: "the payment gateway", puts: "event `topup.failed`" },
  expire: { from: ["pending"], to: "expired", by: "time", puts: "nothing" },
});

export interface TopupRow {
  readonly id: string;
  readonly orgId: string;
  readonly status: TopupStatus;
  readonly source: (typeof TOPUP_SOURCES)[number];
  readonly gateway: GatewayId | "offline";
  /** Id of the checkout, or of the debit of a mandate; empty until the payment gateway has it. */
  readonly gatewayRef: string;
  readonly checkoutUrl: string;
  /** Tries that opened no checkout: payment gateways repeat their answer to a key. Absent: none. */
  readonly failedOpenings?: number;
  /** Empty until it is paid. */
  readonly paymentRef: string;
  readonly quote: Quote;
  readonly method: string;
  readonly feeMinor: number;
  /** Id of the invoice as first issued; a correction may have replaced it. Empty until the top-up is paid. */
  readonly invoiceId: string;
  /** Refunds that are under way or done, before tax, and the credit they took. */
  readonly refundedMinor: number;
  readonly refundedMicroUsd: number;
  /** The payment gateway's ids of disputes that withdrew money, and did not give it back. */
  readonly openDisputes: readonly string[];
  readonly createdAtMs: number;
  /** When the checkout closes. */
  readonly expiresAtMs: number;
  readonly paidAtMs: number | null;
  /** Key of the request that made it; empty where there was none. */
  readonly idempotencyKey: string;
  /** Why it failed, as the payment gateway says. */
  readonly failure: string;
}

/** What all top-ups begin with. */
export const NEW_TOPUP = {
  status: "pending",
  checkoutUrl: "",
  paymentRef: "",
  method: "",
  feeMinor: 0,
  invoiceId: "",
  refundedMinor: 0,
  refundedMicroUsd: 0,
  openDisputes: [],
  paidAtMs: null,
  failure: "",
} as const satisfies Partial<TopupRow>;

/** What a paid top-up is, by what was refunded and disputed. */
export function settledStatus(row: Pick<TopupRow, "openDisputes" | "refundedMinor" | "quote">): TopupStatus {
  if (row.openDisputes.length > 0) return "disputed";
  if (row.refundedMinor === 0) return "paid";
  return row.refundedMinor < row.quote.amountMinor ? "partially_refunded" : "refunded";
}

export const isPaid = ({ status }: Pick<TopupRow, "status">): boolean =>
  status !== "pending" && status !== "failed" && status !== "expired";

export const topupShape = z.object({
  id: field.id,
  org_id: field.orgId,
  gateway: z.string().describe("The payment gateway, or `offline`"),
  gateway_ref: z.string().describe("The payment gateway's id of the checkout; empty until it has one"),
  payment_ref: z.string().optional().describe("The payment gateway's id of the payment"),
  currency: field.currency,
  amount_minor: z.int().describe("Before tax, in paise or cents"),
  tax_minor: z.int().describe("Tax on the amount, in paise or cents"),
  total_minor: z.int().describe("Amount and tax"),
  fee_minor: z.int().describe("What the payment gateway charged the operator; no total contains it"),
  fx_rate: z.string().describe("INR for 1 USD of credit, the spread included; 1 in USD"),
  ...SPREAD_FIELDS,
  credits_micro: z.int().describe("Credit that it buys, micro-USD"),
  method: z.string().describe("How it was paid; empty until that is known"),
  status: z
    .enum(TOPUP_STATUSES)
    .describe(
      "`pending` until the money has come, which may take days; a `failed` or `expired` one is paid if it comes late",
    ),
  invoice_id: z.string().optional().describe("Its invoice, once it is paid"),
  source: z.enum(TOPUP_SOURCES).describe("How it came about."),
  refunded_minor: z.int().describe("What was refunded of the amount before tax, refunds under way included"),
  failure: z.string().optional().describe("Why it failed, as the payment gateway says"),
  created_at: field.createdAt,
  paid_at: z.string().optional().describe("When the money came"),
  checkout_url: z
    .string()
    .optional()
    .describe(
      "Where it is paid: while it is pending and the payment gateway's page works, to those who may buy credit (`write:billing`)",
    ),
});

/** Where a top-up can be paid now; undefined where it cannot. */
export const openPageOf = (row: TopupRow, nowMs: number): string | undefined =>
  row.status === "pending" && row.source === "checkout" && row.checkoutUrl !== "" && nowMs < row.expiresAtMs
    ? row.checkoutUrl
    : undefined;

/** @param invoiceId of the one that is in force, where one is */
export const topupWire = (row: TopupRow, invoiceId?: string): z.input<typeof topupShape> => ({
  id: row.id,
  org_id: row.orgId,
  gateway: row.gateway,
  gateway_ref: row.gatewayRef,
  ...(row.paymentRef !== "" && { payment_ref: row.paymentRef }),
  currency: row.quote.currency,
  amount_minor: row.quote.amountMinor,
  tax_minor: taxOf(row.quote.heads),
  total_minor: row.quote.totalMinor,
  fee_minor: row.feeMinor,
  fx_rate: row.quote.fxRate,
  ...spreadWire(row.quote),
  credits_micro: row.quote.creditsMicroUsd,
  method: row.method,
  status: row.status,
  ...(invoiceId !== undefined && { invoice_id: invoiceId }),
  source: row.source,
  refunded_minor: row.refundedMinor,
  ...(row.failure !== "" && row.status === "failed" && { failure: row.failure }),
  created_at: isoTime(row.createdAtMs),
  ...(row.paidAtMs !== null && { paid_at: isoTime(row.paidAtMs) }),
});
