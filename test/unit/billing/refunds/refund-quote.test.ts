/** Quotes of refunds: each says what the refund then gives back and takes, and what is in the way of one. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { askRefund, failRefund, settleRefund } from "../../../../src/billing/refunds/acts.ts";
import { quoteRefund } from "../../../../src/billing/refunds/refund-quote.ts";
import { settle } from "../../../../src/billing/topups/settlement.ts";
import type { TopupRow } from "../../../../src/billing/topups/topup.ts";
import { checkout, openBilling, payment, someOrg, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

async function paidTopup(org = someOrg(), amountMinor = 100_000): Promise<TopupRow> {
  const row = await billing.topup(org, amountMinor);
  await billing.store.act(() => settle(billing.deps, row.id, checkout(row, "complete", payment(row))));
  return row;
}

const now = ({ id }: TopupRow) => billing.deps.topups.find(id) as TopupRow;
const quote = (row: TopupRow, amountMinor?: number) => quoteRefund(billing.deps, now(row), amountMinor);
let keys = 0;
const refund = (row: TopupRow, amountMinor: number) =>
  billing.store.act(() => {
    const request = { amountMinor, reason: "", idempotencyKey: `k${++keys}` };
    return askRefund(billing.deps, row.orgId, row.id, request).refund;
  });

test.each(["IN", "US"] as const)(
  "a refund in %s gives back and takes what its quote said",
  async (country) => {
    const row = await paidTopup(someOrg(country), 100_003);
    for (const amountMinor of [33_333, 1, 33_334, undefined]) {
      const said = quote(row, amountMinor);
      const made = await refund(row, said.amount_minor);
      expect(said).toEqual({
        currency: country === "IN" ? "INR" : "USD",
        refundable_minor: said.refundable_minor,
        amount_minor: amountMinor ?? said.refundable_minor,
        tax_minor: made.totalMinor - made.amountMinor,
        total_minor: made.totalMinor,
        credits_micro: made.creditsMicroUsd,
      });
      await billing.store.act(() => settleRefund(billing.deps, made.id, `re_${made.id}`));
    }
    expect(billing.balance(row.orgId)).toBe(0);
  },
);

test("it knows of credit that is spent, and of a refund that is under way", async () => {
  const row = await paidTopup();
  await billing.spend(row.orgId, 5_000_000);
  const { refundable_minor: most } = quote(row);
  expect(most).toBe(Math.floor((100_000 * 6_077_877) / 11_077_877));
  expect(() => quote(row, most + 1)).toThrow(
    expect.objectContaining({ kind: "not_refundable", details: { refundable_minor: most } }),
  );
  const made = await refund(row, 10_000);
  expect(quote(row)).toMatchObject({
    refundable_minor: 0,
    amount_minor: 0,
    total_minor: 0,
    bar: expect.stringContaining("under way"),
  });
  await billing.store.act(() => failRefund(billing.deps, made.id, "The bank refused it."));
  expect(quote(row)).toMatchObject({ refundable_minor: most });
  expect(quote(row).bar).toBeUndefined();
});

test("nothing of what was not paid can be refunded, and it says why", async () => {
  const row = await billing.topup(someOrg(), 100_000);
  expect(quote(row)).toMatchObject({ refundable_minor: 0, bar: "The top-up is pending: nothing was paid." });
});
