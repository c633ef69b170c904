import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Checkout } from "../../../../src/billing/payments/gateway.ts";
import { settle } from "../../../../src/billing/topups/settlement.ts";
import { checkout, openBilling, payment, someOrg, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

const told = (topupId: string, found: Checkout) =>
  billing.store.act(() => settle(billing.deps, topupId, found));
const statusOf = (topupId: string) => billing.deps.topups.find(topupId)?.status;

describe("a top-up", () => {
  test("is credited with its quote, and has an invoice with its tax", async () => {
    const org = someOrg();
    const row = await billing.topup(org, 100_000);
    await told(row.id, checkout(row, "complete", payment(row)));
    // 1,000 INR at 88.50 + 2 % = 90.27 INR for a dollar.
    expect(billing.ledger(org.id)).toEqual([["topup", 11_077_877]]);
    expect(billing.invoicesOf(org.id)).toMatchObject([
      {
        kind: "tax_invoice",
        taxableMinor: 100_000,
        totalMinor: 118_000,
        topupId: row.id,
        heads: { cgstMinor: 9_000, sgstMinor: 9_000, igstMinor: 0 },
      },
    ]);
    expect(billing.eventsOf(org.id).map(({ type }) => type)).toEqual(["topup.paid", "invoice.issued"]);
    expect(billing.deps.topups.find(row.id)).toMatchObject({ status: "paid", method: "upi", feeMinor: 12 });
  });

  test("abroad buys a dollar of credit for a dollar, without tax", async () => {
    const org = someOrg("US");
    const row = await billing.topup(org, 2_500);
    await told(row.id, checkout(row, "complete", payment(row)));
    expect(billing.ledger(org.id)).toEqual([["topup", 25_000_000]]);
    expect(billing.invoicesOf(org.id)).toMatchObject([{ kind: "export_invoice", totalMinor: 2_500 }]);
  });

  test.each([
    ["amount_differs", { total: { currency: "INR", minor: 117_999 } }],
    ["currency_differs", { total: { currency: "USD", minor: 118_000 } }],
  ] as const)("is parked and not credited where the payment differs: %s", async (reason, changes) => {
    const org = someOrg();
    const row = await billing.topup(org, 100_000);
    const wrong = checkout(row, "complete", payment(row, changes));
    await told(row.id, wrong);
    await told(row.id, wrong);
    expect(billing.ledger(org.id)).toEqual([]);
    expect(statusOf(row.id)).toBe("pending");
    expect([...billing.deps.parked.all()].filter(({ topupId }) => topupId === row.id)).toMatchObject([
      { reason },
    ]);
  });

  test("that was paid twice is credited once, and the second payment is parked", async () => {
    const org = someOrg();
    const row = await billing.topup(org, 100_000);
    await told(row.id, checkout(row, "complete", payment(row), payment(row, { ref: "pay_second" })));
    expect(billing.ledger(org.id)).toHaveLength(1);
    expect([...billing.deps.parked.all()].filter(({ topupId }) => topupId === row.id)).toMatchObject([
      { reason: "paid_twice", ref: "pay_second" },
    ]);
  });

  test("whose wrong payment is parked has it parked once, though the right one comes later", async () => {
    const org = someOrg();
    const row = await billing.topup(org, 100_000);
    const wrong = payment(row, { ref: "pay_wrong", total: { currency: "INR", minor: 117_999 } });
    await told(row.id, checkout(row, "complete", wrong));
    await told(row.id, checkout(row, "complete", wrong, payment(row)));
    await told(row.id, checkout(row, "complete", wrong, payment(row)));
    expect(statusOf(row.id)).toBe("paid");
    expect([...billing.deps.parked.all()].filter(({ topupId }) => topupId === row.id)).toMatchObject([
      { reason: "amount_differs", ref: "pay_wrong" },
    ]);
  });

  test.each(["failed", "expired"] as const)(
    "that is %s is credited all the same when money comes",
    async (end) => {
      const org = someOrg();
      const row = await billing.topup(org, 100_000);
      const failed = payment(row, { ref: "pay_failed", state: "failed" });
      await told(row.id, checkout(row, "expired", ...(end === "failed" ? [failed] : [])));
      expect(statusOf(row.id)).toBe(end);
      await told(row.id, checkout(row, "complete", payment(row)));
      expect(statusOf(row.id)).toBe("paid");
      expect(billing.ledger(org.id)).toHaveLength(1);
    },
  );

  test("one payment cannot pay two top-ups", async () => {
    const org = someOrg();
    const [one, other] = [await billing.topup(org, 100_000), await billing.topup(org, 100_000)];
    const same = payment(one);
    await told(one.id, checkout(one, "complete", same));
    await told(other.id, checkout(other, "complete", same));
    expect(billing.ledger(org.id)).toHaveLength(1);
    expect(statusOf(other.id)).toBe("pending");
  });

  test("a payment that is under way, or an unpaid completion, credits nothing", async () => {
    const org = someOrg();
    const row = await billing.topup(org, 100_000);
    await told(row.id, checkout(row, "complete", payment(row, { state: "processing" })));
    await told(row.id, checkout(row, "complete", payment(row, { state: "authorized" })));
    expect([billing.ledger(org.id), statusOf(row.id)]).toEqual([[], "pending"]);
    await told(row.id, checkout(row, "complete"));
    expect([billing.ledger(org.id), statusOf(row.id)]).toEqual([[], "failed"]);
  });

  test("in whatever order it is told, any number of times at once: one entry, one invoice, one event", async () => {
    const seen = fc.constantFrom("open", "failed try", "processing", "authorized", "expired", "paid");
    await fc.assert(
      fc.asyncProperty(fc.array(seen, { maxLength: 12 }), async (tellings) => {
        const org = someOrg();
        const row = await billing.topup(org, 50_000);
        const views: Record<string, Checkout> = {
          open: checkout(row, "open"),
          "failed try": checkout(row, "open", payment(row, { ref: "pay_no", state: "failed" })),
          processing: checkout(row, "complete", payment(row, { state: "processing" })),
          authorized: checkout(row, "complete", payment(row, { state: "authorized" })),
          expired: checkout(row, "expired"),
          paid: checkout(row, "complete", payment(row)),
        };
        await Promise.all(tellings.map((name) => told(row.id, views[name] as Checkout)));
        const once = tellings.includes("paid") ? 1 : 0;
        expect(billing.ledger(org.id)).toHaveLength(once);
        expect(billing.invoicesOf(org.id)).toHaveLength(once);
        expect(billing.eventsOf(org.id).filter(({ type }) => type === "topup.paid")).toHaveLength(once);
        expect(statusOf(row.id) === "paid").toBe(once === 1);
      }),
      { numRuns: 100, seed: 14 },
    );
  });
});
