import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { LedgerKind } from "../../../../src/credits/ledger/entry.ts";
import type { Posting } from "../../../../src/credits/ledger/posting.ts";
import {
  audit,
  ManualClock,
  openCredits,
  type TestCredits,
  tempStore,
  wholeLedger,
} from "../../../support/credits/fixtures.ts";

const folder = tempStore();
afterAll(() => folder.dispose());

const clock = new ManualClock("2026-03-01T10:00:00Z");
let credits: TestCredits;
let org: string;
let orgs = 0;
beforeEach(() => {
  credits = openCredits({ store: folder.store, clock });
  org = `org_${++orgs}`;
});

const grant = (amountMicroUsd: number, refId = "first"): Posting => ({
  kind: "grant",
  amountMicroUsd,
  refType: "grant",
  refId,
});
const topup = (amountMicroUsd: number, refId: string): Posting => ({
  kind: "topup",
  amountMicroUsd,
  refType: "topup",
  refId,
});

/** A call that held `held` and cost `cost`. */
async function call(requestId: string, held: number, cost: number) {
  const hold = credits.hold(org, held);
  if (hold === undefined) throw new Error("no credit");
  return await credits.settle(hold, { requestId, amountMicroUsd: cost, atMs: clock.now() });
}

/** The ledger as a book: seq, kind, amount, balance, cause. */
const book = () =>
  wholeLedger(credits, org).map((e) => [
    e.seq,
    e.kind,
    e.amountMicroUsd,
    e.balanceMicroUsd,
    e.kind === "settle" ? e.requestId : `${e.refType}/${e.refId}`,
  ]);

describe("a ledger", () => {
  test("reads as a book: every entry numbered, signed, with the balance after it", async () => {
    await credits.post(org, grant(25_000_000));
    await call("R1", 400_000, 312_441);
    await credits.post(org, topup(10_000_000, "tup_1"));
    await call("R2", 90_000, 0);
    await call("R3", 90_000, 1);
    await credits.post(org, {
      kind: "refund",
      amountMicroUsd: -4_000_000,
      refType: "refund",
      refId: "rfd_1",
    });
    await credits.post(org, { kind: "expiry", amountMicroUsd: -20_000_000, refType: "grant", refId: "end" });
    await credits.post(org, { kind: "adjustment", amountMicroUsd: 500, refType: "ticket", refId: "tkt_1" });

    expect(book()).toEqual([
      [1, "grant", 25_000_000, 25_000_000, "grant/first"],
      [2, "settle", -312_441, 24_687_559, "R1"],
      [3, "topup", 10_000_000, 34_687_559, "topup/tup_1"],
      // R2 cost nothing: no entry.
      [4, "settle", -1, 34_687_558, "R3"],
      [5, "refund", -4_000_000, 30_687_558, "refund/rfd_1"],
      [6, "expiry", -20_000_000, 10_687_558, "grant/end"],
      [7, "adjustment", 500, 10_688_058, "ticket/tkt_1"],
    ]);
    expect(credits.balance(org)).toEqual({
      availableMicroUsd: 10_688_058,
      heldMicroUsd: 0,
      balanceMicroUsd: 10_688_058,
      grantedMicroUsd: 25_000_000,
    });
  });

  test("an org without entries has nothing, and holds nothing but zero", () => {
    expect(credits.balance(org).balanceMicroUsd).toBe(0);
    expect(credits.hold(org, 1)).toBeUndefined();
    expect(credits.hold(org, 0)).toBeDefined();
  });

  test("pages run newest first and meet without overlap; a kind is listed alone", async () => {
    await credits.post(org, grant(1_000_000));
    for (let i = 0; i < 7; i++) await call(`R${i}`, 10, 10);
    await credits.post(org, topup(5, "a"));
    await credits.post(org, topup(6, "b"));

    const seqs = (kind?: LedgerKind, before?: number) =>
      credits.entries(org, { limit: 4, kind, before }).map((e) => e.seq);
    expect(seqs()).toEqual([10, 9, 8, 7]);
    expect(seqs(undefined, 7)).toEqual([6, 5, 4, 3]);
    expect(seqs(undefined, 3)).toEqual([2, 1]);
    expect(seqs("settle")).toEqual([8, 7, 6, 5]);
    expect(seqs("settle", 5)).toEqual([4, 3, 2]);
    expect(seqs("topup")).toEqual([10, 9]);
    expect(seqs("topup", 10)).toEqual([9]);
    expect(seqs("refund")).toEqual([]);
  });

  test("orgs whose ids begin alike do not see each other's entries", async () => {
    await credits.post(`${org}x`, grant(5));
    await credits.post(org, grant(7));
    expect(openCredits({ store: folder.store, clock }).balance(org).balanceMicroUsd).toBe(7);
    expect(credits.entries(org, { limit: 10 })).toHaveLength(1);
  });

  test.each<[string, Posting]>([
    ["a negative top-up", topup(-5, "x")],
    ["a positive refund", { kind: "refund", amountMicroUsd: 5, refType: "refund", refId: "x" }],
    ["nothing at all", { kind: "adjustment", amountMicroUsd: 0, refType: "ticket", refId: "x" }],
    ["a fraction", topup(0.5, "x")],
    ["an empty reference", topup(5, "")],
    ["a reference that would end a key", topup(5, "a\0b")],
  ])("refuses to post %s, and writes nothing", async (_what, posting) => {
    await expect(credits.post(org, posting)).rejects.toThrow();
    expect(book()).toEqual([]);
  });
});

