/** The order in which things reach the disk. A power failure cannot be had in a test; what it relies on can be seen. */
import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { Journal } from "../../../../src/store/journal/journal.ts";
import { readAt } from "../../../../src/store/journal/read-at.ts";
import { HEAD_BYTES, TAIL_BYTES } from "../../../../src/store/journal/segment.ts";
import { surveyJournal } from "../../../../src/store/journal/survey.ts";
import { Lmdb } from "../../../../src/store/lmdb/lmdb.ts";
import { openStore } from "../../../../src/store/store.ts";

/** Loaded anew behind the watch on flushes: other files have loaded it in this process before. */
const WATCHED = "../../../../src/store/journal/journal.ts?watched";
/** What happens at each flush of the disk, which is a real one. */
const disk = { onFlush: () => {} };
const { fdatasync } = fs;
beforeAll(() => {
  fs.fdatasync = Object.assign((fd: number, done: fs.NoParamCallback) => {
    disk.onFlush();
    fdatasync(fd, done);
  }, fdatasync);
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.fdatasync = fdatasync;
  syncBuiltinESMExports();
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

const fresh = { segment: 0, frame: 0 };
function frame(number: number, bytes: number): Buffer {
  const room = Buffer.alloc(HEAD_BYTES + 8 + bytes + TAIL_BYTES, 1);
  room.writeDoubleLE(number, HEAD_BYTES);
  return room;
}

test("a sync during which its segment is removed does not fail", async () => {
  const journal = new Journal(home, fresh);
  // Beyond a segment's size, so that each append ends the segment before it.
  const large = 17 * 1024 * 1024;
  for (let number = 1; number <= 6; number += 2) {
    journal.append(frame(number, large), number);
    const syncing = journal.sync();
    journal.append(frame(number + 1, large), number + 1);
    await syncing;
  }
  await journal.sync();
  await journal.close(false);
  const { frames, faults } = surveyJournal(home, { applied: 0, kept: 0, segment: 1, checked: true });
  expect([frames.length, faults]).toEqual([6, []]);
});

test("whoever asks while the disk is busy waits for one more sync, however much is appended meanwhile", async () => {
  const { Journal: WatchedJournal }: typeof import("../../../../src/store/journal/journal.ts") = await import(
    WATCHED
  );
  const journal = new WatchedJournal(home, fresh);
  let number = 0;
  let flushes = 0;
  const append = () => {
    number++;
    journal.append(frame(number, 10), number);
  };
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
  await journal.close(false);
});

test("nothing goes to LMDB before the journal has synced it", async () => {
  const store = openStore(home);
  const rows = store.table<number>("rows");
  let appended = 0;
  let synced = 0;
  const { append, sync, syncNow } = Journal.prototype;
  vi.spyOn(Journal.prototype, "append").mockImplementation(function (this: Journal, bytes, number) {
    const place = append.call(this, bytes, number);
    appended = number;
    return place;
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
  const { transaction } = Lmdb.prototype;
  let looks = 0;
  vi.spyOn(Lmdb.prototype, "transaction").mockImplementation(async function <T>(this: Lmdb, act: () => T) {
    const done = await transaction.call(this, act);
    looks++;
    // Each row is a frame of its own.
    expect(synced).toBeGreaterThanOrEqual(Number(this.database("rows").getCount()));
    return done as T;
  });
  for (let i = 0; i < 50; i++) {
    await store.act(() => rows.put(i, i));
    const following = store.caughtUp();
    await store.act(() => rows.put(1000 + i, i));
    await following;
  }
  expect(looks).toBeGreaterThanOrEqual(50);
  await store.close();
});

test("what was appended is read from its file, and no longer once that is closed: another file may have its descriptor", async () => {
  const journal = new Journal(home, fresh);
  const frame = Buffer.alloc(HEAD_BYTES + 13 + TAIL_BYTES);
  frame.writeDoubleLE(1, HEAD_BYTES);
  frame.write("a row", HEAD_BYTES + 8);
  const { file, at } = journal.append(frame, 1);
  const read = () => readAt(file, at + HEAD_BYTES + 8, 5).toString();
  expect(read()).toBe("a row");
  journal.rotate({ isForced: true });
  expect(read()).toBe("a row");
  await journal.close(false);
  expect(read).toThrow("journal is closed");
});
