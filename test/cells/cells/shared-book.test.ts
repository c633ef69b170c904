/** The book of several cells: postings and charges of all of them are one ledger, whichever cell posts, charges or reads. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LeasedPurse } from "../../../src/cells/credit/leased-purse.ts";
import { openSharedCredits } from "../../../src/cells/credit/shared-credits.ts";
import { systemClock } from "../../../src/clock.ts";
import type { CreditFall } from "../../../src/credits/credit-events.ts";
import type { LedgerEntry, PostedKind } from "../../../src/credits/entry.ts";
import type { Posting } from "../../../src/credits/posting.ts";
import type { Hold } from "../../../src/credits/purse.ts";
import { amount } from "../../support/effort.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { equals, until } from "../../support/wait.ts";
import { charge, HeardLedger } from "./credit-fixtures.ts";
import { type Bench, openBench, type TestCell } from "./fixtures.ts";

const missing = missingRedis();
const LOW = 5000;

type BookCell = Awaited<ReturnType<typeof openBookCell>>;

/** Charges that the list does not have yet, by number. */
const hidden = new Set<number>();
let isCopying = false;
const purses: LeasedPurse[] = [];
const allPassed = async () => void (await Promise.all(purses.map((purse) => purse.passed(1000))));

async function openBookCell(bench: Bench, name: string, heard: HeardLedger) {
  const cell = await bench.cell(name, { hasParts: true });
  // A row, because an act that tells of a fall may run several times.
  const falls = cell.store.table<CreditFall[]>("test.falls");
  const credits = await openSharedCredits({
    cell,
    clock: systemClock,
    bounds: { lowCredit: () => LOW, watchedBelow: () => undefined },
    onFall: (fall) => falls.put([fall.orgId], [...(falls.get([fall.orgId]) ?? []), fall]),
    onNumbered: async (charges) => heard.hear(charges),
    onUncharged: () => {},
    onPosted: () => {},
    onEnd: () => {},
    isFormerListed: () => !isCopying,
    charges: async (orgId, { before = Number.MAX_SAFE_INTEGER, limit }) =>
      heard
        .of(orgId)
        .filter(({ seq }) => seq < before && !(orgId === "org_gap" && hidden.has(seq)))
        .slice(-limit)
        .reverse()
        .map(({ seq, amountMicroUsd, balanceMicroUsd, atMs: createdAtMs, requestId }) => ({
          ...({ kind: "settle", seq, amountMicroUsd: -amountMicroUsd } as const),
          ...{ balanceMicroUsd, createdAtMs, requestId },
        })),
    allListed: allPassed,
    allCharged: allPassed,
  });
  await cell.opened();
  purses.push(credits.purse);
  return { ...cell, ...credits, falls };
}

let references = 0;
const posting = (kind: PostedKind, amountMicroUsd: number, refId = `ref_${++references}`): Posting => ({
  ...{ kind, amountMicroUsd, refType: kind, refId },
});

const post = ({ store, book }: BookCell, org: string, what: Posting) => store.act(() => book.post(org, what));

async function call(cell: BookCell, org: string, microUsd: number): Promise<void> {
  const hold = (await cell.purse.hold(org, microUsd)) as Hold;
  await charge({ ...(cell as TestCell), purse: cell.purse, stop: async () => {} }, hold, microUsd);
}

async function wholeLedger({ book }: BookCell, org: string): Promise<LedgerEntry[]> {
  const all: LedgerEntry[] = [];
  for (;;) {
    const page = await book.entries(org, { limit: 7, ...(all.length > 0 && { before: all.at(-1)?.seq }) });
    all.push(...page);
    if (page.length < 7) return all.reverse();
  }
}

function assertAddsUp(entries: readonly LedgerEntry[]): void {
  let balance = 0;
  for (const [at, { seq, amountMicroUsd, balanceMicroUsd }] of entries.entries()) {
    balance += amountMicroUsd;
    expect({ seq, balanceMicroUsd }).toEqual({ seq: at + 1, balanceMicroUsd: balance });
  }
}

