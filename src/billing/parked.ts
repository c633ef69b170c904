/**
 * Payments that an operator must look at: what came does not match what was asked, so nothing was credited. A parked payment
 * stays until an operator says what became of it.
 */
import { z } from "zod";
import { isoTime } from "../base/clock.ts";
import type { Currency } from "../base/currency.ts";
import { newId } from "../base/ids.ts";
import * as field from "../base/operation/fields.ts";
import { PAST_IDS } from "../store/tables/key-order.ts";
import { StoreTables } from "../store/tables/store-tables.ts";

export const PARKED_REASONS = [
  "amount_differs",
  "currency_differs",
  "paid_twice",
  "unknown_payment",
  "refund_does_not_fit",
  "refund_failed_late",
  "fraud_warning",
  "reconciliation",
] as const;
export type ParkedReason = (typeof PARKED_REASONS)[number];

/** Reasons to park a payment whose amount, currency or number differs from what the order asked for. */
export const MISFITS: readonly ParkedReason[] = ["amount_differs", "currency_differs", "paid_twice"];

export interface ParkedRow {
  readonly id: string;
  readonly reason: ParkedReason;
  readonly gateway: string;
  /** The payment gateway's id of what is parked. */
  readonly ref: string;
  /** Empty where it is not known whose it is. */
  readonly orgId: string;
  readonly topupId: string;
  readonly currency: Currency;
  readonly minor: number;
  readonly detail: string;
  readonly createdAtMs: number;
  readonly closedAtMs: number | null;
  /** What the operator did. */
  readonly outcome: string;
}

export type ToPark = Omit<ParkedRow, "id" | "createdAtMs" | "closedAtMs" | "outcome">;

export class ParkedPayments extends StoreTables {
  /** [id]. */
  readonly #rows = this.store.table<ParkedRow>("billing.parked");
  /** [payment gateway, ref, reason] → id: told again, it is the same one. */
  readonly #byRef = this.store.table<string>("billing.parked_by_ref");
  readonly #listeners: ((row: ParkedRow) => void)[] = [];

  /** Called in the act that parks something for the first time, whoever found it. */
  listen(listener: (row: ParkedRow) => void): void {
    this.#listeners.push(listener);
  }

  get(id: string): ParkedRow | undefined {
    return this.#rows.get([id]);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  *all(before = PAST_IDS): Generator<ParkedRow> {
    for (const { value } of this.#rows.range({ start: [before], end: [""], reverse: true }))
      if (value.id !== before) yield value;
  }

  /** What is parked of one payment, refund or dispute, for whatever reason. */
  of(gateway: string, ref: string): ParkedRow[] {
    const ids = this.#byRef.range({ start: [gateway, ref], end: [gateway, ref, PAST_IDS] });
    return Array.from(ids, ({ value }) => this.get(value)).filter((row) => row !== undefined);
  }

  /** Whether it is parked for one of the reasons, open or closed. */
  isParked(gateway: string, ref: string, reasons: readonly ParkedReason[]): boolean {
    return reasons.some((reason) => this.#byRef.get([gateway, ref, reason]) !== undefined);
  }

  /** Only in an act. @returns false where it is parked already, open or closed */
  park(given: ToPark, nowMs: number): boolean {
    const key = [given.gateway, given.ref, given.reason];
    if (this.#byRef.get(key) !== undefined) return false;
    const row: ParkedRow = {
      ...given,
      id: newId("prk", nowMs),
      createdAtMs: nowMs,
      closedAtMs: null,
      outcome: "",
    };
    this.#rows.put([row.id], row);
    this.#byRef.put(key, row.id);
    for (const listener of this.#listeners) listener(row);
    return true;
  }

  /** Only in an act. */
  close(row: ParkedRow, outcome: string, nowMs: number): ParkedRow {
    const closed = { ...row, outcome, closedAtMs: nowMs };
    this.#rows.put([row.id], closed);
    return closed;
  }
}

export const parkedShape = z.object({
  id: field.id,
  reason: z.enum(PARKED_REASONS).describe("Why an operator must look at it"),
  gateway: z.string().describe("The payment gateway: `stripe`, `razorpay` or `simulated`."),
  ref: z.string().describe("The payment gateway's id of the payment, refund or dispute"),
  org_id: z.string().describe("Empty where it is not known whose it is"),
  topup_id: z.string().describe("The top-up that it was meant for; empty where none is known"),
  currency: z.string().describe("The currency of the amount: as the payment gateway or the top-up says."),
  amount_minor: z.int().describe("Tax included, in paise or cents"),
  detail: z.string().describe("What happened, in words."),
  created_at: field.createdAt,
  closed_at: field.time("When an operator closed it", "Absent: it is open").optional(),
  outcome: z.string().optional().describe("What the operator did"),
});

export const parkedWire = (row: ParkedRow): z.input<typeof parkedShape> => ({
  id: row.id,
  reason: row.reason,
  gateway: row.gateway,
  ref: row.ref,
  org_id: row.orgId,
  topup_id: row.topupId,
  currency: row.currency,
  amount_minor: row.minor,
  detail: row.detail,
  created_at: isoTime(row.createdAtMs),
  ...(row.closedAtMs !== null && { closed_at: isoTime(row.closedAtMs), outcome: row.outcome }),
});
