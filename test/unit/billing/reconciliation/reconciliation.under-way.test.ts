/** What a payment gateway has begun, or cannot tell at the moment, is no fault of the books. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { followRefund } from "../../../../src/billing/refunds/foreign-refunds.ts";
import type { TopupRow } from "../../../../src/billing/topups/topup.ts";
import { someOrg } from "../fixtures.ts";
import { type Books, kindsOf, openBooks } from "./fixtures.ts";

const DAY = "2026-11-23";
const ORG = someOrg();

let books: Books;
beforeEach(() => {
  books = openBooks([ORG]);
});
afterEach(() => books.close());

const overnight = () => books.clock.set("2026-11-23T20:00:00Z");
const act = (run: () => void) => books.store.act(run);
const goodDay = async (): Promise<TopupRow[]> => [await books.bought(ORG, 100_000)];

describe("a refund that has not ended, or that came to nothing", () => {
  const begun = async (state: "pending" | "failed", ours: "asked" | "failed" | "none") => {
    const [row] = (await goodDay()) as [TopupRow];
    const made = books.refundAt(row, "re_begun", "", 59_000);
    books.told.refunds.set(made.ref, { ...made, state });
    if (ours === "none") return;
    await act(() => followRefund(books.notices, row.id, { ...made, state: "pending" }));
    if (ours === "failed") await act(() => followRefund(books.notices, row.id, { ...made, state }));
  };

  test.each([
    ["pending", "asked"],
    ["failed", "failed"],
    ["failed", "none"],
  ] as const)("%s at the payment gateway, %s here, is no finding", async (state, ours) => {
    await begun(state, ours);
    overnight();
    for (const report of [await books.compare(DAY), await books.run(DAY)])
      expect(kindsOf(report)).toEqual([]);
    expect([...books.deps.parked.all()]).toEqual([]);
  });

  test("is followed where it is not known here", async () => {
    await begun("pending", "none");
    overnight();
    expect(kindsOf(await books.run(DAY))).toEqual(["refund_unknown healed"]);
    expect(books.deps.refunds.ofRef("simulated", "re_begun")?.status).toBe("pending");
  });
});

test("a refund that does not fit its top-up is parked once, and not again by reconciliation", async () => {
  const [row] = (await goodDay()) as [TopupRow];
  books.refundAt(row, "re_first", "", 118_000);
  books.refundAt(row, "re_second", "", 1_000);
  overnight();
  expect(kindsOf(await books.run(DAY))).toEqual(["refund_unknown healed", "refund_unknown parked"]);
  expect(kindsOf(await books.run(DAY))).toEqual(["refund_unknown healed", "refund_unknown parked"]);
  const parked = [...books.deps.parked.all()];
  expect(parked.map(({ ref, reason }) => [ref, reason])).toEqual([["re_second", "refund_does_not_fit"]]);
  for (const one of parked) await act(() => void books.deps.parked.close(one, "kept", books.clock.now()));
  expect(kindsOf(await books.run(DAY))).toEqual(["refund_unknown healed"]);
});

test("what cannot be read for a moment is not parked: a later run heals it, and reports what the first one healed", async () => {
  const [first, second] = [await books.topup(ORG, 50_000), await books.topup(ORG, 60_000)];
  await books.pay(first);
  const { ref } = await books.pay(second);
  overnight();
  books.told.busy.add(ref);
  await expect(books.run(DAY)).rejects.toMatchObject({ kind: "gateway_unavailable" });
  expect([[...books.deps.parked.all()], books.ledger(ORG.id).length]).toEqual([[], 1]);
  expect(books.reconciliation.stored(DAY)).toBeUndefined();
  books.told.busy.clear();
  expect(kindsOf(await books.run(DAY))).toEqual(["paid_not_credited healed", "paid_not_credited healed"]);
  expect(books.ledger(ORG.id).length).toBe(2);
});
