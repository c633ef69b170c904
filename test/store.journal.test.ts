/** The order in which things reach the disk. A power failure cannot be had in a test; what it relies on can be seen. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HEAD_BYTES, Journal } from "../src/store/journal.ts";
import { openStore } from "../src/store/store.ts";

/** What happens at each flush of the disk, which is a real one. */
const disk = vi.hoisted(() => ({ onFlush: () => {} }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const fdatasync: typeof fs.fdatasync = Object.assign(
    (fd: number, done: (error: NodeJS.ErrnoException | null) => void) => {
      disk.onFlush();
      fs.fdatasync(fd, done);
    },
    { __promisify__: fs.fdatasync.__promisify__ },
  );
  return { ...fs, fdatasync };
});

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "weir-journal-"));
});
afterEach(() => {
  disk.onFlush = () => {};
  vi.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

const frame = (bytes: number) => Buffer.alloc(HEAD_BYTES + bytes, 1);

test("a sync that a segment's end overtakes is no failure", async () => {
  const journal = new Journal(home);
  // Beyond a segment's size, so that each append ends the segment before it.
  const large = 17 * 1024 * 1024;
  for (let number = 1; number <= 3; number++) {
    journal.append(frame(large), number);
    const syncing = journal.sync();
    journal.append(frame(large), number + 0.5);
    await syncing;
  }
  await journal.sync();
  journal.close();
  expect(Journal.read(home)).toHaveLength(6);
});

test("whoever asks while the disk is busy waits for one more sync, however much is appended meanwhile", async () => {
  const journal = new Journal(home);
  let number = 0;
  let flushes = 0;
  const append = () => journal.append(frame(10), ++number);
  disk.onFlush = () => {
    flushes++;
    // Calls go on: there is always something that is not synced.
    append();
  };
  append();
  const first = journal.sync();
  append();
  await Promise.all([first, ...Array.from({ length: 20 }, () => journal.sync())]);
  expect(flushes).toBe(2);
  disk.onFlush = () => {};
  await journal.sync();
  journal.close();
});

test("nothing goes to LMDB before the journal has synced it, in batches as in transactions", async () => {
  const store = openStore(home);
  const rows = store.table<number>("rows");
  let appended = 0;
  let synced = 0;
  const { append, sync, syncNow } = Journal.prototype;
  vi.spyOn(Journal.prototype, "append").mockImplementation(function (this: Journal, bytes, number) {
    append.call(this, bytes, number);
    appended = number;
  });
  vi.spyOn(Journal.prototype, "sync").mockImplementation(async function (this: Journal) {
    const upTo = appended;
    await sync.call(this);
    synced = Math.max(synced, upTo);
  });
  vi.spyOn(Journal.prototype, "syncNow").mockImplementation(function (this: Journal) {
    syncNow.call(this);
    synced = appended;
  });
  for (let i = 0; i < 50; i++) {
    void store.commit(() => rows.put(i, i));
    await store.transact(() => {
      // Inside, LMDB alone is read: what it shows of the commits must be on disk in the journal.
      const shown = [...rows.range({})].filter(({ value }) => value < 1000).length;
      expect(synced).toBeGreaterThanOrEqual(shown);
      rows.put(1000 + i, 1000 + i);
    });
  }
  await store.close();
});
