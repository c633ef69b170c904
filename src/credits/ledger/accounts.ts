/**
 * Each org's credit in memory: the end of its ledger, which the book advances, the open holds of the purse, and below which
 * balances something follows.
 */
import type { Ledger } from "./ledger.ts";
import type { CreditLots } from "./lots.ts";

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
  readonly #bounds: CreditBounds;
  /** The org is told when its balance falls below; `-Infinity`: it is not. */
  lowMicroUsd = Number.NEGATIVE_INFINITY;
  /** Each entry that leaves the balance below is told of; `-Infinity`: none is. */
  watchedMicroUsd = Number.NEGATIVE_INFINITY;
  /** The greatest of these bounds and of zero: an entry that leaves no less crosses none of them. */
  lookBelowMicroUsd = 0;

  constructor(orgId: string, { ledger, lots, bounds }: AccountsDeps) {
    const newest = ledger.newest(orgId);
    this.orgId = orgId;
    this.seq = newest?.seq ?? 0;
    this.balanceMicroUsd = newest?.balanceMicroUsd ?? 0;
    this.grantedMicroUsd = lots.grantedMicroUsd(orgId);
    this.#bounds = bounds;
    this.readBounds();
  }

  /** They may have changed. */
  readBounds(): void {
    this.lowMicroUsd = this.#bounds.lowCredit(this.orgId) ?? Number.NEGATIVE_INFINITY;
    this.watchedMicroUsd = this.#bounds.watchedBelow(this.orgId) ?? Number.NEGATIVE_INFINITY;
    this.lookBelowMicroUsd = Math.max(0, this.lowMicroUsd, this.watchedMicroUsd);
  }

  get availableMicroUsd(): number {
    return this.balanceMicroUsd - this.heldMicroUsd;
  }
}

/** Ports: balances below which something follows, micro-USD; undefined: none. */
export interface CreditBounds {
  /** The org wants to be told once, when it falls. */
  readonly lowCredit: (orgId: string) => number | undefined;
  /** Somebody looks at the org's credit, after every entry. */
  readonly watchedBelow: (orgId: string) => number | undefined;
}

export interface AccountsDeps {
  readonly ledger: Pick<Ledger, "newest">;
  readonly lots: Pick<CreditLots, "grantedMicroUsd">;
  readonly bounds: CreditBounds;
}

export class Accounts {
  readonly #deps: AccountsDeps;
  readonly #accounts = new Map<string, Account>();

  constructor(deps: AccountsDeps) {
    this.#deps = deps;
  }

  /** Always returns the same object. An org that was never asked for cannot have uncommitted entries. */
  of(orgId: string): Account {
    let account = this.#accounts.get(orgId);
    if (account === undefined) {
      account = new Account(orgId, this.#deps);
      this.#accounts.set(orgId, account);
    }
    return account;
  }

  /** The balance, without keeping the account: for walks over many orgs of which nothing is wanted. */
  balanceOnce(orgId: string): number {
    const account = this.#accounts.get(orgId);
    return account?.balanceMicroUsd ?? this.#deps.ledger.newest(orgId)?.balanceMicroUsd ?? 0;
  }

  /** The org's bounds may be others now. */
  boundsChanged(orgId: string): void {
    this.#accounts.get(orgId)?.readBounds();
  }

  all(): Iterable<Account> {
    return this.#accounts.values();
  }
}
