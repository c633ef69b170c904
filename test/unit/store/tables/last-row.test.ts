/** Rows that many acts of a turn put anew: what is read, told and stored is what plain puts would give. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { Group } from "../../../../src/store/journal/group.ts";
import { openStore } from "../../../../src/store/store.ts";

const KEYS = ["a", "b", "c"] as const;
const step = fc.record({
  does: fc.constantFrom("last", "last", "last", "put", "remove", "get", "range"),
  key: fc.constantFrom(...KEYS),
  value: fc.nat(100),
});
const act = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  fails: fc.boolean(),
  next: fc.constantFrom("go on", "go on", "wait", "restart"),
});

describe.each([
  ["run once", false],
  ["run twice", true],
])("acts that are %s", (_, actsTwice) => {
  test("leave the rows that plain puts would leave", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
        const folder = mkdtempSync(join(tmpdir(), "weir-last-row-"));
        onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
        let store = openStore(folder, { actsTwice });
        let table = store.table<number[]>("t");
        let expected = new Map<string, number[]>();
        for (const { steps, fails, next } of acts) {
          let rows = new Map<string, number[]>();
          const done = store.act(() => {
            rows = new Map(expected);
            for (const { does, key, value } of steps) {
              if (does === "last") table.putLast(key, [value]);
              else if (does === "put") table.put(key, [value]);
              else if (does === "remove") table.remove(key);
              else if (does === "get") expect(table.get(key)).toEqual(rows.get(key));
              else expect([...table.range()]).toEqual(sorted(rows));
              if (does === "last" || does === "put") rows.set(key, [value]);
              if (does === "remove") rows.delete(key);
            }
            if (fails) throw new Error("refused");
          });
          if (!fails) expected = rows;
          const settled = done.catch((error: Error) => expect(error.message).toBe("refused"));
          if (next === "go on") continue;
          await settled;
          if (next === "wait") continue;
          await store.close();
          store = openStore(folder, { actsTwice });
          table = store.table("t");
        }
        await store.act(() => {});
        expect([...table.range()]).toEqual(sorted(expected));
        await store.close();
      }),
      { numRuns: 40 },
    );
  });
});

const sorted = (rows: ReadonlyMap<string, number[]>) =>
  [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => ({ key, value }));

test("of the acts of a turn one row is written, however often it was put", () => {
  const group = new Group(() => {});
  const encode = (row: number) => Uint8Array.of(row);
  for (let row = 1; row <= 9; row++)
    group.collect(() => group.putLast({ table: "t", key: "k", text: '"k"' }, row, encode as never));
  group.encode();
  expect(group.writes).toEqual([{ table: "t", key: "k", text: '"k"', value: Uint8Array.of(9) }]);
});
