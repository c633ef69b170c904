/** C2: the list of a ledger of which some entries are missing, for any numbers that are and pages of any size. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LedgerEntry } from "../../../../src/credits/ledger/entry.ts";
import {
  aboveOf,
  gapsIn,
  isGap,
  type Mark,
  type Page,
  pageEnd,
  pageOf,
  type ShownEntry,
} from "../../../../src/credits/ledger/shown-list.ts";

const ORG = "org_1";

/** A whole ledger, newest first, of these amounts from the first entry on. */
function ledger(amounts: readonly number[]): LedgerEntry[] {
  let balanceMicroUsd = 0;
  const entries = amounts.map((amountMicroUsd, at): LedgerEntry => {
    balanceMicroUsd += amountMicroUsd;
    const base = { seq: at + 1, amountMicroUsd, balanceMicroUsd, createdAtMs: 1000 + at };
    return { ...base, kind: "settle", requestId: `request-${at + 1}` };
  });
  return entries.reverse();
}

interface Read {
  readonly limit: number;
  readonly before?: number | undefined;
  /** What is missing up to it is gone. Default: all. */
  readonly mark?: Mark | undefined;
}

/** A page as a reader makes it that has only some entries of the ledger. */
function read(
  all: readonly LedgerEntry[],
  there: readonly LedgerEntry[],
  { limit, before, mark }: Read,
): Page {
  const [newest] = all;
  const { seq = 0, balanceMicroUsd = 0 } = newest ?? {};
  const below = before ?? seq + 1;
  const at = there.find((entry) => entry.seq === below);
  const above = before === undefined ? { balanceMicroUsd, createdAtMs: 0 } : at && aboveOf(at);
  const found = there.filter((entry) => entry.seq < below);
  const entries = found.slice(0, limit + 1);
  const isToEnd = entries.length === found.length;
  const stretch = { orgId: ORG, below, above, entries, isToEnd };
  const upTo = mark ?? { seq, balanceMicroUsd };
  return pageOf(entries, gapsIn(stretch, upTo), { limit }, upTo);
}

function paged(all: readonly LedgerEntry[], there: readonly LedgerEntry[], { limit, mark }: Read): Page {
  const entries: ShownEntry[] = [];
  let isLacking = false;
  for (let before: number | undefined; ; ) {
    const page = read(all, there, { limit, before, mark });
    entries.push(...page.entries);
    isLacking ||= page.isLacking;
    const last = page.entries.at(-1);
    if (last === undefined || page.entries.length < limit) return { entries, isLacking };
    before = pageEnd(last);
  }
}

const amounts = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 40 });
const missing = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 });
const limits = fc.integer({ min: 1, max: 45 });
const without = (all: readonly LedgerEntry[], isMissing: readonly boolean[]) =>
  all.filter(({ seq }) => isMissing[seq - 1] !== true);

test("pages of any size are one list: what is there, and one entry for each run of numbers; it adds up to the balance", () => {
  const holds = (amountsOf: number[], isMissing: boolean[], limit: number) => {
    const all = ledger(amountsOf);
    const there = without(all, isMissing);
    const { entries, isLacking } = paged(all, there, { limit });
    expect(isLacking).toBe(false);
    expect(entries.filter((entry) => !isGap(entry))).toEqual(there);
    let [next, balance] = [1, 0];
    for (const [at, entry] of entries.toReversed().entries()) {
      expect(pageEnd(entry)).toBe(next);
      balance += entry.amountMicroUsd;
      expect(entry.balanceMicroUsd).toBe(balance);
      if (isGap(entry)) {
        expect(entry.refId).toBe(`${ORG}:${entry.firstSeq}-${entry.seq}`);
        const older = entries.toReversed()[at - 1];
        expect(older === undefined || !isGap(older)).toBe(true);
      }
      next = entry.seq + 1;
    }
    expect([next - 1, balance]).toEqual([all.length, all[0]?.balanceMicroUsd]);
  };
  fc.assert(fc.property(amounts, missing, limits, holds), { numRuns: 1000 });
});

