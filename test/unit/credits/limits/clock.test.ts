/**
 * LocalBudgets under a clock that lies: it jumps ahead or back and is corrected, also across restarts, zones and months. What
 * was charged on a day counts on that day once the clock is right again, and `resets_at` is when the budget is open again.
 */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { Clock } from "../../../../src/base/clock.ts";
import type { BudgetScope } from "../../../../src/credits/budgets/budget.ts";
import { type LocalBudgets, openBudgets } from "../../../../src/credits/budgets/budgets.ts";
import { tempStore } from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const at = (iso: string) => Date.parse(iso);

/** A machine: what time it is, what its clock says, and a gateway's budgets that can be started again. */
class Machine {
  trueMs: number;
  /** What the clock says beyond the truth. */
  lieMs = 0;
  #boot = 1;
  #sleptMs = 0;
  #bootedAtMs: number;
  budgets: LocalBudgets;

  private constructor(from: number) {
    this.trueMs = from;
    this.#bootedAtMs = from - 40 * MINUTE;
    this.budgets = this.#open();
  }

  /** With a folder that knows of no other machine. */
  static async at(from: number): Promise<Machine> {
    await folder.store.act(() => folder.store.table("wall_clock").remove("spans"));
    return new Machine(from);
  }

  readonly #clock: Clock = {
    now: () => this.trueMs + this.lieMs,
    monotonic: () => this.trueMs - this.#bootedAtMs - this.#sleptMs,
  };

  #open(): LocalBudgets {
    return openBudgets({ store: folder.store, clock: this.#clock, boot: `boot ${this.#boot}` });
  }
  /** Once all that was written is committed. */
  async restart() {
    await folder.store.act(() => {});
    this.budgets = this.#open();
  }
  pass(ms: number) {
    this.trueMs += ms;
  }
  /** Its monotonic clock stands still meanwhile. */
  sleep(ms: number) {
    this.trueMs += ms;
    this.#sleptMs += ms;
  }
  /** The machine is off for a while. */
  async reboot(ms: number) {
    this.trueMs += ms;
    this.#boot += 1;
    this.#sleptMs = 0;
    this.#bootedAtMs = this.trueMs - 5 * SECOND;
    await this.restart();
  }
  /** Charges what the budgets allow of an amount; true where they allow it. */
  async charge(scope: BudgetScope, microUsd: number): Promise<boolean> {
    const hold = this.budgets.hold(scope, microUsd);
    if (!hold.admitted) return false;
    await folder.store.act(this.budgets.charging(hold, microUsd));
    return true;
  }
  resetsAt(scope: BudgetScope): number | undefined {
    const hold = this.budgets.hold(scope, 1);
    if (!hold.admitted) return hold.resetsAtMs;
    this.budgets.release(hold);
    return undefined;
  }
}

let scopes = 0;
/** A key with 1,000 a day, its project with 50,000 a month. */
function scopeOf(timeZone = "UTC"): BudgetScope {
  scopes += 1;
  return {
    keyId: `key_${scopes}`,
    projectId: `prj_${scopes}`,
    orgId: `org_${scopes}`,
    timeZone,
    keyDaily: { limitMicroUsd: 1_000, hard: true },
    projectMonthly: { limitMicroUsd: 50_000, hard: true },
  };
}

const JUMPS = { "a minute": MINUTE, "a day": DAY, "three days": 3 * DAY, "a year": YEAR };
/** Just before midnight, so that a minute is a day too. */
const EVENING = at("2026-03-14T23:59:30Z");
const MORNING = at("2026-03-14T00:00:30Z");
const MIDNIGHT = at("2026-03-15T00:00:00Z");

