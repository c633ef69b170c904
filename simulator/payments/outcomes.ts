/** How a payment, a debit or a refund of the simulated services may end, and what each service charges for a payment. */
import type { House, SimFailure } from "./state.ts";

export const OUTCOMES = [
  "paid",
  "authorized",
  "processing",
  "decline_hard",
  "decline_soft",
  "insufficient_funds",
  "opt_out",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** In the words of each service. */
const CODES: Readonly<Record<House, Readonly<Record<string, string>>>> = {
  stripe: {
    decline_hard: "stolen_card",
    decline_soft: "processing_error",
    insufficient_funds: "insufficient_funds",
    opt_out: "stop_payment_order",
  },
  razorpay: {
    decline_hard: "card_stolen",
    decline_soft: "gateway_technical_error",
    insufficient_funds: "insufficient_funds",
    opt_out: "debit_opted_out",
  },
  simulated: {
    decline_hard: "declined",
    decline_soft: "try_again",
    insufficient_funds: "insufficient_funds",
    opt_out: "opted_out",
  },
};

const MESSAGES: Readonly<Record<string, string>> = {
  decline_hard: "The payment was declined.",
  decline_soft: "The bank did not answer in time.",
  insufficient_funds: "There is not enough money in the account.",
  opt_out: "The payer refused this debit.",
};

/** Undefined for an outcome that is no failure. */
export function failureOf(house: House, outcome: Outcome): SimFailure | undefined {
  const message = MESSAGES[outcome];
  if (message === undefined) return undefined;
  const kind = outcome === "decline_hard" ? "hard" : outcome === "opt_out" ? "opt_out" : "soft";
  return { code: CODES[house][outcome] as string, message, kind };
}

/** Stripe: 2.9 % and 30 cents; Razorpay: 2 % and 18 % tax of that; simulated: 1 %. */
export function feeOf(house: House, amount: number): number {
  if (house === "stripe") return Math.round(amount * 0.029) + 30;
  return house === "razorpay" ? Math.round(amount * 0.0236) : Math.round(amount * 0.01);
}

/** Ids begin as those of the real service do. */
export const PREFIXES = {
  stripe: {
    checkout: "cs_test",
    payment: "pi",
    refund: "re",
    mandate: "pm",
    dispute: "dp",
    customer: "cus",
    settlement: "po",
    line: "txn",
    order: "order",
  },
  razorpay: {
    checkout: "plink",
    payment: "pay",
    refund: "rfnd",
    mandate: "token",
    dispute: "disp",
    customer: "cust",
    settlement: "setl",
    line: "line",
    order: "order",
  },
  simulated: {
    checkout: "sco",
    payment: "spy",
    refund: "srf",
    mandate: "smd",
    dispute: "sdp",
    customer: "scu",
    settlement: "sst",
    line: "sln",
    order: "sor",
  },
} as const satisfies Readonly<Record<House, Readonly<Record<string, string>>>>;
