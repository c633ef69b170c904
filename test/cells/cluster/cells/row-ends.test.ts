/**
 * Rows of money, limits and answers have no expiry in Redis, which follows a clock that may be set: scripts forget them by steady time, and
 * what a release before this one wrote with an expiry loses it. Redis's time is what the test says.
 */

import { Packr } from "msgpackr";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DAY_MS } from "../../../../src/base/time.ts";
import { Blobs } from "../../../../src/cluster/cells/exchange/exchange.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { openTimedBench, partsOf, spendRow, type TimedBench } from "./budgets/budgets-fixtures.ts";

const missing = missingRedis();
const NOON_MS = Date.UTC(2027, 4, 20, 12);
const JUNE_MS = Date.UTC(2027, 5, 1, 12);
/** As SPEND_KEPT_MS, ANSWER_MS, FORGET_MS and SLOTS_MS of `scripts/exchange/`. */
const SPEND_MS = 40 * DAY_MS;
const ANSWER_MS = 25 * 3_600_000;
const LIMIT_MS = 65_000;
const SLOTS_MS = 3_630_000;
/** Redis's PTTL of a row that does not expire. */
const NEVER = -1;
const MANY = 1e9;
const packr = new Packr({ useRecords: false });
const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const monthStartAt = (ms: number): number => Date.parse(`${dayAt(ms).slice(0, 7)}-01`);

let bench: TimedBench;
beforeEach(async () => {
  if (missing !== undefined) return;
  bench = await openTimedBench();
  await bench.set(NOON_MS);
});
afterEach(async () => await bench?.close());

const redis = (command: string, name: string, ...args: (string | number | Buffer)[]) =>
  bench.link.call(command, `{weir}:${name}`, ...args);
const has = async (name: string) => (await redis("EXISTS", name)) === 1;

/** All clocks are set ahead by so much: steady time stands still. */
async function setAll(ms: number, steadyMs = NOON_MS): Promise<void> {
  await redis("HSET", "dataset", "shift", ms, "clock_changes", 1);
  await bench.set(steadyMs + ms);
}

