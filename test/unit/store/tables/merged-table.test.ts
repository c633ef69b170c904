/** Rows updated by increments: no increment is lost or counted twice, whichever acts are dropped, and across restarts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openStore } from "../../../../src/store/store.ts";
import { openMergedTable } from "../../../../src/store/tables/merged-table.ts";

const home = mkdtempSync(join(tmpdir(), "weir-merged-table-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, String(++folders));

const merge = (row: readonly number[] | undefined, increment: number): readonly number[] => [
  (row?.[0] ?? 0) + increment,
  Math.max(row?.[1] ?? 0, increment),
];

const KEYS = ["a", "b", "c"] as const;
const act = fc.record({
  adds: fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.nat(100)), { minLength: 1, maxLength: 4 }),
  fails: fc.boolean(),
  next: fc.constantFrom("go on", "wait", "let LMDB follow", "restart"),
});

describe.each([
  ["run once", false],
  ["run twice", true],
])("acts that are %s", (_, actsTwice) => {
  test("add up to what the acts that did not fail have added", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 15 }), async (acts) => {
        const folder = newFolder();
        let store = openStore(folder, { actsTwice });
        let rows = openMergedTable(store, "sums", merge);
        let expected = new Map<string, readonly number[]>();
        for (const { adds, fails, next } of acts) {
          const sums = new Map(expected);
          for (const [key, increment] of adds) sums.set(key, merge(sums.get(key), increment));
          const done = store.act(() => {
            const last = new Map(adds.map(([key, increment]) => [key, rows.add(["k", key], increment)]));
            for (const [key, row] of last) expect(row).toEqual(sums.get(key));
            if (fails) throw new Error("refused");
          });
          if (!fails) expected = sums;
          const settled = done.then(
            () => !fails,
            (error: Error) => error.message === "refused",
          );
          if (next === "go on") continue;
          expect(await settled).toBe(true);
          if (next === "let LMDB follow") await store.caughtUp();
          if (next === "restart") {
            await store.close();
            store = openStore(folder, { actsTwice });
            rows = openMergedTable(store, "sums", merge);
          }
        }
        await store.act(() => {});
        expect(new Map(KEYS.map((key) => [key, rows.get(["k", key])]))).toEqual(
          new Map(KEYS.map((key) => [key, expected.get(key)])),
        );
        await store.close();
      }),
      { numRuns: 25 },
    );
  });
});

test("more keys than are kept decoded", async () => {
  const store = openStore(newFolder());
  const rows = openMergedTable(store, "sums", merge);
  const keys = Array.from({ length: 25_000 }, (_, i) => `key ${i}`);
  for (const increment of [3, 2]) {
    await store.act(() => {
      for (const key of keys) rows.add(key, increment);
    });
  }
  expect(keys.filter((key) => rows.get(key)?.join() !== "5,3")).toEqual([]);
  await store.close();
});
