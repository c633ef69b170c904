/** Charges of a cell, as the next process of its folder reads them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Packr } from "msgpackr";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Charges, type NumberedCharge, type Row } from "../../../../../src/cluster/cells/leases/charges.ts";
import { crossedIn } from "../../../../../src/cluster/cells/leases/scopes.ts";
import type { ChargeSpend } from "../../../../../src/credits/ledger/purse.ts";
import type { Log, Store } from "../../../../../src/store/store.ts";
import { tempStore } from "../../../../support/credits/fixtures.ts";
import { until } from "../../../../support/wait.ts";

let disk: ReturnType<typeof tempStore>;
beforeEach(() => {
  disk = tempStore();
});
afterEach(() => disk.dispose());

const open = () => new Charges(disk.store, "1", { onNumbered() {}, onUncharged() {} });

test("C9: a charge that a former process left is counted for the lineage of its key", async () => {
  const written = open();
  const add = async (requestId: string, spend: ChargeSpend) => {
    const charge = { orgId: "org_1", requestId, atMs: 1, amountMicroUsd: 10 };
    await disk.store.act(() => written.add(charge, spend));
  };
  const of = { projectId: "prj_1", day: "2026-03-14" };
  await add("r1", { keyId: "key_1", ...of });
  await add("r2", { keyId: "key_2", lineageId: "key_1", ...of });
  await add("r3", { keyId: "key_3", lineageId: "key_3", ...of });
  for (const charges of [written, open()]) {
    await charges.secure();
    const sums = charges.batchAfter(0)?.scopes.sums ?? [];
    expect(Array.from(sums, ([scope, { sumMicroUsd }]) => [scope, sumMicroUsd])).toEqual([
      ["k:key_1", 20],
      ["p:prj_1", 30],
      ["o:org_1", 30],
      ["k:key_3", 10],
    ]);
  }
});

test("C9: a charge that the release before wrote, without a lineage, is counted for that of its key", async () => {
  const rows = disk.store.log("cells.charges");
  const packed = new Packr({ useRecords: false }).pack([
    "1",
    "org_1",
    10,
    "r1",
    1,
    "key_2",
    "prj_1",
    "2026-03-14",
  ]);
  await disk.store.act(() => rows.append(1, packed));
  const ports = { onNumbered() {}, onUncharged() {}, lineageOf: (keyId: string) => `first of ${keyId}` };
  const charges = new Charges(disk.store, "1", ports);
  await charges.secure();
  expect([...(charges.batchAfter(0)?.scopes.sums.keys() ?? [])]).toEqual([
    "k:first of key_2",
    "p:prj_1",
    "o:org_1",
  ]);
  const crossed = ["k:key_2", 5, 10, -1, 0, 99, "2026-03-14"];
  expect(crossedIn(crossed, [charges.row(1) as Row])).toMatchObject([{ keyId: "key_2", spentMicroUsd: 10 }]);
});

test("C9: where what is numbered cannot be read it is passed on later, and the event loop goes on", async () => {
  let failures = 2;
  const unreadable = (log: Log): Log => ({
    ...log,
    get(number) {
      if (failures-- > 0) throw new Error("EIO: i/o error, read");
      return log.get(number);
    },
  });
  const store = new Proxy(disk.store, {
    get(target, name: keyof Store) {
      if (name === "log") return (log: string) => unreadable(target.log(log));
      return (target[name] as () => unknown).bind(target);
    },
  });
  const numbered: string[] = [];
  const ports = {
    onNumbered: (charges: readonly NumberedCharge[]) =>
      void numbered.push(...charges.map(({ requestId }) => requestId)),
    onUncharged() {},
  };
  const charges = new Charges(store, "1", ports);
  const spend = { keyId: "key_1", projectId: "prj_1", day: "2026-03-14" };
  const charge = { orgId: "org_1", requestId: "r1", atMs: 1, amountMicroUsd: 10 };
  await store.act(() => charges.add(charge, spend));
  await charges.keep(0, 1, ["org_1", 1, 100]);
  await until("it is passed on", () => numbered.length > 0);
  expect(numbered).toEqual(["r1"]);
  expect(failures).toBeLessThan(0);
  await charges.stop();
});

/** Changes a bit of what the journal holds behind these bytes, as a failing disk or memory does. */
function spoil(folder: string, found: string): void {
  const journal = join(folder, "journal");
  for (const name of readdirSync(journal)) {
    const bytes = readFileSync(join(journal, name));
    const at = bytes.indexOf(found);
    if (at < 0) continue;
    const behind = at + found.length + 1;
    bytes.writeUInt8(bytes.readUInt8(behind) ^ 4, behind);
    writeFileSync(join(journal, name), bytes);
    return;
  }
  throw new Error(`no file of the journal holds ${found}`);
}

test("a charge or a numbering that has changed in the journal is refused, and that is told", async () => {
  const numbered: string[] = [];
  const told: string[] = [];
  const ports = {
    onNumbered: (charges: readonly NumberedCharge[]) =>
      void numbered.push(...charges.map(({ requestId }) => requestId)),
    onUncharged() {},
    onNotPassed: (error: unknown) => void told.push(String(error)),
  };
  const written = new Charges(disk.store, "1", ports);
  const charge = { orgId: "org_1", requestId: "r1", atMs: 1, amountMicroUsd: 10_000 };
  await disk.store.act(() => written.add(charge));
  spoil(disk.folder, "org_1");
  const charges = new Charges(disk.store, "1", ports);
  await charges.secure();
  expect(() => charges.row(1)).toThrow("row 1 of cells.charges is damaged");
  expect(() => charges.batchAfter(0)).toThrow("row 1 of cells.charges is damaged");
  await charges.keep(0, 1, ["org_2", 1, 10_000]);
  await until("it is told", () => told.length > 0);
  expect(told[0]).toContain("row 1 of cells.charges is damaged");
  spoil(disk.folder, "org_2");
  await until("it is told", () => told.length > 1);
  expect(told[1]).toContain("row 1 of cells.charges_numbered is damaged");
  expect(() => charges.numberedTo()).toThrow("row 1 of cells.charges_numbered is damaged");
  expect(numbered).toEqual([]);
  expect(charges.passedTo()).toBe(0);
  await charges.stop();
});
