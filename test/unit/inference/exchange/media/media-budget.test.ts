/** What all calls have fetched is bounded, one org has half of it, and what a call took is given back once. */
import { expect, test } from "vitest";
import { MediaBudget, MediaShare } from "../../../../../src/inference/exchange/media/media-budget.ts";

test("one org gets half, others the rest", () => {
  const budget = new MediaBudget(100);
  const shares = ["a", "a", "b", "c"].map((orgId) => new MediaShare(budget, orgId, 1000));
  expect(shares.map((share) => share.take(40))).toEqual([undefined, "all", undefined, "all"]);
  expect(shares.map((share) => share.take(10))).toEqual([undefined, "all", undefined, "all"]);
  expect(budget.bytes).toBe(100);
  for (const share of shares) share.release();
  for (const share of shares) share.release();
  expect(budget.bytes).toBe(0);
});

test("a call has a bound of its own, and takes nothing once it is over", () => {
  const budget = new MediaBudget(1000);
  const share = new MediaShare(budget, "a", 50);
  expect([share.take(50), share.take(1)]).toEqual([undefined, "call"]);
  share.release();
  expect([share.take(1), budget.bytes]).toEqual(["all", 0]);
});
