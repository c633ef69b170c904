import { expect, test } from "vitest";
import { PlanList } from "../../../../src/billing/subscriptions/plan-list.ts";
import { pricingOperations } from "../../../../src/billing/subscriptions/pricing-operations.ts";
import { PLANS } from "../../../support/billing/plans.fixtures.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

const clock = new ManualClock("2026-11-23T10:00:00Z");
let reads = 0;
const { getPricing } = pricingOperations({
  clock,
  plans: new PlanList(PLANS, "local"),
  supplier: undefined,
  fx: { shown: () => undefined },
  byokFee: { bps: 500, microUsdPerRequest: 0 },
  markups: () => [0, 500, 300, ++reads, 0].filter((markup) => markup !== reads),
});
const read = () =>
  getPricing.run({ params: undefined, query: undefined, body: undefined }, {} as never, {} as never);

test("the document is made once a second at most, however many read it", async () => {
  const first = await read();
  for (let i = 0; i < 100; i++) expect(await read()).toBe(first);
  clock.advance(999);
  expect([await read(), reads]).toEqual([first, 1]);
  clock.advance(1);
  expect(await read()).toMatchObject({ generated_at: "2026-11-23T10:00:01.000Z" });
  expect(reads).toBe(2);
});

test("markups are those of the models that have one, and without a supplier nothing is sold", async () => {
  expect(await read()).toMatchObject({
    markup: { frontier_bps: 0, open_weight_min_bps: 300, open_weight_max_bps: 500 },
    currencies: [],
    rails: [],
    minimums_minor: {},
    supplier: { legal_name: "", gstin: false },
    gst: { rate_bps: 0 },
  });
});
