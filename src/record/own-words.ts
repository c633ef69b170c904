/**
 * Errors whose words are the gateway's own: figures, names of models, the org's policies and requirements. The words of all others may
 * quote the request: they are kept, and shown, as the texts of calls are.
 */
import { ERRORS, type ErrorName } from "../base/errors.ts";

const OWN_WORDS: ReadonlySet<ErrorName> = new Set([
  "rpm",
  "tpm",
  "concurrency",
  "insufficient_credits",
  "budget_exceeded",
  "plan_limit",
  "denied_by_policy",
  "no_endpoint",
  "upstream_all_out",
  "upstream_timeout",
  "upstream_invalid_response",
  "storage_unavailable",
  "shutting_down",
  "payload_too_large",
  "internal",
]);

/** Whether the words of an error quote nothing of a request. */
export const hasOwnWords = (kind: ErrorName): boolean => OWN_WORDS.has(kind);

/** {@link hasOwnWords} of a recorded error: false where a kind of this code and type may quote, and where there is no such kind. */
export function haveOwnWords(code: string, type: string): boolean {
  const kinds = ERROR_NAMES.filter((kind) => ERRORS[kind].code === code && ERRORS[kind].type === type);
  return kinds.length > 0 && kinds.every(hasOwnWords);
}

const ERROR_NAMES = Object.keys(ERRORS) as ErrorName[];
