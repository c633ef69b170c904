/**
 * Random schedules: balances that fall, manual top-ups, settings, cancelled mandates, webhooks and readers, answers that are lost, and
 * deaths of the process at any act and at any call. Never are two debits of an org under way, never are there more than the ceilings
 * allow, and each debit that was paid is credited once.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { followDispute } from "../../../../src/billing/disputes/dispute.ts";
import { lookNow } from "../../../../src/billing/topups/watch.ts";
import { amount } from "../../../support/effort.ts";
import { AutoTopupWorld, DAY, HOUR, MINUTE } from "../auto-topup.fixtures.ts";
import { someOrg } from "../fixtures.ts";
import type { ConfirmStep, PrepareStep } from "../scripted-gateway.fixtures.ts";

const CONFIRMS: readonly ConfirmStep[] = [
  "paid",
  "paid",
  "processing",
  "hard",
  "soft",
  "opt_out",
  "busy",
  "unclear_paid",
  "unclear_none",
  "unclear_late",
];
const PREPARES: readonly PrepareStep[] = ["busy", "unclear", "declined", "refused"];

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("spend" as const),
      microUsd: fc.integer({ min: 1, max: 30_000_000 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      minutes: fc.constantFrom(1, 16, 61, 400, 1500),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("grant" as const),
      microUsd: fc.integer({ min: 1, max: 30_000_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("put" as const),
      enabled: fc.boolean(),
      twice: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("mandate" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("read" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("dispute" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("die" as const), acts: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("dieAtCall" as const), calls: fc.integer({ min: 1, max: 4 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const schedule = fc.record({
  method: fc.constantFrom("card_us", "card", "upi"),
  confirms: fc.array(fc.constantFrom(...CONFIRMS), { maxLength: 8 }),
  prepares: fc.array(fc.constantFrom(...PREPARES), { maxLength: 3 }),
  steps: fc.array(step, { minLength: 5, maxLength: 25 }),
});

async function act(world: AutoTopupWorld, orgId: string, method: "card" | "upi", given: Step): Promise<void> {
  const { mortal } = world.now;
  switch (given.do) {
    case "spend":
      return await world.spend(orgId, given.microUsd);
    case "grant":
      return await world.grant(orgId, given.microUsd);
    case "pass":
      return await world.pass(given.minutes * MINUTE, Math.max(1, given.minutes / 12) * MINUTE);
    case "put":
      return await world
        .put(orgId, amountOf(world, orgId) * (given.twice ? 2 : 1), 5_000_000, given.enabled)
        .catch(() => {});
    case "mandate":
      await world.mandate(orgId, method).catch(() => {});
      return await world.put(orgId, amountOf(world, orgId)).catch(() => {});
    case "cancel":
      return void (await world.cancel(orgId));
    case "read":
      return await readNewest(world, orgId);
    case "dispute":
      return await disputeOldest(world, orgId);
    case "die":
      await world.spend(orgId, 8_000_000);
      mortal.left = given.acts;
      await world.pass(2 * HOUR, 10 * MINUTE);
      mortal.left = Number.POSITIVE_INFINITY;
      return;
    case "dieAtCall":
      await world.spend(orgId, 8_000_000);
      return await dieAtCall(world, given.calls);
  }
}

/** Small, so that several are needed. */
const amountOf = (world: AutoTopupWorld, orgId: string): number =>
  world.now.accounts.org(orgId)?.billingCurrency === "USD" ? 500 : 10_000;

/** So that schedules are known to reach what they are for. */
const reached = { deaths: 0, debits: 0 };

/** The process dies before or after an effect at the payment gateway. */
async function dieAtCall(world: AutoTopupWorld, calls: number): Promise<void> {
  let left = calls;
  const { mortal } = world.now;
  world.gateway.around = () => {
    left -= 1;
    if (left !== 0) return;
    mortal.isDead = true;
    throw new Error("the process died");
  };
  await world.pass(HOUR, 10 * MINUTE);
  world.gateway.around = () => {};
}

async function readNewest(world: AutoTopupWorld, orgId: string): Promise<void> {
  const [row] = world.topups(orgId);
  if (row !== undefined) await lookNow(world.now.notices, row, 1000);
}

async function disputeOldest(world: AutoTopupWorld, orgId: string): Promise<void> {
  const row = world.topups(orgId).at(-1);
  const dispute = { ref: "dp", paymentRef: "", amount: { currency: "INR", minor: 1 }, reason: "" } as const;
  if (row !== undefined)
    await world.now.store.act(() =>
      followDispute(world.now.notices, row.id, { ...dispute, state: "warning" }),
    );
}

function assertBounded(world: AutoTopupWorld, orgId: string, capMinor: number): void {
  expect(world.gateway.wrongs).toEqual([]);
  const paid = world.gateway.paid(orgId);
  for (const { payment } of paid) {
    const fromMs = payment?.paidAtMs ?? 0;
    // What was asked for within a day may end later, but by no more than the script lets it.
    const near = paid.filter(
      (other) => Math.abs((other.payment?.paidAtMs ?? 0) - fromMs) < DAY / 2 - 2 * HOUR,
    );
    expect(near.length).toBeLessThanOrEqual(3);
    expect(near.reduce((sum, other) => sum + (other.payment?.total.minor ?? 0), 0)).toBeLessThanOrEqual(
      2 * capMinor,
    );
  }
}

const RUNS = Number(process.env.WEIR_AUTO_TOPUP_RUNS ?? amount(100, 25));

test("money is debited once at a time, within the ceilings, and credited once", {
  timeout: 110_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async ({ method, confirms, prepares, steps }) => {
      const world = await new AutoTopupWorld().start();
      try {
        const orgId = await world.org(someOrg(method === "card_us" ? "US" : "IN"));
        const by = method === "upi" ? "upi" : "card";
        world.gateway.confirmWith(orgId, ...confirms);
        world.gateway.prepareWith(orgId, ...prepares);
        await world.mandate(orgId, by);
        await world.put(orgId, amountOf(world, orgId));
        for (const given of steps) await act(world, orgId, by, given);
        world.now.mortal.left = Number.POSITIVE_INFINITY;
        await world.pass(4 * DAY, 2 * HOUR);
        assertBounded(world, orgId, method === "card_us" ? 100_000 : 1_500_000);
        const paid = world.gateway.paid(orgId).map(({ order }) => order.reference);
        expect(new Set(paid).size).toBe(paid.length);
        const credited = world.now.book.entries(orgId, { limit: 500, kind: "topup" });
        expect(credited.map((entry) => ("refId" in entry ? entry.refId : "")).sort()).toEqual(
          [...paid].sort(),
        );
        expect(
          world
            .eventData(orgId, "auto_topup.charged")
            .map(({ id }) => id)
            .sort(),
        ).toEqual([...paid].sort());
        expect(world.now.autoTopups.of(orgId).debit?.phase ?? "announced").toMatch(/announced|confirming/);
        reached.deaths += world.deaths;
        reached.debits += paid.length;
      } finally {
        await world.dispose();
      }
    }),
    { numRuns: RUNS, seed: 20_261_123 },
  );
  expect(reached.deaths).toBeGreaterThan(RUNS);
  expect(reached.debits).toBeGreaterThan(RUNS);
});
