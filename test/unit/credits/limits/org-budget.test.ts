/** An org's monthly budget over all its projects, and the sum it stands on: in memory, on disk, and after any crash the same. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type BudgetExceeded,
  type BudgetScope,
  budgetError,
} from "../../../../src/credits/budgets/budget.ts";
import { type BudgetHold, type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { ManualClock, openCredits, type TestCredits, tempStore } from "../../../support/credits/fixtures.ts";

const ORG = "org_1";
const KOLKATA = "Asia/Kolkata";

let disk: ReturnType<typeof tempStore>;
let clock: ManualClock;
let credits: TestCredits;
let budgets: LocalBudgets;
let events: BudgetExceeded[];
let calls = 0;
/** Whose budget it is. */
let org = ORG;

function open() {
  events = [];
  const { store } = disk;
  credits = openCredits({ store, clock });
  budgets = openBudgets({
    store,
    clock,
    book: credits.book,
    onBudgetExceeded: (event) => events.push(event),
  });
}
beforeEach(async () => {
  org = ORG;
  disk = tempStore();
  clock = new ManualClock("2026-03-10T10:00:00Z");
  open();
  await fund();
});
afterEach(() => disk.dispose());

const fund = () =>
  credits.post(org, { kind: "grant", amountMicroUsd: 1e12, refType: "grant", refId: "first" });
const scopeOf = (project: number, monthly = 0, hard = true, timeZone = "UTC"): BudgetScope => ({
  keyId: `key_${project}`,
  projectId: `prj_${org}_${project}`,
  orgId: org,
  timeZone,
  orgMonthly: { limitMicroUsd: monthly, hard },
});
function take(scope: BudgetScope, microUsd: number): BudgetHold {
  const hold = budgets.hold(scope, microUsd);
  if (!hold.admitted) throw new Error(`refused by ${hold.budget}`);
  return hold;
}
/** Settles as the exchange does: ledger entry and spend in one act. `fails`: the act is rolled back, and run again. */
async function settle(hold: BudgetHold, amountMicroUsd: number, fails = false): Promise<void> {
  const credit = credits.hold(org, 0);
  if (credit === undefined) throw new Error("no credit");
  const count = budgets.charging(hold, amountMicroUsd);
  const charge = { requestId: `R${calls++}`, amountMicroUsd, atMs: clock.now() };
  const also = (entrySeq?: number) => {
    count(entrySeq);
    if (fails) throw new Error("dropped");
  };
  const settled = credits.settle(credit, { ...charge, also });
  if (!fails) return void (await settled);
  await expect(settled).rejects.toThrow("dropped");
  await credits.settle(credit, { ...charge, also: count });
}
const spend = (scope: BudgetScope, microUsd: number, fails = false) =>
  settle(take(scope, microUsd), microUsd, fails);
const refusedBy = (scope: BudgetScope, microUsd: number) => {
  const hold = budgets.hold(scope, microUsd);
  if (!hold.admitted) return hold.budget;
  budgets.release(hold);
  return "admitted";
};
const spent = (timeZone = "UTC") => {
  const { todayMicroUsd, monthMicroUsd } = budgets.spendOfOrg({ orgId: org, timeZone });
  return [todayMicroUsd, monthMicroUsd];
};
/** As a process that was killed begins again: with what was committed. */
async function restart() {
  await disk.reopen();
  open();
}

