/** Rows of a log move to LMDB in transactions that are short on the event loop, whether rows are many or large. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "lmdb";
import { afterAll, describe, expect, test } from "vitest";
import { LogRows } from "../../../../src/store/journal/log.ts";
import { CLOSED } from "../../../../src/store/journal/read-at.ts";

const home = mkdtempSync(join(tmpdir(), "weir-log-slices-"));
const path = join(home, "journal");
writeFileSync(path, Buffer.alloc(64 * 1024));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const ROWS = 2000;
/** So many usual rows take 0.4 ms, a megabyte of large ones 0.3. */
const MOST_ROWS = 200;
const MOST_BYTES = 1024 * 1024;

/** What a log asks of LMDB. */
function memoryDatabase() {
  const rows = new Map<number, Uint8Array>();
  const asked = { rows: 0, bytes: 0 };
  const database = {
    getKeys: () => [],
    get: (number: number) => rows.get(number),
    putSync(number: number, row: Uint8Array) {
      rows.set(number, row);
      asked.rows++;
      asked.bytes += row.length;
    },
    removeSync(number: number) {
      rows.delete(number);
      asked.rows++;
    },
  };
  return { database: database as unknown as Database<Uint8Array, number>, rows, asked };
}

describe.each([3 * 1024, 64 * 1024])("rows of %i bytes", (size) => {
  test("a transaction has few of them, and all come in the end", () => {
    const { database, rows, asked } = memoryDatabase();
    const log = new LogRows("outbox", database, 0, { rows: 0, bytes: 0 });
    // A file of a journal, in which all rows have the same place.
    const file = { path, fd: openSync(path, "r") };
    for (let number = 1; number <= ROWS; number++)
      log.add(number, { file, at: 0, length: size, frame: number });
    while (log.waits(false)) {
      log.move(false, ROWS, 0)();
      expect(asked.rows).toBeLessThanOrEqual(MOST_ROWS);
      expect(asked.bytes).toBeLessThanOrEqual(MOST_BYTES + size);
      Object.assign(asked, { rows: 0, bytes: 0 });
    }
    expect([...rows.keys()]).toEqual(Array.from({ length: ROWS }, (_, i) => i + 1));
    log.trimTo(ROWS);
    while (log.waits(false)) {
      log.move(false, ROWS, ROWS)();
      expect(asked.rows).toBeLessThanOrEqual(MOST_ROWS);
      asked.rows = 0;
    }
    expect(rows.size).toBe(0);
    closeSync(file.fd);
  });
});

test("where a row cannot be read none of its slice moves, and all do later", () => {
  const { database, rows } = memoryDatabase();
  const log = new LogRows("outbox", database, 0, { rows: 0, bytes: 0 });
  const file = { path, fd: openSync(path, "r") };
  const failing = { path, fd: CLOSED };
  for (let number = 1; number <= 20; number++)
    log.add(number, { file: number === 10 ? failing : file, at: 0, length: 10, frame: number });
  expect(() => log.move(false, 20, 0)).toThrow("is closed");
  expect(rows.size).toBe(0);
  failing.fd = file.fd;
  log.move(false, 20, 0)();
  expect(rows.size).toBe(20);
  closeSync(file.fd);
});
