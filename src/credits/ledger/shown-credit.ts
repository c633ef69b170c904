/** What is shown of an org's credit, by `GET /v1/credits` and by the stream of what happens. */
import { decimalText } from "../../base/currency.ts";
import type { Book } from "./book.ts";
import type { Purse } from "./purse.ts";

/** Rates with eight fractional digits, by which credit is sold at this moment. */
export interface OrgMoney {
  readonly currency: "USD" | "INR";
  /** Units of the currency for 1 USD of credit, the spread included; 1 in USD. */
  readonly fxRate: string;
  readonly midRate: string;
  readonly spreadBps: number;
  /** Day of the rate; empty in USD. */
  readonly fxDay: string;
}

export interface ShownCredit extends OrgMoney {
  readonly availableMicroUsd: number;
  readonly heldMicroUsd: number;
  readonly grantedMicroUsd: number;
  /** The available credit in the org's currency: a decimal number, rounded down. */
  readonly displayAmount: string;
}

export interface ShownCreditDeps {
  readonly book: Pick<Book, "balance">;
  readonly purse: Pick<Purse, "funds">;
  /** Port: the currency in which an org's credit is shown, and the rate that a quote has now. */
  readonly orgMoney: (orgId: string) => OrgMoney;
}

/** After `book.fresh`. */
export function shownCredit({ book, purse, orgMoney }: ShownCreditDeps, orgId: string): ShownCredit {
  const { availableMicroUsd, heldMicroUsd } = purse.funds(orgId);
  const money = orgMoney(orgId);
  return {
    ...money,
    availableMicroUsd,
    heldMicroUsd,
    grantedMicroUsd: book.balance(orgId).grantedMicroUsd,
    displayAmount: displayAmount(availableMicroUsd, money.fxRate),
  };
}

/**
 * Micro-USD in the org's currency with two digits: the greatest amount that buys no more credit than this, so that what was paid
 * is shown as it was paid. A sale rounds down to a micro-USD; rounding down here too would lose a paisa.
 */
function displayAmount(microUsd: number, rate: string): string {
  const scale = 10n ** 12n; // micro (6 digits) × rate (8 digits) ÷ hundredths (2 digits)
  const beyond = (BigInt(microUsd) + 1n) * BigInt(rate.replace(".", "")) - 1n;
  return decimalText(beyond / scale - (beyond % scale < 0n ? 1n : 0n));
}
