/** Cells whose machines' clocks differ: time is Redis's, and a job runs once, when it is due by that. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Clock, systemClock, systemRandom, systemTimers } from "../../../../../src/base/clock.ts";
import { SharedClock } from "../../../../../src/cluster/cells/clock/shared-clock.ts";
import { type JobRow, jobKind } from "../../../../../src/store/jobs/job.ts";
import { Jobs } from "../../../../../src/store/jobs/jobs.ts";
import { type FaultProxy, startFaultProxy } from "../../../../support/cells/fault-proxy.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell, type TestCellOptions } from "../fixtures.ts";

const missing = missingRedis();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LEASE_MS = 1000;

/** A machine whose wall clock is wrong by so much. */
const wrongBy = (ms: number): Clock => ({
  now: () => systemClock.now() + ms,
  monotonic: () => systemClock.monotonic(),
});

describe("the clock of cells", () => {
  let nowMs = 0;
  let setAheadMs = 0;
  const machine: Clock = { now: () => nowMs + setAheadMs, monotonic: () => nowMs };
  beforeEach(() => {
    nowMs = 1_000_000;
    setAheadMs = 0;
  });

  test("is that of Redis, as exactly as the fastest reply tells", () => {
    const clock = new SharedClock(machine);
    const reply = (aheadMs: number, wayMs: number, backMs: number) => {
      const sentMs = clock.monotonic();
      nowMs += wayMs;
      const redisMs = nowMs + aheadMs;
      nowMs += backMs;
      clock.heard(redisMs, sentMs);
      return clock.now() - nowMs - aheadMs;
    };
    expect(reply(HOUR, 10, 190)).toBeGreaterThanOrEqual(-191);
    expect(Math.abs(reply(HOUR, 100, 3))).toBeLessThanOrEqual(4);
    expect(Math.abs(reply(HOUR, 0, 1))).toBeLessThanOrEqual(2);
    // Slow ones teach nothing more, and move nothing.
    expect(Math.abs(reply(HOUR, 150, 50))).toBeLessThanOrEqual(2);
    expect(Math.abs(reply(-HOUR, 1, 1))).toBeLessThanOrEqual(2);
  });

  test("C1: has whole milliseconds, as ids and rows must, although monotonic time has parts of them", () => {
    nowMs += 0.4142;
    const clock = new SharedClock(machine);
    const times = () => [clock.now(), clock.steady()].map(Number.isInteger);
    expect(times()).toEqual([true, true]);
    nowMs += 0.7321;
    clock.read({ redisMs: 2_000_000, shiftMs: 500, changes: 1 }, nowMs - 0.25);
    expect(times()).toEqual([true, true]);
  });

  test("does not move while the machine's clock may be right", () => {
    const clock = new SharedClock(machine);
    for (const ms of [0, 1, 30, 200]) {
      const sentMs = clock.monotonic();
      nowMs += ms;
      clock.heard(nowMs, sentMs);
      expect(clock.now()).toBe(nowMs);
    }
  });

  test.each([HOUR, -HOUR, 13 * 24 * HOUR])(
    "does not follow the machine's clock when that is set by %d ms",
    (ms) => {
      const clock = new SharedClock(machine);
      clock.heard(nowMs, nowMs);
      setAheadMs = ms;
      expect(clock.now()).toBe(nowMs);
      const sentMs = clock.monotonic();
      nowMs += 30;
      clock.heard(nowMs, sentMs);
      expect(clock.now()).toBe(nowMs);
    },
  );

  test("what a reply says from before the machine's clock was set does not make that a wrong one", () => {
    const clock = new SharedClock(machine);
    clock.heard(nowMs, nowMs);
    const sentMs = clock.monotonic();
    nowMs += 30;
    setAheadMs = HOUR;
    clock.heard(nowMs - 10, sentMs);
    // By the machine's course as much time has passed as by Redis's clock, if that was set by an hour, too.
    expect(clock.evidence().slice(-3)).toEqual([nowMs + HOUR, nowMs + HOUR, ""]);
    clock.heard(nowMs, clock.monotonic());
    expect(clock.evidence().slice(-3)).toEqual([nowMs, nowMs + HOUR, 1]);
  });

  test.each([
    ["its own was not", 0, 0, 1],
    ["its own, which was off before, was not", 120_000, 120_000, 1],
    ["so was its own", 0, HOUR, 0],
    ["so was its own, which was off before", 120_000, HOUR + 120_000, 0],
  ])("C1: tells once that all clocks were taken to be set, and %s", (_, beforeMs, afterMs, times) => {
    const told: number[] = [];
    const clock = new SharedClock(machine, (redisMs) => void told.push(redisMs));
    const read = (changes: number) => {
      const sentMs = clock.monotonic();
      nowMs += 10;
      clock.read({ redisMs: nowMs + changes * HOUR, shiftMs: changes * HOUR, changes }, sentMs);
    };
    setAheadMs = beforeMs;
    read(0);
    setAheadMs = afterMs;
    const setMs = nowMs + HOUR + 10;
    for (const changes of [1, 1]) read(changes);
    expect(told).toEqual(Array.from({ length: times }, () => setMs));
  });

  test("C1: believes a dataset that has lost what it knew of a setting of all clocks", () => {
    const clock = new SharedClock(machine);
    const read = (changes: number, sentMs = nowMs - 10) => {
      const shiftMs = changes * DAY;
      clock.read({ redisMs: nowMs + shiftMs, shiftMs, changes }, sentMs);
      // To some milliseconds.
      return [Math.round((clock.now() - nowMs) / 1000), clock.changes];
    };
    expect(read(0)).toEqual([0, 0]);
    nowMs += 100;
    const earlierMs = nowMs;
    nowMs += 100;
    expect(read(1)).toEqual([DAY / 1000, 1]);
    nowMs += 100;
    // A reply that Redis had kept since before.
    expect(read(0, earlierMs)).toEqual([DAY / 1000, 1]);
    // A replica took its place that lacks the setting, and whose machine's clock is right.
    expect(read(0)).toEqual([0, 0]);
    // The reply was 10 ms under way, and its milliseconds are cut.
    expect(clock.steady() - nowMs).toBe(11);
    expect(read(1)).toEqual([DAY / 1000, 1]);
  });

  test("expects of Redis's clock what it said, for as long as monotonic time can differ from it", () => {
    const clock = new SharedClock(machine);
    clock.heard(nowMs + HOUR, nowMs);
    nowMs += HOUR;
    setAheadMs = -24 * HOUR;
    const [leastMs, mostMs] = clock.expectedWall();
    const slewedMs = HOUR / 2000;
    expect(leastMs - nowMs - HOUR).toBeGreaterThanOrEqual(-2001 - slewedMs);
    expect(mostMs - nowMs - HOUR).toBeLessThanOrEqual(2001 + slewedMs);
  });
});

