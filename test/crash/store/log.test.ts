/** A log of the store against a plain map, wherever its rows lie; and over lives that end by kill -9 at any line. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RowAmount } from "../../../src/store/journal/log.ts";
import { type Log, openStore } from "../../../src/store/store.ts";
import { amount, rounds } from "../../support/effort.ts";
import { until } from "../../support/wait.ts";
import { rowOf } from "./log.writer.ts";

const home = mkdtempSync(join(tmpdir(), "weir-store-log-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, String(++folders));

const LIVES = amount(9, 4);

const logsKept = { rows: 4, bytes: 2000 };

type Step =
  /** Numbers from `skip` behind the newest on, in one commit. */
  | { readonly act: "append"; readonly count: number; readonly skip: number }
  /** To so many before the newest (behind it, where negative), with or without a row in the same commit. */
  | { readonly act: "trim"; readonly before: number; readonly append: boolean }
  | { readonly act: "throw" }
  | { readonly act: "wait" }
  /** LMDB follows, and what the journal should not hold moves there. */
  | { readonly act: "apply" }
  | { readonly act: "reopen" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant("append" as const),
      count: fc.integer({ min: 1, max: 4 }),
      skip: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("trim" as const),
      before: fc.integer({ min: -3, max: 12 }),
      append: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ act: "apply" as const }) },
  { weight: 1, arbitrary: fc.constantFrom({ act: "throw" as const }, { act: "wait" as const }) },
  { weight: 1, arbitrary: fc.constant({ act: "reopen" as const }) },
);

/** The timers by which LMDB follows, moved by hand. Some rounds are over on return, some are not: reads must show the same. */
async function apply(): Promise<void> {
  vi.advanceTimersByTime(100);
  await new Promise((resolve) => setImmediate(resolve));
}

/** Rounds until `holds`. */
async function appliedUntil(what: string, holds: () => boolean): Promise<void> {
  await until(what, () => {
    vi.advanceTimersByTime(100);
    return holds();
  });
}

describe("against a plain map", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  test("every read shows what was committed: in the journal, in LMDB, and after a restart", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const folder = newFolder();
        let store = openStore(folder, { logsKept });
        let log = store.log("log");
        const model = new Model();
        for (const s of steps) {
          if (s.act === "append" || (s.act === "trim" && s.append)) {
            const from = model.appended + 1 + (s.act === "append" ? s.skip : 0);
            const numbers = Array.from({ length: s.act === "append" ? s.count : 1 }, (_, i) => from + i);
            const upTo = s.act === "trim" ? from - Math.abs(s.before) : undefined;
            await store.act(() => {
              for (const number of numbers) log.append(number, rowOf(number));
              if (upTo !== undefined) log.trim(upTo);
            });
            model.append(numbers);
            if (upTo !== undefined) model.trim(upTo);
          } else if (s.act === "trim") {
            const upTo = Math.max(0, model.newest - s.before);
            await store.act(() => log.trim(upTo));
            model.trim(upTo);
          } else if (s.act === "throw") {
            const number = ++model.appended;
            const thrown = store.act(() => {
              log.append(number, rowOf(number));
              log.trim(number);
              throw new Error("no");
            });
            await expect(thrown).rejects.toThrow("no");
          } else if (s.act === "wait") {
            await store.act(() => {});
          } else if (s.act === "apply") {
            await apply();
          } else {
            await store.close();
            store = openStore(folder, { logsKept });
            log = store.log("log");
            model.appended = model.newest;
          }
          model.check(log);
        }
        await store.close();
      }),
      { numRuns: rounds(60) },
    );
  });

  test("more rows than the journal should hold move to LMDB, the oldest first, and out again once trimmed", async () => {
    const store = openStore(newFolder(), { logsKept: { rows: 10, bytes: 1e6 } });
    const log = store.log("log");
    const inLmdb = () => [...store.bytes("log").range()].map(({ key }) => Number(key));
    await store.act(() => {
      for (let n = 1; n <= 1310; n++) log.append(n, rowOf(n));
    });
    await appliedUntil("all but ten have moved", () => inLmdb().length >= 1300);
    expect(inLmdb()).toEqual(Array.from({ length: 1300 }, (_, i) => i + 1));
    await apply();
    expect(inLmdb()).toHaveLength(1300);
    await store.act(() => log.trim(1301));
    expect([log.get(1), log.get(1301), log.get(1302)]).toEqual([undefined, undefined, rowOf(1302)]);
    await appliedUntil("they are gone", () => inLmdb().length === 0);
    expect([log.get(1302), log.newest(), log.trimmed()]).toEqual([rowOf(1302), 1310, 1301]);
    await store.close();
  });

  test("rows beyond the bytes that the journal should hold move to LMDB", async () => {
    const store = openStore(newFolder(), { logsKept: { rows: 1000, bytes: 3000 } });
    const log = store.log("log");
    for (let n = 1; n <= 5; n++) await store.act(() => log.append(n, Buffer.alloc(1000, n)));
    const inLmdb = () => [...store.bytes("log").range()].map(({ key }) => key);
    await appliedUntil("some have moved", () => inLmdb().length > 0);
    expect(inLmdb()).toEqual([1, 2]);
    expect([1, 2, 3, 4, 5].map((n) => log.get(n)?.[999])).toEqual([1, 2, 3, 4, 5]);
    await store.close();
  });
});

/** What a log must show. */
class Model {
  readonly rows = new Set<number>();
  newest = 0;
  trimmed = 0;
  /** The greatest number given, committed or not. */
  appended = 0;

