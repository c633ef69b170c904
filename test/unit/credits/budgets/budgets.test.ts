import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  type BudgetExceeded,
  type BudgetScope,
  budgetError,
} from "../../../../src/credits/budgets/budget.ts";
import { type BudgetHold, type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

let clock: ManualClock;
let budgets: LocalBudgets;
let events: BudgetExceeded[];
let scopes = 0;

function open() {
  events = [];
  budgets = openBudgets({ store: folder.store, clock, onBudgetExceeded: (event) => events.push(event) });
}
beforeEach(() => {
  clock = new ManualClock("2026-03-01T10:00:00Z");
  open();
});

/** A key of a project of their own; amounts in micro-USD, 0 for none. */
function scopeOf(daily: number, monthly: number, hard = true, timeZone = "UTC"): BudgetScope {
  scopes += 1;
  return {
    keyId: `key_${scopes}`,
    projectId: `prj_${scopes}`,
    orgId: `org_${scopes}`,
    timeZone,
    keyDaily: { limitMicroUsd: daily, hard },
    projectMonthly: { limitMicroUsd: monthly, hard },
  };
}
function take(scope: BudgetScope, microUsd: number): BudgetHold {
  const hold = budgets.hold(scope, microUsd);
  if (!hold.admitted) throw new Error(`refused by ${hold.budget}`);
  return hold;
}
/** A call held and charged as given, committed. */
async function spend(scope: BudgetScope, held: number, charged = held) {
  await folder.store.act(budgets.charging(take(scope, held), charged));
}
const refusedBy = (scope: BudgetScope, microUsd: number) => {
  const hold = budgets.hold(scope, microUsd);
  if (!hold.admitted) return hold.budget;
  budgets.release(hold);
  return "admitted";
};
/** today, this month */
const spent = (scope: BudgetScope) => {
  const { todayMicroUsd, monthMicroUsd } = budgets.spendOfKey(scope);
  return [todayMicroUsd, monthMicroUsd];
};

describe("a hard budget", () => {
  test("bounds spend + held: the book of one key with 1,000 a day", async () => {
    const scope = scopeOf(1_000, 0);
    await spend(scope, 600, 400);
    const hold = take(scope, 500);
    expect(refusedBy(scope, 101)).toBe("key_daily");
    expect(refusedBy(scope, 100)).toBe("admitted");
    expect(budgets.extend(hold, 101)).toBe(false);
    expect(budgets.extend(hold, 100)).toBe(true);
    expect(refusedBy(scope, 1)).toBe("key_daily");
    budgets.release(hold);
    expect(refusedBy(scope, 600)).toBe("admitted");
    expect(budgets.openHolds()).toBe(0);
  });

  test("T24: 50 calls at once never take a budget below zero", async () => {
    const key = scopeOf(1_000, 0);
    const project = { ...scopeOf(0, 900), keyDaily: undefined };
    const callOf = async (scope: BudgetScope) => {
      const hold = budgets.hold(scope, 300);
      if (!hold.admitted) return 0;
      await folder.store.act(budgets.charging(hold, 300));
      return 1;
    };
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => callOf(i % 2 ? key : project)));
    expect(outcomes.filter(Boolean)).toHaveLength(6);
    expect([spent(key)[0], spent(project)[1]]).toEqual([900, 900]);
  });

  test("a project's budget sums its keys; the refusal says which budget, how full, and until when", async () => {
    const one = scopeOf(5_000, 1_000);
    const two = { ...one, keyId: "key_two", keyDaily: undefined };
    await spend(one, 700);
    take(two, 200);
    const refusal = budgets.hold(two, 101);
    expect(refusal).toEqual({
      admitted: false,
      budget: "project_monthly",
      limitMicroUsd: 1_000,
      spentMicroUsd: 700,
      heldMicroUsd: 200,
      resetsAtMs: Date.parse("2026-04-01T00:00:00Z"),
    });
    if (refusal.admitted) throw new Error("admitted");
    expect(
      budgetError(refusal, {
        text: "This call may cost up to $0.000101",
        cure: " Send less.",
        microUsd: 101,
      }),
    ).toMatchObject({
      status: 402,
      code: "budget_exceeded",
      retryable: false,
      message:
        "The project's monthly budget does not cover this request. This call may cost up to $0.000101; $0.0001 of it is left until 2026-04-01T00:00:00.000Z. Send less.",
      details: { required_micro_usd: 101, budget: "project_monthly", resets_at: "2026-04-01T00:00:00.000Z" },
    });
    expect(spent(two)).toEqual([0, 0]);
    expect(budgets.spendOfProject(one)).toEqual({ todayMicroUsd: 700, monthMicroUsd: 700 });
  });

  test("if one budget refuses, neither is held", () => {
    const scope = scopeOf(1_000, 500);
    expect(refusedBy(scope, 501)).toBe("project_monthly");
    expect(refusedBy(scope, 1_001)).toBe("key_daily");
    expect(refusedBy(scope, 500)).toBe("admitted");
  });

  test("T42: without a budget nothing is refused, and a free call passes a used-up one", async () => {
    const none: BudgetScope = {
      keyId: "key_free",
      projectId: "prj_free",
      orgId: "org_free",
      timeZone: "UTC",
    };
    const zero = scopeOf(0, 0);
    for (const scope of [none, zero]) {
      await spend(scope, 1e12);
      expect(refusedBy(scope, 1e12)).toBe("admitted");
    }
    const full = scopeOf(100, 0);
    await spend(full, 100);
    expect([refusedBy(full, 1), refusedBy(full, 0)]).toEqual(["key_daily", "admitted"]);
  });

  test("T26: each hold closes exactly once", async () => {
    const scope = scopeOf(1_000, 0);
    const hold = take(scope, 400);
    await folder.store.act(budgets.charging(hold, 250));
    expect(() => budgets.release(hold)).toThrow("charged or released before");
    expect(() => budgets.charging(hold, 1)).toThrow("charged or released before");
    expect([refusedBy(scope, 750), refusedBy(scope, 751)]).toEqual(["admitted", "key_daily"]);
  });
});

