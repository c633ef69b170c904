/**
 * What a call that failed means for whoever made it: whether something may have happened, and whether asking again helps.
 * Texts of payment services are shown to operators, cut, without what looks like a key or the number of a card.
 */
import { type Failure, GatewayError, type GatewayId, type Payment } from "./gateway.ts";

/** No call takes longer, unless a test says so. */
export const CALL_TIMEOUT_MS = 10_000;
const MAX_MESSAGE = 300;
const MAX_RETRY_AFTER_S = 3600;

export interface FailedAnswer {
  /** `stripe: create a refund`. */
  readonly what: string;
  readonly status: number;
  /** Whether the call was meant to change something: then an answer of 5xx leaves it open. */
  readonly hasEffect: boolean;
  readonly code: string;
  readonly message: string;
  /** Value of `Retry-After`; empty if there is none. */
  readonly retryAfter: string;
}

/** The error for an answer with a status of 400 or more that is no decline. */
export function answerError(answer: FailedAnswer): GatewayError {
  const { what, status, hasEffect, code, message, retryAfter } = answer;
  // Who is not let in gets no more than that: such texts repeat parts of the key.
  const detail = status === 401 || status === 403 ? "" : `: ${shownText(message)}`;
  const text = `${what}: status ${status}, ${shownText(code) || "no code"}${detail}`;
  if (status === 404) return new GatewayError("missing", text);
  if (status === 409 || status === 429)
    return new GatewayError("busy", text, { retryAfterMs: retryAfterMs(retryAfter) });
  if (status < 500 && status !== 408) return new GatewayError("refused", text);
  if (hasEffect) return new GatewayError("unclear", text);
  return new GatewayError("busy", text, { retryAfterMs: retryAfterMs(retryAfter) });
}

/** The service said no. */
export const declined = (what: string, failure: Failure): GatewayError =>
  new GatewayError("declined", `${what}: ${shownText(failure.code)}: ${shownText(failure.message)}`, {
    failure: { ...failure, code: shownText(failure.code), message: shownText(failure.message) },
  });

/** The payment of a debit. @throws GatewayError `declined` for one that failed */
export function debited(gateway: GatewayId, payment: Payment): Payment {
  if (payment.failure !== null) throw declined(`${gateway}: confirm a debit`, payment.failure);
  return payment;
}

/** Errors of sockets from before the first byte was sent. */
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** There was no answer: a time limit, a broken connection. */
export function noAnswer(what: string, hasEffect: boolean, error: unknown): GatewayError {
  const code = socketCode(error);
  const text = `${what}: no answer${code === "" ? "" : ` (${code})`}`;
  return new GatewayError(hasEffect && !UNSENT.has(code) ? "unclear" : "busy", text);
}

/** An answer of 2xx that cannot be read: what was asked for has probably happened. */
export const unreadable = (what: string, hasEffect: boolean): GatewayError =>
  new GatewayError(hasEffect ? "unclear" : "refused", `${what}: the answer could not be read`);

const MAX_CAUSES = 5;

function socketCode(error: unknown): string {
  let cause: unknown = error;
  for (let i = 0; i < MAX_CAUSES && cause instanceof Error; i++) {
    const { code, name, cause: next } = cause as Error & { readonly code?: unknown };
    if (typeof code === "string" && /^[A-Z_]{3,40}$/.test(code)) return code;
    if (name === "TimeoutError") return "timeout";
    cause = next;
  }
  return "";
}

function retryAfterMs(header: string): number | null {
  return /^\d{1,6}$/.test(header) ? Math.min(Number(header), MAX_RETRY_AFTER_S) * 1000 : null;
}

/** Keys and numbers of cards or accounts, as texts of errors may repeat them. */
const SECRET = /\b(?:(?:sk|rk|pk|rzp|whsec|smk|smw)_\w+|(?:\d[ -]?){11,18}\d)/g;

/** Cut, in one line, and without secrets. */
export const shownText = (text: string): string =>
  text.slice(0, MAX_MESSAGE).replace(SECRET, "…").replace(/\s+/g, " ");
