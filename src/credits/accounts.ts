/** Each org's credit in memory: the end of its ledger, which the book advances, and the open holds of the purse. */
import type { Ledger } from "./ledger.ts";

/** Read once from the ledger; afterwards ahead of the disk by the uncommitted entries. */
export class Account {
  readonly orgId: string;
  /** Number of the newest entry; 0 before the first. */
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

  /** Always returns the same object. An org that was never asked for cannot have uncommitted entries. */
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
