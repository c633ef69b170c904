/** An org with thousands of grants: what a reading of its lots follows, and what is stored of them, stays small. */
import { afterAll, expect, test } from "vitest";
import { openCredits } from "../../../src/credits/credits.ts";
import type { Lots } from "../../../src/credits/lots.ts";
import { ManualClock, tempStore } from "./fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

test("of 1,000 grants without an end few lots are kept, no entry but the last is followed again, and the sum is the balance", async () => {
  const { store } = folder;
  const { book, lots } = openCredits({ store, clock: new ManualClock("2026-03-01T10:00:00Z") });
  const org = "org_many";
  for (let i = 0; i < 1_000; i += 100) {
    await store.act(() => {
      for (let j = i; j < i + 100; j++)
        book.post(org, { kind: "grant", amountMicroUsd: 10 + j, refType: "grant", refId: `g${j}` });
    });
    await store.act(() => book.charge(org, { requestId: `R${i}`, amountMicroUsd: 50, atMs: 1 }));
  }
  const { grants, paidMicroUsd, seq } = lots.of(org);
  expect(grants.length).toBeLessThanOrEqual(20);
  const sum = grants.reduce((left, { leftMicroUsd }) => left + leftMicroUsd, 0);
  expect([sum, paidMicroUsd]).toEqual([book.balance(org).balanceMicroUsd, 0]);
  expect(store.table<Lots>("credits.lots").get([org])?.seq).toBe(seq - 1);
});
