import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JobRun } from "../../../../src/store/jobs/job.ts";
import { DAY, HOUR, held, kindOf, MINUTE, openRig, type Rig, START } from "../../../support/jobs/fixtures.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig();
});
afterEach(() => rig.dispose());

const kind = kindOf();

describe("a job", () => {
  test("exists if and only if its act commits", async () => {
    const cell = rig.cell();
    cell.jobs.handle(kind, { run: () => ({ act: () => rig.count("ran") }) });
    await cell.jobs.start();
    const refused = rig.store.act(() => {
      cell.jobs.enqueue(kind, { key: "a", orgId: "org", payload: { n: 1 } });
      throw new Error("refused");
    });
    await expect(refused).rejects.toThrow("refused");
    await rig.settle();
    expect([rig.rows(), rig.counted("ran")]).toEqual([0, 0]);
    await rig.enqueue(cell, kind, { key: "a", orgId: "org", payload: { n: 1 } });
    await rig.until("it has run", () => rig.counted("ran") === 1);
    await rig.settle();
    expect([rig.rows(), rig.counted("ran")]).toEqual([0, 1]);
  });

  test("cannot be put outside an act", () => {
    const { jobs } = rig.cell();
    expect(() => jobs.enqueue(kind, { orgId: "org", payload: { n: 1 } })).toThrow("outside an act");
  });

  test("gives its run its payload, key, org, time of creation and number of tries", async () => {
    const cell = rig.cell();
    const runs: [{ n: number }, Omit<JobRun, "signal">][] = [];
    cell.jobs.handle(kind, {
      run(payload, { signal: _, ...job }) {
        runs.push([payload, job]);
        return undefined;
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, { key: "a", lane: "receiver", orgId: "org", payload: { n: 7 } });
    await rig.until("it has run", () => rig.rows() === 0);
    expect(runs).toEqual([[{ n: 7 }, { key: "a", orgId: "org", createdAtMs: START, attempt: 1 }]]);
  });

  test("gets a key of its own where none is given", async () => {
    const cell = rig.cell();
    const keys = new Set<string>();
    cell.jobs.handle(kind, {
      run(_, job) {
        keys.add(job.key);
        return undefined;
      },
    });
    await cell.jobs.start();
    const order = { orgId: "org", payload: { n: 1 } };
    await rig.enqueue(cell, kind, order, order, order);
    await rig.until("all have run", () => rig.rows() === 0);
    expect([keys.size, [...keys].every((key) => /^job_[0-9A-Z]{26}$/.test(key))]).toEqual([3, true]);
  });

  test("that was enqueued before the start, or for a kind that another release handles, waits", async () => {
    const cell = rig.cell();
    const other = kindOf({ name: "test.other" });
    await rig.enqueue(cell, kind, { key: "a", orgId: "", payload: { n: 1 } });
    await rig.enqueue(cell, other, { key: "a", orgId: "", payload: { n: 1 } });
    cell.jobs.handle(kind, { run: () => ({ act: () => rig.count("ran") }) });
    await cell.jobs.start();
    await rig.until("it has run", () => rig.counted("ran") === 1);
    await rig.settle();
    expect([rig.row(kind, "a"), rig.row(other, "a")?.state]).toEqual([undefined, "waiting"]);
  });
});

describe("a key", () => {
  const order = (n: number) => ({ key: "a", orgId: "org", payload: { n } });

  test("is taken while its job waits and while it runs, and free once it is done", async () => {
    const cell = rig.cell();
    const run = held();
    const seen: number[] = [];
    cell.jobs.handle(kind, {
      run(payload) {
        seen.push(payload.n);
        return payload.n === 1 ? run.promise : undefined;
      },
    });
    await rig.enqueue(cell, kind, order(1), order(2));
    await rig.enqueue(cell, kind, order(3));
    expect([rig.row(kind, "a")?.payload, cell.jobs.has(kind, "a")]).toEqual([{ n: 1 }, true]);
    await cell.jobs.start();
    await rig.until("it runs", () => seen.length === 1);
    await rig.enqueue(cell, kind, order(4));
    expect([rig.row(kind, "a")?.state, cell.jobs.has(kind, "a")]).toEqual(["running", true]);
    run.resolve(undefined);
    await rig.until("it is done", () => !cell.jobs.has(kind, "a"));
    await rig.enqueue(cell, kind, order(5));
    await rig.until("it is done again", () => rig.rows() === 0);
    expect(seen).toEqual([1, 5]);
  });

  test("is another one in another kind", async () => {
    const cell = rig.cell();
    const other = kindOf({ name: "test.other" });
    for (const each of [kind, other])
      cell.jobs.handle(each, { run: () => ({ act: () => rig.count(each.name) }) });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order(1));
    await rig.enqueue(cell, other, order(1));
    await rig.until("both have run", () => rig.rows() === 0);
    expect([rig.counted("test.run"), rig.counted("test.other")]).toEqual([1, 1]);
  });

  test("of a given-up job begins anew, with the new payload and all tries", async () => {
    const cell = rig.cell();
    const once = kindOf({ tries: 1 });
    const seen: [number, number][] = [];
    cell.jobs.handle(once, {
      run({ n }, { attempt }) {
        seen.push([n, attempt]);
        if (n === 1) throw new Error("no");
        return undefined;
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, once, order(1));
    await rig.until("it is given up", () => cell.jobs.metrics().givenUp === 1);
    expect(cell.jobs.has(once, "a")).toBe(false);
    await rig.enqueue(cell, once, order(2));
    await rig.until("it is done", () => rig.rows() === 0);
    expect([seen, cell.jobs.metrics().givenUp]).toEqual([
      [
        [1, 1],
        [2, 1],
      ],
      0,
    ]);
  });
});

describe("a due time", () => {
  test("is kept: nothing runs before it, and what is due first runs first", async () => {
    const cell = rig.cell();
    const ran: string[] = [];
    cell.jobs.handle(kindOf({ atOnce: 1 }), {
      run(_, { key }) {
        ran.push(key);
        return undefined;
      },
    });
    await cell.jobs.start();
    const dueIn = (key: string, ms: number) => ({
      key,
      orgId: "org",
      dueMs: START + ms,
      payload: { n: 1 },
    });
    await rig.enqueue(cell, kind, dueIn("c", HOUR), dueIn("b", MINUTE), dueIn("d", HOUR + 1), dueIn("a", 30));
    await rig.settle();
    expect(ran).toEqual([]);
    await rig.pass(30);
    expect(ran).toEqual(["a"]);
    await rig.pass(MINUTE - 31);
    expect(ran).toEqual(["a"]);
    await rig.pass(1);
    expect(ran).toEqual(["a", "b"]);
    rig.time.advance(2 * HOUR);
    await rig.until("all have run", () => rig.rows() === 0);
    expect(ran).toEqual(["a", "b", "c", "d"]);
  });

  test("that was put off in the very turn in which the job is claimed holds", async () => {
    const cell = rig.cell();
    cell.jobs.handle(kind, { run: () => ({ act: () => rig.count("ran") }) });
    await cell.jobs.start();
    const order = { key: "a", orgId: "org", payload: { n: 1 } };
    await rig.enqueue(cell, kind, { ...order, dueMs: START + MINUTE });
    await rig.settle();
    const putOff = rig.store.act(() => {
      cell.jobs.drop(kind.name, "a");
      cell.jobs.enqueue(kind, { ...order, dueMs: START + HOUR });
    });
    // The look at the old time comes before that commits.
    rig.time.advance(MINUTE);
    await putOff;
    await rig.settle();
    expect([rig.counted("ran"), rig.row(kind, "a")?.state]).toEqual([0, "waiting"]);
    await rig.pass(HOUR, MINUTE);
    expect([rig.counted("ran"), cell.jobs.metrics().lanes]).toEqual([1, 0]);
  });

  test("that is no time is refused in the act that asks for it", async () => {
    const cell = rig.cell();
    for (const dueMs of [Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_VALUE]) {
      const act = rig.enqueue(cell, kind, { key: "a", orgId: "org", dueMs, payload: { n: 1 } });
      await expect(act).rejects.toThrow(RangeError);
    }
    expect(rig.rows()).toBe(0);
  });

  test("of a job that ends with one: a virtual year of an hourly job is 8,760 runs, each at its hour", async () => {
    await rig.dispose();
    rig = openRig({ actsTwice: false });
    const cell = rig.cell();
    const ranAtMs: number[] = [];
    const attempts = new Set<number>();
    cell.jobs.handle(kind, {
      run(_, { attempt }) {
        ranAtMs.push(rig.time.now());
        attempts.add(attempt);
        return { againAtMs: rig.time.now() + HOUR };
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, { key: "hourly", orgId: "", dueMs: START + HOUR, payload: { n: 1 } });
    for (let hour = 1; hour <= 365 * 24; hour++) {
      rig.time.advance(HOUR);
      await rig.until(
        "it waits for its next hour",
        () => rig.row(kind, "hourly")?.dueMs === START + (hour + 1) * HOUR,
      );
    }
    expect(rig.time.now()).toBe(START + 365 * DAY);
    expect(ranAtMs).toEqual(Array.from({ length: 365 * 24 }, (_, i) => START + (i + 1) * HOUR));
    expect([attempts, cell.jobs.metrics().byKind.get(kind.name)?.done]).toEqual([new Set([1]), 365 * 24]);
  });

  test("that a job ends with, a time that is none, fails the try and loses nothing", async () => {
    const cell = rig.cell();
    cell.jobs.handle(kind, {
      run: () => ({ act: () => rig.count("ran"), againAtMs: Number.NaN }),
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, { key: "a", orgId: "", payload: { n: 1 } });
    await rig.until("the try has failed", () => rig.row(kind, "a")?.error !== "");
    expect([rig.row(kind, "a")?.state, rig.counted("ran")]).toEqual(["waiting", 0]);
  });
});

test("lanes and keys of any characters keep their jobs apart", async () => {
  const cell = rig.cell();
  const ran: string[] = [];
  const names = [
    "",
    "a",
    "a\u0000",
    "a\u0000b",
    "\u0000",
    "\u0001",
    "é",
    "\u{1f600}",
    "[1]",
    "a,b",
    "x".repeat(200),
  ];
  cell.jobs.handle(kind, {
    run(payload, { key }) {
      ran.push(`${payload.n} ${key}`);
      return undefined;
    },
  });
  const orders = names.map((name, n) => ({ key: `k${name}`, lane: name, orgId: "org", payload: { n } }));
  await rig.enqueue(cell, kind, ...orders);
  await rig.restart();
  const next = rig.cell();
  next.jobs.handle(kind, {
    run(payload, { key }) {
      ran.push(`${payload.n} ${key}`);
      return undefined;
    },
  });
  await next.jobs.start();
  await rig.until("all have run", () => rig.rows() === 0);
  expect(ran.sort()).toEqual(names.map((name, n) => `${n} k${name}`).sort());
  expect(next.jobs.metrics().lanes).toBe(0);
});

test("a key or lane that the store cannot hold is refused in the act that asks for it", async () => {
  const cell = rig.cell();
  for (const order of [
    { key: "k".repeat(650), orgId: "org" },
    { key: "k", lane: "l".repeat(650), orgId: "org" },
  ]) {
    await expect(rig.enqueue(cell, kind, { ...order, payload: { n: 1 } })).rejects.toThrow(RangeError);
  }
  expect([rig.rows(), cell.jobs.has(kind, "k".repeat(650))]).toEqual([0, false]);
});

test("jobs of an org are forgotten in parts; those of others and those that run stay, and one that runs is told of", async () => {
  const cell = rig.cell();
  const gate = held();
  const running = kindOf({ name: "test.running" });
  cell.jobs.handle(running, { run: () => gate.promise });
  await cell.jobs.start();
  await rig.enqueue(cell, running, { key: "r", orgId: "org", payload: { n: 1 } });
  await rig.until("it runs", () => cell.jobs.metrics().running === 1);
  for (let n = 0; n < 9; n++)
    await rig.enqueue(cell, kind, { key: `k${n}`, orgId: n % 3 === 0 ? "org" : "other", payload: { n } });
  expect(Array.from(cell.jobs.of(kind, "org"), ({ key }) => key)).toEqual(["k0", "k3", "k6"]);
  const parts: unknown[] = [];
  for (let after: [string, string] | undefined; ; ) {
    const from = after;
    after = await rig.store.act(() => cell.jobs.erase("org", 4, from));
    parts.push(after);
    if (after === undefined) break;
  }
  expect(parts.length).toBe(3);
  // One runs, with one entry in an index; six wait, with two each.
  expect([rig.rows(), [...cell.jobs.of(kind, "org")].length]).toEqual([20, 0]);
  expect([cell.jobs.runsFor("org", kind), cell.jobs.runsFor("org", running)]).toEqual([true, false]);
  expect(cell.jobs.runsFor("other", kind)).toBe(false);
  gate.resolve(undefined);
  await rig.until("it has ended", () => !cell.jobs.runsFor("org", kind));
});
