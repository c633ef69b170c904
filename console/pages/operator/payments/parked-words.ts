/** Why a payment was not credited, and what to do about it. Pure. */
import type { Operations } from "../../../api/operations.ts";

export type ParkedPayment = Operations["operatorListPayments"]["answer"]["data"][number];

export const REASONS: Readonly<Record<ParkedPayment["reason"], readonly [what: string, next: string]>> = {
  amount_differs: [
    "Another amount than was asked for",
    "Compare it with the payment gateway: refund it there, or grant the credit.",
  ],
  currency_differs: [
    "Another currency than was asked for",
    "Refund it at the payment gateway, and ask the customer to pay again.",
  ],
  paid_twice: ["Paid twice", "Refund one of the payments at the payment gateway, or grant the credit."],
  unknown_payment: [
    "Belongs to no top-up",
    "Find out whose it is at the payment gateway: refund it there, or record it as a payment of theirs.",
  ],
  refund_does_not_fit: [
    "A refund that fits no top-up",
    "It was made outside of this gateway: adjust the credit of the organisation, if it has some for it.",
  ],
  refund_failed_late: [
    "A refund failed after it was settled",
    "The money did not go back: pay it back in another way, or give the credit back.",
  ],
  fraud_warning: [
    "Warning of fraud",
    "Look at the payment at the payment gateway before its credit is spent.",
  ],
  reconciliation: ["The books of a day do not match", "Read the finding under Reconciliation."],
};
