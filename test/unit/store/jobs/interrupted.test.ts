/** Processes that die while jobs run: the one that kills them is given up, and those that ran beside it lose no try. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Cell, HOUR, held, kindOf, openRig, type Rig, START } from "../../../support/jobs/fixtures.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig();
});
afterEach(() => rig.dispose());

const kind = kindOf({ tries: 3 });
const other = kindOf({ name: "test.other", tries: 2 });
const order = (key: string, lane = key) => ({ key, lane, orgId: "org", payload: { n: 1 } });
const INNOCENT = Array.from({ length: 12 }, (_, n) => `k${n}`);

interface Process extends Cell {
  /** Keys of runs under way, in the order of their begins. */
  readonly running: string[];
  /** Key and number of each try that began. */
  readonly begun: string[];
  /** Ends the runs of keys that it names; they begin again only as new tries. */
  end(isEnded: (key: string) => boolean, error?: Error): Promise<void>;
}

/** A process whose runs last until the test ends them. */
async function start(holder = "cell_a"): Promise<Process> {
  const cell = rig.cell(holder);
  const runs = new Map<string, (error?: Error) => void>();
  const begun: string[] = [];
  for (const each of [kind, other]) {
    cell.jobs.handle(each, {
      async run(_, { key, attempt }) {
        begun.push(`${key} ${attempt}`);
        const { promise, resolve, reject } = held();
        runs.set(key, (error) => (error === undefined ? resolve(undefined) : reject(error)));
        await promise.finally(() => runs.delete(key));
        return { act: () => rig.count(key) };
      },
      gaveUp: (_payload, { key }) => rig.count(`${key} given up`),
    });
  }
  await cell.jobs.start();
  await rig.settle();
  return {
    ...cell,
    begun,
    get running() {
      return [...runs.keys()];
    },
    async end(isEnded, error) {
      for (const [key, settle] of runs) if (isEnded(key)) settle(error);
      await rig.settle();
    },
  };
}

/** Kill -9 while these jobs run, as often as told. */
async function killed(times: number, ...keys: readonly string[]): Promise<void> {
  for (let time = 0; time < times; time++) {
    const process = await start();
    expect(process.running).toEqual(expect.arrayContaining([...keys]));
    await rig.restart();
  }
}

async function enqueued(...keys: readonly string[]): Promise<void> {
  await rig.enqueue(rig.cell("nobody"), kind, ...keys.map((key) => order(key)));
}

describe("a job that kills its process each time", () => {
  test("is given up after two ends of the process and its tries, with growing waits between them", async () => {
    await enqueued("killer");
    const deaths: number[] = [];
    let process = await start();
    while (rig.row(kind, "killer")?.state !== "given_up" && deaths.length < 20) {
      if (process.running.length > 0) {
        deaths.push(rig.time.now() - START);
        await rig.restart();
        process = await start();
      } else await rig.pass(1000);
    }
    expect(deaths).toHaveLength(2 + kind.tries);
    const waits = deaths.slice(1).map((ms, i) => ms - (deaths[i] ?? 0));
    expect(waits.slice(0, 2)).toEqual([0, 0]);
    expect(waits[2]).toBeGreaterThanOrEqual(kind.backoff.firstMs / 2);
    expect(waits[3]).toBeGreaterThanOrEqual(kind.backoff.firstMs);
    expect(rig.row(kind, "killer")).toMatchObject({ tries: 3, error: "the process that ran it ended" });
    expect(rig.counted("killer given up")).toBe(1);
  });

  test.each([
    ["while the others run for long", true],
    ["while the others end at once unless it runs", false],
  ])("takes no try from those that run beside it, %s", async (_, areSlow) => {
    await enqueued(...INNOCENT, "killer");
    await rig.enqueue(rig.cell("nobody"), other, order("elsewhere"));
    let deaths = 0;
    for (let starts = 0; starts < 200 && rig.row(kind, "killer")?.state !== "given_up"; starts++) {
      const process = await start();
      const isDead = () => process.running.includes("killer");
      // A slow one needs a whole life of the process in which nothing kills it.
      for (let turn = 0; turn < 40 && !isDead(); turn++) {
        if (areSlow) await rig.pass(1000);
        const [first] = process.running;
        if (!isDead()) await process.end((key) => key === first);
      }
      if (isDead()) deaths++;
      await rig.restart();
      rig.time.advance(HOUR);
    }
    expect(deaths).toBe(2 + kind.tries);
    expect([...INNOCENT, "elsewhere"].map((key) => rig.counted(key))).toEqual(
      Array.from({ length: INNOCENT.length + 1 }, () => 1),
    );
    expect([...rig.cell().jobs.givenUp()].map(({ key }) => key)).toEqual(["killer"]);
  });
});

