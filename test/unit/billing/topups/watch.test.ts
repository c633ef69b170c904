import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayError, type PaymentGateway } from "../../../../src/billing/payments/gateway.ts";
import { lookAt } from "../../../../src/billing/topups/watch.ts";
import { checkout, openBilling, payment, someOrg, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

const signal = new AbortController().signal;

test("an authorized payment is taken although the payment gateway repeats its stored failure to the first key", async () => {
  const row = await billing.topup(someOrg(), 100_000);
  const keys: string[] = [];
  const failing = new Set<string>();
  let state: "authorized" | "paid" = "authorized";
  const gateway = {
    readCheckout: async () => checkout(row, "complete", payment(row, { state })),
    async capture(_ref, _total, { idempotencyKey }) {
      keys.push(idempotencyKey);
      if (keys.length === 1) failing.add(idempotencyKey);
      if (failing.has(idempotencyKey)) throw new GatewayError("unclear", "status 500");
      state = "paid";
      return payment(row);
    },
  } satisfies Partial<PaymentGateway>;
  const deps = { ...billing.deps, gatewayOf: () => gateway as unknown as PaymentGateway };
  await expect(lookAt(deps, row, signal)).rejects.toMatchObject({ kind: "unclear" });
  // Soon after, the same key is asked: the first request may still be under way.
  await expect(lookAt(deps, row, signal)).rejects.toMatchObject({ kind: "unclear" });
  expect(new Set(keys).size).toBe(1);
  billing.clock.advance(16 * 60_000);
  expect((await lookAt(deps, row, signal))?.checkout.payments).toMatchObject([{ state: "paid" }]);
});
