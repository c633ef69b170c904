/** A folder from before rows had checksums gets them at its first start, also where that is killed in the midst of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { expect, onTestFinished, test } from "vitest";
import { lmdbPath, storedProgress } from "../../../src/store/recovery/inspection.ts";
import { openStore } from "../../../src/store/store.ts";

/** More than one transaction's. */
const ROWS = 4500;
/** The mark and the checksum before a value. */
const HEAD = 5;

/** LMDB's own file, for what only an earlier release would write. */
async function inFile(folder: string, act: (table: (name: string) => ReturnType<typeof bytesOf>) => void) {
  const root = open({ path: lmdbPath(folder), maxDbs: 512 });
  act((name) => bytesOf(root, name));
  await root.close();
}
const bytesOf = (root: ReturnType<typeof open>, name: string) =>
  root.openDB<Buffer, number | string>(name, { encoding: "binary" });

/** With rows in a table, in a table of bytes and in a log, without checksums. */
async function oldFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "weir-carry-over-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = openStore(folder, { logsKept: { rows: 0, bytes: 0 } });
  await store.act(() => {
    for (let n = 0; n < ROWS; n++) store.table("people").put(n, { name: `person ${n}` });
    // What looks like a checksum by chance.
    store.bytes("outbox_apart").put(1, Buffer.from([0xc1, 1, 2, 3, 4, 5, 6]));
    store.log("outbox").append(1, Buffer.from([2, 0, 7]));
  });
  await store.close();
  await inFile(folder, (table) => {
    for (const name of ["people", "outbox_apart"])
      for (const { key, value } of table(name).getRange()) table(name).putSync(key, value.subarray(HEAD));
    const { applied, kept } = storedProgress(folder) ?? {};
    table("journal").putSync("progress", Buffer.from(JSON.stringify({ applied, kept })));
  });
  return folder;
}

async function started(folder: string): Promise<string[]> {
  const notices: string[] = [];
  const store = openStore(folder, { onNotice: (line) => void notices.push(line) });
  expect(Array.from(store.table("people").range(), ({ value }) => value)).toEqual(
    Array.from({ length: ROWS }, (_, n) => ({ name: `person ${n}` })),
  );
  expect([...(store.bytes("outbox_apart").get(1) ?? [])]).toEqual([0xc1, 1, 2, 3, 4, 5, 6]);
  expect([...(store.log("outbox").get(1) ?? [])]).toEqual([2, 0, 7]);
  await store.close();
  return notices;
}

test("C5: all rows of tables, once, and none of a log", async () => {
  const folder = await oldFolder();
  expect(storedProgress(folder)?.checked).toBe(false);
  expect(await started(folder)).toEqual([`weir.lmdb: ${ROWS + 1} rows of an earlier release got a checksum`]);
  expect(storedProgress(folder)?.checked).toBe(true);
  expect(await started(folder)).toEqual([]);
});

test("C5: a start that was killed in the midst of it is gone on with", async () => {
  const folder = await oldFolder();
  await started(folder);
  // As if only the first transaction had been reached.
  await inFile(folder, (table) => {
    for (const { key, value } of table("people").getRange({ start: 2000 }))
      table("people").putSync(key, value.subarray(HEAD));
    const { applied, kept } = storedProgress(folder) ?? {};
    table("journal").putSync("progress", Buffer.from(JSON.stringify({ applied, kept })));
  });
  expect(await started(folder)).toEqual([
    `weir.lmdb: ${ROWS - 2000} rows of an earlier release got a checksum`,
  ]);
});

test("C5: from then on a row without one is refused as damaged", async () => {
  const folder = await oldFolder();
  await started(folder);
  await inFile(folder, (table) => {
    table("people").putSync(7, (table("people").get(7) as Buffer).subarray(HEAD));
  });
  expect(() => openStore(folder)).toThrow("row 7 of people has not the right checksum");
});