describe("a hard budget of an org", () => {
  test("bounds spend + held of all its projects, and of nobody else", async () => {
    await spend(scopeOf(1, 1_000), 400);
    const hold = take(scopeOf(2, 1_000), 500);
    expect([refusedBy(scopeOf(3, 1_000), 101), refusedBy(scopeOf(3, 1_000), 100)]).toEqual([
      "org_monthly",
      "admitted",
    ]);
    expect([budgets.extend(hold, 101), budgets.extend(hold, 100)]).toEqual([false, true]);
    expect(refusedBy({ ...scopeOf(4, 1_000), orgId: "org_other" }, 1_000)).toBe("admitted");
    budgets.release(hold);
    expect([refusedBy(scopeOf(3, 1_000), 600), budgets.openHolds()]).toEqual(["admitted", 0]);
  });

  test("the refusal says which budget, how full, and until when", async () => {
    await spend(scopeOf(1, 1_000), 700);
    take(scopeOf(2, 1_000), 200);
    const refusal = budgets.hold(scopeOf(3, 1_000, true, KOLKATA), 101);
    if (refusal.admitted) throw new Error("admitted");
    const error = budgetError(refusal, { text: "It may cost $0.000101", cure: "", microUsd: 101 });
    expect(error).toMatchObject({
      status: 402,
      code: "budget_exceeded",
      details: { budget: "org_monthly", limit_micro: 1_000, spent_micro: 700, held_micro: 200 },
    });
    expect(error.message).toContain("organisation's monthly budget");
    expect(error.details).toMatchObject({ resets_at: "2026-03-31T18:30:00.000Z" });
  });

  test("T24: of 200 callers at once over 20 projects, with rollbacks, none gets past the limit", async () => {
    const limit = 1_000;
    let most = 0;
    const held = new Set<BudgetHold>();
    const call = async (i: number): Promise<number> => {
      const hold = budgets.hold(scopeOf(i % 20, limit), 30);
      if (!hold.admitted) return 0;
      held.add(hold);
      most = Math.max(most, (spent()[1] ?? 0) + 30 * held.size);
      await Promise.resolve();
      held.delete(hold);
      await settle(hold, i % 3 === 0 ? 30 : 20, i % 5 === 0);
      return i % 3 === 0 ? 30 : 20;
    };
    const first = await Promise.all(Array.from({ length: 200 }, (_, i) => call(i)));
    const second = await Promise.all(Array.from({ length: 200 }, (_, i) => call(i)));
    const total = [...first, ...second].reduce((sum, micro) => sum + micro, 0);
    expect(first.filter((micro) => micro > 0)).toHaveLength(33);
    expect(spent()).toEqual([total, total]);
    expect(total).toBeGreaterThan(first.length);
    expect(most).toBeLessThanOrEqual(limit);
    expect([
      refusedBy(scopeOf(1, limit), limit - total),
      refusedBy(scopeOf(1, limit), limit - total + 1),
    ]).toEqual(["admitted", "org_monthly"]);
    await restart();
    expect(spent()).toEqual([total, total]);
  });

  test("T42: without one nothing is refused, and a free call passes a used-up one", async () => {
    await spend(scopeOf(1), 5_000_000);
    expect(refusedBy({ ...scopeOf(1), orgMonthly: undefined }, 1e12)).toBe("admitted");
    expect(refusedBy(scopeOf(1), 1e12)).toBe("admitted");
    expect([refusedBy(scopeOf(1, 10), 0), refusedBy(scopeOf(1, 10), 1)]).toEqual(["admitted", "org_monthly"]);
  });

  test("a changed budget holds from the next call on", async () => {
    await spend(scopeOf(1, 100), 100);
    expect(refusedBy(scopeOf(1, 100), 1)).toBe("org_monthly");
    expect(refusedBy(scopeOf(1, 101), 1)).toBe("admitted");
    expect(refusedBy(scopeOf(1, 50), 1)).toBe("org_monthly");
  });

  test("T41: it begins anew with the org's local month", async () => {
    clock.set("2026-03-31T18:29:59Z");
    const scope = scopeOf(1, 100, true, KOLKATA);
    await spend(scope, 100);
    expect(refusedBy(scope, 1)).toBe("org_monthly");
    clock.advance(1_000);
    expect([refusedBy(scope, 100), refusedBy(scope, 101), spent(KOLKATA)]).toEqual([
      "admitted",
      "org_monthly",
      [0, 0],
    ]);
    await restart();
    expect(refusedBy(scope, 100)).toBe("admitted");
  });

  test("its first refusal of a month is told once, whoever is refused", async () => {
    await spend(scopeOf(1, 100), 100);
    for (const project of [1, 2, 3]) refusedBy(scopeOf(project, 100), 1);
    expect(events).toMatchObject([{ budget: "org_monthly", orgId: ORG, hard: true, spentMicroUsd: 100 }]);
  });
});

