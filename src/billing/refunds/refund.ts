/** Refunds: money of a top-up that goes back to where it came from. States and moves, the stored row, and its wire shape. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { Currency } from "../../base/currency.ts";
import * as field from "../../base/operation/fields.ts";
import type { TaxHeads } from "../invoices/invoice.ts";
import { taxOf } from "../invoices/tax.ts";
import type { GatewayId } from "../payments/gateway.ts";
import { moves } from "../state-moves.ts";

export const REFUND_STATUSES = ["pending", "refunded", "failed"] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_MOVES = moves<RefundStatus>()({
  settle: {
    from: ["pending"],
    to: "refunded",
    by: "the payment gateway",
    puts: "the credit note, event `refund.settled`",
  },
  fail: {
    from: ["pending"],
    to: "failed",
    by: "the payment gateway",
    puts: "the credit again, event `refund.failed`, a mail",
  },
});

export interface RefundRow {
  readonly id: string;
  readonly orgId: string;
  readonly topupId: string;
  readonly status: RefundStatus;
  readonly gateway: GatewayId | "offline";
  readonly paymentRef: string;
  /** Empty until the payment gateway has it. */
  readonly gatewayRef: string;
  readonly currency: Currency;
  /** Before tax. */
  readonly amountMinor: number;
  readonly heads: TaxHeads;
  readonly totalMinor: number;
  readonly fxRate: string;
  /** Credit that it took when it was asked for. */
  readonly creditsMicroUsd: number;
  readonly creditNoteId: string;
  readonly reason: string;
  /** Key of the request. */
  readonly idempotencyKey: string;
  /** Rises after a definite no, or a reading that shows no effect: payment gateways repeat their answer to a key. */
  readonly attempt: number;
  readonly failure: string;
  readonly createdAtMs: number;
  readonly settledAtMs: number | null;
}

export const refundShape = z.object({
  id: field.id,
  org_id: field.orgId,
  topup_id: z.string().describe("The top-up that is refunded"),
  gateway: z.string().describe("The payment gateway: `stripe`, `razorpay` or `simulated`."),
  payment_ref: z.string().describe("The payment gateway's id of the payment"),
  gateway_ref: z.string().describe("The payment gateway's id of the refund; empty until it has one"),
  currency: field.currency,
  amount_minor: z.int().describe("Before tax, in paise or cents"),
  tax_minor: z.int().describe("Tax that goes back, in paise or cents"),
  total_minor: z.int().describe("What goes back: amount and tax"),
  fx_rate: z.string().describe("Units of the currency for a US dollar."),
  credits_micro: z.int().describe("Credit that it takes, micro-USD"),
  credit_note_id: z.string().optional().describe("Its credit note, once the money has gone back"),
  status: z.enum(REFUND_STATUSES).describe("`failed`: no money has moved, and the credit is there again"),
  reason: z.string().describe("As it was given"),
  failure: z.string().optional().describe("Why it failed, as the payment gateway says"),
  created_at: field.createdAt,
  settled_at: z.string().optional().describe("When the money went back"),
  replay: z
    .boolean()
    .optional()
    .describe("True where the `idempotency_key` was used before: nothing new was done"),
});

export const refundWire = (row: RefundRow): z.input<typeof refundShape> => ({
  id: row.id,
  org_id: row.orgId,
  topup_id: row.topupId,
  gateway: row.gateway,
  payment_ref: row.paymentRef,
  gateway_ref: row.gatewayRef,
  currency: row.currency,
  amount_minor: row.amountMinor,
  tax_minor: taxOf(row.heads),
  total_minor: row.totalMinor,
  fx_rate: row.fxRate,
  credits_micro: row.creditsMicroUsd,
  ...(row.creditNoteId !== "" && { credit_note_id: row.creditNoteId }),
  status: row.status,
  reason: row.reason,
  ...(row.failure !== "" && { failure: row.failure }),
  created_at: isoTime(row.createdAtMs),
  ...(row.settledAtMs !== null && { settled_at: isoTime(row.settledAtMs) }),
});
