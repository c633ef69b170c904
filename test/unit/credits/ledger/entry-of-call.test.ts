/** The ledger entry of a call, which has no index: by the time at which the call ended, or came. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { requestId } from "../../../../src/base/ids.ts";
import type { Book } from "../../../../src/credits/ledger/book.ts";
import { openCredits } from "../../../../src/credits/ledger/credits.ts";
import {
  type CallPlace,
  entryOfCall,
  FROM_ARRIVAL,
  NEAR_END,
} from "../../../../src/credits/ledger/entry-of-call.ts";
import { GAP_REF, type ShownEntry } from "../../../../src/credits/ledger/shown-list.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";

let temp: ReturnType<typeof tempStore>;
let clock: ManualClock;
beforeEach(() => {
  temp = tempStore();
  clock = new ManualClock("2026-11-23T10:00:00Z");
});
afterEach(() => temp.dispose());

const seqIn = async (read: Pick<Book, "list">, orgId: string, place: Omit<CallPlace, "reach">) =>
  (await entryOfCall(read, orgId, { ...place, reach: NEAR_END })).entry?.seq;

/** A book with an entry for each of many calls, which counts how often it is read. */
async function bookOf(calls: number) {
  const { book } = openCredits({ store: temp.store, clock });
  const written: Promise<{ id: string; atMs: number; seq: number }>[] = [];
  for (let i = 0; i < calls; i++) {
    clock.advance(i % 7 === 0 ? 0 : 13);
    if (i === 1500) clock.set(clock.now() - 5_000);
    const [id, atMs] = [requestId(clock.now()), clock.now()];
    const charge = { requestId: id, amountMicroUsd: 1 + i, atMs };
    const act = () => ({ id, atMs, seq: book.charge("org_1", charge).seq });
    written.push(temp.store.act(act));
  }
  const seen = { reads: 0, entries: 0 };
  const read: Pick<Book, "list"> = {
    list(orgId, page) {
      seen.reads++;
      seen.entries += page.limit;
      return book.list(orgId, page);
    },
  };
  return { calls: await Promise.all(written), read, seen };
}

describe("the ledger entry of a call", () => {
  test("is found among thousands by the time of its end, also after the clock was corrected", async () => {
    const { calls, read, seen } = await bookOf(3000);
    for (const { id, atMs, seq } of calls.filter((_, i) => i % 97 === 0 || i > 2990))
      expect(await seqIn(read, "org_1", { requestId: id, aboutMs: atMs + 3 })).toBe(seq);
    seen.reads = 0;
    await seqIn(read, "org_1", { requestId: calls[100]?.id ?? "", aboutMs: calls[100]?.atMs ?? 0 });
    expect(seen.reads).toBeLessThan(20);
    const unknown = { requestId: requestId(clock.now()), aboutMs: clock.now() };
    expect(await seqIn(read, "org_1", unknown)).toBeUndefined();
    expect(await seqIn(read, "org_2", unknown)).toBeUndefined();
  });

  test("is found from the call's arrival among the 5,000 next ones, and no further is read", async () => {
    const { calls, read, seen } = await bookOf(8000);
    const arrivedMs = calls[2000]?.atMs ?? 0;
    const from = async (at: number) => {
      const place = { requestId: calls[at]?.id ?? "", aboutMs: arrivedMs, reach: FROM_ARRIVAL };
      return (await entryOfCall(read, "org_1", place)).entry?.seq;
    };
    expect(await from(6900)).toBe(calls[6900]?.seq);
    seen.entries = 0;
    expect(await from(7900)).toBeUndefined();
    expect(seen.entries).toBeLessThan(5700);
  });
});

describe("C2: the ledger entry of a call, where others are missing", () => {
  const line = (seq: number, firstSeq?: number): ShownEntry => {
    const entry = { seq, amountMicroUsd: -1, balanceMicroUsd: -seq, createdAtMs: seq * 10 };
    return firstSeq === undefined
      ? { ...entry, kind: "settle", requestId: `call-${seq}` }
      : { ...entry, kind: "adjustment", firstSeq, refType: GAP_REF, refId: `call-${seq}` };
  };
  const reading = (lines: ShownEntry[], missing: (before: number) => boolean): Pick<Book, "list"> => ({
    list: (_, { before = 1e9, limit }) => ({
      entries: lines.filter(({ seq }) => seq < before).slice(0, limit),
      missingSinceMs: missing(before) ? 7 : undefined,
    }),
  });
  const find = (read: Pick<Book, "list">, seq: number) =>
    entryOfCall(read, "org_1", { requestId: `call-${seq}`, aboutMs: seq * 10, reach: NEAR_END });
  const NONE = { entry: undefined, missingSinceMs: undefined };

  test("is found beyond an entry that stands for a thousand", async () => {
    const whole = reading([line(1502), line(1501, 2), line(1)], () => false);
    for (const seq of [1502, 1]) expect((await find(whole, seq)).entry?.seq).toBe(seq);
    expect(await find(whole, 700)).toEqual(NONE);
  });

  test("says where some are missing near it, unless it is found", async () => {
    const gap = reading([line(9), line(8), line(3), line(2)], (before) => before > 3 && before < 9);
    expect(await find(gap, 8)).toEqual({ entry: line(8), missingSinceMs: undefined });
    expect(await find(gap, 5)).toEqual({ entry: undefined, missingSinceMs: 7 });
    const lacking = reading([], () => true);
    expect(await find(lacking, 5)).toEqual({ entry: undefined, missingSinceMs: 7 });
    const empty = reading([], () => false);
    expect(await find(empty, 5)).toEqual(NONE);
  });
});
