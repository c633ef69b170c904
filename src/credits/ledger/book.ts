/**
 * The book: each org's ledger, and the only way to add to it. Invariants: balance = sum of the ledger, and seq has no
 * gaps, even after a crash: see docs/money.md.
 */
import type { Clock } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { Store } from "../../store/store.ts";
import type { Account, Accounts } from "./accounts.ts";
import { type CreditFall, fallOf } from "./credit-events.ts";
import { type LedgerEntry, type PostedEntry, type SettleEntry, settleEntry } from "./entry.ts";
import type { Ledger, LedgerPage } from "./ledger.ts";
import { checkPosting, earlierPosting, type Posted, type Posting } from "./posting.ts";
import type { LedgerList } from "./shown-list.ts";

export interface Balance {
  /** After the newest entry, committed or not. May be below zero. */
  readonly balanceMicroUsd: number;
  /** Sum of all `grant` entries ever posted. */
  readonly grantedMicroUsd: number;
}

/** What a call cost. */
export interface Charge {
  readonly requestId: string;
  /** Above zero: a call that costs nothing has no entry. */
  readonly amountMicroUsd: number;
  readonly atMs: number;
}

export interface Book {
  balance(orgId: string): Balance;
  /** `balanceMicroUsd` of an org that may never be asked for again: nothing of it stays in memory. */
  balanceOnce(orgId: string): number;
  /** Only in an act: writes the entry of a call, whatever the balance. @throws Error where the balance would overflow */
  charge(orgId: string, charge: Charge): SettleEntry;
  /**
   * Only in an act: top-ups, refunds, grants, expiries, adjustments. Writes that depend on the posting belong in the
   * same act.
   * @throws Error for an amount of the wrong sign or an invalid reference
   */
  post(orgId: string, posting: Posting): Posted;
  /** The entry that was posted with a reference; outside an act only a committed one. */
  byReference(orgId: string, refType: string, refId: string): PostedEntry | undefined;
  /** Outside an act only committed entries. A promise where charges are kept in another process. */
  list(orgId: string, page: LedgerPage): MaybePromise<LedgerList>;
  /**
   * Before credit of these orgs is read outside an act: it is then what it was after this call. A promise where balances are kept in
   * another process.
   */
  fresh(orgIds: readonly string[]): MaybePromise<void>;
  /**
   * Before `fresh`, for who may know of calls that have just ended: the balance is then without what they cost. A promise where other
   * processes charge too, which resolves after a second at the latest.
   */
  charged(): MaybePromise<void>;
}

/**
 * Number of an org's first entry from a time on, found by halving: entries are in order of time, unless the clock was set.
 * @param ms wall clock @returns one more than the newest where there is none
 */
export async function firstSeqFrom(
  book: Pick<Book, "list">,
  orgId: string,
  newestSeq: number,
  ms: number,
): Promise<number> {
  let [low, high] = [1, newestSeq + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = (await book.list(orgId, { before: middle + 1, limit: 1 })).entries;
    if ((entry?.createdAtMs ?? 0) >= ms) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A book within one process: it has all entries and balances, so it answers synchronously. */
export interface LocalBook extends Book {
  /** What {@link Book.list} lists: none is ever missing. */
  entries(orgId: string, page: LedgerPage): LedgerEntry[];
}

export interface BookDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly accounts: Accounts;
  /** Port, in the act, before an entry is posted: what is derived from the ledger follows it. */
  readonly remember: (orgId: string) => void;
  /** Port, called in the act of an entry that took the balance below a bound, or left it below the one that is watched; must not throw. */
  readonly onFall: (fall: CreditFall) => void;
}

function giveBack(account: Account, seq: number, balanceMicroUsd: number, grantedMicroUsd: number): void {
  account.seq = seq;
  account.balanceMicroUsd = balanceMicroUsd;
  account.grantedMicroUsd = grantedMicroUsd;
}

export class LedgerBook implements LocalBook {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #accounts: Accounts;
  readonly #ledger: Ledger;
  readonly #remember: BookDeps["remember"];
  readonly #onFall: BookDeps["onFall"];

  constructor({ store, clock, ledger, accounts, remember, onFall }: BookDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#accounts = accounts;
    this.#ledger = ledger;
    this.#remember = remember;
    this.#onFall = onFall;
  }

  balance(orgId: string): Balance {
    const { balanceMicroUsd, grantedMicroUsd } = this.#accounts.of(orgId);
    return { balanceMicroUsd, grantedMicroUsd };
  }

  balanceOnce(orgId: string): number {
    return this.#accounts.balanceOnce(orgId);
  }

  charge(orgId: string, charge: Charge): SettleEntry {
    const { seq, balanceMicroUsd } = this.#advance(orgId, -charge.amountMicroUsd);
    const entry = settleEntry(charge, seq, balanceMicroUsd);
    this.#ledger.put(orgId, entry);
    return entry;
  }

  post(orgId: string, posting: Posting): Posted {
    checkPosting(posting);
    const { kind, amountMicroUsd, refType, refId, mayOverdraw = false } = posting;
    const earlier = this.#ledger.byReference(orgId, refType, refId);
    if (earlier !== undefined) return earlierPosting(earlier, posting);
    const account = this.#accounts.of(orgId);
    const { availableMicroUsd } = account;
    if (amountMicroUsd < 0 && availableMicroUsd < -amountMicroUsd && !mayOverdraw) {
      return { outcome: "insufficient_credits", availableMicroUsd };
    }
    this.#remember(orgId);
    const createdAtMs = this.#clock.now();
    const { seq, balanceMicroUsd } = this.#advance(orgId, amountMicroUsd);
    const entry: PostedEntry = { kind, seq, amountMicroUsd, balanceMicroUsd, createdAtMs, refType, refId };
    if (kind === "grant") account.grantedMicroUsd += amountMicroUsd;
    this.#ledger.put(orgId, entry);
    return { outcome: "posted", entry, replay: false };
  }

  byReference(orgId: string, refType: string, refId: string): PostedEntry | undefined {
    return this.#ledger.byReference(orgId, refType, refId);
  }

  entries(orgId: string, page: LedgerPage): LedgerEntry[] {
    return this.#ledger.page(orgId, page);
  }

  list(orgId: string, page: LedgerPage): LedgerList {
    return { entries: this.entries(orgId, page), missingSinceMs: undefined };
  }

  fresh(): undefined {}

  charged(): undefined {}

  /** Takes the org's account to the next entry: its number and its running balance. */
  #advance(orgId: string, amountMicroUsd: number): Account {
    const account = this.#accounts.of(orgId);
    const { seq, balanceMicroUsd: before, grantedMicroUsd } = account;
    const balanceMicroUsd = before + amountMicroUsd;
    if (!Number.isSafeInteger(balanceMicroUsd)) throw new Error("balance out of range");
    account.seq = seq + 1;
    account.balanceMicroUsd = balanceMicroUsd;
    this.#store.ifDropped(giveBack, account, seq, before, grantedMicroUsd);
    // Nearly every entry is a charge that leaves more than any bound: one comparison.
    if (balanceMicroUsd < account.lookBelowMicroUsd) this.#lookAtFall(account, before);
    return account;
  }

  #lookAtFall(account: Account, beforeMicroUsd: number): void {
    const fall = fallOf(account, beforeMicroUsd, account);
    if (fall !== undefined) this.#onFall(fall);
  }
}
