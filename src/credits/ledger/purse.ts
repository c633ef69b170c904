/**
 * The purse: what each org may spend, in memory. Credit is held for a call before any upstream is asked, and each hold
 * is closed once: settled or released. Invariants: held = sum of the open holds; a hold never makes available = balance
 * - held negative, only an upstream that reports more than was held does.
 */
import { assertAmount } from "../../base/money.ts";
import type { Store } from "../../store/store.ts";
import type { Account, Accounts } from "./accounts.ts";
import type { Book, Charge } from "./book.ts";
import type { SettleEntry } from "./entry.ts";

/** Credit reserved for one call: closed exactly once, by `settle` or `release`. In memory only. */
export interface Hold {
  readonly orgId: string;
  readonly amountMicroUsd: number;
}

/** What the budgets of several cells count a charge for: stored with it, so that both are counted together. */
export interface ChargeSpend {
  readonly keyId: string;
  /** Whose budget the key has; absent: its own. */
  readonly lineageId?: string | undefined;
  readonly projectId: string;
  /** `YYYY-MM-DD`, of the org's time zone. */
  readonly day: string;
  /** When the charge was made, at a cell: see `SharedClock.steady`. A release before kept none. */
  readonly steadyMs?: number | undefined;
}

export interface Settled {
  /** Undefined where the call cost nothing. */
  readonly entry: SettleEntry | undefined;
  /** The cost exceeded the hold, and was charged in full. */
  readonly exceeded: boolean;
}

export interface Funds {
  /** balance - held: available to new calls. */
  readonly availableMicroUsd: number;
  readonly heldMicroUsd: number;
}

export interface Purse {
  funds(orgId: string): Funds;
  /** balance - held, micro-USD. */
  available(orgId: string): number;
  /**
   * The balance with all that is held of it, micro-USD, as far as this process knows: all that is to be known where `hold` has just
   * refused. Infinite where nothing is known.
   */
  balance(orgId: string): number;
  /** What `available` says; a promise where Redis must be asked for it. @throws WeirError 503, as a rejection, where Redis does not answer */
  askAvailable(orgId: string): number | Promise<number>;
  /**
   * Reserves `microUsd`; undefined where less is available. Returns a promise where credit is kept in another process.
   */
  hold(orgId: string, microUsd: number): Hold | undefined | Promise<Hold | undefined>;
  /** Increases an open hold; false (with nothing changed) where less is available. May return a promise, like `hold`. */
  extend(hold: Hold, moreMicroUsd: number): boolean | Promise<boolean>;
  /**
   * Only in an act: closes the hold and charges the call. A charge of zero writes no entry.
   * @param spend as the budget's hold has it
   * @throws Error, with nothing changed, when the hold is closed or the amount is invalid.
   */
  settle(hold: Hold, charge: Charge, spend?: ChargeSpend): Settled;
  /** Closes the hold without a charge. @throws Error when it is closed already. */
  release(hold: Hold): void;
  /** The life of this process, for rows of calls that it may leave unfinished. Empty in a gateway alone. */
  readonly life: string;
  /** Whether a process with this life was retired: what its calls cost is charged to nobody. */
  isRetired(life: string): boolean;
  /**
   * Only in an act, which ends the row of the call: charges what a former process of this folder left unfinished. Nothing is held for
   * it any more, and it is charged whatever the balance. What a retired life left goes to the list of uncharged calls. A charge of zero
   * writes nothing.
   * @param life in which the call ran
   * @param spend as of `settle`; none where the life was retired
   * @returns the entry, if it has a number by now
   */
  chargeFormer(orgId: string, charge: Charge, life: string, spend?: ChargeSpend): SettleEntry | undefined;
  /** Open holds of all orgs: zero when idle. */
  open(): { readonly holds: number; readonly heldMicroUsd: number };
}

export interface PurseDeps {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly book: Book;
}

class OpenHold implements Hold {
  readonly account: Account;
  amountMicroUsd = 0;
  #isOpen = false;

  constructor(account: Account) {
    this.account = account;
  }

  get orgId(): string {
    return this.account.orgId;
  }

  /** False where less is available. */
  grow(microUsd: number): boolean {
    assertAmount(microUsd);
    if (this.account.availableMicroUsd < microUsd) return false;
    this.amountMicroUsd += microUsd;
    this.account.heldMicroUsd += microUsd;
    return true;
  }

  open(): void {
    this.#isOpen = true;
    this.account.openHolds += 1;
  }

  /** @throws Error where it is closed: settling or releasing twice is a bug of the caller. */
  checkOpen(): void {
    if (!this.#isOpen) throw new Error(`a hold of ${this.orgId} was settled or released before`);
  }

  close(): void {
    this.#isOpen = false;
    this.account.heldMicroUsd -= this.amountMicroUsd;
    this.account.openHolds -= 1;
  }

  reopen(): void {
    this.account.heldMicroUsd += this.amountMicroUsd;
    this.open();
  }
}

const reopen = (hold: OpenHold): void => hold.reopen();

/** A purse within one process: it knows all holds and charges, so it answers synchronously. */
export class LocalPurse implements Purse {
  readonly life = "";
  readonly #store: Store;
  readonly #accounts: Accounts;
  readonly #book: Book;

  constructor({ store, accounts, book }: PurseDeps) {
    this.#store = store;
    this.#accounts = accounts;
    this.#book = book;
  }

  funds(orgId: string): Funds {
    const { availableMicroUsd, heldMicroUsd } = this.#accounts.of(orgId);
    return { availableMicroUsd, heldMicroUsd };
  }

  available(orgId: string): number {
    return this.#accounts.of(orgId).availableMicroUsd;
  }

  balance(orgId: string): number {
    return this.#accounts.of(orgId).balanceMicroUsd;
  }

  askAvailable(orgId: string): number {
    return this.available(orgId);
  }

  hold(orgId: string, microUsd: number): Hold | undefined {
    const hold = new OpenHold(this.#accounts.of(orgId));
    if (!hold.grow(microUsd)) return undefined;
    hold.open();
    return hold;
  }

  extend(hold: Hold, moreMicroUsd: number): boolean {
    return asOpen(hold).grow(moreMicroUsd);
  }

  settle(hold: Hold, charge: Charge): Settled {
    const mine = asOpen(hold);
    const { amountMicroUsd } = charge;
    assertAmount(amountMicroUsd);
    const entry = amountMicroUsd === 0 ? undefined : this.#book.charge(mine.orgId, charge);
    mine.close();
    this.#store.ifDropped(reopen, mine);
    return { entry, exceeded: amountMicroUsd > mine.amountMicroUsd };
  }

  release(hold: Hold): void {
    asOpen(hold).close();
  }

  isRetired(): boolean {
    return false;
  }

  chargeFormer(orgId: string, charge: Charge): SettleEntry | undefined {
    assertAmount(charge.amountMicroUsd);
    return charge.amountMicroUsd === 0 ? undefined : this.#book.charge(orgId, charge);
  }

  open(): { holds: number; heldMicroUsd: number } {
    let holds = 0;
    let heldMicroUsd = 0;
    for (const account of this.#accounts.all()) {
      holds += account.openHolds;
      heldMicroUsd += account.heldMicroUsd;
    }
    return { holds, heldMicroUsd };
  }
}

/** @throws Error for a hold of another purse, or one that is closed. */
function asOpen(hold: Hold): OpenHold {
  if (!(hold instanceof OpenHold)) throw new Error("not a hold of this ledger");
  hold.checkOpen();
  return hold;
}