describe.skipIf(missing !== undefined)("C1: rows of spend", () => {
  interface Asked {
    readonly sum?: number;
    readonly hard?: number;
    readonly target?: number;
    readonly need?: number;
  }

  /** What a cell tells of a scope, and asks for, at this time by a clock that nobody set. */
  async function tell(scope: string, ms: number, asked: Asked = { sum: 10 }): Promise<void> {
    const { sum = 0, hard = 0, target = 0, need = -1 } = asked;
    const day = dayAt(ms);
    const period = [day, Date.parse(day), monthStartAt(ms)];
    const charges = [sum, day, ms];
    await bench.set(ms);
    await bench.lane.send([
      ["credit", 0, 0, "", [], [scope, ...period, ...charges, 0, target, need, hard, 0, 0, -1, "", 0]],
    ]);
  }

  async function spendOf(scope: string, ms: number): Promise<unknown[]> {
    const [answer = []] = await bench.lane.send([
      ["spend", [scope, dayAt(ms), Date.parse(dayAt(ms)), monthStartAt(ms)]],
    ]);
    return answer.slice(0, 2);
  }

  const OLD = { t: 900, m: 2950 };
  /** Rows of the release before this one. `kept`: all that they say was spent. */
  const OLD_ROWS: readonly (readonly [
    what: string,
    { readonly scope: string; readonly row: Record<string, string | number>; readonly nowMs?: number },
    { readonly today: number; readonly month: number; readonly kept: number },
  ])[] = [
    ["of today", { scope: "k:a", row: { d: "2027-05-20", ...OLD } }, { today: 900, month: 2950, kept: 2950 }],
    [
      "of yesterday",
      { scope: "k:a", row: { d: "2027-05-19", ...OLD } },
      { today: 0, month: 2950, kept: 2950 },
    ],
    [
      "of the month before",
      { scope: "p:a", row: { d: "2027-04-30", ...OLD } },
      { today: 0, month: 0, kept: 2950 },
    ],
    [
      "of a day that a clock set ahead began",
      { scope: "k:a", row: { d: "2027-05-21", ...OLD } },
      { today: 900, month: 2950, kept: 2950 },
    ],
    [
      "of the last day of a month",
      { scope: "k:a", row: { d: "2027-05-31", ...OLD }, nowMs: JUNE_MS },
      { today: 0, month: 0, kept: 2950 },
    ],
    [
      "of the first day of a month",
      { scope: "k:a", row: { d: "2027-06-01", t: 900, m: 900 }, nowMs: JUNE_MS },
      { today: 900, month: 900, kept: 900 },
    ],
    [
      "of an org, with days before",
      {
        scope: "o:a",
        row: {
          d: "2027-05-20",
          ...OLD,
          u: 500,
          "s:2027-05-18": 500,
          "s:2027-05-10": 700,
          "s:2027-04-30": 400,
        },
      },
      { today: 900, month: 2950, kept: 3350 },
    ],
    [
      "of an org, of a month whose days are all known",
      { scope: "o:a", row: { d: "2027-05-19", t: 900, m: 1400, u: 500, "s:2027-05-18": 500 } },
      { today: 0, month: 1400, kept: 1400 },
    ],
  ];
  describe.each(OLD_ROWS)(
    "of an earlier release, %s",
    (_, { scope, row, nowMs = NOON_MS }, { today, month, kept }) => {
      beforeEach(async () => {
        await bench.set(nowMs);
        await redis("HSET", `spend:${scope}`, ...Object.entries(row).flat());
        await redis("PEXPIRE", `spend:${scope}`, DAY_MS);
      });

      async function assertKept(more: number): Promise<void> {
        const found = await spendRow(bench.link, scope);
        expect(partsOf(found).reduce((sum, { microUsd }) => sum + (microUsd || 0), 0)).toBe(kept + more);
        expect(Object.keys(found).filter((field) => field.startsWith("s:"))).toEqual([]);
        expect(await redis("PTTL", `spend:${scope}`)).toBe(NEVER);
      }

      test("says what was spent before anything is charged", async () => {
        expect(await spendOf(scope, nowMs)).toEqual([today, month]);
      });

      test("loses nothing but its expiry with the first charge", async () => {
        await tell(scope, nowMs);
        expect(await spendOf(scope, nowMs)).toEqual([today + 10, month + 10]);
        await assertKept(10);
        await tell(scope, nowMs + 1);
        expect(await spendOf(scope, nowMs)).toEqual([today + 20, month + 20]);
        await assertKept(20);
      });

      test("loses its expiry with a call that is refused", async () => {
        await tell(scope, nowMs, { hard: 1, need: 1 });
        expect(await spendOf(scope, nowMs)).toEqual([today, month]);
        await assertKept(0);
      });
    },
  );

  test("are forgotten after 40 days of steady time without a charge, not before", async () => {
    await tell("k:old", NOON_MS);
    expect(await redis("PTTL", "spend:k:old")).toBe(NEVER);
    await tell("k:early", NOON_MS + SPEND_MS - 1);
    expect(await has("spend:k:old")).toBe(true);
    await tell("k:late", NOON_MS + SPEND_MS);
    expect(await has("spend:k:old")).toBe(false);
    expect((await redis("ZRANGE", "spend_rows", 0, -1)) as Buffer[]).toEqual(
      ["k:early", "k:late"].map((name) => Buffer.from(name)),
    );
  });

  test("are kept with each day that they are charged on, and while something of them is leased", async () => {
    await tell("k:again", NOON_MS);
    await tell("k:leased", NOON_MS, { sum: 10, hard: 1000, target: 500 });
    await tell("k:again", NOON_MS + SPEND_MS - DAY_MS);
    await tell("k:late", NOON_MS + SPEND_MS);
    expect([await has("spend:k:again"), await has("spend:k:leased")]).toEqual([true, true]);
    await tell("k:leased", NOON_MS + SPEND_MS, { hard: 1000 });
    await tell("k:later", NOON_MS + 2 * SPEND_MS);
    expect([await has("spend:k:again"), await has("spend:k:leased")]).toEqual([false, false]);
  });

  test("are not forgotten where all clocks are set ahead by 40 days", async () => {
    await tell("k:old", NOON_MS);
    await setAll(2 * SPEND_MS);
    const ms = NOON_MS + 2 * SPEND_MS;
    const period = [dayAt(ms), Date.parse(dayAt(ms)), monthStartAt(ms)];
    await bench.lane.send([
      ["credit", 0, 0, "", [], ["k:other", ...period, 10, dayAt(ms), NOON_MS, 0, 0, -1, 0, 0, 0, -1, "", 0]],
    ]);
    expect(await has("spend:k:other")).toBe(true);
    await setAll(0);
    expect(await spendOf("k:old", NOON_MS)).toEqual([10, 10]);
  });
});