test("a page that begins at any number has what the list has below it, and no part of a run", () => {
  const holds = (amountsOf: number[], isMissing: boolean[], limit: number, before: number) => {
    const all = ledger(amountsOf);
    const there = without(all, isMissing);
    const whole = paged(all, there, { limit: 100 }).entries;
    const below = Math.min(before, all.length + 1);
    const { entries } = read(all, there, { limit, ...(below <= all.length && { before: below }) });
    expect(entries).toEqual(whole.filter(({ seq }) => seq < below).slice(0, limit));
  };
  fc.assert(fc.property(amounts, missing, limits, fc.integer({ min: 1, max: 41 }), holds), { numRuns: 1000 });
});

test("above the mark nothing stands for what is missing, and the page says so; below it the list is as ever", () => {
  const holds = (amountsOf: number[], isMissing: boolean[], limit: number, at: number) => {
    const all = ledger(amountsOf);
    const there = without(all, isMissing);
    const marked = all.find(({ seq }) => seq === Math.min(at, all.length)) as LedgerEntry;
    const { entries, isLacking } = paged(all, there, { limit, mark: marked });
    const above = all.filter(({ seq }) => seq > marked.seq);
    expect(entries.filter(({ seq }) => seq > marked.seq)).toEqual(
      above.filter((entry) => there.includes(entry)),
    );
    expect(isLacking).toBe(above.some((entry) => !there.includes(entry)));
    // The times of entries that stand for the first ones are those of entries above.
    const timeless = (shown: readonly ShownEntry[]) => shown.map((entry) => ({ ...entry, createdAtMs: 0 }));
    const older = all.slice(above.length);
    expect(timeless(entries.filter(({ seq }) => seq <= marked.seq))).toEqual(
      timeless(paged(older, without(older, isMissing), { limit: 100 }).entries),
    );
  };
  fc.assert(fc.property(amounts, missing, limits, fc.integer({ min: 1, max: 40 }), holds), { numRuns: 1000 });
});

test("a list that is read on while entries come back adds up, and shows none of them twice", () => {
  const holds = (amountsOf: number[], isMissing: boolean[], isBack: boolean[], limit: number) => {
    const all = ledger(amountsOf);
    const shown: ShownEntry[] = [];
    for (let before: number | undefined, pages = 0; ; pages++) {
      const there = all.filter(({ seq }) => !isMissing[seq - 1] || (pages > 0 && isBack[seq - 1]));
      const { entries } = read(all, there, { limit, before });
      shown.push(...entries);
      const last = entries.at(-1);
      if (last === undefined || entries.length < limit) break;
      before = pageEnd(last);
    }
    expect(shown.reduce((sum, { amountMicroUsd }) => sum + amountMicroUsd, 0)).toBe(all[0]?.balanceMicroUsd);
    for (const [at, entry] of shown.entries())
      expect(entry.seq).toBe(pageEnd(shown[at - 1] ?? after(all)) - 1);
  };
  const after = (all: readonly LedgerEntry[]) => ({ ...(all[0] as LedgerEntry), seq: all.length + 1 });
  fc.assert(fc.property(amounts, missing, missing, limits, holds), { numRuns: 1000 });
});

test("an entry for others has the time of the one before them, or of the one behind where they are the first", () => {
  const all = ledger([5, -1, -2, -3]);
  const times = (...seqs: number[]) =>
    paged(
      all,
      all.filter(({ seq }) => !seqs.includes(seq)),
      { limit: 10 },
    )
      .entries.filter(isGap)
      .map(({ createdAtMs }) => createdAtMs);
  expect([times(3, 4), times(2), times(1, 2), times(1, 2, 3, 4)]).toEqual([[1001], [1000], [1002], [0]]);
});
