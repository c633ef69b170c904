/**
 * Credits: what an org has, what is held of it for calls under way, and the one way to change either.
 * Always true: balance = sum of the ledger; seq has no gaps; held = sum of the open holds; and available never falls
 * below zero, unless an upstream reported more than was held. How each is kept, also over a crash: docs/money.md.
 */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import { Account, asOpen, checkAmount, type Hold } from "./account.ts";
import type { LedgerEntry, PostedEntry, SettleEntry } from "./entry.ts";
import { type Ledger, type LedgerPage, openLedger } from "./ledger.ts";
import { checkPosting, type Posted, type Posting } from "./posting.ts";

export interface Balance {
  /** balance − held: what a new call may still use. */
  readonly availableMicroUsd: number;
  readonly heldMicroUsd: number;
  readonly balanceMicroUsd: number;
  /** Sum of all `grant` entries ever posted. */
  readonly grantedMicroUsd: number;
}

export interface Settlement {
  readonly requestId: string;
  /** The exact cost, zero or more. */
  readonly amountMicroUsd: number;
  readonly atMs: number;
  /** Further puts of the same transaction (outbox row, budget counters). Pure but for its puts: it may run twice. */
  readonly also?: (() => void) | undefined;
}

/** `exceeded`: the cost was more than was held, and was charged all the same. */
export type Settled = SettleEntry & { readonly exceeded: boolean };

export interface Credits {
  balance(orgId: string): Balance;
  /** Sets `microUsd` aside, or undefined where less is available. */
  hold(orgId: string, microUsd: number): Hold | undefined;
  /** Grows an open hold; false (and nothing changed) where less is available. */
  extend(hold: Hold, moreMicroUsd: number): boolean;
  /**
   * Closes the hold and charges the call: ledger entry and `also` in one commit. Balance and seq change at the
   * call; the promise resolves once committed. A cost of zero writes no entry (undefined) but still runs `also`.
   * @throws Error, at the call and with nothing changed, when the hold is closed or the amount is none.
   */
  settle(hold: Hold, settlement: Settlement): Promise<Settled | undefined>;
  /** Closes the hold and charges nothing. @throws Error when it is closed already. */
  release(hold: Hold): void;
  /**
   * Top-ups, refunds, grants, expiries, adjustments. Resolves once committed, replays included.
   * @throws Error for an amount of the wrong sign or a reference that cannot be a key.
   */
  post(orgId: string, posting: Posting): Promise<Posted>;
  /** Committed entries, newest first. */
  entries(orgId: string, page: LedgerPage): LedgerEntry[];
  /** Holds now open over all orgs: zero at idle. */
  open(): { readonly holds: number; readonly heldMicroUsd: number };
}

/** A posting between call and commit: LMDB does not show it yet. */
interface Queued {
  readonly entry: PostedEntry;
  readonly committed: Promise<void>;
}

export interface CreditsDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export const openCredits = (deps: CreditsDeps): Credits => new LedgerCredits(deps);

class LedgerCredits implements Credits {
  #store: Store;
  #clock: Clock;
  #ledger: Ledger;
  #accounts = new Map<string, Account>();
  #queuedPostings = new Map<string, Queued>();

  constructor({ store, clock }: CreditsDeps) {
    this.#store = store;
    this.#clock = clock;
    this.#ledger = openLedger(store);
  }

  balance(orgId: string): Balance {
    const { availableMicroUsd, heldMicroUsd, balanceMicroUsd, grantedMicroUsd } = this.#account(orgId);
    return { availableMicroUsd, heldMicroUsd, balanceMicroUsd, grantedMicroUsd };
  }

  hold(orgId: string, microUsd: number): Hold | undefined {
    return this.#account(orgId).hold(microUsd);
  }

  extend(hold: Hold, moreMicroUsd: number): boolean {
    const mine = asOpen(hold);
    return mine.account.extend(mine, moreMicroUsd);
  }

  release(hold: Hold): void {
    const mine = asOpen(hold);
    mine.account.close(mine);
  }

  settle(hold: Hold, { requestId, amountMicroUsd, atMs, also }: Settlement): Promise<Settled | undefined> {
    const mine = asOpen(hold);
    checkAmount(amountMicroUsd);
    const { account } = mine;
    if (amountMicroUsd === 0) {
      account.close(mine);
      return also === undefined
        ? Promise.resolve(undefined)
        : this.#store.act(also, { isOwed: true }).then(() => undefined);
    }
    const { seq, balanceMicroUsd } = account.advance(-amountMicroUsd, atMs);
    account.close(mine);
    const entry: Settled = {
      kind: "settle",
      seq,
      amountMicroUsd: -amountMicroUsd,
      balanceMicroUsd,
      createdAtMs: atMs,
      requestId,
      exceeded: amountMicroUsd > mine.amountMicroUsd,
    };
    return this.#append(account.orgId, entry, also).then(() => entry);
  }

  async post(orgId: string, posting: Posting): Promise<Posted> {
    checkPosting(posting);
    const { kind, amountMicroUsd, refType, refId, also } = posting;
    const account = this.#account(orgId);
    const reference = `${orgId}\0${refType}\0${refId}`;
    const queued = this.#queuedPostings.get(reference);
    const earlier = queued?.entry ?? this.#ledger.byReference(orgId, refType, refId);
    if (earlier !== undefined) {
      await queued?.committed;
      const same = earlier.kind === kind && earlier.amountMicroUsd === amountMicroUsd;
      return same
        ? { outcome: "posted", entry: earlier, replay: true }
        : { outcome: "reference_conflict", earlier };
    }
    const { availableMicroUsd } = account;
    if (amountMicroUsd < 0 && availableMicroUsd < -amountMicroUsd) {
      return { outcome: "insufficient_credits", availableMicroUsd };
    }
    // From the look-up to here nothing waits: of two posts at once, the second finds the first in the queue.
    const entry: PostedEntry = {
      ...account.advance(amountMicroUsd, this.#clock.now()),
      kind,
      refType,
      refId,
    };
    if (kind === "grant") account.grantedMicroUsd += amountMicroUsd;
    const committed = this.#append(orgId, entry, also);
    this.#queuedPostings.set(reference, { entry, committed });
    await committed;
    this.#queuedPostings.delete(reference);
    return { outcome: "posted", entry, replay: false };
  }

  entries(orgId: string, page: LedgerPage): LedgerEntry[] {
    return this.#ledger.page(orgId, page);
  }

  open(): { holds: number; heldMicroUsd: number } {
    let holds = 0;
    let heldMicroUsd = 0;
    for (const account of this.#accounts.values()) {
      holds += account.openHolds;
      heldMicroUsd += account.heldMicroUsd;
    }
    return { holds, heldMicroUsd };
  }

  #account(orgId: string): Account {
    const known = this.#accounts.get(orgId);
    if (known !== undefined) return known;
    // Nothing of this org can be queued yet (every write goes through its account), so LMDB shows its newest entry.
    const newest = this.#ledger.newest(orgId);
    const granted = this.#ledger.sumOf(orgId, "grant");
    const account = new Account(orgId, newest?.balanceMicroUsd ?? 0, granted, newest?.seq ?? 0);
    this.#accounts.set(orgId, account);
    return account;
  }

  /** The one queue of every entry.  */
  #append(orgId: string, entry: LedgerEntry, also: (() => void) | undefined): Promise<void> {
    const act = () => {
      this.#ledger.put(orgId, entry);
      also?.();
    };
    return this.#store.act(act, { isOwed: true });
  }
}
