/**
 * What is struck out of a provider's words before a client, a record or a log has them: credentials of any kind, ids of the gateway's
 * accounts, and what tells of machines of the operator's: private addresses and paths of files. All else is passed on.
 */
import { withoutAccount } from "./account-refusals.ts";

/** Headers of authentication, signed tokens, and keys by the beginnings that their makers give them. */
const CREDENTIALS: readonly RegExp[] = [
  /(?<=\bauthorization["']?[:=] ?["']?(?:bearer|basic) )[\w.~+/=-]{1,2000}/gi,
  /(?<=\b(?:bearer|basic) )[\w.~+/=-]{16,2000}/gi,
  /\beyJ[\w-]{10,2000}(?:\.[\w-]{1,2000}){1,2}/g,
  /\b(?:hf_|gh[opsu]_|github_pat_|nvapi-|r8_|pplx-|fw_|tgp_|csk-|ak-)[\w-]{12,200}/g,
  /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g,
  /(?<=[?&](?:key|api[_-]?key|(?:access[_-]?)?token|sig|signature|secret|password|code|x-(?:amz|goog)-[a-z-]{1,40})=)[^&\s"'<>)\]]{1,2000}/gi,
  /(?<=\b[a-z]{2,10}:\/\/)[^\s/@"'<>]{1,200}(?=@)/gi,
];

/** xAI quotes the id of the key (UKGovernmentBEIS/inspect_ai#2267). */
const KEY_ID = /(?<=\bkey id[ :='"`(]{1,3})(?=[\w-]*\d)[A-Za-z\d][\w-]{5,63}/gi;

const PORT = "(?::\\d{1,5})?";
const OCTETS = (count: number): string => `(?:\\.\\d{1,3}){${count}}`;

/** Addresses and names that lead nowhere outside of the operator's network (RFC 1918, RFC 3927, RFC 6762, Kubernetes' services). */
const HOSTS: readonly RegExp[] = [
  new RegExp(
    `\\b(?:(?:10|127)${OCTETS(3)}|(?:192\\.168|169\\.254|172\\.(?:1[6-9]|2\\d|3[01]))${OCTETS(2)}|0\\.0\\.0\\.0)${PORT}\\b`,
    "g",
  ),
  new RegExp(
    `\\b[\\w-]{1,63}(?:\\.[\\w-]{1,63}){0,6}\\.(?:internal|local|localdomain|lan|svc)\\b${PORT}`,
    "gi",
  ),
  /\blocalhost:\d{1,5}\b/gi,
  // A name without a dot, or an address of IPv6.
  /(?<=\b[a-z]{2,10}:\/\/)(?:\[[\da-f:.]{2,45}\]|[\w-]{1,63}(?![\w.-]))(?::\d{1,5})?/gi,
];

/** Paths below folders that machines have; a JSON pointer begins with none of them. */
const PATHS: readonly RegExp[] = [
  /(?<![\w.:/-])\/(?:home|root|usr|opt|app|srv|var|tmp|mnt|workspace|models?|Users|proc|etc|dev|data)\/(?!\d{1,6}(?:[/\s]|$))[^\s"'`,;:)\]}>]{1,300}/g,
  /\bfile:\/\/[^\s"'`,;)\]}>]{1,300}/gi,
  /\b[A-Za-z]:\\(?:[\w.-]{1,100}\\)[^\s"'`,;)\]}>]{1,300}/g,
];

/** Removes all that from a provider's message. */
export function struckOut(message: string): string {
  let text = message;
  for (const credentials of CREDENTIALS) text = text.replaceAll(credentials, "[credential]");
  text = withoutAccount(text).replaceAll(KEY_ID, "[account]");
  for (const paths of PATHS) text = text.replaceAll(paths, "[path]");
  for (const hosts of HOSTS) text = text.replaceAll(hosts, "[host]");
  return text;
}
