/** What a quote says: each part of what is paid, and the same in its top-up, its invoice and the balance. */

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { DAY_MS } from "../../../../src/base/time.ts";
import { pageModel } from "../../../../src/billing/invoices/pages/model.ts";
import { invoiceWire } from "../../../../src/billing/invoices/wire.ts";
import { FxTable } from "../../../../src/billing/rates/fx-table.ts";
import { creditMoney, quoteFor, quoteWire } from "../../../../src/billing/rates/quote.ts";
import { settle } from "../../../../src/billing/topups/settlement.ts";
import { topupWire } from "../../../../src/billing/topups/topup.ts";
import { creditOperations } from "../../../../src/credits/ledger/operations.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { textsOf } from "../../../support/invoices/texts.ts";
import { checkout, openBilling, payment, someOrg, TERMS, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

test("an export without any rate of exchange is not quoted: its invoice would be of no rupees", () => {
  const { store, clock, invoices, fx } = billing;
  const none = new FxTable({ store, clock, listed: [], always: "" });
  const quote = (of: FxTable) =>
    quoteFor({ fx: of, terms: TERMS, invoices }, someOrg("US"), 1000, clock.now());
  expect(() => quote(none)).toThrow("There is no exchange rate.");
  expect(quote(fx).rate.usdInr).toBe("88.50000000");
});

const wireOf = (quote: ReturnType<typeof quoteFor>) => quoteWire(quote, "simulated", TERMS);

describe("C11: a quote", () => {
  test("names rate, spread and tax, and each part of what is paid", () => {
    const quote = quoteFor(
      { fx: billing.fx, terms: TERMS, invoices: billing.invoices },
      someOrg(),
      100_000,
      billing.clock.now(),
    );
    expect(wireOf(quote)).toMatchObject({
      amount_minor: 100_000,
      tax_minor: 18_000,
      total_minor: 118_000,
      credits_micro: 11_077_877,
      fx_rate: "90.27000000",
      mid_rate: "88.50000000",
      fx_day: "2026-11-23",
      spread_bps: 200,
      spread_minor: 1_961,
      parts: [
        { kind: "credit", minor: 98_039 },
        { kind: "spread", minor: 1_961, bps: 200 },
        { kind: "fees", minor: 0 },
        { kind: "cgst", minor: 9_000, bps: 900 },
        { kind: "sgst", minor: 9_000, bps: 900 },
      ],
      display:
        "Pay ₹1,180.00 (₹1,000.00 and ₹180.00 tax) for $11.07 of credit: 1 USD of it for 90.27000000 INR, the rate of 2026-11-23, 88.50000000, and a spread of 2 %, ₹19.61",
    });
  });

  test("in USD has neither a rate nor a spread", () => {
    const deps = { fx: billing.fx, terms: TERMS, invoices: billing.invoices };
    const quote = quoteFor(deps, someOrg("US"), 2500, billing.clock.now());
    expect(wireOf(quote)).toMatchObject({
      fx_rate: "1.00000000",
      mid_rate: "1.00000000",
      spread_bps: 0,
      spread_minor: 0,
      parts: [
        { kind: "credit", minor: 2500 },
        { kind: "spread", minor: 0, bps: 0 },
        { kind: "fees", minor: 0 },
      ],
      display: "Pay $25.00 ($25.00 and no tax) for $25.00 of credit",
    });
  });
});

const STATES = ["29", "27", "04"];
/** Paise and cents: both currencies that orgs pay in have two digits. */
const amounts = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.integer({ min: 10_000, max: 9_999_999 }),
  fc.integer({ min: 1, max: 10_000_000_000 }),
);
/** INR for 1 USD in units of 10⁻⁸: of our days, and from 1 INR up to the most that the files take. */
const rates = fc.oneof(
  fc.integer({ min: 8_000_000_000, max: 10_000_000_000 }),
  fc.integer({ min: 100_000_000, max: 99_999_999_999_999 }),
);
const decimal = (rate: number) => `${Math.floor(rate / 1e8)}.${String(rate % 1e8).padStart(8, "0")}`;

