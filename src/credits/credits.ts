/** Credits: the purse holds credit before a call, the book records charges; both use the same accounts. */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import { Accounts, type LowCredit } from "./accounts.ts";
import { type Book, openBook } from "./book.ts";
import type { CreditFall } from "./credit-events.ts";
import { openLedger } from "./ledger.ts";
import { CreditLots } from "./lots.ts";
import { type LocalPurse, openPurse } from "./purse.ts";

export interface CreditsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Port: at which balances orgs are told; read once for each org, and again after `orgChanged`. */
  readonly lowCredit?: LowCredit;
  /** Port, called in the act of an entry that took a balance below a bound; must not throw. */
  readonly onFall?: (fall: CreditFall) => void;
}

export function openCredits({ store, clock, lowCredit = () => undefined, onFall = () => {} }: CreditsDeps): {
  readonly purse: LocalPurse;
  readonly book: Book;
  readonly lots: CreditLots;
  /** The org's settings have changed, committed. */
  readonly orgChanged: (orgId: string) => void;
} {
  const ledger = openLedger(store);
  const accounts = new Accounts(ledger, lowCredit);
  const lots = new CreditLots({ store, ledger });
  const remember = (orgId: string) => lots.remember(orgId);
  const book = openBook({ store, clock, ledger, accounts, remember, onFall });
  return {
    book,
    purse: openPurse({ store, accounts, book }),
    lots,
    orgChanged: (orgId) => accounts.orgChanged(orgId),
  };
}
