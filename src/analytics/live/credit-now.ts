/** An org's credit as a stream shows it, and the port that tells it. */
import type { MaybePromise } from "../../base/maybe-promise.ts";

/** An org's credit at one moment, micro-USD. */
export interface CreditNow {
  /** What can be spent: the balance less what is held. */
  readonly availableMicroUsd: number;
  readonly heldMicroUsd: number;
  /** Charged in the current day and month of the org's time zone. */
  readonly todayMicroUsd: number;
  readonly monthMicroUsd: number;
  /** All credit ever granted without payment. */
  readonly grantedMicroUsd: number;
  /** The available credit in the org's currency: a decimal number, rounded down. */
  readonly displayAmount: string;
  readonly currency: "USD" | "INR";
  /** Units of the currency for 1 USD of credit, the spread included; 1 in USD. */
  readonly fxRate: string;
  readonly midRate: string;
  readonly spreadBps: number;
  /** Day of the rate; empty in USD. */
  readonly fxDay: string;
}

/** Port: what the ledger and the budgets know now. It may reject while Redis does not answer. */
export type CreditReader = (orgId: string) => MaybePromise<CreditNow>;
