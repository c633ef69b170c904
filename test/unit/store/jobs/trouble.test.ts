/** Wall clocks that jump, and a store that refuses: jobs come late, and none is lost. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../../../src/base/clock.ts";
import {
  type Cell,
  HOUR,
  held,
  kindOf,
  MINUTE,
  openRig,
  type Rig,
  SECOND,
  START,
} from "../../../support/jobs/fixtures.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig();
});
afterEach(() => rig.dispose());

const kind = kindOf();
const order = (key: string, dueMs?: number) => ({
  key,
  orgId: "org",
  payload: { n: 1 },
  ...(dueMs === undefined ? {} : { dueMs }),
});

async function counting(): Promise<Cell> {
  const cell = rig.cell();
  cell.jobs.handle(kind, { run: (_, { key }) => ({ act: () => rig.count(key) }) });
  await cell.jobs.start();
  return cell;
}

describe("a wall clock", () => {
  test("that jumps ahead makes jobs run that are due by it, within seconds", async () => {
    const cell = await counting();
    await rig.enqueue(cell, kind, order("a", START + HOUR), order("b", START + 3 * HOUR));
    await rig.settle();
    rig.time.set(START + 2 * HOUR);
    await rig.pass(6 * SECOND, SECOND);
    expect([rig.counted("a"), rig.counted("b")]).toEqual([1, 0]);
  });

  test("that jumps back holds no new job up, and runs the others when their time comes", async () => {
    const cell = await counting();
    await rig.enqueue(cell, kind, order("later", START + 10 * SECOND));
    rig.time.set(START - HOUR);
    await rig.enqueue(cell, kind, order("new"));
    await rig.until("the new one has run", () => rig.counted("new") === 1);
    await rig.pass(HOUR, MINUTE);
    expect(rig.counted("later")).toBe(0);
    await rig.pass(10 * SECOND);
    expect(rig.counted("later")).toBe(1);
  });

  test("that jumps back and forth at random: each job runs once, and none before its time", async () => {
    const cell = rig.cell();
    const early: string[] = [];
    cell.jobs.handle(kind, {
      run({ n }, { key }) {
        if (rig.time.now() < n) early.push(key);
        return { act: () => rig.count(key) };
      },
    });
    await cell.jobs.start();
    const numbers = seededRandom(1);
    const random = (most: number) => Math.floor(numbers() * most);
    for (let n = 0; n < 150; n++) {
      const dueMs = rig.time.now() + random(HOUR);
      await rig.enqueue(cell, kind, {
        key: `k${n}`,
        orgId: "",
        lane: `l${n % 7}`,
        dueMs,
        payload: { n: dueMs },
      });
      await rig.settle();
      rig.time.set(START + random(4 * HOUR) - 2 * HOUR);
      rig.time.advance(random(2 * SECOND));
    }
    rig.time.set(START + 4 * HOUR);
    rig.time.advance(MINUTE);
    await rig.until("all have run", () => rig.rows() === 0);
    const counts = Array.from({ length: 150 }, (_, n) => rig.counted(`k${n}`));
    expect([new Set(counts), early, cell.failures]).toEqual([new Set([1]), [], []]);
  });

  test.each([
    ["its own cell", ["cell_a", "cell_b"]],
    ["the other cell", ["cell_b", "cell_a"]],
  ])("that jumps over a lease takes no job from its cell, where %s looks first", async (_, names) => {
    const { runs } = await cellsOf(names, SECOND);
    rig.time.set(START + HOUR);
    await rig.pass(MINUTE);
    expect([runs, rig.row(kind, "a")?.holder]).toEqual([["cell_a"], "cell_a"]);
  });
});

test("cells that all slept past a lease leave the job to the one that renews it as it wakes", async () => {
  const { runs } = await cellsOf(["cell_a", "cell_b"]);
  // In one turn: cell_a renews, and cell_b looks for leases that have ended before that is committed.
  rig.time.advance(HOUR);
  await rig.pass(MINUTE);
  expect([runs, rig.row(kind, "a")?.holder]).toEqual([["cell_a"], "cell_a"]);
});

/** Cells that look at leases in this order, and a job that cell_a runs and does not end. */
async function cellsOf(names: readonly string[], apartMs = 0): Promise<{ runs: string[] }> {
  const runs: string[] = [];
  const cells = names.map((name) => {
    const cell = rig.cell(name, true);
    cell.jobs.handle(kind, {
      run() {
        runs.push(name);
        return new Promise(() => {});
      },
    });
    return cell;
  });
  for (const { jobs } of cells) {
    await jobs.start();
    rig.time.advance(apartMs);
  }
  const b = cells[names.indexOf("cell_b")]?.process;
  b?.pause();
  await rig.enqueue(cells[0] as Cell, kind, order("a"));
  await rig.until("it runs", () => runs.length === 1);
  b?.resume();
  await rig.settle();
  return { runs };
}

describe("a store that refuses acts for a while", () => {
  test("delays claims, loses no job and no slot, and is asked no more often than once a second", async () => {
    const cell = await counting();
    const orders = Array.from({ length: 40 }, (_, n) => ({ ...order(`k${n}`), lane: `l${n % 4}` }));
    cell.process.refuses = true;
    await rig.enqueue(cell, kind, ...orders);
    await rig.settle();
    await rig.pass(10 * SECOND);
    expect(rig.counted("k0")).toBe(0);
    expect([cell.jobs.metrics().running, new Set(cell.failures)]).toEqual([
      0,
      new Set(["test.run could not be claimed: the disk is full"]),
    ]);
    expect(cell.failures.length).toBeGreaterThanOrEqual(10);
    expect(cell.failures.length).toBeLessThanOrEqual(12);
    cell.process.refuses = false;
    await rig.pass(SECOND);
    await rig.until("all have run", () => rig.rows() === 0);
    expect(new Set(orders.map(({ key }) => rig.counted(key)))).toEqual(new Set([1]));
    expect(cell.jobs.metrics().lanes).toBe(0);
  });

  test("still takes the end of what ran: it is owed", async () => {
    const cell = rig.cell();
    const run = held();
    cell.jobs.handle(kind, {
      async run(_, { key }) {
        await run.promise;
        return { act: () => rig.count(key) };
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order("a"));
    await rig.until("it runs", () => cell.jobs.metrics().running === 1);
    cell.process.refuses = true;
    run.resolve(undefined);
    await rig.until("it is done", () => rig.rows() === 0);
    expect([rig.counted("a"), cell.failures]).toEqual([1, []]);
  });

  test("leaves the leases to end, and says so", async () => {
    const cell = rig.cell();
    cell.jobs.handle(kind, { run: () => new Promise(() => {}) });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order("a"));
    await rig.until("it runs", () => cell.jobs.metrics().running === 1);
    cell.process.refuses = true;
    await rig.pass(MINUTE);
    expect(new Set(cell.failures)).toEqual(
      new Set(["leases of jobs could not be renewed: the disk is full"]),
    );
    cell.process.refuses = false;
    await rig.pass(10 * SECOND);
    expect(rig.row(kind, "a")?.leaseEndsAtMs).toBeGreaterThan(rig.time.now());
  });
});
