/** Two cells over one store: each job runs once, and what one leaves behind the other takes over. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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

const kind = kindOf({ leaseMs: MINUTE });
const order = { key: "a", orgId: "org", payload: { n: 1 } };

/** A cell whose runs end when the test says so, and count who ended them. */
async function startCell(holder: string, changes: Parameters<typeof kindOf>[0] = {}) {
  const cell = rig.cell(holder, true);
  const runs: { readonly key: string; readonly attempt: number; readonly end: () => void }[] = [];
  cell.jobs.handle(kindOf({ leaseMs: MINUTE, ...changes }), {
    async run(_, { key, attempt }) {
      const { promise, resolve } = held();
      runs.push({ key, attempt, end: () => resolve(undefined) });
      await promise;
      return { act: () => rig.count(`${key} by ${holder}`) };
    },
  });
  await cell.jobs.start();
  return { ...cell, runs, endAll: () => runs.splice(0).forEach(({ end }) => void end()) };
}

test("a job runs at one of them, whichever claims it first", async () => {
  const cells = [await startCell("cell_a"), await startCell("cell_b")];
  const orders = Array.from({ length: 200 }, (_, n) => ({ ...order, key: `k${n}`, lane: `l${n % 20}` }));
  await rig.enqueue(cells[0] as Cell, kind, ...orders);
  let most = 0;
  await rig.until("all are done", () => {
    most = Math.max(most, ...cells.map((cell) => cell.jobs.metrics().running));
    for (const { endAll } of cells) endAll();
    return rig.rows() === 0;
  });
  const counts = orders.map(({ key }) => rig.counted(`${key} by cell_a`) + rig.counted(`${key} by cell_b`));
  expect(new Set(counts)).toEqual(new Set([1]));
  expect([most > kind.atOncePerLane, most <= kind.atOnce]).toEqual([true, true]);
  expect(cells.map(({ jobs }) => jobs.metrics().lanes)).toEqual([0, 0]);
});

describe("a cell that dies", () => {
  test("has its jobs taken over once their leases have ended, and no sooner", async () => {
    const a = await startCell("cell_a");
    await rig.enqueue(a, kind, order, { ...order, key: "b" });
    await rig.until("it runs them", () => a.runs.length === 2);
    const b = await startCell("cell_b");
    a.process.die();
    await rig.pass(50 * SECOND);
    expect([b.runs.length, rig.row(kind, "a")?.holder]).toEqual([0, "cell_a"]);
    await rig.pass(20 * SECOND);
    expect(b.runs.map(({ key, attempt }) => [key, attempt])).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    b.endAll();
    await rig.until("both are done", () => rig.rows() === 0);
    expect(["a", "b"].map((key) => rig.counted(`${key} by cell_b`))).toEqual([1, 1]);
  });

  test("has them back at once when it starts again", async () => {
    const a = await startCell("cell_a");
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    await rig.restart();
    const again = await startCell("cell_a");
    await rig.until("it runs again", () => again.runs.length === 1);
    expect([again.runs[0]?.attempt, rig.time.now()]).toEqual([1, START]);
  });

  test("leaves what only waited to the others", async () => {
    const a = await startCell("cell_a", { atOnce: 1 });
    await rig.enqueue(a, kind, order, { ...order, key: "b" });
    await rig.until("one runs", () => a.runs.length === 1);
    a.process.die();
    const b = await startCell("cell_b");
    await rig.until("the other one runs", () => b.runs.length === 1);
    expect(b.runs[0]?.attempt).toBe(1);
  });
});

