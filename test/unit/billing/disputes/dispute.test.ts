import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { followDispute } from "../../../../src/billing/disputes/dispute.ts";
import type { Dispute } from "../../../../src/billing/payments/gateway.ts";
import { askRefund, failRefund } from "../../../../src/billing/refunds/acts.ts";
import { followRefund } from "../../../../src/billing/refunds/foreign-refunds.ts";
import { settle } from "../../../../src/billing/topups/settlement.ts";
import type { TopupRow } from "../../../../src/billing/topups/topup.ts";
import { checkout, gatewayRefund, openBilling, payment, someOrg, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

async function paidTopup(): Promise<TopupRow> {
  const row = await billing.topup(someOrg("US"), 10_000);
  await billing.store.act(() => settle(billing.deps, row.id, checkout(row, "complete", payment(row))));
  return row;
}

const read = (row: TopupRow, state: Dispute["state"], minor = 10_000) =>
  billing.store.act(() =>
    followDispute(billing.deps, row.id, {
      ref: `dp_${row.id}`,
      paymentRef: `pay_${row.id}`,
      reason: "fraudulent",
      amount: { currency: "USD", minor },
      state,
    }),
  );
const statusOf = (row: TopupRow) => billing.deps.topups.find(row.id)?.status;

describe("a dispute", () => {
  test("takes the credit when the money is withdrawn, and gives it back with the money", async () => {
    const row = await paidTopup();
    await read(row, "open");
    expect([statusOf(row), billing.balance(row.orgId)]).toEqual(["disputed", 100_000_000]);
    await read(row, "withdrawn");
    await read(row, "withdrawn");
    expect([statusOf(row), billing.balance(row.orgId)]).toEqual(["disputed", 0]);
    await read(row, "reinstated");
    expect([statusOf(row), billing.balance(row.orgId)]).toEqual(["paid", 100_000_000]);
    await read(row, "withdrawn");
    expect(billing.ledger(row.orgId)).toEqual([
      ["dispute", -100_000_000],
      ["dispute_reversal", 100_000_000],
      ["dispute", -100_000_000],
      ["topup", 100_000_000],
    ]);
    expect(billing.eventsOf(row.orgId).filter(({ type }) => type === "topup.disputed")).toHaveLength(1);
  });

  test("of spent credit leaves a debt, so that no billed call is admitted", async () => {
    const row = await paidTopup();
    await billing.spend(row.orgId, 60_000_000);
    await read(row, "withdrawn");
    expect(billing.balance(row.orgId)).toBe(-60_000_000);
    expect(billing.purse.hold(row.orgId, 1)).toBeUndefined();
  });

  test("takes its share, and of a top-up that was refunded in part no more than is left", async () => {
    const row = await paidTopup();
    await read(row, "withdrawn", 2_500);
    expect(billing.balance(row.orgId)).toBe(75_000_000);
    const other = await paidTopup();
    const request = { amountMinor: 8_000, reason: "", idempotencyKey: "k" };
    await billing.store.act(() => askRefund(billing.deps, other.orgId, other.id, request));
    await read(other, "withdrawn");
    expect(billing.balance(other.orgId)).toBe(0);
  });

  test("takes what a refund that fails gives back, while the money is away", async () => {
    const row = await paidTopup();
    const request = { amountMinor: 8_000, reason: "", idempotencyKey: "k" };
    const { refund } = await billing.store.act(() => askRefund(billing.deps, row.orgId, row.id, request));
    await read(row, "withdrawn");
    await billing.store.act(() => failRefund(billing.deps, refund.id, "The account is closed."));
    expect(billing.balance(row.orgId)).toBe(0);
    await read(row, "won");
    expect([statusOf(row), billing.balance(row.orgId)]).toEqual(["paid", 100_000_000]);
  });

  test("takes no more together with another one than was paid", async () => {
    const row = await paidTopup();
    await read(row, "withdrawn", 6_000);
    const other = {
      ref: "dp_other",
      paymentRef: `pay_${row.id}`,
      reason: "duplicate",
      state: "lost",
    } as const;
    const amount = { currency: "USD", minor: 10_000 } as const;
    await billing.store.act(() => followDispute(billing.deps, row.id, { ...other, amount }));
    expect(billing.balance(row.orgId)).toBe(0);
    // The money of the other one is still away.
    await read(row, "won", 6_000);
    expect(billing.balance(row.orgId)).toBe(0);
  });

  test("leaves to a refund in the dashboard what that gave back, whichever is told first", async () => {
    for (const first of ["dispute", "refund"]) {
      const row = await paidTopup();
      const made = gatewayRefund(row, { total: { currency: "USD", minor: 7_000 } });
      const refunded = () => billing.store.act(() => followRefund(billing.deps, row.id, made));
      if (first === "refund") await refunded();
      await read(row, "withdrawn", 6_000);
      if (first === "dispute") await refunded();
      expect([first, billing.balance(row.orgId)]).toEqual([first, 0]);
      // A part of the disputed money had gone back before.
      await read(row, "won", 6_000);
      expect([first, billing.balance(row.orgId)]).toEqual([first, 30_000_000]);
    }
  });

  test("stops refunds of its top-up until it is won", async () => {
    const row = await paidTopup();
    const ask = () =>
      billing.store.act(() =>
        askRefund(billing.deps, row.orgId, row.id, { amountMinor: 100, reason: "", idempotencyKey: "k" }),
      );
    await read(row, "open");
    await expect(ask()).rejects.toMatchObject({ kind: "not_refundable" });
    await read(row, "won");
    await ask();
  });

  test("tells who stops automatic top-ups, once; a warning is parked for the operator", async () => {
    const row = await paidTopup();
    await read(row, "warning");
    await read(row, "warning");
    // Each act runs twice in this store, and the first run is dropped.
    expect(billing.disputed.filter((orgId) => orgId === row.orgId)).toHaveLength(2);
    expect([...billing.deps.parked.all()].filter(({ topupId }) => topupId === row.id)).toMatchObject([
      { reason: "fraud_warning" },
    ]);
    expect(statusOf(row)).toBe("paid");
  });
});
