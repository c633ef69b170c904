/** Redis is away for an hour of virtual time, for one cell or for all: each job is run once, but where the lease of its run ended. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import { LONGEST_STALE_MS } from "../../../../src/cluster/cells/settings.ts";
import { errorText, type JobKind, type JobRow } from "../../../../src/store/jobs/job.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/cells/fault-proxy.ts";
import { HOUR, held, kindOf, MINUTE, type Payload, SECOND } from "../../../support/jobs/fixtures.ts";
import { missingRedis } from "../../../support/redis-server.ts";
import { equals, until } from "../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "./fixtures.ts";
import { PassingTime } from "./passing-time.ts";

const missing = missingRedis();
/** Below the gap after which a cell knows that it stood still. */
const STEP_MS = 400;

const short = kindOf({ name: "test.short", leaseMs: MINUTE });
/** Its lease outlasts the absence. */
const long = kindOf({ name: "test.long", leaseMs: 3 * HOUR });

interface JobCell extends TestCell {
  readonly jobs: Jobs;
  /** Keys of the runs that began here, in order. */
  readonly begun: string[];
  /** What went wrong, by the text that operators read. */
  readonly failures: string[];
  /** Ends the runs of these keys, which wait for it. */
  endRuns(...keys: string[]): void;
}

describe.skipIf(missing !== undefined)(`absence: jobs${missing === undefined ? "" : `: ${missing}`}`, () => {
  let bench: Bench;
  let time: PassingTime;
  let proxies: FaultProxy[];
  beforeEach(async () => {
    bench = await openBench();
    time = new PassingTime();
    proxies = [];
  });
  afterEach(async () => {
    for (const proxy of proxies) {
      proxy.dropReplies(false);
      proxy.refuse(false);
    }
    await bench.close();
    for (const proxy of proxies) await proxy.close();
    time.stop();
  });

  const refuse = (isRefused: boolean) => {
    for (const proxy of proxies) proxy.refuse(isRefused);
  };

  /**
   * A cell whose runs wait until the test ends them, and count then who ended them. All cells' jobs go by one clock, as by Redis's.
   * @param isBehindProxy Redis can be taken from it
   */
  async function openJobCell(name: string, isBehindProxy: boolean): Promise<JobCell> {
    const proxy = isBehindProxy ? await startFaultProxy(bench.redis.url) : undefined;
    if (proxy !== undefined) proxies.push(proxy);
    // A job comes due while the cell, which hears nothing, still acts.
    const staleMs = LONGEST_STALE_MS;
    const cell = await bench.cell(name, proxy && { url: proxy.url, staleMs });
    const begun: string[] = [];
    const failures: string[] = [];
    const ends = new Map<string, () => void>();
    const jobs = new Jobs({
      store: cell.store,
      clock: time,
      timers: time,
      random: seededRandom(7),
      isShared: true,
      holder: `${name}:${cell.entered.life}`,
      onFailure: (error, what) => failures.push(`${what}: ${errorText(error)}`),
    });
    for (const kind of [short, long])
      jobs.handle(kind, {
        async run(_, { key }) {
          begun.push(key);
          const { promise, resolve } = held();
          ends.set(key, () => resolve(undefined));
          await promise;
          const count = () => cell.store.table<number>("effects");
          return { act: () => count().put([key, name], (count().get([key, name]) ?? 0) + 1) };
        },
      });
    return {
      ...cell,
      jobs,
      begun,
      failures,
      endRuns: (...keys) => {
        for (const key of keys) ends.get(key)?.();
      },
    };
  }

  /** Virtual time goes on without a gap, and what it brings about happens. */
  async function passTo(atMs: number, ...cells: readonly JobCell[]): Promise<void> {
    for (let leftMs = atMs - time.now(); leftMs > 0; leftMs = atMs - time.now()) {
      time.advance(Math.min(leftMs, STEP_MS));
      for (const { store } of cells) store.healthy();
      await nextTurn();
    }
  }
  const pass = (ms: number, ...cells: readonly JobCell[]) => passTo(time.now() + ms, ...cells);

  const enqueue = (at: JobCell, kind: JobKind<Payload>, key: string, dueMs = time.now()) =>
    at.store.act(() => at.jobs.enqueue(kind, { key, orgId: "org", lane: key, dueMs, payload: { n: 1 } }));
  const rowOf = (at: JobCell, { name }: JobKind<Payload>, key: string) =>
    at.store.table<JobRow>("jobs.rows").get([name, key]);
  /** Who ended each job, and how often. */
  const effects = (at: JobCell) =>
    Object.fromEntries(
      [...at.store.table<number>("effects").range()].map(({ key, value }) => [
        (key as string[]).join(" by "),
        value,
      ]),
    );
  const tables = ["jobs.rows", "jobs.due", "jobs.times", "jobs.running", "jobs.given_up"];
  const rows = (at: JobCell) => tables.flatMap((name) => [...at.store.table(name).range()]).length;
  const DUE = [10, 20, 30, 40, 50].map((minute) => [`at ${minute}`, minute * MINUTE] as const);

  test("an hour without Redis for all: nothing begins, what ran keeps its end, and what came due is run by one cell", async () => {
    const cells = [await openJobCell("one", true), await openJobCell("two", true)] as const;
    const [one, two] = cells;
    await one.jobs.start();
    await enqueue(one, short, "short");
    await enqueue(one, long, "long");
    await until("both run", () => [...one.begun].sort(), equals(["long", "short"]));
    await two.jobs.start();
    const startMs = time.now();
    for (const [key, ms] of DUE) await enqueue(one, short, key, startMs + ms);
    await enqueue(two, long, "later", startMs + 90 * MINUTE);
    await two.caughtUp();
    refuse(true);
    await pass(30 * MINUTE, ...cells);
    // Their runs end while nobody can be told.
    one.endRuns("short", "long");
    await pass(30 * MINUTE, ...cells);
    await expect(enqueue(two, short, "refused")).rejects.toMatchObject({ status: 503 });
    expect([one.begun.length, two.begun]).toEqual([2, []]);
    refuse(false);
    const finish = () => {
      for (const cell of cells) cell.endRuns(...cell.begun);
      return rows(two);
    };
    // The row of the one that is due later, in three tables.
    await until("one job is left", finish, equals(3));
    await pass(31 * MINUTE, ...cells);
    await until("no job is left", finish, equals(0));
    const runs = [...one.begun, ...two.begun].sort();
    const each = ["short", "long", "later", ...DUE.map(([key]) => key)].sort();
    // Only the lease of one had ended: the other cell may have taken that over before the first could tell its end.
    expect([each, [...each, "short"].sort()]).toContainEqual(runs);
    expect(one.begun.concat(two.begun).filter((key) => key === "long")).toHaveLength(1);
    const ended = effects(two);
    expect(
      Object.keys(ended)
        .map((key) => key.split(" by ")[0])
        .sort(),
    ).toEqual(each);
    expect(new Set(Object.values(ended))).toEqual(new Set([1]));
  });

  test("an hour without Redis for one: another takes over what it ran once the lease has ended, runs what comes due, and the first ends only what is its own", async () => {
    const [away, near] = [await openJobCell("away", true), await openJobCell("near", false)];
    await away.jobs.start();
    await enqueue(away, short, "short");
    await enqueue(away, long, "long");
    await until("both run", () => [...away.begun].sort(), equals(["long", "short"]));
    await near.jobs.start();
    const startMs = time.now();
    for (const [key, ms] of DUE) await enqueue(near, short, key, startMs + ms);
    await until("the last job is known", () => rowOf(away, short, "at 50") !== undefined);
    const leaseEndsAtMs = rowOf(near, short, "short")?.leaseEndsAtMs ?? 0;
    refuse(true);
    await passTo(leaseEndsAtMs - 20 * SECOND, away, near);
    expect(near.begun).toEqual([]);
    await passTo(leaseEndsAtMs + 10 * SECOND, away, near);
    await until("the other cell runs it", () => near.begun, equals(["short"]));
    const expected = ["short"];
    for (const [key, ms] of DUE) {
      await passTo(startMs + ms, away, near);
      expected.push(key);
      await until("the other cell runs it", () => near.begun, equals(expected));
      near.endRuns(key);
    }
    await passTo(startMs + HOUR, away, near);
    // An hour of virtual time is shorter than what leases take to be renewed in real time.
    await until(
      "the lease is renewed",
      () => (rowOf(near, short, "short")?.leaseEndsAtMs ?? 0) - time.now(),
      (leftMs) => leftMs > 20 * SECOND,
    );
    away.endRuns("short", "long");
    refuse(false);
    await until("the first cell runs nothing", () => away.jobs.metrics().running, equals(0));
    // It is the other's by now.
    expect(rowOf(near, short, "short")?.state).toBe("running");
    near.endRuns("short");
    await until("no job is left", () => [rows(near), rows(away)], equals([0, 0]));
    expect([away.begun.length, near.begun]).toEqual([2, expected]);
    const byNear = Object.fromEntries(expected.map((key) => [`${key} by near`, 1]));
    expect(effects(near)).toEqual({ "long by away": 1, ...byNear });
  });

  test.each([
    ["by the cell itself where it is alone", false],
    ["by either where there is another", true],
  ])(
    "a claim that Redis has, and whose cell never heard of it for an hour, is run once its lease has ended: %s",
    async (_, hasOther) => {
      const [away, near] = [await openJobCell("away", true), await openJobCell("near", false)];
      await away.jobs.start();
      await enqueue(near, short, "lost", time.now() + 10 * SECOND);
      await until("the job is known", () => rowOf(away, short, "lost") !== undefined);
      proxies[0]?.dropReplies(true);
      await pass(11 * SECOND, away);
      await until("the job is claimed", () => rowOf(near, short, "lost")?.state, equals("running"));
      refuse(true);
      if (hasOther) await near.jobs.start();
      // The act of the claim has been answered: nobody knows whether it was done.
      await pass(HOUR, away);
      await until(
        "it is not known whether the claim was stored",
        () => away.failures.join(),
        (failures) => failures.includes("It is not known whether this was stored"),
      );
      expect(away.begun).toEqual([]);
      proxies[0]?.dropReplies(false);
      refuse(false);
      await until(
        "no job is left",
        async () => {
          await pass(SECOND, away);
          for (const cell of [away, near]) cell.endRuns("lost");
          return rows(near);
        },
        equals(0),
      );
      expect(away.begun.length > 0 || hasOther).toBe(true);
      expect(Object.values(effects(near))).toEqual([1]);
    },
  );
});
