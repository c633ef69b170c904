/**
 * Why a payment by Stripe failed, and whether trying again can help: by the advice of the card's issuer where there is one,
 * else by the code (docs.stripe.com/declines/codes). Codes that are not listed may pass: three such failures stop a mandate.
 */
import type Stripe from "stripe";
import type { Failure } from "../gateway.ts";

/** Card, account or mandate is gone, or the payer must act, which nobody can off session. */
const HARD = new Set([
  "lost_card",
  "stolen_card",
  "expired_card",
  "pickup_card",
  "restricted_card",
  "invalid_account",
  "card_not_supported",
  "currency_not_supported",
  "do_not_try_again",
  "security_violation",
  "fraudulent",
  "incorrect_number",
  "invalid_number",
  "new_account_information_available",
  "merchant_blacklist",
  "revocation_of_all_authorizations",
  "revocation_of_authorization",
  "authentication_required",
  "authentication_not_handled",
  "transaction_not_allowed",
  "not_permitted",
  "service_not_allowed",

  "no_account",
  "account_closed",
  "bank_account_restricted",
  "bank_account_unusable",
  "debit_not_authorized",
  "bank_account_declined",
  "payment_method_provider_decline",
  "payment_intent_mandate_invalid",
]);
/** The payer told the bank to stop this one. */
const OPT_OUT = new Set(["stop_payment_order"]);

interface StripeFailure {
  readonly code?: string | null | undefined;
  readonly decline_code?: string | null | undefined;
  readonly advice_code?: string | null | undefined;
  readonly message?: string | null | undefined;
}

export function failureOfError(error: StripeFailure): Failure {
  const code = error.decline_code ?? error.code ?? "unknown";
  return { code, message: error.message ?? "", kind: kindOf(code, error.advice_code ?? "") };
}

function kindOf(code: string, advice: string): Failure["kind"] {
  if (OPT_OUT.has(code)) return "opt_out";
  if (advice === "do_not_try_again") return "hard";
  if (advice === "try_again_later") return "soft";
  return HARD.has(code) ? "hard" : "soft";
}

/** The failure of a payment that was cancelled before money was authorized. */
export const CANCELLED: Failure = { code: "canceled", message: "The payment was cancelled.", kind: "soft" };

export const failureOfIntent = ({ last_payment_error: error }: Stripe.PaymentIntent): Failure | null =>
  error ? failureOfError(error) : null;
