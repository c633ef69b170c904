/** What a call's record keeps of the error that its client was told: the words and what they say as data, both bounded. */
import type { WeirError } from "../../../base/errors.ts";
import { hasOwnWords } from "../../../record/own-words.ts";
import type { RecordedError } from "../../../record/record.ts";
import type { ClientFormat } from "../../../wire/format.ts";

/** Characters of the message, and of `param`. */
const MAX_WORDS = 1000;
/** Characters of the JSON of `errorDetails`, without what stands in every one. */
const MAX_DETAILS = 8000;
/** Where details are longer, what is left of each list and text in them. */
const SHORT_LIST = 20;
const SHORT_TEXT = 200;
const DEEPEST = 4;

const NOTHING: RecordedError = Object.freeze({ errorMessage: "", errorDetails: "" });

/**
 * @param format of the client, which may have words of its own
 * @param keepsText whether texts of the org's calls are kept; if not, words that may quote the request are left out
 */
export function recordedError(
  error: WeirError | undefined,
  { errorWords }: Pick<ClientFormat, "errorWords">,
  keepsText: boolean,
): RecordedError {
  if (error === undefined) return NOTHING;
  const { kind, message, type, status, param, retryAfterMs, details } = error;
  const always = { type, status, ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }) };
  if (!keepsText && !hasOwnWords(kind)) return { errorMessage: "", errorDetails: JSON.stringify(always) };
  return {
    errorMessage: cutAt(errorWords?.(error) ?? message, MAX_WORDS),
    errorDetails: JSON.stringify({
      ...always,
      ...(param !== undefined && { param: cutAt(param, MAX_WORDS) }),
      ...(details !== undefined && keptDetails(details)),
    }),
  };
}

function keptDetails(details: object): { readonly details?: unknown; readonly details_cut?: true } {
  if (JSON.stringify(details).length <= MAX_DETAILS) return { details };
  const short = shortened(details, DEEPEST);
  return JSON.stringify(short).length <= MAX_DETAILS
    ? { details: short, details_cut: true }
    : { details_cut: true };
}

function shortened(value: unknown, deep: number): unknown {
  if (typeof value === "string") return cutAt(value, SHORT_TEXT);
  if (typeof value !== "object" || value === null) return value;
  if (deep === 0) return null;
  if (Array.isArray(value)) return value.slice(0, SHORT_LIST).map((one) => shortened(one, deep - 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, deep - 1)]));
}

/** The text, with a mark where it was cut, and half of no character. */
const cutAt = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : text;
