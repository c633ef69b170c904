/** Why a payment by Razorpay failed, and whether trying again can help. Reasons that are not listed may pass. */
import type { Failure } from "../gateway.ts";

/** Card, account or mandate is gone or takes no such debit. */
const HARD = new Set([
  "card_stolen",
  "card_lost",
  "card_expired",
  "card_not_supported",
  "invalid_card_number",
  "card_blocked",
  "account_closed",
  "account_blocked",
  "account_frozen",
  "bank_account_invalid",
  "account_dormant",
  "mandate_cancelled",
  "mandate_expired",
  "mandate_not_active",
  "mandate_amount_exceeded",

  "token_cancelled",
  "token_expired",
  "token_not_found",
  "recurring_not_supported",
  "payment_risk_check_failed",
]);
/** The payer stopped this one after the notice before it. */
const OPT_OUT = new Set(["debit_opted_out", "payment_cancelled", "customer_cancelled"]);

type Word = string | null | undefined;

/** @param isRefusal the request was refused: the same one would be again */
export function failureOf(reason: Word, code: Word, message: Word, isRefusal = false): Failure {
  const word = reason || code || "unknown";
  const kind = OPT_OUT.has(word) ? "opt_out" : HARD.has(word) || isRefusal ? "hard" : "soft";
  return { code: word, message: message ?? "", kind };
}
