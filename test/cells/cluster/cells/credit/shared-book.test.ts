/** The book of several cells: postings and charges of all of them are one ledger, whichever cell posts, charges or reads. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../../src/base/clock.ts";
import type { LeasedPurse } from "../../../../../src/cluster/cells/credit/leased-purse.ts";
import { openSharedCredits, POSTED_LEDGER } from "../../../../../src/cluster/cells/credit/shared-credits.ts";
import type { CreditFall } from "../../../../../src/credits/ledger/credit-events.ts";
import type { LedgerEntry, LedgerKind, PostedKind } from "../../../../../src/credits/ledger/entry.ts";
import { openLedger } from "../../../../../src/credits/ledger/ledger.ts";
import type { Posting } from "../../../../../src/credits/ledger/posting.ts";
import type { Hold } from "../../../../../src/credits/ledger/purse.ts";
import { isGap, pageEnd, type ShownEntry } from "../../../../../src/credits/ledger/shown-list.ts";
import { amount } from "../../../../support/effort.ts";
import { missingRedis } from "../../../../support/redis-server.ts";
import { equals, until } from "../../../../support/wait.ts";
import { type Bench, openBench, type TestCell } from "../fixtures.ts";
import { charge, HeardLedger } from "./credit-fixtures.ts";

const missing = missingRedis();
const LOW = 5000;

type BookCell = Awaited<ReturnType<typeof openBookCell>>;

/** Charges of `org_gap` that the list does not have, by number. */
const hidden = new Set<number>();
/** Whether a cell is away that may have them, or the one that copies those of before there were cells. */
const away = { cell: false, former: false };
const AWAY_MS = Date.parse("2026-01-02T03:04:05Z");
/** Each look for holes: from which number on. */
const asked: { readonly orgId: string; readonly from: number }[] = [];
const purses: LeasedPurse[] = [];
const allPassed = async () => void (await Promise.all(purses.map((purse) => purse.passed(1000))));
const allListed = async () => {
  await allPassed();
  return { isDone: true, missingSinceMs: away.cell ? AWAY_MS : undefined };
};

/** What the list has of an org's charges below a number, newest first. */
const listed = (heard: HeardLedger, orgId: string, before: number): LedgerEntry[] =>
  heard
    .of(orgId)
    .filter(({ seq }) => seq < before && !(orgId === "org_gap" && hidden.has(seq)))
    .reverse()
    .map(({ seq, amountMicroUsd, balanceMicroUsd, atMs: createdAtMs, requestId }) => ({
      kind: "settle",
      seq,
      amountMicroUsd: -amountMicroUsd,
      balanceMicroUsd,
      createdAtMs,
      requestId,
    }));

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
    isFormerOver: async () => !away.former,
    charges: async (orgId, { before, limit }) => listed(heard, orgId, before).slice(0, limit),
    // Charges are hidden here that were listed, as by an engine that has lost them: `from` is not followed.
    holes: async (orgId, { before, limit, from }) => {
      asked.push({ orgId, from });
      const posted = openLedger(cell.store, POSTED_LEDGER).page(orgId, { before, limit: 1000 });
      const all = [...listed(heard, orgId, before), ...posted].sort((one, other) => other.seq - one.seq);
      const edges = [...all, { seq: 0, amountMicroUsd: 0, balanceMicroUsd: 0, createdAtMs: 0 }];
      return edges
        .slice(1)
        .map((older, at) => ({ newer: edges[at] ?? older, older }))
        .filter(({ newer, older }) => newer.seq > older.seq + 1)
        .slice(0, limit);
    },
    allListed,
    allCharged: allPassed,
  });
  await cell.opened();
  purses.push(credits.purse);
  return { ...cell, ...credits, falls };
}

let references = 0;
const posting = (kind: PostedKind, amountMicroUsd: number, refId = `ref_${++references}`): Posting => ({
  kind,
  amountMicroUsd,
  refType: kind,
  refId,
});

const post = ({ store, book }: BookCell, org: string, what: Posting) => store.act(() => book.post(org, what));

async function call(cell: BookCell, org: string, microUsd: number): Promise<void> {
  const hold = (await cell.purse.hold(org, microUsd)) as Hold;
  await charge({ ...(cell as TestCell), purse: cell.purse, stop: async () => {} }, hold, microUsd);
}

