/** Quotes in USD of an Indian supplier: their invoices state a value in rupees. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { FxTable } from "../../../src/billing/fx-table.ts";
import { quoteFor } from "../../../src/billing/quote.ts";
import { openBilling, someOrg, TERMS, type TestBilling } from "./fixtures.ts";

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