interface Sale {
  readonly buyer: { readonly country: "IN" | "US"; readonly stateCode: string };
  readonly amountMinor: number;
  readonly rate: number;
  readonly spreadBps: number;
}

/** Quotes an amount, pays for it, and reads all that tells of it. */
async function sold({ buyer, amountMinor, rate, spreadBps }: Sale) {
  const { store, clock, invoices, deps, book, purse } = billing;
  const org = someOrg(buyer.country);
  const { billingCurrency, billingAddress } = org;
  const billed = { ...org, billingAddress: { ...billingAddress, stateCode: buyer.stateCode } };
  const fx = new FxTable({ store, clock, listed: [], always: decimal(rate) });
  const terms = { ...TERMS, spreadBps };
  const quote = quoteFor({ fx, terms, invoices }, billed, amountMinor, clock.now());
  const row = { ...(await billing.topup(billed, amountMinor)), quote };
  await store.act(() => deps.topups.put(row));
  await store.act(() => settle(deps, row.id, checkout(row, "complete", payment(row))));
  const [invoice] = billing.invoicesOf(org.id);
  if (invoice === undefined) throw new Error("no invoice");
  const { getCredits } = creditOperations({
    book,
    purse,
    cursors: cursors(Buffer.alloc(32, 1)),
    orgMoney: () => creditMoney(fx, terms, billingCurrency),
    callEnd: async () => undefined,
  });
  const nothing = { params: undefined, query: undefined, body: undefined };
  const balance = await getCredits.run(nothing, { orgId: org.id } as Caller, NO_HEAD);
  return {
    quote: quoteWire(quote, "simulated", terms),
    topup: topupWire(deps.topups.mustGet(org.id, row.id), invoice.id),
    invoice: invoiceWire(invoice),
    balance: getCredits.output.parse(balance),
  };
}

const SAME_IN_TOPUP = [
  "currency",
  "amount_minor",
  "tax_minor",
  "total_minor",
  "credits_micro",
  "fx_rate",
  "mid_rate",
  "spread_bps",
  "spread_minor",
] as const;

async function expectAgreement(sale: Sale): Promise<void> {
  const { quote, topup, invoice, balance } = await sold(sale);
  const part = (kind: string) => quote.parts.find((one) => one.kind === kind)?.minor ?? 0;
  expect(quote.parts.reduce((sum, { minor }) => sum + minor, 0)).toBe(quote.total_minor);
  expect(part("credit") + part("spread")).toBe(sale.amountMinor);
  expect(part("spread") === 0 || quote.spread_bps > 0).toBe(true);
  for (const field of SAME_IN_TOPUP) expect([field, topup[field]]).toEqual([field, quote[field]]);
  const { currency, fx_rate, mid_rate, spread_bps, spread_minor, credits_micro, fx_day } = quote;
  const isInr = currency === "INR";
  expect(invoice).toMatchObject({
    taxable_minor: sale.amountMinor,
    total_minor: quote.total_minor,
    currency,
    cgst_minor: part("cgst"),
    sgst_minor: part("sgst"),
    igst_minor: part("igst"),
    ...(isInr && { fx_rate: mid_rate, charged_rate: fx_rate, spread_bps, spread_minor }),
  });
  expect(balance).toMatchObject({
    available_micro_usd: credits_micro,
    fx_rate,
    mid_rate,
    spread_bps,
    currency,
    fx_day: isInr ? fx_day : "",
  });
  // Beyond this rate a micro-USD costs more than a paisa, so not every amount is one of credit.
  if (Number(fx_rate) < 10_000) expect(balance.display.amount).toBe(decimalOf(sale.amountMinor));
}

test("C11: quote, top-up, invoice and balance agree to the minor unit", async () => {
  const sales: fc.Arbitrary<Sale> = fc.record({
    buyer: fc.constantFrom<Sale["buyer"]>(
      ...STATES.map((stateCode) => ({ country: "IN" as const, stateCode })),
      { country: "US", stateCode: "CA" },
    ),
    amountMinor: amounts,
    rate: rates,
    spreadBps: fc.integer({ min: 0, max: 1000 }),
  });
  await fc.assert(fc.asyncProperty(sales, expectAgreement), { numRuns: 60 });
});

