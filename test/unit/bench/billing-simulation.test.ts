/**
 * The simulation of business with credit, small: that its nights find nothing, and that they would. The year is
 * `npm run simulate -- billing`.
 */
import { expect, test } from "vitest";
import { simulateBilling } from "../../../bench/simulation/billing/billing.ts";
import type { SimulationModule } from "../../../bench/simulation/billing/module.ts";
import type { GatewayProcess } from "../../../bench/simulation/billing/process.ts";

/** Over the first of April, when numbers of documents begin anew. */
const SMALL = { orgs: 20, days: 40, from: "2026-03-05", seed: 7, actsTwice: true };

test("forty days of twenty orgs end with all books in agreement, though everything fails at times", async () => {
  const { figures, deviation } = await simulateBilling(SMALL);
  expect(deviation).toBeUndefined();
  for (const seen of ["process: killed", "webhooks: lost", "credit: calls", "payment service: times away"])
    expect(figures.of(seen), seen).toBeGreaterThan(0);
  expect(figures.of("checks: nights")).toBe(80);
});

test("the same seed gives the same figures, another seed others", async () => {
  const figuresOf = async (seed: number) =>
    (await simulateBilling({ ...SMALL, days: 8, seed })).figures.all();
  const [one, same, other] = [await figuresOf(3), await figuresOf(3), await figuresOf(4)];
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
});

/** On the fifth day something is put that no room would put. */
function tampering(act: (process: GatewayProcess, orgId: string) => void): SimulationModule {
  let days = 0;
  return {
    name: "tampering",
    day(world) {
      days += 1;
      const { process, parts } = world;
      const [customer] = parts.customers;
      if (days !== 5 || process === undefined || customer === undefined) return;
      void process.store.act(() => act(process, customer.org.id));
    },
  };
}

test.each<[string, RegExp, (process: GatewayProcess, orgId: string) => void]>([
  [
    "credit that nobody paid",
    /paid 0 .* balance 5/,
    ({ rooms }, orgId) =>
      rooms.book.post(orgId, { kind: "topup", amountMicroUsd: 5, refType: "topup", refId: "none" }),
  ],
  [
    "a number that has no document",
    /counted to/,
    ({ store }) => store.table<number>("invoices.series").put(["TI", "2025-26"], 1_000_000),
  ],
  [
    "a parked payment that does not exist",
    /parked for nothing/,
    ({ rooms }) =>
      rooms.parked.park(
        {
          ...{ reason: "paid_twice", gateway: "simulated", ref: "none", orgId: "", topupId: "" },
          ...{ currency: "INR", minor: 1, detail: "" },
        },
        rooms.clock.now(),
      ),
  ],
])("a night finds %s", async (_, what, act) => {
  const { deviation } = await simulateBilling({ ...SMALL, days: 12, modules: [tampering(act)] });
  expect(deviation?.what).toMatch(what);
});
