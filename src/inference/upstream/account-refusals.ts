/**
 * Classifies refusals that look like "too many calls" but are not: a request too large for the account's tier, which
 * waiting does not help, or an account without funds. Recognised by codes where providers give some, otherwise by their
 * documented messages.
 */
import type { UpstreamError } from "../../wire/neutral/contract.ts";

/**
 * `request`: this request is too large for the account's tier, others are served. `account`: it has no funds, or they
 * are used up.
 */
export type AccountRefusal = "request" | "account";

/** OpenAI, Moonshot, Perplexity and compatible providers. Sources: their lists of error codes. */
const NO_FUNDS: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "exceeded_current_quota_error",
  "billing_hard_limit_reached",
  "billing_not_active",
  "insufficient_balance",
]);

/**
 * Anchored, because a message may continue with the caller's text. Anthropic sends the first with 400, xAI the second
 * with 429.
 */
const NO_FUNDS_WORDS =
  /^your (credit balance is too low|team \S{1,64} has either used all available credits)/i;

/** OpenAI and Groq (429, 413): "Request too large for …"; Anthropic (429): long prompts need another tier. */
const TOO_LARGE_WORDS = /^(request too large for|extra usage is required for long context)/i;

/** OpenAI, Groq: "… (TPM): Limit 30000, Requested 36278". If some of the limit is used, "Used" comes between the two. */
const NUMBERS = /\blimit:? ([\d,]{1,15}),? (?:used:? [\d,]{1,15},? )?requested:? ([\d,]{1,15})/i;

export function accountRefusal(
  status: number,
  { code, type, message }: UpstreamError,
): AccountRefusal | undefined {
  if (NO_FUNDS.has(code) || NO_FUNDS.has(type) || NO_FUNDS_WORDS.test(message)) return "account";
  const isOfLimits = status === 429 || (status === 413 && code === "rate_limit_exceeded");
  if (!isOfLimits) return undefined;
  if (TOO_LARGE_WORDS.test(message) || code === "request_too_large") return "request";
  const [, limit = "", requested = ""] = NUMBERS.exec(message) ?? [];
  return requested !== "" && numberOf(requested) > numberOf(limit) ? "request" : undefined;
}

const numberOf = (digits: string): number => Number(digits.replaceAll(",", ""));

/**
 * Ids of the gateway's own accounts, as providers quote them: in a provider's own form, or behind the word for their
 * kind. Words of lower-case letters only ("user_messages") are not ids unless they are as long as ids.
 */
const ACCOUNT_IDS: readonly RegExp[] = [
  /\b[\w.-]{1,64}@[\w-]{1,64}\.(?:iam|developer)\.gserviceaccount\.com\b/g,
  /\b(?:org|proj|user|acct|team)[-_](?=[a-z]{0,24}[A-Z\d]|[a-z]{20})[A-Za-z0-9]{8,}/g,
  /\barn:aws[a-z-]{0,16}:[^\s"'`]{1,256}/g,
  /\bprojects\/[a-z0-9-]{1,64}/g,
  /\b(?<=(?:organi[sz]ation|org|team|project|account|workspace|tenant|subscription|project_number|consumer)s?(?:[ _-]?id| number)?[ :='"`(]{1,3})(?=[\w-]*\d)[A-Za-z0-9][\w-]{5,63}/gi,
];
/** Keys as providers mask them (`sk-abc***xyz`), or in full. Two asterisks at the end of a word are Markdown. */
const KEYS =
  /\b(?:sk|pk|gsk|xai|key|AIza)[-_]?[A-Za-z0-9_-]{0,64}(?:\*{3}|\*{2}\w)[\w*-]{0,64}|\b(?:sk-|gsk_|xai-|AIza)[A-Za-z0-9_-]{16,}/g;

/** Removes the ids of the gateway's account from a provider's message. */
export function withoutAccount(message: string): string {
  let text = message.replaceAll(KEYS, "[credential]");
  for (const ids of ACCOUNT_IDS) text = text.replaceAll(ids, "[account]");
  return text;
}
