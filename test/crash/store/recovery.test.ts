/** What the journal in front of LMDB promises over crashes: nothing committed is lost, however often and where it dies. */
import { appendFileSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { Batch } from "../../../src/analytics/outbox/batch-queue.ts";
import { openOutbox } from "../../../src/analytics/outbox/outbox.ts";
import { Journal } from "../../../src/store/journal/journal.ts";
import { HEAD_BYTES, TAIL_BYTES } from "../../../src/store/journal/segment.ts";
import { surveyJournal } from "../../../src/store/journal/survey.ts";
import { openStore } from "../../../src/store/store.ts";
import { record, rowsOfBatch } from "../../support/analytics/records.ts";
import { amount } from "../../support/effort.ts";
import { crashAfter, rowsOf, segmentsOf } from "../../support/store/fixtures.ts";
import { until } from "../../support/wait.ts";

const ROUNDS = amount(20, 8);

const home = mkdtempSync(join(tmpdir(), "weir-store-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(home, `f${++folders}`);

describe("T35: over a crash", () => {
  test("a frame that was cut is dropped, also when the next life dies before it has tidied up", async () => {
    const folder = newFolder();
    await crashAfter(folder, "await store.act(() => rows.put('a', 1));");
    const [torn = ""] = segmentsOf(folder);
    // As a kill inside the write of a second frame leaves it: a length, and less than that behind it.
    appendFileSync(torn, Buffer.from([200, 0, 0, 0, 1, 2, 3, 4, 5, 6]));
    await crashAfter(folder, "await store.act(() => rows.put('b', 2));");
    await crashAfter(folder, "await store.act(() => rows.put('c', 3));");
    expect(await rowsOf(folder)).toEqual([
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ]);
  });

  test("zeros after the last frame, as after a power failure, are not frames", async () => {
    const folder = newFolder();
    await crashAfter(folder, "await store.act(() => rows.put('a', 1));");
    appendFileSync(segmentsOf(folder)[0] as string, Buffer.alloc(4096));
    expect(await rowsOf(folder)).toEqual([["a", 1]]);
  });

  test("damage anywhere but at the end is refused, not skipped", async () => {
    const folder = newFolder();
    await crashAfter(folder, "await store.act(() => rows.put('a', 1));");
    writeFileSync(join(folder, "journal", "000000000000.journal"), "not a frame at all");
    expect(() => openStore(folder)).toThrow(/damaged at byte 0/);
  });

  test("acts on the same rows are restored in their order, whether LMDB has them or not", async () => {
    const folder = newFolder();
    await crashAfter(
      folder,
      `await store.act(() => { rows.put('x', 1); rows.put('gone', 1); });
       await store.act(() => { rows.put('x', 2); rows.remove('gone'); });
       await store.caughtUp();
       await store.act(() => rows.put('x', 3));
       await store.act(() => rows.put('y', rows.get('x')));
       await store.caughtUp();`,
    );
    expect(await rowsOf(folder)).toEqual([
      ["x", 3],
      ["y", 3],
    ]);
  });
});

test("T35: rows of a log that LMDB never got come back from the journal, without those that were trimmed", async () => {
  const folder = newFolder();
  await crashAfter(
    folder,
    `const log = store.log("log");
     for (let i = 1; i <= 6; i++) {
       await store.act(() => log.append(i, Buffer.from([i])));
       await store.act(() => rows.put("n", i));
       await store.caughtUp();
     }
     await store.act(() => log.trim(2));
     await store.act(() => rows.put("n", 6));
     await store.caughtUp();
     await store.act(() => log.trim(3));`,
  );
  const store = openStore(folder);
  const log = store.log("log");
  expect([1, 2, 3, 4, 5, 6].map((n) => log.get(n)?.[0])).toEqual([undefined, undefined, undefined, 4, 5, 6]);
  expect([log.newest(), log.trimmed()]).toEqual([6, 3]);
  await store.close();
});

test("only ended segments that hold nothing newer, and that LMDB needs no more, are removed", async () => {
  const folder = newFolder();
  const journal = new Journal(folder, { segment: 0, frame: 0 });
  const append = (number: number, bytes: number) => {
    const room = Buffer.alloc(HEAD_BYTES + 8 + bytes + TAIL_BYTES, 1);
    room.writeDoubleLE(number, HEAD_BYTES);
    journal.append(room, number);
  };
  append(1, 5);
  // More than a segment holds: one of its own.
  append(2, 17 * 1024 * 1024);
  append(3, 4);
  expect([journal.segment, journal.holds(0, 3), journal.holds(1, 1), journal.holds(1, 3)]).toEqual([
    3,
    false,
    false,
    true,
  ]);
  await journal.remove(1, 3);
  expect(readdirSync(folder)).toHaveLength(2);
  await journal.remove(2, 2);
  expect(readdirSync(folder)).toHaveLength(2);
  await journal.remove(2, 3);
  await journal.close(false);
  const { frames, faults } = surveyJournal(folder, { applied: 2, kept: 2, segment: 3, checked: true });
  expect([frames.map((frame) => frame.length), faults]).toEqual([[12], []]);
});

test("closing right after acts leaves all of them in LMDB, and no journal", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const folder = newFolder();
    const store = openStore(folder);
    const rows = store.table<number>("rows");
    const all: Promise<unknown>[] = [];
    for (let i = 0; i < 40; i++) {
      all.push(store.act(() => rows.put(i, i)));
      if (i % 7 === 0) all.push(store.caughtUp());
      if (i % 11 === 0) await Promise.all(all);
    }
    await store.close();
    await Promise.all(all);
    expect(segmentsOf(folder)).toEqual([]);
    expect(await rowsOf(folder)).toHaveLength(40);
  }
});

test("T35: while the journal cannot be written, commits wait and the store says so; then each is there once", async () => {
  const folder = newFolder();
  const failures: unknown[] = [];
  const store = openStore(folder, { onFailure: (error) => failures.push(error) });
  const rows = store.table<number>("rows");
  // Too large for the file that is open: the next one is to be made in a folder that is not there.
  renameSync(join(folder, "journal"), join(folder, "away"));
  let committed = 0;
  const large = store.table<string>("large");
  void store.act(() => large.put("row", "x".repeat(17 * 1024 * 1024)));
  const all = Array.from({ length: 50 }, (_, i) => store.act(() => rows.put(i, i)).then(() => committed++));
  await until("the failure is seen", () => !store.healthy() && failures.length > 1);
  expect(committed).toBe(0);
  expect([...rows.range()]).toEqual([]);
  renameSync(join(folder, "away"), join(folder, "journal"));
  await Promise.all(all);
  expect(store.healthy()).toBe(true);
  expect([...rows.range()]).toHaveLength(50);
  expect(large.get("row")).toHaveLength(17 * 1024 * 1024);
  await store.close();
  expect(await rowsOf(folder)).toHaveLength(50);
});

test("T35: a segment that cannot be ended holds no write back from LMDB", async () => {
  const failures: unknown[] = [];
  const store = openStore(newFolder(), { onFailure: (error) => failures.push(error) });
  const rows = store.table<number>("rows");
  // A disk whose fsync fails cannot be had here.
  const rotate = vi.spyOn(Journal.prototype, "rotate").mockImplementationOnce(() => {
    throw new Error("EIO: i/o error, fsync");
  });
  await store.act(() => rows.put("a", 1));
  await until("the failure is seen", () => failures.length === 1);
  rotate.mockRestore();
  await store.caughtUp();
  expect(rows.get("a")).toBe(1);
  await store.close();
});

test("a key too long for LMDB is refused before the commit, and never found", async () => {
  const failures: unknown[] = [];
  const store = openStore(newFolder(), { onFailure: (error) => failures.push(error) });
  const rows = store.table<number>("rows");
  for (const length of [641, 2000, 70_000]) {
    const key = ["org", "k".repeat(length)];
    await expect(store.act(() => rows.put(key, 1))).rejects.toThrow("too long");
    expect(rows.get(key)).toBeUndefined();
  }
  // Three bytes a character: the longest that is taken fits into LMDB.
  const longest = ["o", "€".repeat(639)];
  await store.act(() => rows.put(longest, 2));
  await store.caughtUp();
  expect(rows.get(longest)).toBe(2);
  expect([failures, store.healthy()]).toEqual([[], true]);
  await store.close();
});

test("T35: where a power failure took rows of a batch and left the batch, no later record goes under its token", async () => {
  const store = openStore(newFolder());
  const lost: Batch = { first: 1, last: 1, token: "token", run: "run", number: 1 };
  await store.act(() => store.table<Batch>("outbox_state").put("batch", lost));
  const outbox = openOutbox(store);
  await store.act(() => outbox.add(record()));
  const again = await outbox.nextBatch({ rows: 10, bytes: 1e6 }, () => "other");
  expect(again).toMatchObject({ batch: lost, isNew: false });
  expect(await rowsOfBatch(again)).toEqual([]);
  await outbox.acknowledge(lost);
  const next = await outbox.nextBatch({ rows: 10, bytes: 1e6 }, () => "other");
  expect(await rowsOfBatch(next)).toHaveLength(1);
  await store.close();
});