describe("exceeding is reported once a period", () => {
  test("a soft budget admits calls and reports the charge that exceeded it", async () => {
    const scope = scopeOf(1_000, 1_500, false);
    await spend(scope, 900);
    await spend(scope, 100);
    expect(events).toEqual([]);
    await spend(scope, 1);
    await spend(scope, 600);
    await spend(scope, 600);
    expect(events.map((e) => [e.budget, e.hard, e.limitMicroUsd, e.spentMicroUsd])).toEqual([
      ["key_daily", false, 1_000, 1_001],
      ["project_monthly", false, 1_500, 1_601],
    ]);
    clock.advance(86_400_000);
    await spend(scope, 1_100);
    expect(events.map((e) => e.budget)).toEqual(["key_daily", "project_monthly", "key_daily"]);
  });

  test("a hard budget reports its first refusal of the period", async () => {
    const scope = scopeOf(1_000, 0);
    await spend(scope, 1_000);
    for (let i = 0; i < 3; i++) refusedBy(scope, 1);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ budget: "key_daily", hard: true, spentMicroUsd: 1_000 });
    clock.advance(86_400_000);
    refusedBy(scope, 1_001);
    expect(events).toHaveLength(2);
  });
});

describe("T41: a day ends at the org's midnight, also when the clocks change", () => {
  test.each([
    // zone, an instant, the first instant of the next local day
    ["UTC", "2026-03-01T10:00:00Z", "2026-03-02T00:00:00Z"],
    ["Asia/Kolkata", "2026-03-01T18:29:00Z", "2026-03-01T18:30:00Z"],
    ["Asia/Kolkata", "2026-03-01T18:30:00Z", "2026-03-02T18:30:00Z"],
    ["Asia/Kathmandu", "2026-03-01T10:00:00Z", "2026-03-01T18:15:00Z"],
    ["America/New_York", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"], // 23 hours
    ["America/New_York", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"], // 25 hours
    ["Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29T22:00:00Z"],
    ["Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z"], // the next day begins at 01:00
    ["Australia/Lord_Howe", "2026-04-04T20:00:00Z", "2026-04-05T13:30:00Z"], // half an hour's step
    ["Pacific/Kiritimati", "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"],
  ])("%s at %s: until %s", async (timeZone, at, midnight) => {
    clock.set(at);
    const scope = scopeOf(100, 0, true, timeZone);
    await spend(scope, 100);
    const refusal = budgets.hold(scope, 1);
    expect(refusal).toMatchObject({ budget: "key_daily", resetsAtMs: Date.parse(midnight) });
    clock.set(Date.parse(midnight) - 1);
    expect(refusedBy(scope, 1)).toBe("key_daily");
    clock.set(midnight);
    expect(refusedBy(scope, 100)).toBe("admitted");
  });

  test("a month ends at the org's midnight too", async () => {
    clock.set("2026-10-05T00:00:00Z");
    const scope = scopeOf(0, 100, true, "America/New_York");
    await spend(scope, 100);
    expect(budgets.hold(scope, 1)).toMatchObject({ resetsAtMs: Date.parse("2026-11-01T04:00:00Z") });
    clock.set("2026-11-01T03:59:59.999Z");
    expect([refusedBy(scope, 1), spent(scope)]).toEqual(["project_monthly", [0, 100]]);
    clock.set("2026-11-01T04:00:00Z");
    expect([refusedBy(scope, 100), spent(scope)]).toEqual(["admitted", [0, 0]]);
  });

  test("a call over midnight counts in the period in which it settles, and stays held until then", async () => {
    clock.set("2026-03-31T23:59:59Z");
    const scope = scopeOf(1_000, 1_000);
    const overnight = take(scope, 800);
    clock.set("2026-04-01T00:00:01Z");
    expect(refusedBy(scope, 201)).toBe("key_daily");
    await folder.store.act(budgets.charging(overnight, 700));
    expect(spent(scope)).toEqual([700, 700]);
    expect(refusedBy(scope, 300)).toBe("admitted");
  });

  test("a clock set back over midnight does not reset the previous day", async () => {
    clock.set("2026-04-01T00:00:30Z");
    const scope = scopeOf(1_000, 1_000);
    await spend(scope, 1_000);
    clock.set("2026-03-31T23:59:30Z");
    expect(refusedBy(scope, 1)).toBe("key_daily");
    open();
    expect(refusedBy(scope, 1)).toBe("key_daily");
    expect(budgets.spendOfProject(scope)).toEqual({ todayMicroUsd: 1_000, monthMicroUsd: 1_000 });
  });
});

test("spend survives a restart, holds do not; last month's does not count in this one", async () => {
  const scope = scopeOf(1_000, 10_000);
  const sibling = { ...scope, keyId: "key_sibling" };
  clock.set("2026-02-28T12:00:00Z");
  await spend(sibling, 500);
  clock.set("2026-03-01T12:00:00Z");
  await spend(scope, 300);
  clock.set("2026-03-02T12:00:00Z");
  await spend(scope, 40);
  take(scope, 900);
  await folder.reopen();
  open();
  expect(spent(scope)).toEqual([40, 340]);
  expect(spent(sibling)).toEqual([0, 0]);
  expect(budgets.spendOfProject(scope)).toEqual({ todayMicroUsd: 40, monthMicroUsd: 340 });
  expect([refusedBy(scope, 960), refusedBy(scope, 961)]).toEqual(["admitted", "key_daily"]);
});

test("T35: a charge whose act is dropped leaves all as it was, and is not reported", async () => {
  const scope = scopeOf(100, 0, false);
  const hold = take(scope, 150);
  const charge = budgets.charging(hold, 150);
  const dropped = folder.store.act(() => {
    charge();
    throw new Error("dropped");
  });
  await expect(dropped).rejects.toThrow("dropped");
  expect([spent(scope), events, budgets.openHolds()]).toEqual([[0, 0], [], 1]);
  await folder.store.act(charge);
  expect([spent(scope), events.length, budgets.openHolds()]).toEqual([[150, 150], 1, 0]);
  open();
  expect(spent(scope)).toEqual([150, 150]);
});

test("a project reads the same from memory and from disk, whatever its keys, clock and zone do", async () => {
  const act = fc.record({
    key: fc.nat(2),
    amount: fc.nat(500),
    hours: fc.integer({ min: -30, max: 60 }),
    zone: fc.constantFrom("UTC", "Asia/Kolkata", "America/Los_Angeles", "Pacific/Kiritimati"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 40 }), async (acts) => {
      clock = new ManualClock("2026-03-30T10:00:00Z");
      open();
      const project = scopeOf(0, 0);
      let scope = project;
      for (const { key, amount, hours, zone } of acts) {
        clock.advance(hours * 3_600_000);
        scope = { ...project, keyId: `${project.keyId}-${key}`, timeZone: zone };
        await spend(scope, amount);
      }
      const inMemory = [budgets.spendOfProject(scope), spent(scope)];
      open();
      expect([budgets.spendOfProject(scope), spent(scope)]).toEqual(inMemory);
    }),
    { numRuns: 30 },
  );
});