describe("a posting happens once", () => {
  test("T36: the same payment three times at once, and again later, credits once", async () => {
    const updates = folder.store.table<number>("updates-of-this-test");
    const update = () => updates.put(org, (updates.get(org) ?? 0) + 1);
    const webhook = () => credits.post(org, { ...topup(10_000_000, "tup_9"), also: update });
    const outcomes = await Promise.all([webhook(), webhook(), webhook()]);
    outcomes.push(await webhook());
    credits = openCredits({ store: folder.store, clock });
    outcomes.push(await webhook());

    expect(outcomes.map((o) => (o.outcome === "posted" ? [o.entry.seq, o.replay] : o.outcome))).toEqual([
      [1, false],
      [1, true],
      [1, true],
      [1, true],
      [1, true],
    ]);
    expect(updates.get(org)).toBe(1);
    expect(credits.balance(org).balanceMicroUsd).toBe(10_000_000);
  });

  test("the same reference with another amount or kind is a conflict that shows the earlier entry", async () => {
    await credits.post(org, topup(100, "tup_1"));
    const other = await credits.post(org, topup(101, "tup_1"));
    expect(other).toMatchObject({ outcome: "reference_conflict", earlier: { seq: 1, amountMicroUsd: 100 } });
    const kind = await credits.post(org, { ...topup(100, "tup_1"), kind: "grant" });
    expect(kind.outcome).toBe("reference_conflict");

    const both = await Promise.all([
      credits.post(org, topup(1, "race")),
      credits.post(org, topup(2, "race")),
    ]);
    expect(both.map((o) => o.outcome)).toEqual(["posted", "reference_conflict"]);
    expect(audit(wholeLedger(credits, org))).toBe(101);
  });

  test("T27: a refund and its state change commit together; its replay changes nothing", async () => {
    const refunds = folder.store.table<string>("refunds");
    await credits.post(org, topup(900, "tup_1"));
    const refund = () =>
      credits.post(org, {
        kind: "refund",
        amountMicroUsd: -400,
        refType: "refund",
        refId: "rfd_1",
        also: () => refunds.put([org, "rfd_1"], "refunded"),
      });
    const first = refund();
    // Neither half is on disk before the commit, both are after it.
    expect([refunds.get([org, "rfd_1"]), credits.entries(org, { limit: 9 }).length]).toEqual([undefined, 1]);
    await first;
    expect([refunds.get([org, "rfd_1"]), credits.entries(org, { limit: 9 }).length]).toEqual(["refunded", 2]);
    expect(await refund()).toMatchObject({ outcome: "posted", replay: true });
    expect(audit(wholeLedger(credits, org))).toBe(500);
  });

  test("a refund takes at most what is available: credit held for calls stays", async () => {
    await credits.post(org, topup(1000, "tup_1"));
    const hold = credits.hold(org, 700);
    const refund: Posting = { kind: "refund", amountMicroUsd: -301, refType: "refund", refId: "r" };
    expect(await credits.post(org, refund)).toEqual({
      outcome: "insufficient_credits",
      availableMicroUsd: 300,
    });
    if (hold) credits.release(hold);
    expect(await credits.post(org, refund)).toMatchObject({ outcome: "posted", replay: false });
  });

  test("postings and settles of one org at the same time get one order, in memory and on disk", async () => {
    await credits.post(org, grant(1_000_000));
    await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        i % 4 === 0 ? credits.post(org, topup(1000 + i, `t${i}`)) : call(`R${i}`, 500, 300 + i),
      ),
    );
    const entries = wholeLedger(credits, org);
    expect(entries).toHaveLength(41);
    expect(audit(entries)).toBe(credits.balance(org).balanceMicroUsd);
  });
});
