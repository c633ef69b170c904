/** What is known in memory of each org's credit: the end of its ledger, which the book moves, and what the purse holds of it. */
import type { Ledger } from "./ledger.ts";

/** Read once from the ledger; from then on ahead of the disk by the entries that wait to be committed. */
export class Account {
  readonly orgId: string;
  /** Of the newest entry; 0 before the first. */
  seq: number;
  balanceMicroUsd: number;
  /** Sum of all `grant` entries. */
  grantedMicroUsd: number;
  /** Sum of the open holds. */
  heldMicroUsd = 0;
  openHolds = 0;

  constructor(orgId: string, ledger: Ledger) {
    const newest = ledger.newest(orgId);
    this.orgId = orgId;
    this.seq = newest?.seq ?? 0;
    this.balanceMicroUsd = newest?.balanceMicroUsd ?? 0;
    this.grantedMicroUsd = ledger.sumOf(orgId, "grant");
  }

  get availableMicroUsd(): number {
    return this.balanceMicroUsd - this.heldMicroUsd;
  }
}

export class Accounts {
  readonly #ledger: Ledger;
  readonly #accounts = new Map<string, Account>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** The same object whenever it is asked for: nothing can wait to be committed of an org that was not asked for yet. */
  of(orgId: string): Account {
    let account = this.#accounts.get(orgId);
    if (account === undefined) {
      account = new Account(orgId, this.#ledger);
      this.#accounts.set(orgId, account);
    }
    return account;
  }

  all(): Iterable<Account> {
    return this.#accounts.values();
  }
}
