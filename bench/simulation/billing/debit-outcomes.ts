/** How a debit begins at the payer's bank, by method. */
import type { Outcome } from "../../../simulator/payments/outcomes.ts";
import type { SimPayment } from "../../../simulator/payments/state.ts";
import type { Dice } from "./dice.ts";

const AT_ONCE: Readonly<Record<string, Readonly<Partial<Record<Outcome, number>>>>> = {
  upi: { paid: 52, processing: 16, decline_soft: 14, insufficient_funds: 8, decline_hard: 4, opt_out: 6 },
  emandate: { paid: 20, processing: 62, decline_soft: 4, insufficient_funds: 8, decline_hard: 3, opt_out: 3 },
  ach_debit: { paid: 5, processing: 87, decline_hard: 5, insufficient_funds: 3 },
};
const BY_CARD = {
  paid: 74,
  processing: 2,
  decline_soft: 8,
  insufficient_funds: 10,
  decline_hard: 4,
  opt_out: 2,
};

/** How a debit begins, once it is confirmed. */
export const outcomeOf = (dice: Dice, { method }: SimPayment): Outcome =>
  dice.weighted((AT_ONCE[method] ?? BY_CARD) as Record<Outcome, number>);