interface Shown {
  readonly entries: ShownEntry[];
  /** Whether a page said that something is missing. */
  readonly isLacking: boolean;
}

/** All pages, newest first. */
async function shownOf({ book }: BookCell, org: string, limit = 7, kind?: LedgerKind): Promise<Shown> {
  const entries: ShownEntry[] = [];
  let isLacking = false;
  for (let before: number | undefined; ; ) {
    const page = await book.list(org, { limit, before, kind });
    entries.push(...page.entries);
    isLacking ||= page.missingSinceMs !== undefined;
    const last = page.entries.at(-1);
    if (last === undefined || page.entries.length < limit) return { entries, isLacking };
    before = pageEnd(last);
  }
}

const wholeLedger = async (cell: BookCell, org: string): Promise<ShownEntry[]> =>
  (await shownOf(cell, org)).entries.reverse();

function assertAddsUp(entries: readonly ShownEntry[]): void {
  let balance = 0;
  for (const [at, { seq, amountMicroUsd, balanceMicroUsd }] of entries.entries()) {
    balance += amountMicroUsd;
    expect({ seq, balanceMicroUsd }).toEqual({ seq: at + 1, balanceMicroUsd: balance });
  }
}

/** @param entries newest first */
function assertAddsUpWithGaps(entries: readonly ShownEntry[]): void {
  let [next, balance] = [1, 0];
  for (const entry of entries.toReversed()) {
    balance += entry.amountMicroUsd;
    expect([isGap(entry) ? entry.firstSeq : entry.seq, entry.balanceMicroUsd]).toEqual([next, balance]);
    next = entry.seq + 1;
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

    test("C2: a list of adjustments looks for what is missing only behind what was proven whole", async () => {
      const cell = at(0);
      await post(cell, "org_whole", posting("topup", 10_000));
      for (let n = 0; n < 3; n++) await call(cell, "org_whole", 10);
      const looks = async () => {
        asked.length = 0;
        expect((await shownOf(cell, "org_whole", 7, "adjustment")).entries).toEqual([]);
        return asked.filter(({ orgId }) => orgId === "org_whole").map(({ from }) => from);
      };
      expect(await looks()).toEqual([0]);
      expect(await looks()).toEqual([4]);
      await call(cell, "org_whole", 10);
      expect(await looks()).toEqual([4]);
      expect(await looks()).toEqual([5]);
    });

    test("a list has every charge that was made before it was asked for, whichever cell made it", async () => {
      await post(at(0), "org_now", posting("topup", 10_000));
      for (let n = 1; n <= 9; n++) {
        await call(at(n), "org_now", 10);
        const [newest] = (await at(n + 1).book.list("org_now", { limit: 5 })).entries;
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

    describe("C2: numbers that the list lacks", () => {
      const seqs = ({ entries }: Shown) => entries.map(({ seq }) => seq);
      const gapsOf = ({ entries }: Shown) =>
        entries.filter(isGap).map(({ firstSeq, seq, amountMicroUsd }) => [firstSeq, seq, amountMicroUsd]);
      const list = (limit?: number, kind?: LedgerKind) => shownOf(at(limit ?? 0), "org_gap", limit, kind);
      const KINDS = [undefined, "settle", "adjustment"] as const;
      /** A charge of so much, that has its number. */
      const numbered = async (microUsd: number) => {
        const before = heard.of("org_gap").length;
        await call(at(microUsd), "org_gap", microUsd);
        await until("it has its number", () => heard.of("org_gap").length, equals(before + 1));
      };
      beforeAll(async () => {
        await post(at(0), "org_gap", posting("topup", 10_000));
        for (let n = 1; n <= 8; n++) await numbered(n);
        await post(at(1), "org_gap", posting("adjustment", -30));
        for (let n = 11; n <= 14; n++) await numbered(n);
      });
      beforeEach(() => {
        hidden.clear();
        Object.assign(away, { cell: false, former: false });
      });

      test("are left out while a cell is away that may have them, and pages say since when", async () => {
        away.cell = true;
        for (const seq of [3, 4, 8, 9, 14]) hidden.add(seq);
        for (const limit of [1, 2, 3, 20]) {
          const all = await list(limit);
          expect([seqs(all), all.isLacking]).toEqual([[13, 12, 11, 10, 7, 6, 5, 2, 1], true]);
          const settled = await list(limit, "settle");
          expect([seqs(settled), settled.isLacking]).toEqual([[13, 12, 11, 7, 6, 5, 2], true]);
          const adjusted = await list(limit, "adjustment");
          expect([seqs(adjusted), adjusted.isLacking]).toEqual([[10], true]);
        }
        expect(await at(1).book.list("org_gap", { before: 14, limit: 3 })).toMatchObject({
          missingSinceMs: undefined,
        });
        expect(await at(1).book.list("org_gap", { before: 11, limit: 2 })).toMatchObject({
          missingSinceMs: AWAY_MS,
        });
      });

      test("are left out while charges of before there were cells are copied", async () => {
        away.former = true;
        hidden.add(2).add(3);
        const all = await list(20);
        expect([seqs(all).at(-2), all.isLacking, gapsOf(all)]).toEqual([4, true, []]);
      });

      test("have an entry for each run once no cell is left that may have them, the same while one is away", async () => {
        for (const seq of [2, 3, 8, 9]) hidden.add(seq);
        const gaps = [
          [8, 9, -15],
          [2, 3, -3],
        ];
        expect(gapsOf(await list(20))).toEqual(gaps);
        away.cell = true;
        for (const limit of [1, 2, 3, 20]) {
          const all = await list(limit);
          expect([seqs(all), gapsOf(all)]).toEqual([[14, 13, 12, 11, 10, 9, 7, 6, 5, 4, 3, 1], gaps]);
          assertAddsUpWithGaps(all.entries);
          expect(seqs(await list(limit, "adjustment"))).toEqual([10, 9, 3]);
          expect(seqs(await list(limit, "settle"))).toEqual([14, 13, 12, 11, 7, 6, 5, 4]);
        }
        // A page may begin amid a run: its entry is on the page before.
        const { entries } = await at(0).book.list("org_gap", { before: 3, limit: 5 });
        expect(entries.map(({ seq }) => seq)).toEqual([1]);
      });

      test("of a cell that is away are not taken for those beside them that are gone", async () => {
        hidden.add(14);
        expect(gapsOf(await list(20))).toEqual([[14, 14, -14]]);
        await numbered(15);
        hidden.add(15);
        away.cell = true;
        expect([gapsOf(await list(20)), (await list(20)).isLacking]).toEqual([[[14, 14, -14]], true]);
        away.cell = false;
        expect(gapsOf(await list(20))).toEqual([[14, 15, -29]]);
        hidden.delete(14);
        expect(gapsOf(await list(20))).toEqual([[15, 15, -15]]);
        // Those that are gone are found below any number of others.
        hidden.add(3).add(5);
        for (const microUsd of [16, 17, 18, 19]) await numbered(microUsd);
        for (const seq of [16, 18, 19]) hidden.add(seq);
        away.cell = true;
        for (const limit of [1, 2, 3, 20]) {
          const adjusted = await list(limit, "adjustment");
          expect([seqs(adjusted), adjusted.isLacking]).toEqual([[15, 10, 5, 3], true]);
        }
      });

      test("make one list by pages of any size at any cell, which adds up, whichever they are", async () => {
        const seqs = Array.from({ length: 18 }, (_, at) => at + 2).filter((seq) => seq !== 10);
        const adds = async (without: readonly number[]) => {
          hidden.clear();
          for (const seq of without) hidden.add(seq);
          const whole = await list(100);
          assertAddsUpWithGaps(whole.entries);
          for (const kind of KINDS) {
            const expected = whole.entries.filter((entry) => kind === undefined || entry.kind === kind);
            for (const limit of [1, 2, 3, 7]) expect((await list(limit, kind)).entries).toEqual(expected);
          }
        };
        await fc.assert(fc.asyncProperty(fc.subarray(seqs), adds), { numRuns: amount(40, 8) });
      });
    });

    test("credit that is read outside an act was asked for before", async () => {
      expect(() => at(0).book.balance("org_unknown")).toThrow("before it was asked for");
      await at(0).book.fresh(["org_unknown"]);
      expect(at(0).book.balance("org_unknown")).toEqual({ balanceMicroUsd: 0, grantedMicroUsd: 0 });
      expect((await at(0).book.list("org_unknown", { limit: 5 })).entries).toEqual([]);
    });
  },
);
