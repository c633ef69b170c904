import { rmSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BatchRows } from "../../../../src/analytics/outbox/batch-queue.ts";
import { openOutbox } from "../../../../src/analytics/outbox/outbox.ts";
import { decodeRow } from "../../../../src/record/row.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { record, rowsOfBatch, temporaryFolder } from "../../../support/analytics/records.ts";
import { amount } from "../../../support/effort.ts";
import { until } from "../../../support/wait.ts";

let home: string;
let store: Store;
/** More than its index in memory holds. */
const PENDING = amount(60_000, 25_000);
const bounds = { rows: 100, bytes: 1e9 };
let tokens = 0;
const token = () => `token-${++tokens}`;

beforeEach(() => {
  home = temporaryFolder();
  store = openStore(home);
  tokens = 0;
});
afterEach(async () => {
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

async function reopened() {
  await store.close();
  store = openStore(home);
  return openOutbox(store);
}

const ids = async (batch: BatchRows | undefined) =>
  (await rowsOfBatch(batch)).map((row) => decodeRow(row)?.requestId);

describe("the outbox", () => {
  it("hands rows out in the order in which they were committed, by rows or bytes", async () => {
    const outbox = openOutbox(store);
    const records = Array.from({ length: 10 }, () => record());
    for (const r of records) await store.act(() => outbox.add(r));
    const batch = await outbox.nextBatch({ rows: 4, bytes: 1e9 }, token);
    expect(await ids(batch)).toEqual(records.slice(0, 4).map((r) => r.requestId));
    if (batch !== undefined) await outbox.acknowledge(batch.batch);
    const byBytes = await outbox.nextBatch({ rows: 100, bytes: 1 }, token);
    expect(await ids(byBytes)).toEqual([records[4]?.requestId]);
  });

  it("gives the same batch and token until it is acknowledged, also after a restart, though rows come meanwhile", async () => {
    let outbox = openOutbox(store);
    const first = record();
    await store.act(() => outbox.add(first));
    const batch = await outbox.nextBatch(bounds, token);
    await store.act(() => outbox.add(record()));
    expect(await outbox.nextBatch(bounds, token)).toMatchObject({ batch: batch?.batch, isNew: false });
    outbox = await reopened();
    await store.act(() => outbox.add(record()));
    const again = await outbox.nextBatch(bounds, token);
    expect(again).toMatchObject({ batch: batch?.batch, isNew: false });
    expect(await ids(again)).toEqual([first.requestId]);
    if (batch !== undefined) await outbox.acknowledge(batch.batch);
    const next = await outbox.nextBatch(bounds, token);
    expect(await ids(next)).toHaveLength(2);
    expect(next?.batch.token).not.toBe(batch?.batch.token);
  });

  it("counts on after a restart, also when it was empty", async () => {
    let outbox = openOutbox(store);
    await store.act(() => outbox.add(record()));
    const batch = await outbox.nextBatch(bounds, token);
    if (batch !== undefined) await outbox.acknowledge(batch.batch);
    const newest = outbox.newest();
    outbox = await reopened();
    expect([outbox.newest(), outbox.acknowledged(), outbox.pending()]).toEqual([newest, newest, 0]);
    await store.act(() => outbox.add(record()));
    expect(outbox.newest()).toBe(newest + 1);
    expect((await outbox.nextBatch(bounds, token))?.batch.first).toBe(newest + 1);
  });

  it("answers for a record as soon as it is committed, after a restart, and right after its acknowledgement", async () => {
    let outbox = openOutbox(store);
    const wanted = record();
    await store.act(() => outbox.add(wanted));
    expect(outbox.recent(wanted.requestId)).toEqual(wanted);
    outbox = await reopened();
    expect(outbox.recent(wanted.requestId)).toEqual(wanted);
    expect(outbox.recent("01J00000000000000000000000")).toBeUndefined();
    const fresh = record();
    await store.act(() => outbox.add(fresh));
    const batch = await outbox.nextBatch(bounds, token);
    if (batch !== undefined) await outbox.acknowledge(batch.batch);
    expect(outbox.recent(fresh.requestId)).toEqual(fresh);
    // A row that is not waited for costs no page of LMDB.
    outbox = await reopened();
    expect([outbox.pending(), [...store.bytes("outbox").range()]]).toEqual([0, []]);
  });

  it("never puts a row inside a batch that was read, also one that is put again", async () => {
    const outbox = openOutbox(store);
    const [a, b] = [outbox.prepare(record()), outbox.prepare(record())];
    await store.act(() => outbox.put(a));
    const reading = outbox.nextBatch(bounds, token);
    await Promise.all([store.act(() => outbox.put(b)), store.act(() => outbox.put(a))]);
    const batch = await reading;
    expect(await ids(batch)).toEqual([a.requestId]);
    if (batch !== undefined) await outbox.acknowledge(batch.batch);
    expect(await ids(await outbox.nextBatch(bounds, token))).toEqual([b.requestId, a.requestId]);
  });

  it(`finds any of ${PENDING} pending rows while its index in memory stays bounded, and lets all go afterwards`, async () => {
    let outbox = openOutbox(store);
    const plain = (({ request, response, ...rest }) => rest)(record({ payloadState: "off" }));
    const id = (n: number) => `01J${String(n).padStart(23, "0")}`;
    for (let from = 0; from < PENDING; from += 1000) {
      await store.act(() => {
        for (let n = from; n < from + 1000; n++) outbox.add({ ...plain, requestId: id(n) });
      });
    }
    const found = (n: number) => outbox.recent(id(n))?.requestId;
    const some = [0, 1, 999, 20_000, Math.floor((PENDING * 7) / 12), PENDING - 1];
    expect(some.map(found)).toEqual(some.map(id));
    expect([...store.table("outbox_ids").range({ limit: 1 })]).toHaveLength(1);
    outbox = await reopened();
    expect(some.map(found)).toEqual(some.map(id));
    for (;;) {
      const batch = await outbox.nextBatch({ rows: 20_000, bytes: 1e9 }, token);
      if (batch === undefined) break;
      await outbox.acknowledge(batch.batch);
    }
    expect(outbox.pending()).toBe(0);
    for (const table of ["outbox", "outbox_ids", "outbox_spills"]) {
      await until(
        "the rows are gone",
        () => [...store.bytes(table).range({ limit: 1 })],
        ({ length }) => length === 0,
      );
    }
  });
});