  append(numbers: readonly number[]): void {
    for (const number of numbers) this.rows.add(number);
    this.newest = Math.max(this.newest, ...numbers);
    this.appended = Math.max(this.appended, this.newest);
  }

  trim(upTo: number): void {
    this.trimmed = Math.max(this.trimmed, upTo);
    for (const number of this.rows) if (number <= upTo) this.rows.delete(number);
    this.newest = Math.max(this.newest, upTo);
    this.appended = Math.max(this.appended, upTo);
  }

  check(log: Log): void {
    expect([log.newest(), log.trimmed()]).toEqual([this.newest, this.trimmed]);
    for (let number = 0; number <= this.appended + 2; number++) {
      expect(log.get(number)?.toString(), `row ${number}`).toBe(
        this.rows.has(number) ? rowOf(number).toString() : undefined,
      );
      expect(log.size(number), `size of row ${number}`).toBe(
        this.rows.has(number) ? rowOf(number).length : undefined,
      );
    }
    this.#checkRead(log, { rows: 3, bytes: 1e6 });
    this.#checkRead(log, { rows: 1000, bytes: 700 });
  }

  /** Read slice by slice, the log gives each row once, in order. */
  #checkRead(log: Log, most: RowAmount): void {
    const read: string[] = [];
    for (let next = 0; next <= log.newest(); ) {
      const slice = log.read(next, log.newest(), most);
      expect(slice.rows.length).toBeLessThanOrEqual(most.rows);
      read.push(...slice.rows.map((row) => row.toString()));
      next = slice.next;
    }
    expect(read).toEqual([...this.rows].sort((a, b) => a - b).map((number) => rowOf(number).toString()));
  }
}

test("a row is written in an act alone, and under a number greater than all before", async () => {
  const store = openStore(newFolder());
  const log = store.log("log");
  expect(() => log.append(1, rowOf(1))).toThrow("outside an act");
  expect(() => log.trim(1)).toThrow("outside an act");
  await store.act(() => log.append(5, rowOf(5)));
  await expect(store.act(() => log.append(5, rowOf(5)))).rejects.toThrow(RangeError);
  await store.act(() => log.trim(9));
  await expect(store.act(() => log.append(9, rowOf(9)))).rejects.toThrow(RangeError);
  expect([log.newest(), log.trimmed()]).toEqual([9, 9]);
  await store.close();
});

test("of two trims the greater one wins, whichever comes last, also after a restart", async () => {
  const folder = newFolder();
  const store = openStore(folder);
  const log = store.log("log");
  for (let n = 1; n <= 5; n++) await store.act(() => log.append(n, rowOf(n)));
  await Promise.all([store.act(() => log.trim(4)), store.act(() => log.trim(2))]);
  await store.act(() => {});
  await store.act(() => log.trim(1));
  expect(log.trimmed()).toBe(4);
  await store.close();
  const reopened = openStore(folder);
  expect([reopened.log("log").trimmed(), reopened.log("log").newest()]).toEqual([4, 5]);
  await reopened.close();
});

test("an act inside another is refused, and nothing of either is put", async () => {
  const store = openStore(newFolder());
  const log = store.log("log");
  const nested = store.act(() => {
    log.append(1, rowOf(1));
    void store.act(() => log.append(2, rowOf(2)));
  });
  await expect(nested).rejects.toThrow("an act inside another");
  await store.act(() => {});
  expect(log.newest()).toBe(0);
  await store.close();
});

interface Life {
  /** What the life found at its start. */
  readonly found: { readonly trimmed: number; readonly newest: number; readonly rows: readonly number[] };
  /** The greatest number that it was told is committed, or trimmed to. */
  readonly committed: number;
  readonly trimmed: number;
}

/** Runs the writer on the folder until it kills itself. */
async function live(folder: string, seed: number): Promise<Life> {
  const child = spawn(process.execPath, [WRITER, folder, String(seed)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let found: Life["found"] | undefined;
  let committed = 0;
  let trimmed = 0;
  const closed = new Promise<unknown>((resolve) => child.once("close", (_, signal) => resolve(signal)));
  for await (const line of createInterface(child.stdout)) {
    const [what, rest = ""] = line.split(" ", 2);
    if (what === "found") found = JSON.parse(rest) as Life["found"];
    else if (what === "row") committed = Math.max(committed, Number(rest));
    else trimmed = Math.max(trimmed, Number(rest));
  }
  expect(await closed).toBe("SIGKILL");
  if (found === undefined) throw new Error("the writer died before it had read anything");
  return { found, committed: Math.max(committed, found.newest), trimmed: Math.max(trimmed, found.trimmed) };
}

const WRITER = join(import.meta.dirname, "log.writer.ts");

test("T35: over many lives that end by kill -9, each committed row is there once until it is trimmed, and then never", async () => {
  const folder = newFolder();
  let before: Pick<Life, "committed" | "trimmed"> = { committed: 0, trimmed: 0 };
  for (let seed = 1; seed <= LIVES; seed++) {
    const life = await live(folder, seed);
    const { found } = life;
    expect(found.newest).toBeGreaterThanOrEqual(before.committed);
    expect(found.trimmed).toBeGreaterThanOrEqual(before.trimmed);
    expect(found.rows).toEqual(
      Array.from({ length: found.newest - found.trimmed }, (_, i) => found.trimmed + 1 + i),
    );
    before = life;
  }
  expect(before.trimmed).toBeGreaterThan(0);
});
