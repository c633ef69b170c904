/** How long rows wait for others of their batch: long while they are few, and not at all once a batch is full. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Batch, Batches } from "../../../../src/analytics/outbox/batch-queue.ts";
import { Spool } from "../../../../src/analytics/outbox/spool.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../support/analytics/records.ts";

const MEGABYTE = 1024 * 1024;
const AGE_MS = 2000;
const FEW_AGE_MS = 10_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

async function* noSlices() {}

/** A queue in memory, and the sizes of the batches that were inserted. */
function opened(fewAgeMs?: number) {
  let [newest, acknowledged, bytes] = [0, 0, 0];
  const queue: Batches = {
    newest: () => newest,
    acknowledged: () => acknowledged,
    pending: () => newest - acknowledged,
    pendingBytes: () => bytes,
    async nextBatch() {
      if (newest === acknowledged) return undefined;
      const batch: Batch = { first: acknowledged + 1, last: newest, token: "t", run: "t", number: 1 };
      return { batch, slices: noSlices, passing: noSlices, isNew: true };
    },
    async acknowledge({ last }) {
      acknowledged = last;
      bytes = 0;
    },
  };
  const inserted: number[] = [];
  const spool = new Spool({
    queue,
    insertBatch: async ({ batch }) => inserted.push(batch.last - batch.first + 1),
    tokenPrefix: "test",
    what: "rows",
    clock: systemClock,
    log: silentLog,
    bounds: { rows: 10_000, bytes: 16 * MEGABYTE },
    ageMs: AGE_MS,
    fewAgeMs,
  });
  spool.start();
  const put = (rows: number, ofBytes: number) => {
    newest += rows;
    bytes += ofBytes;
  };
  return { spool, inserted, put };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("few rows wait for their own time", async () => {
  const { spool, inserted, put } = opened(FEW_AGE_MS);
  await pass(0);
  put(100, MEGABYTE);
  await pass(FEW_AGE_MS - 200);
  expect(inserted).toEqual([]);
  await pass(400);
  expect(inserted).toEqual([100]);
  await spool.stop(0);
});

test("rows of many bytes wait no longer than the usual time, also where they come late", async () => {
  const { spool, inserted, put } = opened(FEW_AGE_MS);
  await pass(0);
  put(100, 5 * MEGABYTE);
  await pass(AGE_MS - 600);
  expect(inserted).toEqual([]);
  await pass(1000);
  expect(inserted).toEqual([100]);
  put(1, 10);
  await pass(AGE_MS * 2);
  put(1, 5 * MEGABYTE);
  await pass(600);
  expect(inserted).toEqual([100, 2]);
  await spool.stop(0);
});

test("a full batch does not wait", async () => {
  const { spool, inserted, put } = opened(FEW_AGE_MS);
  await pass(0);
  put(5000, MEGABYTE);
  await pass(600);
  expect(inserted).toEqual([5000]);
  await spool.stop(0);
});

test("without a time of their own few rows wait as all do", async () => {
  const { spool, inserted, put } = opened();
  await pass(0);
  put(1, 10);
  await pass(AGE_MS + 100);
  expect(inserted).toEqual([1]);
  await spool.stop(0);
});

test("a read that waits brings them in at once", async () => {
  const { spool, inserted, put } = opened(FEW_AGE_MS);
  await pass(0);
  put(3, 10);
  const flushed = spool.flush(1000);
  await pass(100);
  expect(await flushed).toBe(true);
  expect(inserted).toEqual([3]);
  await spool.stop(0);
});
