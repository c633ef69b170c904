/** The store against a plain map: whatever is committed, in whatever layer it lies, is what every read shows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openStore, type Store, type Table } from "../src/store/store.ts";

const home = mkdtempSync(join(tmpdir(), "weir-store-model-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;

const bytesOf = (n: number): Uint8Array => Buffer.from(`value ${n}`);

type Step =
  | { readonly act: "put"; readonly table: number; readonly key: number; readonly value: number }
  | { readonly act: "remove"; readonly table: number; readonly key: number }
  /** Puts and removes at once, in one commit. */
  | { readonly act: "swap"; readonly from: number; readonly to: number; readonly value: number }
  /** A transaction, which brings LMDB up to the journal. */
  | { readonly act: "transact"; readonly key: number; readonly value: number }
  | { readonly act: "throw" }
  | { readonly act: "reopen" };

const key = fc.integer({ min: 0, max: 12 });
const value = fc.integer({ min: 0, max: 999 });
const table = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant("put" as const), table, key, value }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("remove" as const), table, key }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("swap" as const), from: key, to: key, value }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("transact" as const), key, value }) },
  { weight: 1, arbitrary: fc.constant({ act: "throw" as const }) },
  { weight: 1, arbitrary: fc.constant({ act: "reopen" as const }) },
);

function tablesOf(store: Store): [Table<Uint8Array>, Table<Uint8Array>] {
  return [store.bytes("one"), store.bytes("other")];
}

test("every read shows what was committed last: in memory, in the journal, in LMDB, and after a restart", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const folder = join(home, String(++folders));
      let store = openStore(folder);
      let tables = tablesOf(store);
      const model = [new Map<number, string>(), new Map<number, string>()] as const;
      for (const s of steps) {
        if (s.act === "put") {
          await store.commit(() => tables[s.table as 0].put(s.key, bytesOf(s.value)));
          model[s.table as 0].set(s.key, `value ${s.value}`);
        } else if (s.act === "remove") {
          await store.commit(() => tables[s.table as 0].remove(s.key));
          model[s.table as 0].delete(s.key);
        } else if (s.act === "swap") {
          await store.commit(() => {
            for (const t of tables) t.remove(s.from);
            for (const t of tables) t.put(s.to, bytesOf(s.value));
          });
          for (const m of model) m.delete(s.from);
          for (const m of model) m.set(s.to, `value ${s.value}`);
        } else if (s.act === "transact") {
          await store.transact(() => tables[0].put(s.key, bytesOf(s.value)));
          model[0].set(s.key, `value ${s.value}`);
        } else if (s.act === "throw") {
          const act = store.transact(() => {
            tables[0].put(0, bytesOf(12345));
            throw new Error("no");
          });
          await expect(act).rejects.toThrow("no");
        } else {
          await store.close();
          store = openStore(folder);
          tables = tablesOf(store);
        }
        same(tables, model);
      }
      await store.close();
    }),
    { numRuns: 60 },
  );
});

function same(
  tables: [Table<Uint8Array>, Table<Uint8Array>],
  model: readonly [Map<number, string>, Map<number, string>],
) {
  for (const at of [0, 1] as const) {
    const expected = [...model[at]].sort(([a], [b]) => a - b);
    const rows = (range?: Parameters<Table<Uint8Array>["range"]>[0]) =>
      [...tables[at].range(range)].map(({ key, value }) => [key, Buffer.from(value).toString()]);
    expect(rows()).toEqual(expected);
    expect(rows({ start: 12, end: 3, reverse: true })).toEqual(expected.filter(([k]) => k > 3).reverse());
    expect(rows({ start: 4, limit: 3 })).toEqual(expected.filter(([k]) => k >= 4).slice(0, 3));
    for (let k = 0; k <= 12; k++) {
      const value = tables[at].get(k);
      expect(value && Buffer.from(value).toString()).toBe(model[at].get(k));
    }
  }
}
