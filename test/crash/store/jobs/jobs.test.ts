/**
 * Kill -9 of a process that asks for jobs and runs them: each job that was asked for has its effect once, and nothing is left
 * waiting or claimed. `npm run test:crash` kills more often; WEIR_CRASH_SEED repeats a run's choices.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import type { JobRow } from "../../../../src/store/jobs/job.ts";
import { openStore } from "../../../../src/store/store.ts";
import { compileDiskFaults } from "../../../support/disk-faults.fixtures.ts";
import { amount } from "../../../support/effort.ts";
import { until } from "../../../support/wait.ts";
import { startWorker, type Worker } from "../../../support/worker.ts";

const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(6, 4));
const SEED = Number(process.env.WEIR_CRASH_SEED ?? 20_261_123);
const WORKER = join(import.meta.dirname, "worker.ts");
const home = mkdtempSync(join(tmpdir(), "weir-crash-jobs-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);
const disk = compileDiskFaults(home);

function worker(
  folder: string,
  options: { seed?: number; jobs?: number; step?: number; killer?: string; env?: object } = {},
): Worker {
  const { seed = 0, jobs = 0, step = 0, killer = "", env } = options;
  return startWorker(WORKER, [folder, seed, jobs, step, killer], env);
}

/** Lets the rest run, and looks at what is there. @param asked keys whose acts were acknowledged @param ran keys whose runs were told */
async function expectAllDone(
  folder: string,
  asked: readonly string[],
  ran: ReadonlySet<string>,
): Promise<void> {
  const last = worker(folder);
  await until("all have run", () => last.lines().includes("idle") || !last.alive());
  expect(await last.end("SIGTERM")).toEqual([0, null]);
  const told = new Set([...ran, ...last.said("ran")]);
  const store = openStore(folder);
  const rows = (name: string) => [...store.table(name).range()].map(({ key }) => String(key));
  const there = rows("asked");
  expect(asked.filter((key) => !there.includes(key))).toEqual([]);
  // Each row came with its job: an effect for each, none without one, and none twice.
  expect(rows("effects").sort()).toEqual(there.sort());
  expect(new Set(there.map((key) => store.table("effects").get(key)))).toEqual(
    new Set(there.length > 0 ? [1] : []),
  );
  expect(there.filter((key) => !told.has(key))).toEqual([]);
  expect(["jobs.rows", "jobs.due", "jobs.running", "jobs.given_up"].flatMap(rows)).toEqual([]);
  await store.close();
}

test(`kill -9 at random, ${ROUNDS} times: each job that was asked for has its effect exactly once`, {
  timeout: 60_000 + ROUNDS * 10_000,
}, async () => {
  const random = seededRandom(SEED);
  const folder = newFolder();
  const asked: string[] = [];
  const ran = new Set<string>();
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const one = worker(folder, { seed, jobs: 100_000 });
    const enough = 2_000 + random() * 40_000;
    await until("it is under way", () => one.size() > enough || !one.alive());
    expect(await one.end("SIGKILL")).toEqual([null, "SIGKILL"]);
    asked.push(...one.said("asked"));
    for (const key of one.said("ran")) ran.add(key);
  }
  expect(asked.length).toBeGreaterThan(ROUNDS * 20);
  await expectAllDone(folder, asked, ran);
});

const STEPS = 3 * ROUNDS;
test(`kill -9 before and behind each commit and run, ${STEPS} steps: the same`, {
  timeout: 60_000 + STEPS * 5_000,
}, async () => {
  const folder = newFolder();
  const asked: string[] = [];
  const ran = new Set<string>();
  // Each takes over what the one before left, so that their ends and claims are among the steps too.
  for (let step = 1; step <= STEPS; step++) {
    const one = worker(folder, { seed: step, jobs: 6, step });
    expect(await one.end()).toEqual([null, "SIGKILL"]);
    asked.push(...one.said("asked"));
    for (const key of one.said("ran")) ran.add(key);
  }
  await expectAllDone(folder, asked, ran);
});

test("a job that kills its process each time is given up, and costs no other job a try", async () => {
  const folder = newFolder();
  const asked: string[] = [];
  const ran = new Set<string>();
  let kills = 0;
  for (let seed = 1; ; seed++) {
    const one = worker(folder, { seed, jobs: 200, killer: "it" });
    await until("it is dead, or idle", () => !one.alive() || one.lines().includes("idle"));
    const wasAlive = one.alive();
    await one.end(wasAlive ? "SIGTERM" : undefined);
    asked.push(...one.said("asked"));
    for (const key of one.said("ran")) ran.add(key);
    if (wasAlive) break;
    kills++;
  }
  expect(kills).toBe(2 + 4);
  const store = openStore(folder);
  const left = store.table<JobRow>("jobs.rows");
  expect([...left.range()].map(({ value }) => [value.key, value.state, value.tries])).toEqual([
    ["it", "given_up", 4],
  ]);
  await store.act(() => {
    for (const { key } of [...left.range()]) left.remove(key);
    for (const { key } of [...store.table("jobs.given_up").range()]) store.table("jobs.given_up").remove(key);
  });
  await store.close();
  await expectAllDone(folder, asked, ran);
});

test.skipIf(disk.missing !== "")(
  `a disk that is full for a while delays jobs and loses none${disk.missing}`,
  async () => {
    const folder = newFolder();
    disk.set();
    const one = worker(folder, { seed: 1, jobs: 2_000, env: disk.env });
    await until("it is under way", () => one.said("ran").length > 20);
    disk.set(`write .journal ${constants.errno.ENOSPC}`);
    await until("the disk refuses a write", () => one.lines().includes("refused") || !one.alive());
    expect([one.lines().includes("idle"), one.alive()]).toEqual([false, true]);
    disk.set();
    await until("all have run", () => one.lines().includes("idle") || !one.alive());
    expect(await one.end("SIGTERM")).toEqual([0, null]);
    expect(one.said("asked")).toHaveLength(2_000);
    await expectAllDone(folder, one.said("asked"), new Set(one.said("ran")));
  },
);
