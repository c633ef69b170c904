/** Credits: the purse holds credit before a call, the book records charges; both use the same accounts. */
import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { Accounts, type CreditBounds } from "./accounts.ts";
import { LedgerBook, type LocalBook } from "./book.ts";
import type { CreditFall } from "./credit-events.ts";
import { openLedger } from "./ledger.ts";
import { CreditLots } from "./lots.ts";
import { LocalPurse } from "./purse.ts";

export interface CreditsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Port: read once for each org, and again after `boundsChanged`. */
  readonly bounds?: Partial<CreditBounds>;
  /** See `BookDeps`. */
  readonly onFall?: (fall: CreditFall) => void;
}

const NO_BOUNDS: CreditBounds = { lowCredit: () => undefined, watchedBelow: () => undefined };

export function openCredits({ store, clock, bounds, onFall = () => {} }: CreditsDeps): {
  readonly purse: LocalPurse;
  readonly book: LocalBook;
  readonly lots: CreditLots;
  /** What bounds the org's credit may have changed, committed. */
  readonly boundsChanged: (orgId: string) => void;
} {
  const ledger = openLedger(store);
  const balanceOf = (orgId: string) => ledger.newest(orgId)?.balanceMicroUsd ?? 0;
  const lots = new CreditLots({ store, ledger, balanceOf });
  const accounts = new Accounts({ ledger, lots, bounds: { ...NO_BOUNDS, ...bounds } });
  const remember = (orgId: string) => lots.remember(orgId);
  const book = new LedgerBook({ store, clock, ledger, accounts, remember, onFall });
  return {
    book,
    purse: new LocalPurse({ store, accounts, book }),
    lots,
    boundsChanged: (orgId) => accounts.boundsChanged(orgId),
  };
}