describe("a cell that pauses for longer than its lease", () => {
  test("cannot end a job that another one runs by now", async () => {
    const [a, b] = [await startCell("cell_a"), await startCell("cell_b")];
    b.process.pause();
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    a.process.pause();
    b.process.resume();
    await rig.pass(70 * SECOND);
    expect(b.runs).toHaveLength(1);
    a.endAll();
    a.process.resume();
    await rig.settle();
    expect(rig.row(kind, "a")).toMatchObject({
      state: "running",
      holder: "cell_b",
      fence: expect.any(Number),
    });
    b.endAll();
    await rig.until("it is done", () => rig.rows() === 0);
    expect([rig.counted("a by cell_a"), rig.counted("a by cell_b")]).toEqual([0, 1]);
    expect([a.jobs.metrics().running, b.jobs.metrics().running]).toEqual([0, 0]);
  });

  test("cannot end a later job of the same key, which another one or it itself runs", async () => {
    const [a, b] = [await startCell("cell_a"), await startCell("cell_b")];
    b.process.pause();
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    const [old] = a.runs.splice(0);
    a.process.pause();
    b.process.resume();
    await rig.pass(70 * SECOND);
    b.endAll();
    await rig.until("it is done by the other", () => rig.rows() === 0);
    b.process.pause();
    a.process.resume();
    await rig.enqueue(a, kind, order);
    await rig.until("its key runs again", () => a.runs.length === 1);
    old?.end();
    await rig.settle();
    expect([rig.row(kind, "a")?.state, rig.counted("a by cell_a")]).toEqual(["running", 0]);
    // The later run is still the cell's: it counts, and its lease is renewed.
    expect(a.jobs.metrics().running).toBe(1);
    await rig.pass(5 * MINUTE, 2 * SECOND);
    expect(rig.row(kind, "a")?.leaseEndsAtMs).toBeGreaterThan(rig.time.now());
    a.endAll();
    await rig.until("it is done", () => rig.rows() === 0);
    expect([rig.counted("a by cell_a"), rig.counted("a by cell_b")]).toEqual([1, 1]);
  });

  test("ends its job where nobody has taken it over", async () => {
    const a = await startCell("cell_a");
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    a.process.pause();
    rig.time.advance(HOUR);
    a.endAll();
    a.process.resume();
    await rig.until("it is done", () => rig.rows() === 0);
    expect(rig.counted("a by cell_a")).toBe(1);
  });
});

describe("the lease of a long run", () => {
  test("is renewed while it runs, so that nobody takes it over", async () => {
    const [a, b] = [await startCell("cell_a"), await startCell("cell_b")];
    b.process.pause();
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    b.process.resume();
    for (let minutes = 0; minutes < 30; minutes++) {
      await rig.pass(MINUTE, 2 * SECOND);
      expect(rig.row(kind, "a")?.leaseEndsAtMs).toBeGreaterThan(rig.time.now());
    }
    expect([b.runs.length, rig.row(kind, "a")?.tries]).toEqual([0, 1]);
    a.endAll();
    await rig.until("it is done", () => rig.rows() === 0);
    expect([rig.counted("a by cell_a"), [...a.failures, ...b.failures]]).toEqual([1, []]);
  });

  test("is renewed also while other jobs come so often that no look waits for its timer", async () => {
    const [a, b] = [await startCell("cell_a"), await startCell("cell_b")];
    b.process.pause();
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    b.process.resume();
    for (let half = 0; half < 300; half++) {
      rig.time.advance(SECOND / 2);
      await rig.enqueue(a, kind, {
        key: `later ${half}`,
        orgId: "other",
        dueMs: START + HOUR,
        payload: { n: 1 },
      });
      await rig.settle();
    }
    expect(rig.row(kind, "a")?.leaseEndsAtMs).toBeGreaterThan(rig.time.now());
    expect([b.runs.length, rig.row(kind, "a")?.holder]).toEqual([0, "cell_a"]);
  });

  test.each([2, 5, 10, 15])("is renewed in time where it is %i seconds", async (seconds) => {
    const leaseMs = seconds * SECOND;
    const a = await startCell("cell_a", { leaseMs });
    const b = await startCell("cell_b", { leaseMs });
    b.process.pause();
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    b.process.resume();
    for (let fifth = 0; fifth < 300; fifth++) {
      rig.time.advance(SECOND / 5);
      await rig.settle();
      expect(rig.row(kind, "a")?.leaseEndsAtMs).toBeGreaterThan(rig.time.now());
    }
    expect(b.runs).toHaveLength(0);
  });

  test("is renewed while the process stops", async () => {
    const [a, b] = [await startCell("cell_a"), await startCell("cell_b")];
    b.process.pause();
    await rig.enqueue(a, kind, order);
    await rig.until("it runs", () => a.runs.length === 1);
    b.process.resume();
    const stopped = a.jobs.stop();
    await rig.pass(3 * MINUTE, 2 * SECOND);
    expect([b.runs.length, rig.row(kind, "a")?.holder]).toEqual([0, "cell_a"]);
    a.endAll();
    await stopped;
    expect([rig.rows(), rig.counted("a by cell_a")]).toEqual([0, 1]);
  });
});
