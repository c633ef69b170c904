import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nextTurn } from "../../../src/base/clock.ts";
import { openStore, type Store, type Table } from "../../../src/store/store.ts";
import { takeLeftReads } from "../../support/store/left-reads.ts";

let folder: string;
let store: Store;
let rows: Table<number>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-left-"));
  store = openStore(folder);
  rows = store.table("rows");
  await store.act(() => {
    for (const n of [1, 2, 3]) rows.put(n, n);
  });
  await store.caughtUp();
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const stacks = (errors: readonly Error[]) => errors.map(({ stack }) => stack);

test("a range of which next() took the first row alone is told of, with who began it", async () => {
  (function leaver() {
    rows.range()[Symbol.iterator]().next();
  })();
  expect(stacks(await takeLeftReads())).toEqual([expect.stringMatching(/leaver .*left-reads\.test\.ts/)]);
  expect(await takeLeftReads()).toEqual([]);
});

test("a range that is read over turns of the event loop is told of", async () => {
  (async function slow() {
    for (const { value } of rows.range()) if (value < 3) await nextTurn();
  })();
  expect(stacks(await takeLeftReads())).toEqual([expect.stringMatching(/slow .*left-reads\.test\.ts/)]);
});

test.each([
  ["read to its end", () => [...rows.range()]],
  [
    "left early by a loop",
    () => {
      for (const _ of rows.range()) return;
    },
  ],
  [
    "left by taking its first row",
    () => {
      const [first] = rows.range();
      expect(first?.value).toBe(1);
    },
  ],
  ["bounded", () => [...rows.range({ limit: 1 })]],
  ["asked for, and not begun", () => rows.range()],
])("nothing is told of a range that is %s", async (_, read) => {
  read();
  expect(await takeLeftReads()).toEqual([]);
});
