/** Days and months of budgets over cells, by Redis's time, which the test sets. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Clock, seededRandom, systemClock } from "../../../../../src/base/clock.ts";
import { DAY_MS } from "../../../../../src/base/time.ts";
import { joinSpend } from "../../../../../src/cluster/cells/budgets/join-spend.ts";
import type { BudgetScope } from "../../../../../src/credits/budgets/budget.ts";
import { rounds } from "../../../../support/effort.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import {
  type BudgetCell,
  begin,
  ENOUGH,
  giveUp,
  hard,
  isOpenCall,
  type OpenCall,
  openTimedBench,
  partsOf,
  scopeOf,
  settle,
  soft,
  spendRow,
  type TimedBench,
} from "./budgets-fixtures.ts";

const missing = missingRedis();
/** Each test has a first day of a month of its own: the time of cells never goes back. */
const monthMs = (month: number): number => Date.UTC(2027, month);
const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

describe.skipIf(missing !== undefined)("periods of budgets", () => {
  let bench: TimedBench;
  let cells: BudgetCell[];
  const scopes = new Map<string, BudgetScope>();
  beforeAll(async () => {
    bench = await openTimedBench();
    await bench.set(monthMs(0) - DAY_MS);
    cells = await Promise.all(
      ["a", "b", "c"].map((name) => bench.cell(name, { scopeOf: (keyId) => scopes.get(keyId) })),
    );
  });
  afterAll(async () => await bench.close());
  const at = (index: number) => cells[index % cells.length] as BudgetCell;

  async function made(id: string, budgets: Partial<BudgetScope>): Promise<BudgetScope> {
    const scope = scopeOf(id, budgets);
    scopes.set(scope.keyId, scope);
    await bench.link.call("HSET", `{weir}:credit:${scope.orgId}`, "n", 0, "b", ENOUGH);
    return scope;
  }

  /** Sets Redis's time, and waits until all cells have heard of it. */
  async function setTime(ms: number): Promise<void> {
    await bench.set(ms);
    await Promise.all(cells.map((cell) => hears(cell)));
  }

  /** A cell hears of Redis's time with what it asks of it. It waits for a second, and is asked again where Redis is late. */
  const hears = ({ budgets }: BudgetCell, scope = scopeOf("nobody")) =>
    until("the cell hears of the time", async () => ({ spend: await budgets.spendOfKey(scope) }));

  test("at midnight a budget begins anew, without what other cells still have of it", async () => {
    const midnightMs = monthMs(0);
    await setTime(midnightMs - 5000);
    const scope = await made("midnight", { keyDaily: hard(1000) });
    await settle((await begin(at(0), scope, 300)) as OpenCall, 300);
    const over = (await begin(at(1), scope, 400)) as OpenCall;
    await setTime(midnightMs + 5000);
    // Cell b has 400 and says nothing of the new day.
    expect(isOpenCall(await begin(at(2), scope, 601))).toBe(false);
    const call = (await begin(at(2), scope, 600)) as OpenCall;
    expect(await begin(at(0), scope, 1)).toMatchObject({
      spentMicroUsd: 0,
      heldMicroUsd: 1000,
      resetsAtMs: midnightMs + DAY_MS,
    });
    // It settles today, so it counts today.
    expect(await settle(over, 400)).toBe(dayAt(midnightMs));
    expect(await settle(call, 600)).toBe(dayAt(midnightMs));
    await until(
      "the day's spending is told",
      async () => (await spendRow(bench.link, "k:key_midnight")).t,
      equals("1000"),
    );
    expect(isOpenCall(await begin(at(1), scope, 1))).toBe(false);
  });

  test("what was spent before there were cells counts", async () => {
    // At midnight a cell whose time is a little behind would count by the day before.
    const todayMs = monthMs(0) + 1.25 * DAY_MS;
    await setTime(todayMs);
    const scope = await made("begun", { keyDaily: hard(1000), projectMonthly: hard(3000) });
    const day = dayAt(todayMs);
    const begun = ["k:key_begun", day, 900, 2950, 0, [], "p:proj_begun", day, 900, 2950, 0, []];
    for (let n = 0; n < 2; n++) await bench.lane.send([["spend_begin", begun]]);
    expect(await begin(at(0), scope, 101)).toMatchObject({ budget: "key_daily", spentMicroUsd: 900 });
    expect(await begin(at(1), scope, 51)).toMatchObject({ budget: "project_monthly", spentMicroUsd: 2950 });
    // The key's part was not needed, of which Redis hears soon.
    const rest = await until("the rest is free", () => begin(at(2), scope, 50), isOpenCall);
    giveUp(rest as OpenCall);
  });

  test("C1: what was spent earlier in the month before there were cells counts once, however often the row is written", async () => {
    const todayMs = monthMs(0) + 1.5 * DAY_MS;
    await setTime(todayMs);
    const scope = await made("earlier", { projectMonthly: hard(100_000) });
    await bench.lane.send([["spend_begin", ["p:proj_earlier", dayAt(todayMs), 0, 600, 0, []]]]);
    const other = await made("older_day", { projectMonthly: hard(100_000) });
    await bench.link.call(
      "HSET",
      "{weir}:spend:p:proj_older_day",
      "d",
      dayAt(todayMs - DAY_MS),
      "t",
      30,
      "m",
      80,
    );
    const months = async () => [
      (await at(0).budgets.spendOfProject(scope)).monthMicroUsd,
      (await at(0).budgets.spendOfProject(other)).monthMicroUsd,
    ];
    for (const each of [scope, other]) {
      // A lease comes, holds are told, another cell leases: each writes the row.
      for (let n = 0; n < 3; n++) giveUp((await begin(at(n), each, 10)) as OpenCall);
      await settle((await begin(at(0), each, 1)) as OpenCall, 1);
    }
    await until("the charges are told", months, equals([601, 81]));
    await setTime(todayMs + DAY_MS);
    for (const each of [scope, other]) await settle((await begin(at(1), each, 1)) as OpenCall, 1);
    await until("the charges of the next day are told", months, equals([602, 82]));
  });

  test("C9: what the release before counted for a key's successors is its lineage's, each charge once", async () => {
    const todayMs = monthMs(0) + 2 * DAY_MS;
    await setTime(todayMs + 1000);
    const scope = await made("joined", { keyDaily: hard(1000) });
    await settle((await begin(at(0), scope, 100)) as OpenCall, 100);
    const rows = { second: "{weir}:spend:k:key_second", third: "{weir}:spend:k:key_third" };
    const lineage = () => spendRow(bench.link, "k:key_joined");
    await until("the spending is told", async () => (await lineage()).t, equals("100"));
    const [today, before] = [dayAt(todayMs), dayAt(todayMs - DAY_MS)];
    // A cell of that release has leased of one, and goes on.
    await bench.link.call("HSET", rows.third, "d", today, "t", 400, "m", 450, "l", 50, "l:old", 50);
    await bench.link.call("HSET", rows.second, "d", before, "t", 300, "m", 370);
    const join = async () => {
      const of = { lineageId: "key_joined", timeZone: "UTC" };
      const keys = ["key_second", "key_third", "key_none"].map((keyId) => ({ keyId, ...of }));
      await joinSpend(bench.lane, keys, todayMs + 1000);
      const { t, m } = await lineage();
      return { today: Number(t), month: Number(m) };
    };
    for (let n = 0; n < 2; n++) expect(await join()).toEqual({ today: 500, month: 920 });
    expect(await begin(at(1), scope, 501)).toMatchObject({ budget: "key_daily", spentMicroUsd: 500 });
    await bench.link.call("HSET", rows.third, "t", 480, "m", 530);
    await bench.link.call("HSET", rows.second, "d", today, "t", 20, "m", 390);
    for (let n = 0; n < 2; n++) expect(await join()).toEqual({ today: 600, month: 1020 });
    expect(await spendRow(bench.link, "k:key_third")).toMatchObject({ t: "480", l: "50", "l:old": "50" });
    expect(await begin(at(2), scope, 401)).toMatchObject({ budget: "key_daily", spentMicroUsd: 600 });
  });

  test("C9: a lineage's row that the release before wrote is joined as one of this release, and one that is not there begins", async () => {
    const todayMs = monthMs(0) + 3 * DAY_MS;
    await setTime(todayMs + 1000);
    const [today, before] = [dayAt(todayMs), dayAt(todayMs - DAY_MS)];
    const row = (id: string, day: string, t: number, m: number) =>
      bench.link.call("HSET", `{weir}:spend:k:key_${id}`, "d", day, "t", t, "m", m);
    await row("older", before, 30, 80);
    await row("older_2", today, 5, 7);
    await row("absent_2", today, 9, 9);
    const keys = ["older", "absent"].map((id) => ({
      keyId: `key_${id}_2`,
      lineageId: `key_${id}`,
      timeZone: "UTC",
    }));
    await joinSpend(bench.lane, keys, todayMs + 1000);
    expect(await spendRow(bench.link, "k:key_older")).toMatchObject({ d: today, t: "5", m: "87" });
    expect(await spendRow(bench.link, "k:key_absent")).toMatchObject({ d: today, t: "9", m: "9" });
  });

  test("C9: what was joined as of a day that then went back with the clock is not joined again", async () => {
    const todayMs = monthMs(0) + 3 * DAY_MS;
    await setTime(todayMs + 2000);
    const [today, next] = [dayAt(todayMs), dayAt(todayMs + DAY_MS)];
    const keys = [{ keyId: "key_back_2", lineageId: "key_back", timeZone: "UTC" }];
    const months = [];
    for (const [day, t, m] of [
      [today, 100, 300],
      [next, 10, 310],
      [today, 110, 310],
    ] as const) {
      await bench.link.call("HSET", "{weir}:spend:k:key_back_2", "d", day, "t", t, "m", m);
      await joinSpend(bench.lane, keys, todayMs + 2000);
      months.push((await spendRow(bench.link, "k:key_back")).m);
    }
    expect(months).toEqual(["300", "310", "310"]);
  });

  test("a lease is not spent past its period without another look", async () => {
    const midnightMs = monthMs(1);
    await setTime(midnightMs - 5000);
    const scope = await made("idle_lease", { keyDaily: hard(100_000) });
    // Enough calls for a lease beyond what they need.
    for (let n = 0; n < 8; n++) giveUp((await begin(at(0), scope, 100)) as OpenCall);
    const before = at(0).budgets.hold(scope, 100);
    expect(before).not.toBeInstanceOf(Promise);
    await setTime(midnightMs + 5000);
    const after = at(0).budgets.hold(scope, 100);
    expect(after).toBeInstanceOf(Promise);
    for (const hold of [await before, await after]) if (hold.admitted) at(0).budgets.release(hold);
  });

  test("charges that arrive after midnight count in the day in which they settled", async () => {
    const midnightMs = monthMs(2);
    await setTime(midnightMs - 5000);
    const scope = await made("late", { keyDaily: hard(1000), orgMonthly: hard(5000) });
    const call = (await begin(at(0), scope, 800)) as OpenCall;
    // Cell c is the first that Redis hears of the new day, cell a settles in the old one.
    const settling = settle(call, 800);
    await bench.set(midnightMs + 100);
    expect(await settling).toBe(dayAt(midnightMs - 1));
    await hears(at(2), scope);
    const today = (await begin(at(2), scope, 200)) as OpenCall;
    await settle(today, 200);
    await until(
      "the spending of both is told",
      async () => (await spendRow(bench.link, "k:key_late")).t,
      equals("200"),
    );
    const org = await spendRow(bench.link, "o:org_late");
    expect({ day: org.d, month: org.m, parts: partsOf(org).slice(0, -1) }).toEqual({
      day: dayAt(midnightMs),
      month: "200",
      parts: [{ day: dayAt(midnightMs - 1), microUsd: 800 }],
    });
    await until(
      "the other cell sees the spending",
      () => at(1).budgets.spendOfOrg(scope),
      equals({ todayMicroUsd: 200, monthMicroUsd: 200 }),
    );
  });

  test("a cell whose clock is wrong begins no day, and a day that goes back with Redis's clock keeps what was spent", async () => {
    const midnightMs = monthMs(3);
    await setTime(midnightMs - 60_000);
    const wrong: Clock = {
      now: () => systemClock.now() + 400 * DAY_MS,
      monotonic: () => systemClock.monotonic(),
    };
    const cell = await bench.cell("wrong", { clock: wrong });
    const scope = await made("wrong_clock", { keyDaily: hard(1000) });
    await settle((await begin(cell, scope, 10)) as OpenCall, 10);
    await until(
      "the spending is told",
      async () => (await spendRow(bench.link, "k:key_wrong_clock")).t,
      equals("10"),
    );
    expect((await spendRow(bench.link, "k:key_wrong_clock")).d).toBe(dayAt(midnightMs - 1));
    await setTime(midnightMs + 60_000);
    await settle((await begin(at(0), scope, 20)) as OpenCall, 20);
    await until(
      "the day is Redis's",
      async () => (await spendRow(bench.link, "k:key_wrong_clock")).d,
      equals(dayAt(midnightMs)),
    );
    // What is later than now lies in the past.
    await setTime(midnightMs - 30_000);
    await settle((await begin(cell, scope, 30)) as OpenCall, 30);
    await until(
      "the spending is told",
      async () => (await spendRow(bench.link, "k:key_wrong_clock")).t,
      equals("60"),
    );
    expect((await spendRow(bench.link, "k:key_wrong_clock")).d).toBe(dayAt(midnightMs - 1));
  });

  test("a soft budget is told once over all cells, by the charge that exceeded it, and again in the next period", async () => {
    const midnightMs = monthMs(4);
    await setTime(midnightMs + DAY_MS);
    const scope = await made("soft", { keyDaily: soft(1000), orgMonthly: soft(1500) });
    const told = () => cells.flatMap(({ crossed }) => crossed.filter(({ orgId }) => orgId === scope.orgId));
    const spend = async (calls: number) => {
      for (let n = 0; n < calls; n++) await settle((await begin(at(n), scope, 100)) as OpenCall, 100);
    };
    await spend(30);
    await until("both events are told", () => told().length, equals(2));
    const [key, org] = told().sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    const common = {
      what: "budget",
      hard: false,
      keyId: scope.keyId,
      projectId: scope.projectId,
      orgId: scope.orgId,
    };
    expect(key).toEqual({
      ...common,
      budget: "key_daily",
      limitMicroUsd: 1000,
      spentMicroUsd: expect.any(Number),
      resetsAtMs: midnightMs + 2 * DAY_MS,
    });
    expect(org).toMatchObject({ ...common, budget: "org_monthly", resetsAtMs: monthMs(5) });
    for (const each of [key, org])
      if (each?.what === "budget") expect(each.spentMicroUsd).toBeGreaterThan(each.limitMicroUsd);
    await setTime(midnightMs + 2 * DAY_MS + 5000);
    await spend(11);
    await until("the third event is told", () => told().length, equals(3));
  });

  test("a day of unusual spend is told once", async () => {
    const midnightMs = monthMs(5);
    const scope = await made("spike", { spikeAlertPct: 50 });
    const told = () => cells.flatMap(({ crossed }) => crossed.filter(({ orgId }) => orgId === scope.orgId));
    for (let day = 3; day < 7; day++) {
      await setTime(midnightMs + day * DAY_MS + 5000);
      for (let n = 0; n < 3; n++) await settle((await begin(at(n), scope, 100)) as OpenCall, 100);
    }
    // 300 are usual: not before 450 are exceeded.
    await settle((await begin(at(0), scope, 150)) as OpenCall, 150);
    await until(
      "the spending is told",
      async () => (await spendRow(bench.link, "o:org_spike")).t,
      equals("450"),
    );
    expect(told()).toEqual([]);
    for (let n = 0; n < 4; n++) await settle((await begin(at(n), scope, 100)) as OpenCall, 100);
    await until("the event is told", () => told().length, equals(1));
    expect(told()[0]).toMatchObject({
      what: "spike",
      day: dayAt(midnightMs + 6 * DAY_MS),
      usualMicroUsd: 300,
      alertPct: 50,
      dayEndsMs: midnightMs + 7 * DAY_MS,
    });
  });

  const seeds = process.env.WEIR_SEED
    ? [Number(process.env.WEIR_SEED)]
    : Array.from({ length: rounds(40) }, (_, n) => n + 1);
  test.each(seeds)(
    "whatever settles around midnights, no period exceeds its budget: seed %i",
    async (seed) => {
      const random = seededRandom(seed);
      const pick = (n: number) => Math.floor(random() * n);
      let nowMs = monthMs(6 + 2 * seed) - 3000;
      await setTime(nowMs);
      const limits = { day: 3000, month: 7000 };
      const scope = await made(`random_${seed}`, {
        keyDaily: hard(limits.day),
        projectMonthly: hard(limits.month),
      });
      const open: OpenCall[] = [];
      const spent = new Map<string, number>();
      const settling: Promise<void>[] = [];
      let admitted = 0;
      for (let step = 0; step < 150; step++) {
        const kind = random();
        if (kind < 0.55) {
          const calls = await Promise.all(
            Array.from({ length: 1 + pick(3) }, () => begin(at(pick(3)), scope, 1 + pick(400))),
          );
          open.push(...calls.filter(isOpenCall));
          admitted += calls.filter(isOpenCall).length;
        } else if (kind < 0.95) {
          const [call] = open.splice(pick(open.length), 1);
          if (call === undefined) continue;
          const cost = pick(call.budget.amountMicroUsd + 1);
          const counted = settle(call, cost).then((day) => {
            for (const period of [day, day.slice(0, 7)]) spent.set(period, (spent.get(period) ?? 0) + cost);
          });
          settling.push(counted);
          if (random() < 0.5) await counted;
        } else {
          // Some cells hear of it late.
          nowMs += random() < 0.5 ? 2000 : DAY_MS / 2;
          await bench.set(nowMs);
          await hears(at(pick(3)), scope);
        }
      }
      for (const call of open) giveUp(call);
      await Promise.all(settling);
      expect(admitted, `seed ${seed}`).toBeGreaterThan(10);
      for (const [period, microUsd] of spent)
        expect(microUsd, `seed ${seed}, ${period}`).toBeLessThanOrEqual(
          period.length > 7 ? limits.day : limits.month,
        );
      const { keyId, projectId } = scope;
      for (const name of [`k:${keyId}`, `p:${projectId}`]) {
        await until("no lease is left", async () => (await spendRow(bench.link, name)).l, equals("0"));
        const { d = "", t, m } = await spendRow(bench.link, name);
        // What is counted today may have been called yesterday's only where it came before the day began.
        expect([Number(t), Number(m)], `seed ${seed}`).toEqual([
          spent.get(d) ?? 0,
          spent.get(d.slice(0, 7)) ?? 0,
        ]);
      }
    },
  );
});
