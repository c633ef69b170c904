/** A ledger that is read from elsewhere, as that of cells is: its charges may have late numbers, or not be readable now. */
import { afterEach, expect, test } from "vitest";
import { fail } from "../../../../src/base/errors.ts";
import type { OwnBooks } from "../../../../src/billing/reconciliation/books.ts";
import { codeOf, type StoredEntry } from "../../../../src/credits/ledger/entry.ts";
import { GAP_REF, type GapEntry } from "../../../../src/credits/ledger/shown-list.ts";
import { someOrg } from "../fixtures.ts";
import { type Books, kindsOf, openBooks } from "./fixtures.ts";

const DAY = "2026-11-23";
const [ORG, OTHER] = [someOrg(), someOrg()].sort((a, b) => (a.id < b.id ? -1 : 1)) as [
  ReturnType<typeof someOrg>,
  ReturnType<typeof someOrg>,
];

let books: Books;
afterEach(() => books.close());

/** Two orgs that bought and spent. */
async function goodDay(read: (list: OwnBooks["ledger"]["list"]) => OwnBooks["ledger"]["list"]) {
  books = openBooks([ORG, OTHER], ({ list, byReference }) => ({ byReference, list: read(list) }));
  for (const org of [ORG, OTHER]) {
    await books.bought(org, 100_000);
    for (const microUsd of [1_000_000, 2_000_000, 3_000_000]) await books.spend(org.id, microUsd);
  }
}

async function run() {
  books.clock.set("2026-11-23T20:00:00Z");
  return await books.run(DAY);
}

test("the day is read whole, though a charge of the day before has its number in the middle of it", async () => {
  await goodDay((list) => async (orgId, page) => {
    const found = await list(orgId, page);
    const entries = found.entries.map((entry) =>
      entry.seq === 3 ? { ...entry, createdAtMs: entry.createdAtMs - 86_400_000 } : entry,
    );
    return { ...found, entries };
  });
  const ledger = books.store.table<StoredEntry>("ledger");
  const [kind, amount, balance, ...rest] = ledger.get([ORG.id, 2]) as StoredEntry;
  expect(kind).toBe(codeOf("settle"));
  await books.store.act(() => ledger.put([ORG.id, 2], [kind, amount, balance + 1, ...rest] as never));
  const report = await run();
  expect(kindsOf(report)).toEqual(["balance_not_sum open"]);
  expect([report.ledger, report.isComplete]).toEqual([{ entries: 6, orgs: 2 }, true]);
});

test("an org whose charges cannot be read now is left out, and the report says that it is not complete", async () => {
  await goodDay((list) => async (orgId, page) => {
    if (orgId === ORG.id) throw fail("analytics_unavailable", "The ledger cannot be read now.");
    return await list(orgId, page);
  });
  const report = await run();
  expect([kindsOf(report), report.isComplete]).toEqual([[], false]);
  expect(report.ledger).toEqual({ entries: 4, orgs: 1 });
});

/** The list without the entries of some numbers, with `gap` in their place if it is given. */
const without =
  (
    seqs: readonly number[],
    gap?: GapEntry,
  ): ((list: OwnBooks["ledger"]["list"]) => OwnBooks["ledger"]["list"]) =>
  (list) =>
  async (orgId, page) => {
    if (orgId !== ORG.id) return await list(orgId, page);
    const all = (await list(orgId, { limit: 500 })).entries.filter(({ seq }) => !seqs.includes(seq));
    const { before = Number.MAX_SAFE_INTEGER, limit } = page;
    const entries = [...all, ...(gap === undefined ? [] : [gap])]
      .filter(({ seq }) => seq < before)
      .sort((one, other) => other.seq - one.seq)
      .slice(0, limit);
    return { entries, missingSinceMs: gap === undefined ? 0 : undefined };
  };

test("C2: entries that a cell has not listed yet are no fault of the books: the report is not complete", async () => {
  await goodDay(without([2, 3]));
  const report = await run();
  expect([kindsOf(report), report.isComplete]).toEqual([[], false]);
});

test("C2: an entry that stands for lost ones follows the one before them", async () => {
  const gap = {
    kind: "adjustment" as const,
    firstSeq: 2,
    seq: 3,
    amountMicroUsd: -3_000_000,
    refType: GAP_REF as typeof GAP_REF,
    refId: "gap",
    createdAtMs: Date.parse(`${DAY}T12:00:00Z`),
  };
  let balanceMicroUsd = 0;
  await goodDay((list) => async (orgId, page) => {
    balanceMicroUsd = (await list(ORG.id, { limit: 1, before: 4 })).entries[0]?.balanceMicroUsd ?? 0;
    return await without([2, 3], { ...gap, balanceMicroUsd })(list)(orgId, page);
  });
  const report = await run();
  expect([kindsOf(report), report.isComplete]).toEqual([[], true]);
  gap.amountMicroUsd--;
  expect(kindsOf(await run())).toEqual(["balance_not_sum open"]);
});
