/** A ledger that is read from elsewhere, as that of cells is: its charges may have late numbers, or not be readable now. */
import { afterEach, expect, test } from "vitest";
import type { OwnBooks } from "../../../src/billing/reconciliation-books.ts";
import { codeOf, type StoredEntry } from "../../../src/credits/entry.ts";
import { fail } from "../../../src/errors.ts";
import { someOrg } from "./fixtures.ts";
import { type Books, kindsOf, openBooks } from "./reconciliation.fixtures.ts";

const DAY = "2026-11-23";
const [ORG, OTHER] = [someOrg(), someOrg()].sort((a, b) => (a.id < b.id ? -1 : 1)) as [
  ReturnType<typeof someOrg>,
  ReturnType<typeof someOrg>,
];

let books: Books;
afterEach(() => books.close());

/** Two orgs that bought and spent. */
async function goodDay(read: (entries: OwnBooks["ledger"]["entries"]) => OwnBooks["ledger"]["entries"]) {
  books = openBooks([ORG, OTHER], ({ entries, byReference }) => ({ byReference, entries: read(entries) }));
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
  await goodDay((entries) => async (orgId, page) => {
    const found = await entries(orgId, page);
    return found.map((entry) =>
      entry.seq === 3 ? { ...entry, createdAtMs: entry.createdAtMs - 86_400_000 } : entry,
    );
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
  await goodDay((entries) => async (orgId, page) => {
    if (orgId === ORG.id) throw fail("analytics_unavailable", "Entries of this page are not listed yet.");
    return await entries(orgId, page);
  });
  const report = await run();
  expect([kindsOf(report), report.isComplete]).toEqual([[], false]);
  expect(report.ledger).toEqual({ entries: 4, orgs: 1 });
});
