/** What is asked of an org's top-ups at each new one must not read them all: an org may have a hundred thousand. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { TopupTables } from "../../../../src/billing/topups/tables.ts";
import type { Store } from "../../../../src/store/store.ts";
import { openBilling, someOrg, type TestBilling } from "../fixtures.ts";

let billing: TestBilling;
beforeAll(() => {
  billing = openBilling();
});
afterAll(() => billing.dispose());

/** Tables that count the rows of top-ups they read. */
function counted(store: Store) {
  let rows = 0;
  const counting: Store = {
    ...store,
    bytes: store.bytes,
    log: store.log,
    act: store.act,
    table<V>(name: string) {
      const table = store.table<V>(name);
      if (name !== "billing.topups") return table;
      return {
        ...table,
        get(key) {
          rows += 1;
          return table.get(key);
        },
        *range(range) {
          for (const row of table.range(range)) {
            rows += 1;
            yield row;
          }
        },
      };
    },
  };
  return { tables: new TopupTables(counting), rows: () => rows };
}

test("whether an org has paid, and what is pending, is known without reading its other top-ups", async () => {
  const org = someOrg();
  const first = await billing.topup(org, 100_000);
  for (let i = 0; i < 50; i++) {
    const row = await billing.topup(org, 100_000);
    await billing.store.act(() => billing.deps.topups.put({ ...row, status: "expired" }));
  }
  const { tables, rows } = counted(billing.store);
  expect(tables.hasPaid(org.id)).toBe(false);
  expect(Array.from(tables.pendingOf(org.id), ({ id }) => id)).toEqual([first.id]);
  expect(rows()).toBe(1);
  await billing.store.act(() => billing.deps.topups.put({ ...first, status: "paid" }));
  expect(tables.hasPaid(org.id)).toBe(true);
  expect([...tables.pendingOf(org.id)]).toEqual([]);
  await billing.store.act(() => billing.deps.topups.put({ ...first, status: "refunded" }));
  expect(tables.hasPaid(org.id)).toBe(true);
  expect(tables.hasPaid(someOrg().id)).toBe(false);
});