test("a soft budget of an org admits calls, and tells of the charge that exceeded it, once", async () => {
  for (const project of [1, 2, 3, 4]) await spend(scopeOf(project, 100, false), 40);
  expect(events).toMatchObject([
    { budget: "org_monthly", projectId: "prj_org_1_3", hard: false, spentMicroUsd: 120 },
  ]);
});

describe("the sum on disk", () => {
  test.each([1, 63, 64, 65, 200])("is right after %i charges", async (count) => {
    for (let i = 0; i < count; i++) await spend(scopeOf(i % 7), i + 1);
    const total = (count * (count + 1)) / 2;
    await restart();
    expect(spent()).toEqual([total, total]);
    // What the ledger told at the start is not added again by the next row.
    await spend(scopeOf(1), 1);
    await restart();
    expect(spent()).toEqual([total + 1, total + 1]);
  });

  test("is written with one charge of 64, not with each", async () => {
    let written = 0;
    disk.store.table("spend.orgs").watch(() => {
      written += 1;
    });
    for (let i = 0; i < 129; i++) await spend(scopeOf(i % 7), 1);
    expect(written).toBe(3);
  });

  test("T35: is what the ledger charged, and the sum of the projects, whatever days pass, acts fail and restarts come", async () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          project: fc.nat(4),
          micro: fc.integer({ min: 1, max: 900 }),
          fails: fc.boolean(),
        }),
      },
      { weight: 2, arbitrary: fc.record({ hours: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 1, arbitrary: fc.constant("restart" as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const before = spent(KOLKATA)[1] ?? 0;
        let charged = before;
        let month = new Date(clock.now() + 19_800_000).getUTCMonth();
        for (const step of steps) {
          if (step === "restart") await restart();
          else if ("hours" in step) clock.advance(step.hours * 3_600_000);
          else await spend(scopeOf(step.project, 0, true, KOLKATA), step.micro, step.fails);
          const now = new Date(clock.now() + 19_800_000).getUTCMonth();
          if (now !== month) charged = 0;
          month = now;
          if (typeof step === "object" && "micro" in step) charged += step.micro;
          const projects = [0, 1, 2, 3, 4].map((i) =>
            budgets.spendOfProject({ projectId: `prj_${org}_${i}`, timeZone: KOLKATA }),
          );
          expect(spent(KOLKATA)).toEqual([
            projects.reduce((sum, { todayMicroUsd }) => sum + todayMicroUsd, 0),
            projects.reduce((sum, { monthMicroUsd }) => sum + monthMicroUsd, 0),
          ]);
          expect(spent(KOLKATA)[1]).toBe(charged);
        }
      }),
      { numRuns: 25 },
    );
  });

  test("O6: is the same from memory and from disk, whatever the clock does", async () => {
    const step = fc.record({
      micro: fc.integer({ min: 1, max: 500 }),
      hours: fc.integer({ min: -40, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        // The clock keeps its last 16 spans: each run has a clock and an org of its own.
        org = `org_run_${calls}`;
        await disk.store.act(() => disk.store.table("wall_clock").remove("spans"));
        open();
        await fund();
        for (const { micro, hours } of steps) {
          clock.advance(hours * 3_600_000);
          await spend(scopeOf(1), micro);
        }
        const inMemory = spent();
        open();
        expect(spent()).toEqual(inMemory);
      }),
      { numRuns: 60 },
    );
  });
});
