/**
 * The book of a cell among several. What is posted is in rows that all cells have, under numbers that the dataset gives out; an act that
 * posts is refused and runs again where the org's ledger went on meanwhile. Charges are numbered in batches and listed elsewhere.
 */
import type { Clock } from "../../clock.ts";
import type { Balance, Book } from "../../credits/book.ts";
import { type CreditFall, type FallBounds, fallOf } from "../../credits/credit-events.ts";
import type { LedgerEntry, PostedEntry, SettleEntry } from "../../credits/entry.ts";
import type { Ledger, LedgerPage } from "../../credits/ledger.ts";
import type { CreditLots } from "../../credits/lots.ts";
import { checkPosting, earlierPosting, type Posted, type Posting } from "../../credits/posting.ts";
import { fail } from "../../errors.ts";
import type { MaybePromise } from "../../maybe-promise.ts";
import type { ActCredit } from "../act-credit.ts";
import type { CreditView } from "./credit-view.ts";

/** Charges of one org, of all cells, newest first, below a number. */
export type ReadCharges = (
  orgId: string,
  page: Pick<LedgerPage, "before" | "limit">,
) => Promise<readonly LedgerEntry[]>;

export interface SharedBookDeps {
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
  readonly charges: ReadCharges;
  /** False while charges of before there were cells may be missing: they are being copied. */
  readonly isFormerListed: () => boolean;
  /** Resolves once the charges of all cells so far have numbers and are listed, or after a moment. */
  readonly allListed: () => Promise<void>;
  /** Resolves once the charges of all cells so far have numbers, or after a moment. */
  readonly allCharged: () => Promise<void>;
}

/** Charges that are not listed yet are looked for once more after this. */
const AGAIN_MS = 50;
const AGAIN_TIMES = 20;
/** The same while many may be missing. */
const AGAIN_TIMES_COPYING = 2;
const COPYING_RETRY_MS = 5000;

export class SharedBook implements Book {
  readonly #deps: SharedBookDeps;

  constructor(deps: SharedBookDeps) {
    this.#deps = deps;
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

  /**
   * Charges of the last moments may be missing, but none below one that is listed.
   * @throws WeirError 503, as a rejection, where the charges cannot be read, one of a later page is not listed yet, or those of before
   *   there were cells are still being copied
   */
  entries(orgId: string, page: LedgerPage): MaybePromise<LedgerEntry[]> {
    const { kind } = page;
    if (kind !== undefined && kind !== "settle") return this.#deps.posted.page(orgId, page);
    return this.#withCharges(orgId, page);
  }

  async fresh(orgIds: readonly string[]): Promise<void> {
    await this.#deps.view.fresh(orgIds);
  }

  charged(): Promise<void> {
    return this.#deps.allCharged();
  }

  async #withCharges(orgId: string, { before, limit, kind }: LedgerPage): Promise<LedgerEntry[]> {
    const { posted, charges, view, allListed, isFormerListed } = this.#deps;
    // Charges get their numbers by it: a number that was asked for earlier would be below those of the last moments.
    if (before === undefined) await allListed();
    const funds = (await view.fresh([orgId])).get(orgId);
    let from = Math.min(before ?? Number.MAX_SAFE_INTEGER, (funds?.seq ?? 0) + 1);
    for (let times = 1; from > 1; times++) {
      // Before the look: what is copied after it may be missing in what was found.
      const isWhole = isFormerListed();
      const settled = await charges(orgId, { before: from, limit });
      const others = posted.page(orgId, { before: from, limit });
      const all = [...settled, ...others].sort((one, other) => other.seq - one.seq).slice(0, limit);
      const gap = lastGap(all, from, limit);
      if (gap === undefined) return kind === undefined ? all : ofCharges(settled, limit);
      if (times < (isWhole ? AGAIN_TIMES : AGAIN_TIMES_COPYING))
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      else if (!isWhole)
        throw fail("analytics_unavailable", "Older entries of this ledger are still being copied.", {
          retryAfterMs: COPYING_RETRY_MS,
        });
      else if (before !== undefined)
        throw fail("analytics_unavailable", "Entries of this page are not listed yet.", {
          retryAfterMs: 1000,
        });
      else from = gap;
      await allListed();
    }
    return [];
  }
}

/** Charges alone are listed without a look at what is between them, which may be postings. */
const ofCharges = (settled: readonly LedgerEntry[], limit: number): LedgerEntry[] => settled.slice(0, limit);

/**
 * Number of the oldest entry that is missing below `from`; undefined where the entries follow each other down to the end of the page.
 * @param entries newest first
 */
function lastGap(entries: readonly LedgerEntry[], from: number, limit: number): number | undefined {
  let gap: number | undefined;
  let next = from - 1;
  for (const { seq } of entries) {
    if (seq !== next) gap = seq + 1;
    next = seq - 1;
  }
  return entries.length < limit && next > 0 ? 1 : gap;
}