test("a rate that is a million or more with its spread buys as little as it says", async () => {
  const buyer = { country: "IN", stateCode: "29" } as const;
  const sale = { buyer, amountMinor: 102_000_000, rate: 99_999_999_999_999, spreadBps: 200 };
  // 1,020,000 INR at 1,020,000 INR for a dollar.
  expect((await sold(sale)).quote).toMatchObject({ fx_rate: "1019999.99999999", credits_micro: 1_000_000 });
  await expectAgreement(sale);
});

test("C11: a top-up of before the spread was noted tells it by its two rates", async () => {
  const { quote, ...row } = await billing.topup(someOrg(), 100_000);
  const { spreadBps: _, ...rate } = quote.rate;
  expect(topupWire({ ...row, quote: { ...quote, rate } })).toMatchObject({
    fx_rate: "90.27000000",
    mid_rate: "88.50000000",
    spread_bps: 200,
    spread_minor: 1_961,
  });
});

const decimalOf = (minor: number) => `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, "0")}`;

test("C11: an invoice prints the spread; one that was issued without it does not change", async () => {
  const { store, deps } = billing;
  const org = someOrg();
  const row = await billing.topup(org, 100_000);
  await store.act(() => settle(deps, row.id, checkout(row, "complete", payment(row))));
  const [invoice] = billing.invoicesOf(org.id);
  if (invoice === undefined) throw new Error("no invoice");
  const sold = (texts: string[]) => texts.filter((text) => text.startsWith("Rate of this sale"));
  expect(sold(textsOf(pageModel(invoice)))).toEqual([
    "Rate of this sale: 1 USD of credit = 90.27 INR, the rate of exchange with a conversion margin of 2 % (₹19.61 of the amount)",
  ]);
  const { spreadBps: _, ...rate } = invoice.rate;
  expect(sold(textsOf(pageModel({ ...invoice, rate })))).toEqual([
    "Rate of this sale: 1 USD of credit = 90.27 INR, the rate of exchange with a conversion margin",
  ]);
});

describe("C11: the balance is shown at the rate of a quote of the same moment", () => {
  const listed = (day: string, usdInr: string) => ({ day, usdInr, source: "test" });
  const shownWith = (options: { listed?: ReturnType<typeof listed>[]; always?: string }) => {
    const { store, clock } = billing;
    return new FxTable({ store, clock, listed: options.listed ?? [], always: options.always ?? "" });
  };

  test.each([
    ["a rate of these days", { listed: [listed("2026-11-22", "88.00000000")] }, "89.76000000", "2026-11-22"],
    [
      "an old one, and one for any day",
      { listed: [listed("2026-11-02", "70.00000000")], always: "88.00000000" },
      "89.76000000",
      "2026-11-23",
    ],
    ["an old one alone", { listed: [listed("2026-11-02", "70.00000000")] }, "71.40000000", "2026-11-02"],
  ])("%s", (_, rates, fxRate, fxDay) => {
    const { clock, invoices } = billing;
    const fx = shownWith(rates);
    expect(creditMoney(fx, TERMS, "INR")).toMatchObject({ currency: "INR", fxRate, fxDay, spreadBps: 200 });
    const isQuoted = clock.now() - Date.parse(fxDay) < 5 * DAY_MS;
    const quote = () => quoteFor({ fx, terms: TERMS, invoices }, someOrg(), 100_000, clock.now());
    if (isQuoted) expect(quote()).toMatchObject({ fxRate, fxDay });
    else expect(quote).toThrow("The exchange rate is of 2026-11-02.");
  });

  test("is in USD where there is none", () => {
    expect(creditMoney(shownWith({}), TERMS, "INR")).toMatchObject({ currency: "USD", fxRate: "1.00000000" });
  });
});
