/**
 * The simulation of business with credit, small: that its nights find nothing, and that they would. The year is
 * `npm run simulate -- billing`.
 */
import { expect, test } from "vitest";
import { simulateBilling } from "../../../bench/simulation/billing/billing.ts";
import { MandateModule } from "../../../bench/simulation/billing/mandates.ts";
import { allModules, type SimulationModule } from "../../../bench/simulation/billing/module.ts";
import type { Plant } from "../../../bench/simulation/billing/planted-faults.ts";
import type { GatewayProcess } from "../../../bench/simulation/billing/process.ts";
import { ReconciliationModule } from "../../../bench/simulation/billing/reconciliation.ts";
import type { World } from "../../../bench/simulation/billing/world.ts";
import { indianDay } from "../../../src/billing/invoices/financial-year.ts";

/** Milliseconds of a test, on a machine that has other work. */
const LONG_MS = 240_000;
/** Over the first of April, when numbers of documents begin anew. */
const SMALL = { orgs: 20, days: 40, from: "2026-03-05", seed: 7, actsTwice: true };

test(
  "forty days of twenty orgs end with all books in agreement, though everything fails at times",
  async () => {
    const { figures, deviation } = await simulateBilling(SMALL);
    expect(deviation).toBeUndefined();
    for (const seen of [
      "process: killed",
      "webhooks: lost",
      "credit: calls",
      "payment service: times away",

      "subscriptions: first months",
      "subscriptions: months renewed",
      "subscriptions: fees bought by card",
      "subscriptions: active to past due",
      "subscriptions: included credit expired, micro-USD",
      "debits: announced",
      "debits: paid and credited",
      "mandates: pending to active",
      "planted in our books: an invoice that nobody finds",
      "parked: closed by an operator",
    ])
      expect(figures.of(seen), seen).toBeGreaterThan(0);
    expect(figures.of("reconciliation: days compared")).toBeGreaterThan(75);
    expect(figures.of("returns: months that add up")).toBe(3);
    expect(figures.of("checks: nights")).toBe(80);
  },
  LONG_MS,
);

test(
  "the same seed gives the same figures, another seed others",
  async () => {
    const figuresOf = async (seed: number) =>
      (await simulateBilling({ ...SMALL, orgs: 5, days: 8, seed })).figures.all();
    const [one, same, other] = [await figuresOf(3), await figuresOf(3), await figuresOf(4)];
    expect(same).toEqual(one);
    expect(other).not.toEqual(one);
  },
  LONG_MS,
);

/** Its kind is right, and what it says is nowhere. */
const neverFound = ({ parts }: World): Plant => ({
  day: indianDay(parts.time.now()),
  atMs: 0,
  findings: [{ kind: "no_invoice", ref: "pay_none" }],
});

test("a planted fault that reconciliation does not report is a deviation", async () => {
  const modules = [new ReconciliationModule({ neverFound })];
  const { deviation } = await simulateBilling({ ...SMALL, days: 12, modules });
  expect(deviation?.what).toMatch(/no_invoice of pay_none was planted, and is not in the report/);
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

type Tampering = (process: GatewayProcess, orgId: string) => void;

test.each<[string, RegExp, Tampering, (() => SimulationModule[])?]>([
  [
    "credit that nobody paid",
    /: paid \d+ .* balance \d+/,
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
          reason: "paid_twice",
          gateway: "simulated",
          ref: "none",
          orgId: "",
          topupId: "",
          currency: "INR",
          minor: 1,
          detail: "",
        },
        rooms.clock.now(),
      ),
  ],
  [
    "a fee without its statement",
    /sub_none\/0\/0 has no statement/,
    ({ rooms }, orgId) => {
      const refId = "sub_none/0/0";
      rooms.book.post(orgId, { kind: "grant", amountMicroUsd: 5, refType: "simulation", refId });
      rooms.book.post(orgId, { kind: "subscription", amountMicroUsd: -5, refType: "subscription", refId });
      rooms.tallies.add("granted", orgId, 5);
    },
    allModules,
  ],
  [
    "included credit that nobody paid a fee for",
    /granted 5, due is undefined/,
    ({ rooms }, orgId) =>
      rooms.book.post(orgId, {
        kind: "grant",
        amountMicroUsd: 5,
        refType: "included_credit",
        refId: "sub_none/0/0",
      }),
    allModules,
  ],
])("a night finds %s", async (_, what, act, modules = () => []) => {
  const { deviation } = await simulateBilling({
    ...SMALL,
    days: 12,
    modules: [...modules(), tampering(act)],
  });
  expect(deviation?.what).toMatch(what);
});

/** Each day somebody takes money of a mandate, past the gateway. */
const taking = (world: World): void => {
  const { engine } = world.parts.service;
  const mandate = [...engine.state.all("mandates")].find(({ state }) => state === "active");
  if (mandate === undefined) return;
  const order = { mandateId: mandate.id, amount: 1_000, currency: mandate.currency, reference: "tup_none" };
  const { id } = engine.prepareDebit("simulated", order);
  engine.nextDebits.push("paid");
  engine.confirmDebit("simulated", id);
};

test("a debit that no automatic top-up asked for is a deviation", async () => {
  const modules = [new MandateModule(), { name: "taking", day: taking }];
  const { deviation } = await simulateBilling({ ...SMALL, days: 12, modules });
  expect(deviation?.what).toMatch(/tup_none, .* was debited, and ours is/);
});