describe.each(Object.entries(JUMPS))("a clock wrong by %s", (_, jumpMs) => {
  describe.each([
    ["in one life of the process", async () => {}],
    ["across restarts", (machine: Machine) => machine.restart()],
  ])("%s", (_, between) => {
    test("O6: ahead, then corrected: the day is spent till its midnight, and open from then on", async () => {
      const [scope, idle, other] = [scopeOf(), scopeOf(), scopeOf()];
      const sibling = { ...scope, keyId: `${scope.keyId}-2` };
      const machine = await Machine.at(EVENING);
      for (const spent of [scope, idle]) expect(await machine.charge(spent, 1_000)).toBe(true);
      machine.lieMs = jumpMs;
      await between(machine);
      // The clock is believed; and what others saw of it moves nobody.
      expect(await machine.charge(scope, 400)).toBe(true);
      expect(await machine.charge(sibling, 400)).toBe(true);
      expect(await machine.charge(other, 1)).toBe(true);
      machine.pass(10 * SECOND);
      machine.lieMs = 0;
      await between(machine);
      for (const spent of [scope, idle]) {
        expect([await machine.charge(spent, 1), machine.resetsAt(spent)]).toEqual([false, MIDNIGHT]);
      }
      expect(machine.budgets.spendOfKey(scope).todayMicroUsd).toBe(1_400);
      expect(machine.budgets.spendOfProject(scope)).toEqual({ todayMicroUsd: 1_800, monthMicroUsd: 1_800 });
      expect(await machine.charge(sibling, 601)).toBe(false);
      expect(await machine.charge(sibling, 600)).toBe(true);
      machine.trueMs = MIDNIGHT;
      await between(machine);
      for (const fresh of [scope, sibling, idle]) {
        expect(machine.budgets.spendOfKey(fresh).todayMicroUsd).toBe(0);
        expect(await machine.charge(fresh, 1_000)).toBe(true);
      }
      // Nor on the day that the clock had claimed.
      machine.trueMs = EVENING + jumpMs + DAY;
      await between(machine);
      expect(await machine.charge(scope, 1_000)).toBe(true);
    });

    test("O6: back, then corrected: nothing is opened again, then or later", async () => {
      const scope = scopeOf();
      const machine = await Machine.at(MORNING);
      expect(await machine.charge(scope, 700)).toBe(true);
      machine.lieMs = -jumpMs;
      await between(machine);
      expect(await machine.charge(scope, 301)).toBe(false);
      expect(await machine.charge(scope, 200)).toBe(true);
      machine.pass(10 * SECOND);
      machine.lieMs = 0;
      await between(machine);
      expect(machine.budgets.spendOfKey(scope)).toEqual({ todayMicroUsd: 900, monthMicroUsd: 900 });
      expect([await machine.charge(scope, 101), await machine.charge(scope, 100)]).toEqual([false, true]);
      expect(machine.resetsAt(scope)).toBe(MIDNIGHT);
      machine.trueMs = MIDNIGHT;
      await between(machine);
      expect(await machine.charge(scope, 1_000)).toBe(true);
    });
  });

  test("O6: a clock that was ahead from the start, then corrected for good: open again at the next midnight", async () => {
    const scope = scopeOf();
    const machine = await Machine.at(EVENING + 40 * DAY);
    machine.trueMs = EVENING;
    machine.lieMs = jumpMs;
    await machine.reboot(0);
    expect(await machine.charge(scope, 1_000)).toBe(true);
    machine.lieMs = 0;
    await machine.restart();
    expect([await machine.charge(scope, 1), machine.resetsAt(scope)]).toEqual([false, MIDNIGHT]);
    machine.trueMs = MIDNIGHT;
    expect(await machine.charge(scope, 1_000)).toBe(true);
  });

  test("O6: a machine that boots with an old clock and sets it then: all of it counts on the day that it was", async () => {
    const scope = scopeOf();
    const machine = await Machine.at(MORNING);
    expect(await machine.charge(scope, 700)).toBe(true);
    machine.lieMs = -jumpMs;
    await machine.reboot(MINUTE);
    expect(await machine.charge(scope, 200)).toBe(true);
    machine.pass(10 * SECOND);
    machine.lieMs = 0;
    expect(machine.budgets.spendOfKey(scope).todayMicroUsd).toBe(900);
    await machine.restart();
    expect(machine.budgets.spendOfKey(scope).todayMicroUsd).toBe(900);
    machine.trueMs = MIDNIGHT;
    expect(await machine.charge(scope, 1_000)).toBe(true);
  });
});

