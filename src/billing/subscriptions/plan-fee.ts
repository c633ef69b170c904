/**
 * The fee of a plan: taken from the org's credit, and documented by a statement. It bears no tax, for the credit was taxed when it
 * was bought. In INR it is what a top-up of that amount buys today, so whoever tops up by the fee can pay it.
 */
import type { OrgRow } from "../../account/org.ts";
import { type Currency, moneyText } from "../../base/currency.ts";
import type { Plan } from "../../base/plan.ts";
import type { Book } from "../../credits/ledger/book.ts";
import { indianDay } from "../invoices/financial-year.ts";
import {
  type InvoiceIssuer,
  type InvoiceLine,
  type InvoiceOrder,
  type InvoiceRate,
  type InvoiceRow,
  oneOf,
} from "../invoices/invoice.ts";
import { NO_AMOUNT } from "../invoices/tax.ts";
import type { FxTable } from "../rates/fx-table.ts";
import { rateWith, recipientOf } from "../rates/quote.ts";
import { creditsFor, USD_RATE, unitsOf } from "../rates/rate.ts";
import type { BillingTerms } from "../rates/terms.ts";
import { bpsOf, type Period } from "./period.ts";

export interface FeeDeps {
  readonly book: Pick<Book, "post">;
  readonly fx: Pick<FxTable, "today" | "newest" | "shown">;
  readonly terms: Pick<BillingTerms, "spreadBps">;
  readonly invoices: Pick<InvoiceIssuer, "issue">;
}

export interface Fee {
  readonly currency: Currency;
  readonly minor: number;
  readonly microUsd: number;
  readonly rate: InvoiceRate;
}

/** @throws WeirError 503 `fx_stale` where a fee in INR has no rate of the last days */
export function feeOf({ fx, terms }: Pick<FeeDeps, "fx" | "terms">, currency: Currency, minor: number): Fee {
  const isConverted = currency === "INR" && minor > 0;
  const day = isConverted ? fx.today() : fx.newest();
  const rate = rateWith(day, isConverted ? "INR" : "USD", terms.spreadBps);
  return {
    currency,
    minor,
    rate,
    microUsd: minor === 0 ? 0 : creditsFor(minor, unitsOf(rate.charged ?? USD_RATE)),
  };
}

export interface FeeOrder {
  /** Reference in the ledger and of the statement: month and change. */
  readonly refId: string;
  readonly fee: Fee;
  readonly lines: readonly InvoiceLine[];
  readonly plan: Plan;
  readonly period: Omit<Period, "month">;
}

export type FeeTaken =
  | { readonly outcome: "taken"; readonly invoice: InvoiceRow | undefined }
  | { readonly outcome: "insufficient_credits"; readonly availableMicroUsd: number };

/** Only in an act; where there is too little credit, nothing is put. @throws Error where the reference has another amount */
export function takeFee({ book, invoices }: FeeDeps, org: OrgRow, order: FeeOrder): FeeTaken {
  const { refId, fee } = order;
  if (fee.microUsd > 0) {
    const amountMicroUsd = -fee.microUsd;
    const posted = book.post(org.id, {
      kind: "subscription",
      amountMicroUsd,
      refType: "subscription",
      refId,
    });
    if (posted.outcome === "insufficient_credits") return posted;
    if (posted.outcome !== "posted") throw new Error(`${refId} was charged with another amount`);
  }
  if (fee.minor === 0) return { outcome: "taken", invoice: undefined };
  return { outcome: "taken", invoice: invoices.issue(statement(org, order)) };
}

function statement(org: OrgRow, { refId, fee, lines, plan, period }: FeeOrder): InvoiceOrder {
  return {
    orgId: org.id,
    reference: { type: "subscription", id: refId },
    kind: "statement",
    currency: fee.currency,
    lines,
    taxableMinor: fee.minor,
    heads: NO_AMOUNT.heads,
    treatment: { kind: "none", placeOfSupply: "", rateBps: 0, isUnionTerritory: false },
    recipient: recipientOf(org),
    rate: fee.rate,
    plan: { planId: plan.id, periodStartMs: period.startMs, periodEndMs: period.endMs },
  };
}

const including = (microUsd: number, endMs: number): string =>
  microUsd === 0
    ? ""
    : `; includes ${moneyText(Math.floor(microUsd / 10_000), "USD")} of credit, which expires on ${indianDay(endMs)} where it is not spent`;

/** Lines of a whole month. */
export const monthLines = (
  plan: Plan,
  minor: number,
  { startMs, endMs }: Omit<Period, "month">,
  includedMicroUsd: number,
): InvoiceLine[] => [
  oneOf(
    "plan",
    `Plan ${plan.name}, ${indianDay(startMs)} to ${indianDay(endMs)}${including(includedMicroUsd, endMs)}`,
    minor,
  ),
];

/** What the rest of a month costs more: the new plan's part, less the part that was paid for. Their sum may be zero. */
export function changeLines(
  plan: Plan,
  prices: { readonly newMinor: number; readonly paidMinor: number },
  rest: { readonly bps: number; readonly nowMs: number; readonly endMs: number },
  includedMicroUsd: number,
): InvoiceLine[] {
  const { bps, nowMs, endMs } = rest;
  const share = `${(bps / 100).toFixed(2)} % of the month`;
  const part = `Plan ${plan.name}, ${indianDay(nowMs)} to ${indianDay(endMs)}, ${share}${including(includedMicroUsd, endMs)}`;
  const paid = bpsOf(prices.paidMinor, bps);
  const lines = [oneOf("proration", part, bpsOf(prices.newMinor, bps))];
  return paid === 0 ? lines : [...lines, oneOf("proration", `Paid for already, ${share}`, -paid)];
}
