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
}

/** Port: what the ledger and the budgets know now. It may reject while Redis does not answer. */
export type CreditReader = (orgId: string) => MaybePromise<CreditNow>;
