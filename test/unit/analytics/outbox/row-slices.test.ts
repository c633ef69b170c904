/** A batch takes no long turn of the event loop, whether it has many rows or large ones. */
import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { StagedParts } from "../../../../src/analytics/clickhouse/staged-rows.ts";
import { layOut } from "../../../../src/analytics/outbox/batch.ts";
import { BatchQueue } from "../../../../src/analytics/outbox/batch-queue.ts";
import type { Finisher } from "../../../../src/analytics/outbox/finisher.ts";
import { inSlices } from "../../../../src/analytics/outbox/row-slices.ts";
import { encodeRow } from "../../../../src/record/row.ts";
import { openStore } from "../../../../src/store/store.ts";
import { record, rowsOfBatch, temporaryFolder } from "../../../support/analytics/records.ts";

const KB = 1024;
const MB = 1024 * KB;
const BATCH_BYTES = 16 * MB;
/** A millisecond and more, where a row is checked and copied. */
const MOST_BYTES = 600 * KB;

/** Counts turns while the work goes on. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

const rowsOf = (size: number): Buffer[] =>
  Array.from({ length: BATCH_BYTES / size }, () => Buffer.alloc(size, 7));

const finisher: Finisher = {
  finish: () => Promise.reject(new Error("no row needs redaction")),
  redactPayload: () => Promise.reject(new Error("no row needs redaction")),
};
const mark = { run: "r", number: 1, isRepaired: false };

describe.each([2 * KB, 64 * KB])("rows of %i bytes", (size) => {
  test("a batch is laid out in many turns", async () => {
    const stage = () => new StagedParts();
    const turns = await turnsOf(() => layOut(inSlices(rowsOf(size)), { stage, finisher, mark }));
    expect(turns).toBeGreaterThanOrEqual(BATCH_BYTES / MOST_BYTES);
  });

  test("each row comes once, in order", async () => {
    const rows = rowsOf(size);
    const seen: Uint8Array[] = [];
    for await (const slice of inSlices(rows)) seen.push(...slice);
    expect(seen).toHaveLength(rows.length);
    expect(seen.every((row, position) => row === rows[position])).toBe(true);
  });

  test("a batch is read in many turns", async () => {
    const home = temporaryFolder();
    const store = openStore(home);
    const queue = new BatchQueue({ store, name: "rows" });
    for (const row of rowsOf(size)) void store.act(() => queue.put(row));
    await store.caughtUp();
    const bounds = { rows: 10_000, bytes: BATCH_BYTES };
    const turns = await turnsOf(async () => {
      const batch = await queue.nextBatch(bounds, () => "token");
      expect(await rowsOfBatch(batch)).toHaveLength(BATCH_BYTES / size);
    });
    expect(turns).toBeGreaterThanOrEqual(BATCH_BYTES / MOST_BYTES);
    await store.close();
    rmSync(home, { recursive: true });
  });
});

/** Rows of which each has bytes of its own; a few large ones make several slices. */
const differentRows = (): Buffer[] => Array.from({ length: 40 }, (_, at) => Buffer.alloc(64 * KB, at + 1));
/** Short, for a message that a person can read. */
const digestOf = (row: Uint8Array): string => hash("md5", row);

/** Slices of one row each in one memory, as a queue passes them. */
async function* passed(rows: readonly Uint8Array[]): AsyncGenerator<Uint8Array[]> {
  const memory = Buffer.alloc(1 * MB);
  for (const row of rows) {
    memory.fill(0);
    memory.set(row);
    yield [memory.subarray(0, row.length)];
  }
}

test("rows that pass are those of the batch, and rows that are read anew last longer than their slice", async () => {
  const home = temporaryFolder();
  const store = openStore(home);
  const queue = new BatchQueue({ store, name: "rows" });
  const others = store.table("others");
  const rows = differentRows();
  for (const row of rows) {
    await store.act(() => queue.put(row));
    // The journal has other writes between them: a slice is read in several runs.
    await store.act(() => others.put("other", "x".repeat(500 * KB)));
  }
  await store.caughtUp();
  const batch = await queue.nextBatch({ rows: 10_000, bytes: BATCH_BYTES }, () => "token");
  const passing: string[] = [];
  for await (const slice of batch?.passing() ?? []) passing.push(...slice.map(digestOf));
  expect(passing).toEqual(rows.map(digestOf));
  expect((await rowsOfBatch(batch)).map(digestOf)).toEqual(rows.map(digestOf));
  await store.close();
  rmSync(home, { recursive: true });
});

test("what is kept of a batch beyond its slices is copied", async () => {
  const damaged = differentRows().slice(0, 3);
  const redact = { presets: ["email"], patterns: [] };
  const unfinished = ["one", "two"].map((keyId) => encodeRow(record({ keyId, redact })));
  const given: Buffer[] = [];
  const capturing: Finisher = {
    ...finisher,
    async finish({ bytes }) {
      given.push(Buffer.from(bytes));
      const none = { bytes: new Uint8Array(), rows: 0 };
      return { requests: none, payloads: none, payloadsLost: 0, undecodable: [] };
    },
  };
  const stage = () => new StagedParts();
  const laidOut = await layOut(passed([...damaged, ...unfinished]), { stage, finisher: capturing, mark });
  expect(laidOut.damaged.map(digestOf)).toEqual(damaged.map(digestOf));
  expect(given).toEqual([Buffer.concat(unfinished)]);
});
