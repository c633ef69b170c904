/** What the credits of a gateway need of other rooms, and offer them: alike for one alone and for a cell among others. */
import type { Way } from "../../analytics/clickhouse/inserted-until.ts";
import type { AnalyticsLedger } from "../../analytics/outbox/ledger.ts";
import type { Clock } from "../../base/clock.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import type { Flushed } from "../../cluster/cells/flush.ts";
import type { BudgetExceeded, SpendSpike } from "../../credits/budgets/budget.ts";
import type { CreditBounds } from "../../credits/ledger/accounts.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { CreditFall } from "../../credits/ledger/credit-events.ts";
import type { LedgerEntry } from "../../credits/ledger/entry.ts";
import type { CreditLots } from "../../credits/ledger/lots.ts";
import type { Purse } from "../../credits/ledger/purse.ts";
import type { Events } from "../../store/events/events.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";

export interface MoneyGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly cell: Cell | undefined;
  readonly events: Events;
  readonly jobs: Jobs;
}

/** Where a cell's charges are listed: a table of the analytics, which opens later than the money. */
export interface ListedCharges extends Pick<AnalyticsLedger, "entriesOf" | "holesOf"> {
  /** Only in an act: entries that reach the list soon; the same may come again. */
  put(entries: readonly (LedgerEntry & { readonly orgId: string })[]): void;
  /** Resolves true once all that this cell put is listed, false where that takes longer. */
  flush(withinMs: number): Promise<boolean>;
  /** Resolves once the entries of all cells so far are listed, or after a moment. */
  allListed(): Promise<Flushed>;
}

/** What both kinds of gateways know of credits. */
export interface Credits {
  readonly purse: Purse;
  readonly book: Book;
  readonly lots: CreditLots;
  readonly boundsChanged: (orgId: string) => void;
  /** Before the first call. */
  connect(charges: ListedCharges): void;
  /** Resolves true once the charges so far are on their way to the list; false where that takes longer. */
  flushCharges(withinMs: number): Promise<boolean>;
  /** This gateway's charges on their way to the list. */
  readonly charges: Way;
  /** No call is under way any more. */
  closeCredits(): Promise<void>;
  /** What this cell has leased of orgs' credit; nothing at a gateway alone. */
  leased(): { readonly orgs: number; readonly microUsd: number };
}

/** What is told of budgets: called in an act, the second time in a period they put nothing. */
export interface BudgetTellers {
  readonly put: (event: BudgetExceeded) => void;
  readonly putSpike: (event: SpendSpike) => void;
}

export interface CreditPorts {
  readonly bounds: CreditBounds;
  readonly onFall: (fall: CreditFall) => void;
}
