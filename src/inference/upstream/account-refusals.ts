/**
 * Classifies refusals that look like "too many calls" but are not: a request too large for the account's tier, which
 * waiting does not help, or an account without funds. Recognised by codes where providers give some, otherwise by their
 * documented messages.
 */
import type { UpstreamError } from "../../wire/neutral/contract.ts";
import { refusalOf } from "./refusals/table.ts";

/**
 * `request`: this request is too large for the account's tier, others are served. `account`: it has no funds, or they
 * are used up.
 */
export type AccountRefusal = "request" | "account";

/** @returns undefined where the refusal is of another kind, or is none of the table's */
export function accountRefusal(status: number, upstream: UpstreamError): AccountRefusal | undefined {
  switch (refusalOf(status, upstream)?.meaning) {
    case "tier":
      return "request";
    case "quota":
      return "account";
    default:
      return undefined;
  }
}

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
