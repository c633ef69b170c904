/** Credits: the purse holds credit before a call, the book records charges; both use the same accounts. */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import { Accounts } from "./accounts.ts";
import { type Book, openBook } from "./book.ts";
import { openLedger } from "./ledger.ts";
import { type LocalPurse, openPurse } from "./purse.ts";

export interface CreditsDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export function openCredits({ store, clock }: CreditsDeps): {
  readonly purse: LocalPurse;
  readonly book: Book;
} {
  const ledger = openLedger(store);
  const accounts = new Accounts(ledger);
  const book = openBook({ store, clock, ledger, accounts });
  return { book, purse: openPurse({ store, accounts, book }) };
}
