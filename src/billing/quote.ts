/** What an amount costs and buys: tax on top, credit at the day's rate. Kept with its top-up, which binds it. */
import { z } from "zod";
import type { OrgRow } from "../account/org.ts";
import { billingProfileGaps } from "../account/tax-profile.ts";
import type { Currency } from "../currency.ts";
import { fail } from "../errors.ts";
import type { InvoiceIssuer, InvoiceRate, Recipient, TaxHeads, TaxTreatment } from "../invoices/invoice.ts";
import { headsOf, taxOf } from "../invoices/tax.ts";
import type { FxTable } from "./fx-table.ts";
import { amountText, creditsFor, rateOf, rateText, USD_RATE, withSpread } from "./rate.ts";
import { type BillingTerms, MOST_MINOR } from "./terms.ts";

export interface Quote {
  readonly currency: Currency;
  /** Before tax. */
  readonly amountMinor: number;
  readonly heads: TaxHeads;
  readonly treatment: TaxTreatment;
  readonly totalMinor: number;
  readonly creditsMicroUsd: number;
  /** INR for 1 USD of credit, the spread included; `1.00000000` in USD. */
  readonly fxRate: string;
  readonly fxDay: string;
  /** The day's rate without the spread, which exports are valued by, and with it. */
  readonly rate: InvoiceRate;
  /** Who is billed, as of now. */
  readonly recipient: Recipient;
}

export interface QuoteDeps {
  readonly fx: FxTable;
  readonly terms: BillingTerms;
  readonly invoices: Pick<InvoiceIssuer, "treatmentOf">;
}

/** @throws WeirError 400 where the amount or the org's profile does not do, 503 without a rate */
export function quoteFor(
  { fx, terms, invoices }: QuoteDeps,
  org: OrgRow,
  amountMinor: number,
  nowMs: number,
): Quote {
  if (amountMinor > MOST_MINOR) {
    throw fail("invalid_value", `At most ${MOST_MINOR} at once.`, { param: "/amount_minor" });
  }
  const recipient = recipientOf(org);
  const treatment = invoices.treatmentOf(recipient, nowMs);
  const heads = headsOf(treatment, amountMinor);
  const currency = org.billingCurrency;
  const day = currency === "INR" ? fx.today() : fx.newest();
  // Exports are valued in INR by it: without one, they would be invoiced and registered as worth nothing.
  if (day === undefined && treatment.kind !== "none") throw fail("fx_stale", "There is no exchange rate.");
  const fxRate = currency === "INR" ? chargedRate(day?.usdInr ?? "", terms.spreadBps) : USD_RATE;
  return {
    ...{ currency, amountMinor, heads, treatment, recipient },
    totalMinor: amountMinor + taxOf(heads),
    creditsMicroUsd: creditsFor(amountMinor, rateOf(fxRate) ?? 1n),
    fxRate,
    fxDay: day?.day ?? "",
    rate: {
      ...{ usdInr: day?.usdInr ?? "", day: day?.day ?? "", source: day?.source ?? "" },
      ...(currency === "INR" && { charged: fxRate }),
    },
  };
}

/** @throws WeirError 503 where the table holds no rate */
export function chargedRate(usdInr: string, spreadBps: number): string {
  const rate = rateOf(usdInr);
  if (rate === undefined) throw fail("fx_stale", "There is no exchange rate.");
  return rateText(withSpread(rate, spreadBps));
}

/** @throws WeirError 400 `billing_profile_incomplete` */
export function assertBillable(org: OrgRow): void {
  const missing = billingProfileGaps(org);
  if (missing.length === 0) return;
  throw fail(
    "billing_profile_incomplete",
    `Set ${missing.join(", ")} of the organisation first: its invoices must state them.`,
    {
      details: { missing },
    },
  );
}

/** @throws WeirError 400 `below_minimum` */
export function assertMinimum(
  { minimumsMinor }: BillingTerms,
  currency: Currency,
  amountMinor: number,
): void {
  const least = minimumsMinor[currency];
  if (amountMinor >= least) return;
  throw fail("below_minimum", `A top-up is at least ${amountText(least, currency)} before tax.`, {
    param: "/amount_minor",
    details: { min_amount_minor: least },
  });
}

export const recipientOf = ({
  legalName,
  name,
  gstin,
  taxId = "",
  taxStatus,
  billingAddress,
}: OrgRow): Recipient => ({
  legalName: legalName === "" ? name : legalName,
  gstin,
  taxStatus,
  address: billingAddress,
  taxId,
});

export const feesShape = z
  .object({
    rail: z.string().describe("The payment gateway"),
    items: z
      .array(
        z.object({
          method: z.string().describe("Way to pay: `upi`, `netbanking`, `card`, …"),
          bps: z.int().describe("Basis points of the total"),
          fixed_minor: z.int().optional().describe("On top, in paise or cents"),
          note: z.string().optional().describe("A condition of the fee"),
        }),
      )
      .describe("One fee for each way to pay"),
  })
  .describe("What the payment gateway charges the operator; no total contains it");

export const quoteShape = z.object({
  rail: z.string().describe("The payment gateway that would take the payment"),
  currency: z.string(),
  amount_minor: z.int().describe("Before tax, in paise or cents"),
  tax_minor: z.int().describe("Tax on the amount, in paise or cents"),
  total_minor: z.int().describe("To be paid: amount and tax"),
  credits_micro: z.int().describe("Credit that it buys, micro-USD"),
  fx_rate: z.string().describe("INR for 1 USD of credit, the spread included"),
  fx_day: z.string().describe("Day of the rate; empty where none was needed"),
  fees: feesShape,
  min_amount_minor: z.int().describe("A smaller top-up is refused"),
  display: z.string().describe("The same in words"),
});

export function quoteWire(quote: Quote, rail: string, terms: BillingTerms): z.input<typeof quoteShape> {
  const { currency, amountMinor, heads, totalMinor, creditsMicroUsd } = quote;
  const fees = terms.rails.find((item) => item.rail === rail) ?? { rail, items: [] };
  return {
    rail,
    currency,
    amount_minor: amountMinor,
    tax_minor: taxOf(heads),
    total_minor: totalMinor,
    credits_micro: creditsMicroUsd,
    fx_rate: quote.fxRate,
    fx_day: quote.fxDay,
    fees: { rail: fees.rail, items: fees.items.map((item) => ({ ...item })) },
    min_amount_minor: terms.minimumsMinor[currency],
    display: displayOf(quote),
  };
}

function displayOf({ amountMinor, currency, heads, totalMinor, creditsMicroUsd }: Quote): string {
  const tax = taxOf(heads);
  const taxed = tax === 0 ? "no tax" : `${amountText(tax, currency)} tax`;
  const credit = amountText(Math.floor(creditsMicroUsd / 10_000), "USD");
  return `Pay ${amountText(totalMinor, currency)} (${amountText(amountMinor, currency)} and ${taxed}) for ${credit} of credit`;
}