describe("jobs that ran when the process died", () => {
  test("once run again all at once, and no try of theirs counts", async () => {
    await enqueued(...INNOCENT);
    await killed(1, ...INNOCENT);
    const { begun } = await start();
    expect(begun.toSorted()).toEqual(INNOCENT.map((key) => `${key} 1`).toSorted());
  });

  test("twice in a row run one at a time, of all kinds together, and new ones beside them", async () => {
    const four = INNOCENT.slice(0, 4);
    await enqueued(...four);
    await rig.enqueue(rig.cell("nobody"), other, order("elsewhere"), order("elsewhere too"));
    await killed(2, ...four, "elsewhere", "elsewhere too");
    const process = await start();
    await rig.enqueue(process, kind, order("new"), order("as new"));
    await rig.settle();
    const all = [...four, "elsewhere", "elsewhere too"];
    for (let left = all.length; left > 0; left--) {
      const alone = process.running.filter((key) => !key.endsWith("new"));
      expect([alone.length, process.running.length]).toEqual([1, 3]);
      await process.end((key) => key === alone[0]);
    }
    expect(all.map((key) => rig.counted(key))).toEqual(all.map(() => 1));
    expect(process.running.toSorted()).toEqual(["as new", "new"]);
    expect(process.begun.every((one) => one.endsWith(" 1"))).toBe(true);
  });

  test("twice in a row, and then fail by themselves, run beside others again", async () => {
    const [a = "", b = ""] = INNOCENT;
    await enqueued(a, b);
    await killed(2, a, b);
    const process = await start();
    for (let n = 0; n < 2; n++) await process.end(() => true, new Error("the receiver said no"));
    expect([a, b].map((key) => rig.row(kind, key))).toMatchObject([
      { tries: 1, interrupted: 0, lane: a, error: "the receiver said no" },
      { tries: 1, interrupted: 0, lane: b },
    ]);
    await rig.pass(HOUR, HOUR);
    expect(process.running.toSorted()).toEqual([a, b]);
  });

  test("twice in a row, and are stopped in good order, still run one at a time", async () => {
    const [a = "", b = ""] = INNOCENT;
    await enqueued(a, b);
    await killed(2, a, b);
    const process = await start();
    const stopped = process.jobs.stop();
    await process.end(() => true, new Error("the process stops"));
    await stopped;
    await rig.restart();
    expect((await start()).running).toHaveLength(1);
    expect([a, b].map((key) => rig.row(kind, key))).toMatchObject([{ interrupted: 2 }, { interrupted: 2 }]);
  });

  test("and whose claim is refused later leave the way to the others", async () => {
    const [a = "", b = ""] = INNOCENT;
    await enqueued(a, b);
    await rig.enqueue(rig.cell("nobody"), other, order("elsewhere"));
    await killed(2, a, b, "elsewhere");
    const process = rig.cell();
    process.jobs.handle(kind, { run: (_, { key }) => ({ act: () => rig.count(key) }) });
    process.jobs.handle(other, { run: (_, { key }) => ({ act: () => rig.count(key) }) });
    process.process.refuses = true;
    await process.jobs.start();
    await rig.pass(5000);
    expect(process.failures.length).toBeLessThanOrEqual(2 * 6);
    process.process.refuses = false;
    await rig.pass(5000);
    expect([a, b, "elsewhere"].map((key) => rig.counted(key))).toEqual([1, 1, 1]);
  });
});

test("a given-up killer that an operator tries again still runs alone, and kills as often as it has tries", async () => {
  await enqueued("killer", "beside");
  for (let starts = 0; starts < 30 && rig.row(kind, "killer")?.state !== "given_up"; starts++) {
    const process = await start();
    await process.end((key) => key === "beside" && !process.running.includes("killer"));
    await rig.restart();
    rig.time.advance(HOUR);
  }
  expect(rig.counted("beside")).toBe(1);
  const { jobs } = rig.cell();
  await rig.store.act(() => jobs.retry(kind.name, "killer"));
  await rig.restart();
  let deaths = 0;
  while (rig.row(kind, "killer")?.state !== "given_up" && deaths < 20) {
    if ((await start()).running.length > 0) deaths++;
    await rig.restart();
    rig.time.advance(HOUR);
  }
  expect(deaths).toBe(kind.tries);
});
