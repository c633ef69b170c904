/** What an amount costs and buys: tax on top, credit at the day's rate. Kept with its top-up, which binds it. */
import { z } from "zod";
import type { OrgRow } from "../../account/org.ts";
import { billingProfileGaps } from "../../account/orgs/tax-profile.ts";
import { type Currency, moneyText } from "../../base/currency.ts";
import { fail } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { percentText, spreadOf } from "../invoices/amount.ts";
import type { InvoiceIssuer, InvoiceRate, Recipient, TaxHeads, TaxTreatment } from "../invoices/invoice.ts";
import { headsOf, taxOf } from "../invoices/tax.ts";
import type { DayRate, FxTable } from "./fx-table.ts";
import { creditsFor, rateOf, rateText, USD_RATE, unitsOf, withSpread } from "./rate.ts";
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
  const rate = rateWith(day, currency, terms.spreadBps);
  const fxRate = rate.charged ?? USD_RATE;
  return {
    currency,
    amountMinor,
    heads,
    treatment,
    recipient,
    totalMinor: amountMinor + taxOf(heads),
    creditsMicroUsd: creditsFor(amountMinor, unitsOf(fxRate)),
    fxRate,
    fxDay: day?.day ?? "",
    rate,
  };
}

/**
 * A day's rate, and in INR the one at which credit is sold. @param day undefined where there is none, which in USD may be
 * @throws WeirError 503 where the table holds no rate
 */
export function rateWith(day: DayRate | undefined, currency: Currency, spreadBps: number): InvoiceRate {
  const { usdInr, day: of, source } = day ?? { usdInr: "", day: "", source: "" };
  if (currency !== "INR") return { usdInr, day: of, source };
  const rate = rateOf(usdInr);
  if (rate === undefined) throw fail("fx_stale", "There is no exchange rate.");
  return { usdInr, day: of, source, charged: rateText(withSpread(rate, spreadBps)), spreadBps };
}

/** The currency in which an org's credit is shown, and the rate: that of a quote of the same moment. */
export interface CreditMoney {
  readonly currency: Currency;
  /** Units of the currency for 1 USD of credit, eight digits, the spread included. */
  readonly fxRate: string;
  /** Without it. */
  readonly midRate: string;
  readonly spreadBps: number;
  /** Day of the rate; empty in USD. */
  readonly fxDay: string;
}

/** In USD where there is no rate at all. Where quotes in INR wait for a newer rate, the last one, with its day. */
export function creditMoney(
  fx: Pick<FxTable, "shown">,
  { spreadBps }: Pick<BillingTerms, "spreadBps">,
  currency: Currency,
): CreditMoney {
  const day = currency === "INR" ? fx.shown() : undefined;
  if (day === undefined)
    return { currency: "USD", fxRate: USD_RATE, midRate: USD_RATE, spreadBps: 0, fxDay: "" };
  const { usdInr, charged = "" } = rateWith(day, "INR", spreadBps);
  return { currency: "INR", fxRate: charged, midRate: usdInr, spreadBps, fxDay: day.day };
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
  throw fail("below_minimum", `A top-up is at least ${moneyText(least, currency)} before tax.`, {
    param: "/amount_minor",
    details: { min_amount_minor: least },
  });
}

export const recipientOf = (org: OrgRow): Recipient => ({
  legalName: org.legalName === "" ? org.name : org.legalName,
  gstin: org.gstin,
  taxStatus: org.taxStatus,
  address: org.billingAddress,
  taxId: org.taxId ?? "",
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

/** The fields of the exchange rate in a quote and in a top-up. */
export const SPREAD_FIELDS = {
  mid_rate: z.string().describe("The rate of the day without the spread; 1 in USD"),
  spread_bps: z.int().describe("The spread, basis points on top of `mid_rate`; 0 in USD"),
  spread_minor: z.int().describe("What of the amount before tax is the spread, in paise or cents"),
};

/** {@link SPREAD_FIELDS} of a quote. */
export const spreadWire = ({ currency, amountMinor, rate }: Quote) => ({
  mid_rate: currency === "INR" ? rate.usdInr : USD_RATE,
  spread_bps: rate.spreadBps ?? bpsBetween(rate),
  spread_minor: spreadOf(amountMinor, rate),
});

/** The spread in rows from before it was noted. */
const bpsBetween = ({ usdInr, charged }: InvoiceRate): number =>
  charged === undefined ? 0 : Math.round((Number(charged) / Number(usdInr) - 1) * 10_000);

export const quoteShape = z.object({
  rail: z.string().describe("The payment gateway that would take the payment"),
  currency: field.currency,
  amount_minor: z.int().describe("Before tax, in paise or cents"),
  tax_minor: z.int().describe("Tax on the amount, in paise or cents"),
  total_minor: z.int().describe("To be paid: amount and tax"),
  credits_micro: z.int().describe("Credit that it buys, micro-USD"),
  fx_rate: z.string().describe("INR for 1 USD of credit, the spread included; 1 in USD"),
  ...SPREAD_FIELDS,
  fx_day: z.string().describe("Day of the rate; empty where none was needed"),
  parts: z
    .array(
      z.object({
        kind: z
          .enum(["credit", "spread", "fees", "cgst", "sgst", "igst"])
          .describe(
            "`credit` at the day's rate; `spread`; `fees` that the payer pays, which are 0; heads of tax, where any is due",
          ),
        minor: z.int().describe("In paise or cents"),
        bps: z.int().optional().describe("Of the rate, or of the amount before tax; basis points"),
      }),
    )
    .describe("What is paid, part by part: the sum is `total_minor`"),
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
    ...spreadWire(quote),
    fx_day: quote.fxDay,
    parts: partsOf(quote),
    fees: { rail: fees.rail, items: fees.items.map((item) => ({ ...item })) },
    min_amount_minor: terms.minimumsMinor[currency],
    display: displayOf(quote),
  };
}

function partsOf(quote: Quote): z.input<typeof quoteShape>["parts"] {
  const { amountMinor, heads, treatment } = quote;
  const { spread_minor: spread, spread_bps } = spreadWire(quote);
  const { rateBps } = treatment;
  const taxes =
    treatment.kind === "intra"
      ? ([
          { kind: "cgst", minor: heads.cgstMinor, bps: rateBps / 2 },
          { kind: "sgst", minor: heads.sgstMinor, bps: rateBps / 2 },
        ] as const)
      : ([{ kind: "igst", minor: heads.igstMinor, bps: rateBps }] as const);
  return [
    { kind: "credit", minor: amountMinor - spread },
    { kind: "spread", minor: spread, bps: spread_bps },
    { kind: "fees", minor: 0 },
    ...(rateBps === 0 ? [] : taxes),
  ];
}

function displayOf(quote: Quote): string {
  const { amountMinor, currency, heads, totalMinor, creditsMicroUsd, rate } = quote;
  const tax = taxOf(heads);
  const taxed = tax === 0 ? "no tax" : `${moneyText(tax, currency)} tax`;
  const credit = moneyText(Math.floor(creditsMicroUsd / 10_000), "USD");
  const sold = `Pay ${moneyText(totalMinor, currency)} (${moneyText(amountMinor, currency)} and ${taxed}) for ${credit} of credit`;
  if (rate.charged === undefined) return sold;
  const spread = `a spread of ${percentText(rate.spreadBps ?? 0)}, ${moneyText(spreadOf(amountMinor, rate), currency)}`;
  return `${sold}: 1 USD of it for ${rate.charged} INR, the rate of ${rate.day}, ${rate.usdInr}, and ${spread}`;
}
