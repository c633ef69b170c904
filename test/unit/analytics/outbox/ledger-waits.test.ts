/** Ledger entries that wait for ClickHouse in the store: over a restart, set apart where they cannot be read, and rows of their cell alone. */
import { describe, expect, test } from "vitest";
import { decodedEntry, encodeEntry } from "../../../../src/analytics/outbox/ledger-rows.ts";
import { SharedStore } from "../../../../src/cluster/cells/replica/shared-store.ts";
import { isSharedTable } from "../../../../src/cluster/cells/replica/table-classes.ts";
import {
  FakeEngine,
  openLedger,
  put,
  settle,
  settles,
  topUp,
} from "../../../support/analytics/ledger.fixtures.ts";
import { tempStore } from "../../../support/credits/fixtures.ts";
import { LIMIT_MS, until } from "../../../support/wait.ts";

describe("entries that wait", () => {
  test("wait over a restart, and their batch keeps its token", async () => {
    const temp = tempStore();
    const engine = new FakeEngine();
    engine.away = true;
    const before = openLedger(temp.store, engine);
    await put(before, temp.store, settles("org_w", 1, 2));
    await until(
      "two inserts are made",
      () => engine.tokens,
      ({ length }) => length >= 2,
    );
    // Longer than this test may take: it does not wait for what is away.
    await before.stop(600_000);
    expect(before.metrics()).toMatchObject({ pending: 2, inserted: 0 });
    const store = await temp.reopen();
    engine.away = false;
    const after = openLedger(store, engine);
    expect(after.pending()).toBe(2);
    await put(after, store, [settle("org_w", 3)]);
    expect(await after.flush(LIMIT_MS)).toBe(true);
    expect(new Set(engine.tokens.slice(0, -1)).size).toBe(1);
    expect(new Set(engine.tokens).size).toBe(2);
    expect(after.metrics()).toMatchObject({ pending: 0, inserted: 3 });
    await after.stop(1000);
    await temp.dispose();
  });

  test("are set apart and counted where they cannot be read, and hold nobody up", async () => {
    const temp = tempStore();
    const engine = new FakeEngine();
    const bad = ['["org_x",1,[0,', '["org_x",1,[0,"5",1,2,"r"]]', '["",1,[0,5,1,2,"r"]]', "7"];
    await temp.store.act(() => {
      for (const [at, text] of bad.entries()) temp.store.log("ledger_rows").append(at + 1, Buffer.from(text));
    });
    const mending = openLedger(temp.store, engine, 50);
    await put(mending, temp.store, settles("org_x", 1, 2));
    expect(await mending.flush(LIMIT_MS)).toBe(true);
    expect(mending.metrics()).toEqual({ pending: 0, inserted: 2, insertFailures: 0, setApart: bad.length });
    const apart = [...temp.store.bytes("ledger_rows_apart").range()];
    expect(apart.map(({ value }) => Buffer.from(value).toString())).toEqual(bad);
    await mending.stop(1000);
    await temp.dispose();
  });

  test("are rows of a cell's folder: no other cell is asked for the act that puts them", async () => {
    const temp = tempStore();
    const cell = new SharedStore({
      local: temp.store,
      isShared: isSharedTable,
      isCurrent: () => true,
      forget: async () => {},
      leave: async () => {},
      currentSoon: async () => true,
      format: () => 1,
    });
    const engine = new FakeEngine();
    const own = openLedger(cell, engine);
    await put(own, cell, settles("org_c", 1, 3));
    const dropped = cell.act(() => {
      own.put(settles("org_c", 4, 5));
      throw new Error("dropped");
    });
    await expect(dropped).rejects.toThrow("dropped");
    expect(own.pending()).toBe(3);
    expect(await own.flush(LIMIT_MS)).toBe(true);
    expect(own.metrics()).toMatchObject({ pending: 0, inserted: 3 });
    await own.stop(1000);
    await temp.dispose();
  });

  test("are read as they were written, and never made to fit", () => {
    for (const entry of [settle("org_r", 1, -5), topUp("org_r", 2 ** 42)]) {
      expect(decodedEntry(encodeEntry(entry))).toEqual(entry);
    }
    for (const change of [{ seq: 0 }, { seq: 2 ** 53 }, { amountMicroUsd: 0.5 }, { orgId: "" }]) {
      expect(() => encodeEntry({ ...settle("org_r", 1), ...change })).toThrow("is no ledger entry");
    }
    const row = encodeEntry(settle("org_r", 1, -5));
    for (let bit = 0; bit < row.length * 8; bit++) {
      const changed = Buffer.from(row);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect([bit, decodedEntry(changed)]).toEqual([bit, undefined]);
    }
    // As earlier releases wrote them, without a sum.
    const stored = (row: unknown) => decodedEntry(Buffer.from(JSON.stringify(row)));
    expect(stored(["o", 1, [0, -1, -1, 9, "r"]])).toMatchObject({ orgId: "o", kind: "settle" });
    const wrong = [null, {}, [], ["o", 0, [0, 1, 1, 1, "r"]], ["o", 1.5, [0, 1, 1, 1, "r"]]];
    const more = [
      ["o", 1, [99, 1, 1, 1, "r"]],
      ["o", 1, [0, 1e300, 1, 1, "r"]],
      ["o", 1, [0, 1, 1, 1]],
    ];
    for (const row of [...wrong, ...more, ["o", 1, [1, 1, 1, 1, "t", 5]]]) {
      expect([row, stored(row)]).toEqual([row, undefined]);
    }
  });
});