describe.skipIf(missing !== undefined)(`jobs${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let proxy: FaultProxy;
  const opened: Jobs[] = [];
  beforeEach(async () => {
    bench = await openBench();
    proxy = await startFaultProxy(bench.redis.url);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((jobs) => jobs.stop()));
    await bench.close();
    await proxy.close();
  });

  const kind = jobKind({
    name: "test.run",
    payload: z.object({}),
    tries: 3,
    atOnce: 8,
    atOncePerLane: 8,
    leaseMs: LEASE_MS,
    backoff: { firstMs: 100, mostMs: 1000 },
  });

  /** A cell that runs jobs: each run says by whom, and lasts until `end`. */
  async function jobsOf(name: string, runs: string[], end: () => Promise<void>, options: TestCellOptions) {
    const cell = await bench.cell(name, options);
    const jobs = new Jobs({
      store: cell.store,
      clock: cell.clock,
      timers: systemTimers,
      random: systemRandom,
      holder: `${name}:${cell.entered.life}`,
      isShared: true,
      onFailure() {},
    });
    jobs.handle(kind, {
      async run(_, { key }) {
        runs.push(`${key} at ${name}`);
        await end();
        const done = cell.store.table<string[]>("done");
        return { act: () => done.put(key, [...(done.get(key) ?? []), name]) };
      },
    });
    opened.push(jobs);
    return { cell, jobs, start: () => jobs.start() };
  }
  const enqueue = ({ cell, jobs }: { cell: TestCell; jobs: Jobs }, key: string, dueMs = cell.clock.now()) =>
    cell.store.act(() => jobs.enqueue(kind, { key, orgId: "org", payload: {}, dueMs }));

  test.each([
    ["ahead of", HOUR],
    ["behind", -HOUR],
  ])("run once, when they are due, beside a cell whose clock is an hour %s the other's", async (_, ms) => {
    const runs: string[] = [];
    const began: number[] = [];
    const end = async () => void began.push(systemClock.now());
    const right = await jobsOf("right", runs, end, {});
    const wrong = await jobsOf("wrong", runs, end, { clock: wrongBy(ms) });
    await Promise.all([wrong.start(), right.start()]);
    const dueMs = systemClock.now() + 700;
    for (let n = 0; n < 5; n++) {
      await enqueue(wrong, `from wrong ${n}`, wrong.cell.clock.now() + dueMs - systemClock.now());
      await enqueue(right, `from right ${n}`, dueMs);
    }
    await until("all jobs are done", () => [...right.cell.store.table("done").range()].length, equals(10));
    expect(new Set(runs.map((run) => run.split(" at ")[0])).size).toBe(runs.length);
    for (const { value } of right.cell.store.table<string[]>("done").range()) expect(value).toHaveLength(1);
    expect(Math.min(...began)).toBeGreaterThanOrEqual(dueMs - 20);
  });

  test("keep their leases although the other cell's clock is past them", async () => {
    const runs: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const right = await jobsOf("right", runs, () => promise, {});
    await right.start();
    await enqueue(right, "long");
    await until("the job runs", () => runs, equals(["long at right"]));
    const wrong = await jobsOf("wrong", runs, () => promise, { clock: wrongBy(HOUR) });
    await wrong.start();
    const leaseEndsAtMs = () =>
      right.cell.store.table<JobRow>("jobs.rows").get([kind.name, "long"])?.leaseEndsAtMs ?? 0;
    const farMs = leaseEndsAtMs() + 2.5 * LEASE_MS;
    await until("the lease was renewed for longer than it is", leaseEndsAtMs, (endsAtMs) => endsAtMs > farMs);
    resolve();
    await until(
      "the job is done by the cell that had it",
      () => right.cell.store.table("done").get("long"),
      equals(["right"]),
    );
    expect(runs).toEqual(["long at right"]);
  });

  test("that a cell in touch took over are not ended by the one that was cut off", async () => {
    const runs: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    // A cell whose clock is wrong starts beside one whose clock is right.
    const other = await jobsOf("other", runs, async () => {}, {});
    const away = await jobsOf("away", runs, () => promise, { url: proxy.url, clock: wrongBy(-HOUR) });
    await away.start();
    await enqueue(away, "taken");
    await until("the job runs", () => runs, equals(["taken at away"]));
    proxy.refuse(true);
    await other.start();
    await until(
      "the other cell has done it",
      () => other.cell.store.table("done").get("taken"),
      equals(["other"]),
    );
    resolve();
    proxy.refuse(false);
    await away.jobs.stop();
    await away.cell.caughtUp();
    expect(runs).toEqual(["taken at away", "taken at other"]);
    for (const { cell } of [away, other]) expect(cell.store.table("done").get("taken")).toEqual(["other"]);
  });
});
