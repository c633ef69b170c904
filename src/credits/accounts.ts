/**
 * Each org's credit in memory: the end of its ledger, which the book advances, the open holds of the purse, and below which
 * balance the org is told.
 */
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
  /** The org is told when its balance falls below; `-Infinity`: it is not. */
  lowMicroUsd: number;

  constructor(orgId: string, ledger: Ledger, lowMicroUsd: number) {
    const newest = ledger.newest(orgId);
    this.orgId = orgId;
    this.seq = newest?.seq ?? 0;
    this.balanceMicroUsd = newest?.balanceMicroUsd ?? 0;
    this.grantedMicroUsd = ledger.sumOf(orgId, "grant");
    this.lowMicroUsd = lowMicroUsd;
  }

  get availableMicroUsd(): number {
    return this.balanceMicroUsd - this.heldMicroUsd;
  }
}

/** The balance below which an org wants to be told; undefined: none. */
export type LowCredit = (orgId: string) => number | undefined;

export class Accounts {
  readonly #ledger: Ledger;
  readonly #lowCredit: LowCredit;
  readonly #accounts = new Map<string, Account>();

  constructor(ledger: Ledger, lowCredit: LowCredit) {
    this.#ledger = ledger;
    this.#lowCredit = lowCredit;
  }

  /** Always returns the same object. An org that was never asked for cannot have uncommitted entries. */
  of(orgId: string): Account {
    let account = this.#accounts.get(orgId);
    if (account === undefined) {
      account = new Account(orgId, this.#ledger, this.#lowMicroUsd(orgId));
      this.#accounts.set(orgId, account);
    }
    return account;
  }

  /** The org may want to be told at another balance now. */
  orgChanged(orgId: string): void {
    const account = this.#accounts.get(orgId);
    if (account !== undefined) account.lowMicroUsd = this.#lowMicroUsd(orgId);
  }

  #lowMicroUsd(orgId: string): number {
    return this.#lowCredit(orgId) ?? Number.NEGATIVE_INFINITY;
  }

  all(): Iterable<Account> {
    return this.#accounts.values();
  }
}
