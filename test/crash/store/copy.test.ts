/** Copies of weir.lmdb while the store goes on: each is the state at one frame, complete without a journal. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { MONEY_TABLES } from "../../../src/credits/ledger/audit.ts";
import { copyLmdb } from "../../../src/store/copying/copy.ts";
import { inspect, lmdbPath } from "../../../src/store/recovery/inspection.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { rowsOf } from "../../support/store/fixtures.ts";
import { until } from "../../support/wait.ts";

const home = mkdtempSync(join(tmpdir(), "weir-copy-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);

/** Copies while the store stands still, which it does only until the copy has begun. */
async function copyOf(store: Store, from: string): Promise<string> {
  const folder = newFolder();
  mkdirSync(folder);
  const copy = await store.still(async (frame) => {
    const running = copyLmdb(from, lmdbPath(folder));
    expect(await running.begun).toEqual({ applied: frame, kept: frame });
    return running;
  });
  await copy.done;
  return folder;
}

/** Writes pairs until told to stop: a row and a row of a log in each act. */
function load(store: Store) {
  const rows = store.table<number>("rows");
  const log = store.log("outbox");
  let [next, done, isOn] = [0, 0, true];
  const writing = (async () => {
    while (isOn) {
      const number = ++next;
      await store.act(() => {
        rows.put(number, number);
        log.append(number, Buffer.alloc(200, 1));
      });
      done = number;
      if (number % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  return {
    done: () => done,
    async stop() {
      isOn = false;
      await writing;
    },
  };
}

test("copies made under load have all that was answered, a row and its record together, and need no journal", async () => {
  const from = newFolder();
  const store = openStore(from);
  const writer = load(store);
  for (let round = 0; round < 3; round++) {
    const before = writer.done();
    const folder = await copyOf(store, from);
    const { findings } = inspect(folder, MONEY_TABLES, () => {});
    expect(findings).toEqual([]);
    const copy = openStore(folder);
    const numbers = [...copy.table<number>("rows").range()].map(({ value }) => value);
    const log = copy.log("outbox");
    expect(numbers.length).toBeGreaterThanOrEqual(before);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(log.newest()).toBe(numbers.length);
    for (const number of numbers) expect(log.get(number)?.length).toBe(200);
    await copy.close();
  }
  await writer.stop();
  await store.close();
});

test("a store goes on while it stands still, and what it wrote meanwhile is not in the copy", async () => {
  const from = newFolder();
  const store = openStore(from);
  const rows = store.table<number>("rows");
  await store.act(() => rows.put("before", 1));
  const folder = newFolder();
  mkdirSync(folder);
  await store.still(async () => {
    await store.act(() => rows.put("meanwhile", 2));
    expect(rows.get("meanwhile")).toBe(2);
    const copy = copyLmdb(from, lmdbPath(folder));
    await copy.done;
  });
  expect(await rowsOf(folder)).toEqual([["before", 1]]);
  await store.close();
  expect(await rowsOf(from)).toHaveLength(2);
});

test("a copy that is stopped leaves nothing, and a store that is closed makes none", async () => {
  const from = newFolder();
  const store = openStore(from);
  const folder = newFolder();
  mkdirSync(folder);
  const copy = await store.still(async () => copyLmdb(from, lmdbPath(folder)));
  await copy.stop();
  expect(existsSync(lmdbPath(folder))).toBe(false);
  await expect(copy.done).rejects.toThrow("could not be copied");
  await store.close();
  await expect(store.still(async () => 0)).rejects.toThrow("closed");
});

test("removed rows can be forgotten while others come without a pause", async () => {
  const store = openStore(newFolder());
  const writer = load(store);
  await until("rows are written", writer.done, (rows) => rows >= 2000);
  let isForgotten = false;
  void store.forgetRemoved().then(() => (isForgotten = true));
  await until("removed rows are forgotten", () => isForgotten);
  const done = writer.done();
  await until("more rows are written", writer.done, (rows) => rows > done);
  await writer.stop();
  await store.close();
});
