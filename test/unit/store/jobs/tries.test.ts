import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type JobKind, jobKind } from "../../../../src/store/jobs/job.ts";
import {
  HOUR,
  kindOf,
  MINUTE,
  openRig,
  type Payload,
  type Rig,
  SECOND,
  START,
} from "../../../support/jobs/fixtures.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig();
});
afterEach(() => rig.dispose());

const order = { key: "a", orgId: "org", payload: { n: 1 } };
const FAILS = {
  run(): undefined {
    throw new Error("the receiver said no");
  },
};

/** Fails each try as soon as it is due, until the job is given up. */
async function giveUp(cell: ReturnType<Rig["cell"]>, kind: JobKind<Payload>, key = "a"): Promise<void> {
  for (let tries = 1; rig.row(kind, key)?.state !== "given_up"; tries++) {
    if (tries > 1) rig.time.advance(HOUR);
    const ended = () => rig.row(kind, key)?.tries === tries && rig.row(kind, key)?.state !== "running";
    await rig.until(`try ${tries} has failed (${cell.failures})`, ended);
  }
}

describe("a job whose tries all fail", () => {
  test("is given up after exactly its tries, and shown with its last error", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 4 });
    const attempts: number[] = [];
    cell.jobs.handle(kind, {
      run(_, { attempt }) {
        attempts.push(attempt);
        throw new Error(`no ${attempt}`);
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await giveUp(cell, kind);
    await rig.pass(10 * HOUR, HOUR);
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect([...cell.jobs.givenUp()]).toMatchObject([
      { kind: kind.name, key: "a", orgId: "org", tries: 4, error: "no 4", createdAtMs: START },
    ]);
    expect(cell.jobs.metrics()).toMatchObject({ givenUp: 1, running: 0, lanes: 0 });
    expect(cell.jobs.metrics().byKind.get(kind.name)).toEqual({ done: 0, failed: 3, gaveUp: 1 });
    expect(cell.failures).toEqual([1, 2, 3, 4].map((n) => `test.run a failed: no ${n}`));
  });

  test("counts as given up after a restart too", async () => {
    const kind = kindOf({ tries: 1 });
    const cell = rig.cell();
    cell.jobs.handle(kind, FAILS);
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await giveUp(cell, kind);
    await rig.restart();
    const { jobs } = rig.cell();
    expect([jobs.metrics().givenUp, [...jobs.givenUp()].length]).toEqual([1, 1]);
  });

  test("tells its handler in the same act: both are there or neither", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 2 });
    const seen: boolean[] = [];
    rig.store.table("effects").watch(() => seen.push(rig.row(kind, "a")?.state === "given_up"));
    cell.jobs.handle(kind, {
      ...FAILS,
      gaveUp: ({ n }, { key, attempt }, error) => rig.count(`${n} ${key} ${attempt} ${error}`),
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await giveUp(cell, kind);
    expect([rig.counted("1 a 2 the receiver said no"), seen]).toEqual([1, [true]]);
  });

  test("is given up although its handler cannot be told, and says so", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 2 });
    cell.jobs.handle(kind, {
      ...FAILS,
      gaveUp() {
        rig.count("told");
        throw new Error("no such org");
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await giveUp(cell, kind);
    expect([...cell.jobs.givenUp()]).toMatchObject([{ tries: 2, error: "the receiver said no" }]);
    expect([rig.counted("told"), cell.failures.at(-1)]).toEqual([
      0,
      "test.run a was given up, but its handler could not be told: no such org",
    ]);
    expect(cell.jobs.metrics()).toMatchObject({ running: 0, givenUp: 1 });
  });

  test("can be tried again, with all tries", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 2 });
    let fails = true;
    cell.jobs.handle(kind, {
      run() {
        if (fails) throw new Error("no");
        return { act: () => rig.count("ran") };
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await giveUp(cell, kind);
    expect(await rig.store.act(() => cell.jobs.retry(kind.name, "a"))).toBe(true);
    await rig.until(
      "it has failed again",
      () => rig.row(kind, "a")?.error !== "" && rig.row(kind, "a")?.tries === 1,
    );
    fails = false;
    await rig.pass(HOUR, HOUR);
    expect([rig.counted("ran"), rig.row(kind, "a"), cell.jobs.metrics().givenUp]).toEqual([1, undefined, 0]);
    expect(await rig.store.act(() => cell.jobs.retry(kind.name, "a"))).toBe(false);
  });

  test("can be dropped, as one that waits can; one that runs cannot", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 1 });
    const stays = kindOf({ name: "test.stays" });
    cell.jobs.handle(kind, FAILS);
    cell.jobs.handle(stays, { run: () => new Promise(() => {}) });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order, { ...order, key: "later", dueMs: START + HOUR });
    await rig.enqueue(cell, stays, order);
    await giveUp(cell, kind);
    await rig.until("it runs", () => rig.row(stays, "a")?.state === "running");
    const drop = (name: string, key: string) => rig.store.act(() => cell.jobs.drop(name, key));
    expect([await drop(stays.name, "a"), await drop(kind.name, "none")]).toEqual([false, false]);
    expect([await drop(kind.name, "a"), await drop(kind.name, "later")]).toEqual([true, true]);
    await rig.pass(2 * HOUR, HOUR);
    expect([[...cell.jobs.givenUp()], cell.jobs.metrics().givenUp, cell.jobs.metrics().lanes]).toEqual([
      [],
      0,
      1,
    ]);
    expect([rig.row(kind, "later"), rig.row(stays, "a")?.state]).toEqual([undefined, "running"]);
  });

  test("is listed in pages, newest first, each job once", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 1, atOnce: 1 });
    cell.jobs.handle(kind, FAILS);
    await cell.jobs.start();
    for (let n = 0; n < 5; n++) {
      // Two at each time.
      for (const key of [`a${n}`, `b${n}`]) await rig.enqueue(cell, kind, { ...order, key });
      await rig.until("they are given up", () => cell.jobs.metrics().givenUp === 2 * (n + 1));
      rig.time.advance(SECOND);
    }
    const seen: string[] = [];
    for (let before: [number, string, string] | undefined; ; ) {
      const [...page] = take(cell.jobs.givenUp(before), 3);
      if (page.length === 0) break;
      seen.push(...page.map(({ key }) => key));
      const last = page.at(-1);
      before = [last?.dueMs ?? 0, last?.kind ?? "", last?.key ?? ""];
    }
    expect(seen).toEqual([4, 3, 2, 1, 0].flatMap((n) => [`b${n}`, `a${n}`]));
  });
});

