/**
 * Of which kinds an org's credit is: grants, each with the time when it expires, and what was paid. Spending takes the grant that
 * expires first, then the other grants, then paid credit. Nothing of it is written per call: what was spent between two posted
 * entries is the difference of their balances. Invariant: what is left of all grants and of paid credit together is the balance.
 */
import type { Store, Table } from "../store/store.ts";
import type { PostedEntry } from "./entry.ts";
import type { Ledger } from "./ledger.ts";

/** A grant, and what is left of it. */
export interface Lot {
  readonly refType: string;
  readonly refId: string;
  readonly seq: number;
  readonly leftMicroUsd: number;
  /** Null: never. */
  readonly expiresAtMs: number | null;
}

export interface Lots {
  /** The entry up to which this is right, and the balance after it and what was spent since. */
  readonly seq: number;
  readonly balanceMicroUsd: number;
  /** Below zero: a debt. Paid credit never expires. */
  readonly paidMicroUsd: number;
  /** Those of which something is left, in the order in which they are spent. */
  readonly grants: readonly Lot[];
}

/** `refType` of an adjustment that gives back paid credit: the refund that took it failed. */
export const REFUND_FAILED = "refund_failed";

const NOTHING: Lots = { seq: 0, balanceMicroUsd: 0, paidMicroUsd: 0, grants: [] };

export interface LotsDeps {
  readonly store: Store;
  readonly ledger: Pick<Ledger, "postedAfter" | "newest">;
}

export class CreditLots {
  readonly #deps: LotsDeps;
  /** [org id] → lots at some entry of the past. */
  readonly #rows: Table<Lots>;
  /** [org id, refId of a grant] → when it expires. */
  readonly #expiries: Table<number>;

  constructor(deps: LotsDeps) {
    this.#deps = deps;
    this.#rows = deps.store.table("credits.lots");
    this.#expiries = deps.store.table("credits.grant_expiries");
  }

  /** Only in the act that posts the grant. */
  expires(orgId: string, grantRefId: string, atMs: number): void {
    this.#expiries.put([orgId, grantRefId], atMs);
  }

  /** Outside an act, of committed entries. */
  of(orgId: string): Lots {
    const { ledger } = this.#deps;
    let lots = this.#rows.get([orgId]) ?? NOTHING;
    for (const entry of ledger.postedAfter(orgId, lots.seq)) {
      const expiresAtMs = entry.kind === "grant" ? this.#expiries.get([orgId, entry.refId]) : undefined;
      lots = afterEntry(lots, entry, expiresAtMs ?? null);
    }
    return afterSpending(lots, ledger.newest(orgId)?.balanceMicroUsd ?? 0);
  }

  /** Only in an act: the same, and remembers it, so that the next reading is short. */
  advance(orgId: string): Lots {
    const lots = this.of(orgId);
    this.#rows.put([orgId], lots);
    return lots;
  }
}

/** @param expiresAtMs of a grant */
function afterEntry(before: Lots, entry: PostedEntry, expiresAtMs: number | null): Lots {
  const { amountMicroUsd: amount, seq, balanceMicroUsd } = entry;
  const lots = afterSpending(before, balanceMicroUsd - amount);
  const next = { ...lots, seq, balanceMicroUsd };
  if (entry.kind === "topup" || entry.kind === "refund") return paid(next, amount);
  if (entry.kind === "dispute" || entry.kind === "dispute_reversal") return paid(next, amount);
  if (entry.kind === "expiry") return { ...next, grants: without(lots.grants, entry.refId, -amount) };
  if (entry.kind === "adjustment" && entry.refType === REFUND_FAILED) return paid(next, amount);
  if (amount < 0) return spent(next, -amount);
  const { refType, refId } = entry;
  const lot: Lot = { refType, refId, seq, leftMicroUsd: amount, expiresAtMs };
  return withoutDebt({ ...next, grants: [...lots.grants, lot].sort(bySpending) });
}

/** What calls spent since. */
const afterSpending = (lots: Lots, balanceMicroUsd: number): Lots => ({
  ...spent(lots, lots.balanceMicroUsd - balanceMicroUsd),
  balanceMicroUsd,
});

const bySpending = (a: Lot, b: Lot): number =>
  (a.expiresAtMs ?? Number.POSITIVE_INFINITY) - (b.expiresAtMs ?? Number.POSITIVE_INFINITY) || a.seq - b.seq;

function spent(lots: Lots, microUsd: number): Lots {
  let left = microUsd;
  const grants: Lot[] = [];
  for (const lot of lots.grants) {
    const taken = Math.min(left, lot.leftMicroUsd);
    left -= taken;
    if (lot.leftMicroUsd > taken) grants.push({ ...lot, leftMicroUsd: lot.leftMicroUsd - taken });
  }
  return { ...lots, grants, paidMicroUsd: lots.paidMicroUsd - left };
}

/** Where more was taken of paid credit than there was, grants make up for it. */
const paid = (lots: Lots, microUsd: number): Lots =>
  withoutDebt({ ...lots, paidMicroUsd: lots.paidMicroUsd + microUsd });

const withoutDebt = (lots: Lots): Lots =>
  lots.paidMicroUsd >= 0 ? lots : spent({ ...lots, paidMicroUsd: 0 }, -lots.paidMicroUsd);

const without = (grants: readonly Lot[], refId: string, microUsd: number): Lot[] =>
  grants.flatMap((lot) => {
    if (lot.refId !== refId) return [lot];
    const leftMicroUsd = lot.leftMicroUsd - microUsd;
    return leftMicroUsd > 0 ? [{ ...lot, leftMicroUsd }] : [];
  });