describe.skipIf(missing !== undefined)(
  `the book of several cells${missing === undefined ? "" : `: ${missing}`}`,
  () => {
    let bench: Bench;
    const cells: BookCell[] = [];
    const heard = new HeardLedger();
    beforeAll(async () => {
      bench = await openBench();
      for (const name of ["a", "b", "c"]) cells.push(await openBookCell(bench, name, heard));
    });
    afterAll(async () => {
      for (const { purse } of cells) await purse.close();
      await bench.close();
    });
    const at = (index: number) => cells[index % cells.length] as BookCell;

    test("postings and charges at all cells at once are one ledger, which any cell lists", async () => {
      await post(at(0), "org_all", posting("topup", 1_000_000));
      const work = Array.from({ length: amount(600, 60) }, async (_, n) => {
        if (n % 6 === 0) await post(at(n), "org_all", posting("grant", 100));
        else if (n % 6 === 3) await post(at(n + 1), "org_all", posting("subscription", -50));
        else await call(at(n), "org_all", 10 + n);
      });
      await Promise.all(work);
      for (const cell of cells) {
        const entries = await wholeLedger(cell, "org_all");
        expect(entries).toHaveLength(work.length + 1);
        assertAddsUp(entries);
        await cell.book.fresh(["org_all"]);
        expect(cell.book.balance("org_all").balanceMicroUsd).toBe(entries.at(-1)?.balanceMicroUsd);
        expect(cell.book.balance("org_all").grantedMicroUsd).toBe((work.length / 6) * 100);
      }
    });

    test("a list has every charge that was made before it was asked for, whichever cell made it", async () => {
      await post(at(0), "org_now", posting("topup", 10_000));
      for (let n = 1; n <= 9; n++) {
        await call(at(n), "org_now", 10);
        const [newest] = await at(n + 1).book.entries("org_now", { limit: 5 });
        expect(newest).toMatchObject({ seq: n + 1, balanceMicroUsd: 10_000 - 10 * n });
      }
    });

    test("a reference is posted once, whichever cells try at once", async () => {
      const tries = Array.from({ length: 24 }, (_, n) =>
        post(at(n), "org_once", posting("topup", 9000, "tup_same")),
      );
      const outcomes = await Promise.all(tries);
      expect(outcomes.filter((posted) => posted.outcome === "posted" && !posted.replay)).toHaveLength(1);
      expect(await post(at(1), "org_once", posting("topup", 8000, "tup_same"))).toMatchObject({
        outcome: "reference_conflict",
      });
      expect(await wholeLedger(at(2), "org_once")).toHaveLength(1);
    });

    test("a posting takes what other cells have leased and do not use, and is refused what calls hold", async () => {
      await post(at(0), "org_fee", posting("topup", 10_000));
      const held = (await at(1).purse.hold("org_fee", 4000)) as Hold;
      at(2).purse.release((await at(2).purse.hold("org_fee", 6000)) as Hold);
      const fee = await post(at(0), "org_fee", posting("subscription", -6000));
      expect(fee).toMatchObject({ outcome: "posted", entry: { seq: 2, balanceMicroUsd: 4000 } });
      const refused = await post(at(2), "org_fee", posting("refund", -1));
      expect(refused).toEqual({ outcome: "insufficient_credits", availableMicroUsd: 0 });
      const dispute = { ...posting("dispute", -1000), mayOverdraw: true };
      expect(await post(at(2), "org_fee", dispute)).toMatchObject({
        outcome: "posted",
        entry: { seq: 3, balanceMicroUsd: 3000 },
      });
      at(1).purse.release(held);
    });

    test("all of a spent balance is expired to the micro, while other cells spend it", async () => {
      await post(at(0), "org_lot", posting("topup", 50_000));
      const grant = posting("grant", 20_000);
      await at(0).store.act(() => {
        at(0).book.post("org_lot", grant);
        at(0).lots.expires("org_lot", grant.refId, systemClock.now());
      });
      const spend = cells.map(async (cell) => {
        for (let n = 0; n < 20; n++) await call(cell, "org_lot", 100);
      });
      await Promise.all(spend);
      const { store, lots, book } = at(1);
      // Until then charges are on their way: those that come after the expiry are of paid credit.
      await until("all charges are heard", () => heard.of("org_lot").length, equals(60));
      const left = await store.act(() => {
        const lot = lots.advance("org_lot").grants.find(({ refId }) => refId === grant.refId);
        const microUsd = lot?.leftMicroUsd ?? 0;
        book.post("org_lot", posting("expiry", -microUsd, grant.refId));
        return microUsd;
      });
      expect(left).toBe(20_000 - 3 * 20 * 100);
      await at(2).book.fresh(["org_lot"]);
      expect(at(2).lots.of("org_lot")).toMatchObject({ paidMicroUsd: 50_000, grants: [] });
      assertAddsUp(await wholeLedger(at(2), "org_lot"));
    });

    test("the charge that takes a balance below its bound is told of once, until it has risen again", async () => {
      const told = () =>
        (at(0).falls.get(["org_low"]) ?? []).filter(({ lowMicroUsd }) => lowMicroUsd === LOW);
      await post(at(0), "org_low", posting("topup", LOW + 1000));
      for (let n = 0; n < 6; n++) await call(at(n), "org_low", 300);
      await until("the first event is told", () => told().length, equals(1));
      expect(told()[0]).toMatchObject({ balanceMicroUsd: LOW - 200 });
      await post(at(1), "org_low", posting("topup", 1000));
      await post(at(2), "org_low", posting("subscription", -900));
      await until("the second event is told", () => told().length, equals(2));
      await until(
        "all rows are in the ledger",
        async () => (await wholeLedger(at(0), "org_low")).length,
        equals(9),
      );
      expect(told()).toHaveLength(2);
    });

    test("a list that lacks a charge begins below it, and a page that lacks one is refused", async () => {
      await post(at(0), "org_gap", posting("topup", 10_000));
      for (let n = 0; n < 8; n++) await call(at(n), "org_gap", 10);
      await until("all rows are heard", () => heard.of("org_gap").length, equals(8));
      const seqs = async (before?: number) =>
        (await at(0).book.entries("org_gap", { limit: 4, ...(before && { before }) })).map(({ seq }) => seq);
      expect(await seqs()).toEqual([9, 8, 7, 6]);
      hidden.add(8);
      expect(await seqs()).toEqual([7, 6, 5, 4]);
      await expect(seqs(9)).rejects.toMatchObject({ kind: "analytics_unavailable" });
      hidden.clear();
      expect(await seqs(9)).toEqual([8, 7, 6, 5]);
    });

    test("while charges of before there were cells are copied, a list that lacks one is refused", async () => {
      await post(at(0), "org_gap", posting("topup", 10_000, "copied"));
      const seqs = async (before?: number) =>
        (await at(1).book.entries("org_gap", { limit: 4, ...(before && { before }) })).map(({ seq }) => seq);
      const refusal = { kind: "analytics_unavailable", retryAfterMs: 5000 };
      isCopying = true;
      for (const seq of [1, 2, 3, 4, 5]) hidden.add(seq);
      expect(await seqs()).toEqual([10, 9, 8, 7]);
      await expect(seqs(7)).rejects.toMatchObject(refusal);
      hidden.add(8);
      await expect(seqs()).rejects.toMatchObject(refusal);
      hidden.clear();
      isCopying = false;
      expect(await seqs(7)).toEqual([6, 5, 4, 3]);
    });

    test("credit that is read outside an act was asked for before", async () => {
      expect(() => at(0).book.balance("org_unknown")).toThrow("before it was asked for");
      await at(0).book.fresh(["org_unknown"]);
      expect(at(0).book.balance("org_unknown")).toEqual({ balanceMicroUsd: 0, grantedMicroUsd: 0 });
      expect(await at(0).book.entries("org_unknown", { limit: 5 })).toEqual([]);
    });
  },
);