test.each(Object.entries(JUMPS))(
  "O6: of 200 calls under way while the clock jumps by %s and back, all count on their day, and none gets past the limit",
  async (_, jumpMs) => {
    const scope = scopeOf();
    const machine = await Machine.at(EVENING);
    const { budgets } = machine;
    const admitted = () => {
      const holds = Array.from({ length: 200 }, () => budgets.hold(scope, 10));
      return holds.filter((hold) => hold.admitted);
    };
    const first = admitted();
    expect(first).toHaveLength(100);
    const writes = first.slice(0, 30).map((hold) => folder.store.act(budgets.charging(hold, 10)));
    machine.lieMs = jumpMs;
    // What is held counts in any day: so 70 of the calls under way leave room for 30 on the day that the clock claims.
    const second = admitted();
    expect(second).toHaveLength(30);
    for (const hold of [...first.slice(30, 60), ...second]) {
      writes.push(folder.store.act(budgets.charging(hold, 10)));
    }
    machine.lieMs = 0;
    expect(admitted()).toHaveLength(0);
    for (const hold of first.slice(60)) writes.push(folder.store.act(budgets.charging(hold, 10)));
    expect(admitted()).toHaveLength(0);
    await Promise.all(writes);
    expect(budgets.openHolds()).toBe(0);
    await machine.restart();
    expect(machine.budgets.spendOfKey(scope)).toEqual({ todayMicroUsd: 1_300, monthMicroUsd: 1_300 });
    expect(machine.resetsAt(scope)).toBe(MIDNIGHT);
  },
);

test("O6: a night of sleep is no correction: what was spent before it does not count after it", async () => {
  const scope = scopeOf();
  const machine = await Machine.at(at("2026-03-14T18:00:00Z"));
  expect(await machine.charge(scope, 1_000)).toBe(true);
  machine.sleep(14 * HOUR);
  expect(await machine.charge(scope, 1_000)).toBe(true);
  machine.sleep(14 * HOUR);
  expect(await machine.charge(scope, 1)).toBe(false);
});

test("O6: where no time of a boot is known, a row ahead of the clock counts on the day it is found, once", async () => {
  const scope = scopeOf();
  const open = (nowMs: () => number) =>
    openBudgets({ store: folder.store, clock: { now: nowMs, monotonic: () => 1_000 } });
  let nowMs = EVENING + 3 * DAY;
  const ahead = open(() => nowMs);
  const hold = ahead.hold(scope, 1_000);
  if (!hold.admitted) throw new Error("refused");
  await folder.store.act(ahead.charging(hold, 1_000));
  nowMs = EVENING;
  expect(open(() => nowMs).hold(scope, 1)).toMatchObject({ admitted: false, resetsAtMs: MIDNIGHT });
  await folder.store.act(() => {});
  nowMs = MIDNIGHT;
  expect(open(() => nowMs).hold(scope, 1_000).admitted).toBe(true);
});

