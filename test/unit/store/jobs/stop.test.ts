import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HOUR, held, kindOf, openRig, type Rig, START } from "../../../support/jobs/fixtures.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig();
});
afterEach(() => rig.dispose());

const order = { key: "a", orgId: "org", payload: { n: 1 } };
const kind = kindOf();

describe("a stop", () => {
  test("waits for what runs, and begins nothing more", async () => {
    const cell = rig.cell();
    const run = held();
    let runs = 0;
    cell.jobs.handle(kindOf({ atOnce: 1 }), {
      async run(_, { key }) {
        runs++;
        await run.promise;
        return { act: () => rig.count(key) };
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order, { ...order, key: "b" });
    await rig.until("one runs", () => runs === 1);
    let isStopped = false;
    const stopped = cell.jobs.stop().then(() => {
      isStopped = true;
    });
    await rig.settle();
    expect(isStopped).toBe(false);
    run.resolve(undefined);
    await stopped;
    expect([rig.counted("a"), rig.counted("b"), runs]).toEqual([1, 0, 1]);
    expect([rig.row(kind, "a"), rig.row(kind, "b")]).toMatchObject([
      undefined,
      { state: "waiting", tries: 0 },
    ]);
    await rig.enqueue(cell, kind, { ...order, key: "c" });
    await rig.pass(HOUR, HOUR);
    expect([runs, rig.row(kind, "c")?.state, cell.failures]).toEqual([1, "waiting", []]);
  });

  test("releases runs that throw when they are told to end; the try does not count, and they run after the next start", async () => {
    const cell = rig.cell();
    const once = kindOf({ tries: 1 });
    let runs = 0;
    cell.jobs.handle(once, {
      run(_, { signal }) {
        runs++;
        const { promise, reject } = held<undefined>();
        signal.addEventListener("abort", () => reject(signal.reason));
        return promise;
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, once, order, { ...order, key: "b" });
    await rig.until("both run", () => runs === 2);
    await cell.jobs.stop();
    expect([rig.row(once, "a"), rig.row(once, "b")]).toMatchObject([
      { state: "waiting", tries: 0, dueMs: START, error: "" },
      { state: "waiting", tries: 0 },
    ]);
    expect(cell.failures).toEqual([]);
    expect(cell.jobs.metrics().byKind.get(once.name)).toEqual({ done: 0, failed: 0, gaveUp: 0 });
    await rig.restart();
    const next = rig.cell();
    next.jobs.handle(once, { run: (_, { key, attempt }) => ({ act: () => rig.count(`${key} ${attempt}`) }) });
    await next.jobs.start();
    await rig.until("both have run", () => rig.rows() === 0);
    expect([rig.counted("a 1"), rig.counted("b 1")]).toEqual([1, 1]);
  });

  test("in the moment of a claim leaves the job waiting, and nothing runs behind it", async () => {
    const cell = rig.cell();
    let runs = 0;
    cell.jobs.handle(kind, {
      run() {
        runs++;
        return { act: () => rig.count("ran") };
      },
    });
    await cell.jobs.start();
    const enqueued = rig.enqueue(cell, kind, order);
    let stopped: Promise<void> | undefined;
    // Told before the runner's claim of the same job commits.
    rig.store.table("jobs.running").watch((_, holder) => {
      if (holder !== undefined) stopped ??= cell.jobs.stop();
    });
    await enqueued;
    await rig.until("it was claimed", () => stopped !== undefined);
    await stopped;
    const state = rig.row(kind, "a")?.state;
    await rig.settle();
    expect([runs, state, rig.row(kind, "a")]).toMatchObject([0, "waiting", { state: "waiting", tries: 0 }]);
  });

  test("before a start, and a second one, do nothing", async () => {
    const cell = rig.cell();
    cell.jobs.handle(kind, { run: () => undefined });
    await cell.jobs.stop();
    await cell.jobs.stop();
    expect(cell.failures).toEqual([]);
  });
});

test("each kind has one handler, given before the start", async () => {
  const cell = rig.cell();
  cell.jobs.handle(kind, { run: () => undefined });
  expect(() => cell.jobs.handle(kind, { run: () => undefined })).toThrow("has a handler already");
  await cell.jobs.start();
  expect(() => cell.jobs.handle(kindOf({ name: "late" }), { run: () => undefined })).toThrow();
});