function* take<T>(all: Iterable<T>, most: number): Generator<T> {
  for (const one of all) {
    yield one;
    if (--most === 0) return;
  }
}

describe("the act that ends a job", () => {
  test("commits with the job's end: whoever sees one sees the other", async () => {
    const cell = rig.cell();
    const kind = kindOf();
    const seen: boolean[] = [];
    rig.store.table("effects").watch(() => seen.push(rig.row(kind, "a") === undefined));
    cell.jobs.handle(kind, { run: () => ({ act: () => rig.count("ran") }) });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await rig.until("it has run", () => rig.rows() === 0);
    expect([seen, rig.counted("ran")]).toEqual([[true], 1]);
  });

  test("that throws puts nothing, is told, and the job is tried again", async () => {
    const cell = rig.cell();
    const kind = kindOf();
    let runs = 0;
    cell.jobs.handle(kind, {
      run() {
        const isFirst = ++runs === 1;
        return {
          act() {
            rig.count("ran");
            if (isFirst) throw new Error("the org is closed");
          },
        };
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await rig.until("it has failed", () => rig.row(kind, "a")?.error === "the org is closed");
    expect([rig.counted("ran"), rig.row(kind, "a")]).toMatchObject([0, { state: "waiting", tries: 1 }]);
    expect(cell.failures).toEqual(["test.run a failed: the org is closed"]);
    rig.time.advance(MINUTE);
    await rig.until("it has run", () => rig.rows() === 0);
    expect([runs, rig.counted("ran")]).toEqual([2, 1]);
    expect(cell.jobs.metrics().byKind.get(kind.name)).toEqual({ done: 1, failed: 1, gaveUp: 0 });
  });

  test("that always throws ends in a job that is given up", async () => {
    const cell = rig.cell();
    const kind = kindOf({ tries: 2 });
    cell.jobs.handle(kind, {
      run: () => ({
        act() {
          throw new Error("the org is closed");
        },
      }),
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await giveUp(cell, kind);
    expect([...cell.jobs.givenUp()]).toMatchObject([{ tries: 2, error: "the org is closed" }]);
  });

  test("may ask for other jobs", async () => {
    const cell = rig.cell();
    const kind = kindOf();
    cell.jobs.handle(kind, {
      run: ({ n }, { key }) => ({
        act() {
          rig.count(`ran ${n}`);
          if (n < 5) cell.jobs.enqueue(kind, { ...order, key: `${key}>`, payload: { n: n + 1 } });
        },
      }),
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await rig.until("all have run", () => rig.rows() === 0);
    expect([1, 2, 3, 4, 5, 6].map((n) => rig.counted(`ran ${n}`))).toEqual([1, 1, 1, 1, 1, 0]);
  });
});

describe("a payload", () => {
  test("of an earlier release that does not parse fails the try, is given up, and never reaches the handler", async () => {
    const cell = rig.cell();
    const before = jobKind({ ...kindOf({ tries: 2 }), payload: z.object({ count: z.string() }) });
    await rig.enqueue(cell, before, { ...order, payload: { count: "1" } });
    const kind = kindOf({ tries: 2 });
    cell.jobs.handle(kind, { run: () => ({ act: () => rig.count("ran") }), gaveUp: () => rig.count("told") });
    await cell.jobs.start();
    await giveUp(cell, kind);
    expect([rig.counted("ran"), rig.counted("told")]).toEqual([0, 0]);
    const [row] = cell.jobs.givenUp();
    expect([row?.payload, row?.error]).toEqual([
      { count: "1" },
      expect.stringContaining("payload is not valid"),
    ]);
  });

  test("of an earlier release is brought to today's form by its schema", async () => {
    const cell = rig.cell();
    const before = jobKind({ ...kindOf(), payload: z.object({ count: z.string() }) });
    await rig.enqueue(cell, before, { ...order, payload: { count: "12" } });
    const isOld = z.object({ count: z.string() }).transform(({ count }) => ({ n: Number(count) }));
    const kind = kindOf({ payload: z.union([z.object({ n: z.number() }), isOld]) });
    cell.jobs.handle(kind, { run: ({ n }) => ({ act: () => rig.count(`n ${n}`) }) });
    await cell.jobs.start();
    await rig.until("it has run", () => rig.rows() === 0);
    expect(rig.counted("n 12")).toBe(1);
  });

  test("whose schema throws fails the try, and ends nothing else", async () => {
    const cell = rig.cell();
    const throwing = z.object({ n: z.number() }).transform((): { n: number } => {
      throw new Error("a schema with a mistake");
    });
    const kind = kindOf({ tries: 2, payload: throwing });
    cell.jobs.handle(kind, { run: () => undefined, gaveUp: () => undefined });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await giveUp(cell, kind);
    expect([...cell.jobs.givenUp()]).toMatchObject([
      { error: expect.stringContaining("a schema with a mistake") },
    ]);
  });
});

describe("an error", () => {
  test.each([
    ["a text", "plain", "plain"],
    ["nothing", undefined, "undefined"],
    ["a long message", new Error("x".repeat(5000)), `${"x".repeat(500)}…`],
    ["an object without a text", Object.create(null), "an error that has no text"],
  ])("that is %s has a bounded text", async (_, thrown, text) => {
    const cell = rig.cell();
    const kind = kindOf();
    cell.jobs.handle(kind, {
      run() {
        throw thrown;
      },
    });
    await cell.jobs.start();
    await rig.enqueue(cell, kind, order);
    await rig.until(
      "it has failed",
      () => rig.row(kind, "a")?.error !== "" && rig.row(kind, "a") !== undefined,
    );
    expect(rig.row(kind, "a")).toMatchObject({ state: "waiting", error: text });
  });
});