test("O6: a month is survived as a day is, and days that are over keep counting in it", async () => {
  const scope = scopeOf("Asia/Kolkata");
  const machine = await Machine.at(at("2026-03-01T00:00:00+05:30"));
  let inLies = 0;
  for (let day = 0; day < 20; day++) {
    expect(await machine.charge(scope, 200)).toBe(true);
    if (day % 5 === 4) {
      machine.lieMs = day % 2 === 0 ? 40 * DAY : -40 * DAY;
      // While the clock is back, all that was charged later counts as of then: it may be too much.
      if (await machine.charge(scope, 10)) inLies += 10;
      machine.lieMs = 0;
    }
    machine.pass(DAY);
  }
  expect(inLies).toBeGreaterThan(0);
  const monthMicroUsd = 4_000 + inLies;
  expect(machine.budgets.spendOfProject(scope)).toEqual({ todayMicroUsd: 0, monthMicroUsd });
  await machine.restart();
  expect(machine.budgets.spendOfKey(scope)).toEqual({ todayMicroUsd: 0, monthMicroUsd });
  machine.trueMs = at("2026-04-01T00:00:00+05:30");
  expect(machine.budgets.spendOfProject(scope)).toEqual({ todayMicroUsd: 0, monthMicroUsd: 0 });
});

/** The first instant of the UTC day, as all zones of the property begin theirs by `localDay`. */
const dayStart = (ms: number) => Math.floor(ms / DAY) * DAY;

test("O6: whatever the clock does, once it is right the day's spend is all that was charged on it", async () => {
  const step = fc.oneof(
    fc.record({
      act: fc.constant("charge" as const),
      key: fc.nat(2),
      amount: fc.integer({ min: 1, max: 500 }),
    }),
    fc.record({ act: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 20 * HOUR }) }),
    fc.record({ act: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 5 * MINUTE }) }),
    fc.record({
      act: fc.constant("lie" as const),
      ms: fc.constantFrom(MINUTE, -MINUTE, HOUR, -HOUR, DAY, -DAY, 3 * DAY, -3 * DAY, YEAR, -YEAR),
    }),
    fc.constant({ act: "truth" as const }),
    fc.constant({ act: "restart" as const }),
    fc.record({ act: fc.constant("sleep" as const), ms: fc.integer({ min: 7 * HOUR + 1, max: 9 * HOUR }) }),
  );
  const rounds = Number(process.env.WEIR_CLOCK_ROUNDS ?? 60);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const machine = await Machine.at(at("2026-03-29T20:00:00Z"));
      const base = scopeOf();
      const keys = [0, 1, 2].map((i) => ({ ...base, keyId: `${base.keyId}-${i}` }));
      const charged: { key: number; atMs: number; amount: number; lied: boolean }[] = [];
      const sum = (key: number, fromMs: number, onlyLies = false) =>
        charged
          .filter((c) => c.key === key && c.atMs >= fromMs && (!onlyLies || c.lied))
          .reduce((total, { amount }) => total + amount, 0);
      const check = () => {
        if (machine.lieMs !== 0) return;
        const today = dayStart(machine.trueMs);
        for (const [i, key] of keys.entries()) {
          const shown = machine.budgets.spendOfKey(key).todayMicroUsd;
          expect(shown).toBeGreaterThanOrEqual(sum(i, today));
          // A charge of a lie over midnight may count on the day after, never later.
          expect(shown).toBeLessThanOrEqual(sum(i, today) + sum(i, today - DAY, true) - sum(i, today, true));
        }
      };
      for (const step of steps) {
        if (step.act === "charge") {
          const before = sum(step.key, dayStart(machine.trueMs));
          if (await machine.charge(keys[step.key] ?? base, step.amount)) {
            // A clock that is right lets nothing past the limit.
            if (machine.lieMs === 0) expect(before + step.amount).toBeLessThanOrEqual(1_000);
            const { trueMs: atMs, lieMs } = machine;
            charged.push({ key: step.key, atMs, amount: step.amount, lied: lieMs !== 0 });
          }
        } else if (step.act === "pass") machine.pass(step.ms);
        else if (step.act === "lie") machine.lieMs = step.ms;
        else if (step.act === "truth") machine.lieMs = 0;
        else if (step.act === "restart") await machine.restart();
        else if (machine.lieMs === 0) {
          // What sleeps has looked at its clock before.
          check();
          machine.sleep(step.ms);
        }
        check();
      }
    }),
    { numRuns: rounds },
  );
});
