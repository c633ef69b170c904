/**
 * The book of a cell among several. What is posted is in rows that all cells have, under numbers that the dataset gives out; an act that
 * posts is refused and runs again where the org's ledger went on meanwhile. Charges are numbered in batches and listed elsewhere.
 */
import type { Clock } from "../../../base/clock.ts";
import type { MaybePromise } from "../../../base/maybe-promise.ts";
import type { Balance, Book } from "../../../credits/ledger/book.ts";
import { type CreditFall, type FallBounds, fallOf } from "../../../credits/ledger/credit-events.ts";
import type { PostedEntry, SettleEntry } from "../../../credits/ledger/entry.ts";
import type { Ledger, LedgerPage } from "../../../credits/ledger/ledger.ts";
import type { CreditLots } from "../../../credits/ledger/lots.ts";
import { checkPosting, earlierPosting, type Posted, type Posting } from "../../../credits/ledger/posting.ts";
import type { LedgerList } from "../../../credits/ledger/shown-list.ts";
import type { ActCredit } from "../replica/act-credit.ts";
import type { CreditView } from "./credit-view.ts";
import { SharedList, type SharedListDeps } from "./shared-list.ts";

export interface SharedBookDeps extends Omit<SharedListDeps, "posted" | "view"> {
  readonly clock: Clock;
  /** The ledger of postings only: rows that all cells have. */
  readonly posted: Ledger;
  readonly lots: CreditLots;
  readonly view: CreditView;
  readonly inAct: () => ActCredit | undefined;
  readonly boundsOf: (orgId: string) => FallBounds;
  /** Called in the act of the entry; must not throw. */
  readonly onFall: (fall: CreditFall) => void;
  /** Called in the act of an entry: what follows from it. */
  readonly onPosted: (orgId: string, entry: PostedEntry) => void;
  /** Resolves once the charges of all cells so far have numbers, or after a moment. */
  readonly allCharged: () => Promise<void>;
}

export class SharedBook implements Book {
  readonly #deps: SharedBookDeps;
  readonly #list: SharedList;

  constructor(deps: SharedBookDeps) {
    this.#deps = deps;
    this.#list = new SharedList(deps);
  }

  balance(orgId: string): Balance {
    const { balanceMicroUsd } = this.#deps.view.of(orgId);
    return { balanceMicroUsd, grantedMicroUsd: this.#deps.lots.grantedMicroUsd(orgId) };
  }

  balanceOnce(orgId: string): number {
    return this.#deps.view.of(orgId).balanceMicroUsd;
  }

  /** Calls are charged by the purse, which sends their charges in batches. */
  charge(): SettleEntry {
    throw new Error("a cell's charges are numbered later");
  }

  post(orgId: string, posting: Posting): Posted {
    checkPosting(posting);
    const { clock, posted, lots, inAct, onPosted } = this.#deps;
    const { kind, amountMicroUsd, refType, refId, mayOverdraw = false } = posting;
    const earlier = posted.byReference(orgId, refType, refId);
    if (earlier !== undefined) return earlierPosting(earlier, posting);
    const credit = inAct();
    if (credit === undefined) throw new Error("a posting was made outside an act");
    const { seq, balanceMicroUsd: before, heldMicroUsd } = credit.of(orgId);
    const availableMicroUsd = before - heldMicroUsd;
    if (amountMicroUsd < 0 && availableMicroUsd < -amountMicroUsd && !mayOverdraw)
      return { outcome: "insufficient_credits", availableMicroUsd };
    const balanceMicroUsd = before + amountMicroUsd;
    if (!Number.isSafeInteger(balanceMicroUsd)) throw new Error("balance out of range");
    lots.remember(orgId);
    credit.post(orgId, amountMicroUsd, mayOverdraw);
    const base = { seq: seq + 1, amountMicroUsd, balanceMicroUsd, createdAtMs: clock.now() };
    const entry: PostedEntry = { ...base, kind, refType, refId };
    posted.put(orgId, entry);
    onPosted(orgId, entry);
    const fall = fallOf({ orgId, balanceMicroUsd }, before, this.#deps.boundsOf(orgId));
    if (fall !== undefined) this.#deps.onFall(fall);
    return { outcome: "posted", entry, replay: false };
  }

  byReference(orgId: string, refType: string, refId: string): PostedEntry | undefined {
    return this.#deps.posted.byReference(orgId, refType, refId);
  }

  /** @throws WeirError 503, as a rejection, where the charges cannot be read */
  list(orgId: string, page: LedgerPage): MaybePromise<LedgerList> {
    const { kind } = page;
    // Each cell has all entries of these kinds, and no entry of them stands for several.
    if (kind !== undefined && kind !== "settle" && kind !== "adjustment")
      return { entries: this.#deps.posted.page(orgId, page), missingSinceMs: undefined };
    return this.#list.page(orgId, page);
  }

  async fresh(orgIds: readonly string[]): Promise<void> {
    await this.#deps.view.fresh(orgIds);
  }

  charged(): Promise<void> {
    return this.#deps.allCharged();
  }
}
