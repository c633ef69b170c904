/** What goes up of a folder's money: postings, balances, and what was spent in the periods of budgets. */
import { AccountTables } from "../../../account/tables.ts";
import { sliced } from "../../../base/lists.ts";
import { bootName } from "../../../base/process/boot.ts";
import { spendSoFar } from "../../../credits/budgets/spend-so-far.ts";
import { openCredits } from "../../../credits/ledger/credits.ts";
import { entryOf, type StoredEntry } from "../../../credits/ledger/entry.ts";
import { openLedger } from "../../../credits/ledger/ledger.ts";
import { packContent } from "../../../store/lmdb/checked.ts";
import type { Store } from "../../../store/store.ts";
import { keyText, type StoreKey } from "../../../store/tables/table.ts";
import { FORMER_LEDGER } from "../credit/former-ledger.ts";
import { POSTED_LEDGER } from "../credit/shared-credits.ts";
import type { DatasetRow } from "../dataset/dataset.ts";
import { keyScope, orgScope, projectScope } from "../leases/scopes.ts";
import type { DatasetPart } from "./part.ts";

/** Orgs, or scopes of budgets, of one exchange: some milliseconds of Redis. */
const ROWS_A_STEP = 1000;
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Entries that are no charges of calls: all cells have them. */
const postings: DatasetPart = {
  *rows({ store }) {
    const { entries, references, kinds } = POSTED_LEDGER;
    const row = (table: string, key: StoreKey, value: unknown): DatasetRow => ({
      table,
      text: keyText(key),
      bytes: packContent(value),
    });
    const stored = store.table<StoredEntry>("ledger");
    for (const { key } of store.table<0>("ledger.kinds").range()) {
      const [org, , seq] = key as [string, number, number];
      const value = stored.get([org, seq]);
      const entry = value && entryOf(seq, value);
      if (value === undefined || entry === undefined || entry.kind === "settle") continue;
      yield row(entries, [org, seq], value);
      yield row(references, [org, entry.refType, entry.refId], seq);
      yield row(kinds, key, 0);
    }
  },
};

/** Charges stay in the folder, whose cell copies them to the list of all: see `former-ledger.ts`. */
const formerCharges: DatasetPart = {
  *rows({ store }) {
    const { table, key } = FORMER_LEDGER;
    for (const entry of store.table<StoredEntry>("ledger").range()) {
      const [, seq] = entry.key as [string, number];
      if (entryOf(seq, entry.value).kind !== "settle") continue;
      yield { table, text: keyText(key), bytes: packContent(true) };
      return;
    }
  },
};

const balances: DatasetPart = {
  *steps({ store }) {
    const ledger = openLedger(store);
    for (const orgs of sliced(orgsWithEntries(store), ROWS_A_STEP)) {
      const begun = orgs.flatMap((org) => {
        const newest = ledger.newest(org);
        return newest === undefined ? [] : [org, newest.seq, newest.balanceMicroUsd];
      });
      yield { operations: [["credit_begin", begun]] };
    }
  },
};

/** Also those that were erased: their entries stay. Reads one entry of each. */
function* orgsWithEntries(store: Store): Generator<string> {
  const entries = store.table("ledger");
  let after: [string, number] | undefined;
  for (;;) {
    const [first] = [...entries.range({ ...(after && { start: after }), limit: 1 })];
    if (first === undefined) return;
    const [org] = first.key as [string, number];
    yield org;
    after = [org, AFTER_ALL];
  }
}

const SCOPES = { key: keyScope, project: projectScope, org: orgScope };

/** A budget of which 3 USD are spent has 3 USD less at every cell. */
const spend: DatasetPart = {
  *steps({ store, clock }) {
    const accounts = new AccountTables(store);
    const timeZoneOf = (orgId: string) => accounts.org(orgId)?.timeZone;
    const all = spendSoFar({
      store,
      clock,
      boot: bootName(),
      book: openCredits({ store, clock }).book,
      timeZoneOf,
      lineageOf: accounts.lineageOfId,
      orgOf(projectId) {
        const orgId = accounts.project(projectId)?.orgId;
        const timeZone = orgId && timeZoneOf(orgId);
        return orgId && timeZone ? { orgId, timeZone } : undefined;
      },
    });
    for (const scopes of sliced(all, ROWS_A_STEP)) {
      const begun = scopes.flatMap(({ of, id, day, dayMicroUsd, monthMicroUsd, usualMicroUsd, pastDays }) => [
        SCOPES[of](id),
        day,
        dayMicroUsd,
        monthMicroUsd,
        usualMicroUsd,
        [...pastDays].flat(),
      ]);
      yield { operations: [["spend_begin", begun]] };
    }
  },
};

export const MONEY_PARTS: readonly DatasetPart[] = [postings, formerCharges, balances, spend];