describe.skipIf(missing !== undefined)("C1: rows of answers", () => {
  const claim = async (id: string) => (await bench.lane.send([["claim", id, "print", MANY]]))[0]?.map(String);
  const ANSWERED = ["2", "print", "facts", "1"];
  const FREE = ["1"];
  async function answer(id: string): Promise<void> {
    const blobs = new Blobs();
    const bytes = blobs.add(Buffer.from("text"));
    await bench.lane.send(
      [
        ["claim", id, "print", MANY],
        ["answer", id, "org", "print", "facts", ANSWER_MS, bytes, MANY],
      ],
      blobs,
    );
  }

  test("are forgotten after 25 hours of steady time, not before", async () => {
    await answer("one");
    for (const name of ["answer:one", "answers:org", "answer_ends"])
      expect(await redis("PTTL", name), name).toBe(NEVER);
    await bench.set(NOON_MS + ANSWER_MS - 1);
    await answer("two");
    expect(await claim("one")).toEqual(ANSWERED);
    await bench.set(NOON_MS + ANSWER_MS);
    await answer("three");
    for (const name of ["answer:one", "bytes:a/one"]) expect(await has(name), name).toBe(false);
    expect(await redis("ZCARD", "answers:org")).toBe(2);
    expect(await claim("one")).toEqual(FREE);
    expect(await claim("two")).toEqual(ANSWERED);
  });

  test("that replace one whose time has come are kept", async () => {
    await answer("one");
    await bench.set(NOON_MS + ANSWER_MS);
    await answer("one");
    await answer("two");
    expect(await claim("one")).toEqual(ANSWERED);
  });

  test("that take the place of what a retired cell left last for their own time", async () => {
    const retiredMs = NOON_MS - 1000 + ANSWER_MS;
    await redis("SET", "answer:one", packr.pack(["print", "", retiredMs]));
    await redis("ZADD", "answer_ends", retiredMs, " one");
    await bench.lane.send([["answer", "one", "org", "print", "facts", ANSWER_MS, 0, MANY]]);
    await bench.set(retiredMs);
    await answer("two");
    expect(await claim("one")).toEqual(["2", "print", "facts", "0"]);
  });

  test.each([13, 40, -13])("are not forgotten where all clocks are set by %d days", async (days) => {
    await answer("one");
    await setAll(days * DAY_MS);
    await answer("two");
    expect(await claim("one")).toEqual(ANSWERED);
    await setAll(0);
    expect(await claim("one")).toEqual(ANSWERED);
  });

  test("of an earlier release, which Redis forgets, are answers until then", async () => {
    await redis("SET", "answer:old", packr.pack(["print", "facts"]), "PX", DAY_MS);
    expect(await claim("old")).toEqual(["2", "print", "facts", "0"]);
  });
});

describe.skipIf(missing !== undefined)("C1: rows of limits", () => {
  const RPM = 10;
  const NO_WISH = [0, 0, 0, 0, 0, 0, 0];
  /** Place of the first ask's outcome in what `limit` returns. */
  const FIRST_RESULT = 13;
  /** So many calls. @returns how many were admitted */
  async function call(key: string, count: number, concurrency = 0): Promise<number> {
    const asks = Array.from({ length: count }, () => 0);
    const limits = concurrency > 0 ? [0, 0, concurrency] : [RPM, 0, 0];
    const [answer = []] = await bench.lane.send([["limit", key, ...limits, [], [], asks, NO_WISH, 0, 0]]);
    const outcomes = answer.slice(FIRST_RESULT).map(Number);
    return outcomes.filter((code, at) => at % 2 === 0 && code === 0).length;
  }

  test("are forgotten when all of a window has left it, not before", async () => {
    expect(await call("old", 1)).toBe(1);
    expect(await redis("PTTL", "requests:old")).toBe(NEVER);
    await bench.set(NOON_MS + LIMIT_MS - 1);
    await call("early", 1);
    expect(await has("requests:old")).toBe(true);
    await bench.set(NOON_MS + LIMIT_MS);
    await call("late", 1);
    expect([await has("requests:old"), await has("requests:early")]).toEqual([false, true]);
  });

  test("are kept where they were used since", async () => {
    await call("used", 1);
    await bench.set(NOON_MS + LIMIT_MS - 1);
    await call("used", 1);
    await bench.set(NOON_MS + LIMIT_MS);
    await call("late", 1);
    expect(await has("requests:used")).toBe(true);
  });

  test("of calls in flight are kept for as long as a call can last", async () => {
    expect(await call("slots", 1, 2)).toBe(1);
    await bench.set(NOON_MS + SLOTS_MS - 1);
    await call("early", 1);
    expect(await has("leased:slots")).toBe(true);
    await bench.set(NOON_MS + SLOTS_MS);
    await call("late", 1);
    expect(await has("leased:slots")).toBe(false);
  });

  test.each([61_000, 3_600_000, DAY_MS, 40 * DAY_MS, -61_000, -DAY_MS])(
    "hold where all clocks are set by %d ms",
    async (ms) => {
      expect(await call("key", RPM - 1)).toBe(RPM - 1);
      await setAll(ms);
      expect(await call("key", 3)).toBe(1);
      await setAll(ms, NOON_MS + 59_999);
      expect(await call("key", 1)).toBe(0);
      await setAll(0, NOON_MS + 60_000);
      expect(await call("key", RPM + 1)).toBe(RPM);
    },
  );

  test("of an earlier release lose their expiry when they are used", async () => {
    await redis("RPUSH", "requests:old", 0, 0, NOON_MS - 1000, 9);
    await redis("PEXPIRE", "requests:old", LIMIT_MS);
    expect(await call("old", 3)).toBe(1);
    expect(await redis("PTTL", "requests:old")).toBe(NEVER);
    await bench.set(NOON_MS + LIMIT_MS);
    await call("late", 1);
    expect(await has("requests:old")).toBe(false);
  });
});
