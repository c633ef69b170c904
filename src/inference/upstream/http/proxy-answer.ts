/**
 * Answers that a proxy gives itself to a request that it was to pass on. Most cannot be told from the provider's; they count as the
 * provider's then, and other endpoints are tried as after its own errors.
 */
import type { AnswerHeaders } from "./answer-head.ts";
import { ConnectError, ProxyError } from "./errors.ts";

/** Squid's errors after which the provider may have had the request: it failed while or after it was passed on. */
const SENT: ReadonlySet<string> = new Set([
  "ERR_LIFETIME_EXP",
  "ERR_READ_ERROR",
  "ERR_READ_TIMEOUT",
  "ERR_WRITE_ERROR",
  "ERR_ZERO_SIZE_OBJECT",
]);

/** @returns undefined where it is the provider's answer, as far as one can tell */
export function answerOfProxy(status: number, headers: AnswerHeaders): ConnectError | ProxyError | undefined {
  if (status < 400) return undefined;
  // Squid names its error, and tinyproxy itself: what they pass on has neither (wiki.squid-cache.org; tinyproxy's src/html-error.c).
  const squid = headers["x-squid-error"]?.split(" ", 1)[0] ?? "";
  if (SENT.has(squid)) return new ProxyError(status);
  const isOfProxy = status === 407 || squid !== "" || headers.server?.startsWith("tinyproxy/") === true;
  return isOfProxy ? new ConnectError(`proxy_${status}`) : undefined;
}
