/**
 * Headers of inference answers: the request id under the names that SDKs read, rate-limit state, retry advice, the trace. As
 * text, because every call writes them: lines `name: value`, each with its line end. No name or value contains a line break.
 */
import type { WeirError } from "../../base/errors.ts";
import type { Limits, RateState } from "../../credits/limits/limits.ts";
import type { Call } from "./call.ts";

/** The request id under the gateway's name and those that the official SDKs read. */
export const identityHeaders = (requestId: string): string =>
  `x-svc-request-id: ${requestId}\r\nx-request-id: ${requestId}\r\nrequest-id: ${requestId}\r\n`;

/** `Retry-After` in whole seconds, rounded up, and in milliseconds; `x-should-retry: false` if no retry can help. */
export function retryHeaders({ retryAfterMs, retryable }: WeirError): string {
  const wait =
    retryAfterMs === undefined
      ? ""
      : `retry-after: ${Math.ceil(retryAfterMs / 1000)}\r\nretry-after-ms: ${retryAfterMs}\r\n`;
  return retryable ? wait : `${wait}x-should-retry: false\r\n`;
}

/** `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, as OpenAI names and writes them. */
function rateHeaders(limits: Limits, call: Call): string {
  const { requests, tokens } = limits.state(call.key);
  const usual = rate("requests", requests) + rate("tokens", tokens);
  const { format, tsMs } = call.incoming;
  const { ratePrefix } = format.habits;
  if (ratePrefix === undefined) return usual;
  return (
    usual +
    timedRate(`${ratePrefix}-requests`, requests, tsMs) +
    timedRate(`${ratePrefix}-tokens`, tokens, tsMs)
  );
}

/** As Anthropic writes it: the reset as a time (RFC 3339). */
const timedRate = (name: string, state: RateState | undefined, nowMs: number): string =>
  state === undefined
    ? ""
    : `${name}-limit: ${state.limit}\r\n${name}-remaining: ${state.remaining}\r\n` +
      `${name}-reset: ${new Date(nowMs + state.resetMs).toISOString()}\r\n`;

const rate = (unit: string, state: RateState | undefined): string =>
  state === undefined ? "" : rateLines(unit, state);

/** The constant parts of the rate headers of one unit (`requests` or `tokens`); the numbers are put between them. */
interface RateNames {
  /** By limit: the header of the limit, and the name of the header that says what remains. */
  readonly remaining: Map<number, string>;
  readonly reset: string;
}

/** More limits than plans and keys have; those beyond are written each time. */
const MOST_LIMITS = 1000;
/** By unit: there are few. */
const rateNames = new Map<string, RateNames>();

function namesOf(unit: string): RateNames {
  const names = { remaining: new Map<number, string>(), reset: `\r\nx-ratelimit-reset-${unit}: ` };
  rateNames.set(unit, names);
  return names;
}

function remainingOf(unit: string, limit: number, known: Map<number, string>): string {
  const text = `x-ratelimit-limit-${unit}: ${limit}\r\nx-ratelimit-remaining-${unit}: `;
  if (known.size < MOST_LIMITS) known.set(limit, text);
  return text;
}

/** `x-ratelimit-{limit,remaining,reset}-<unit>`. */
export function rateLines(unit: string, { limit, remaining, resetMs }: RateState): string {
  const names = rateNames.get(unit) ?? namesOf(unit);
  const start = names.remaining.get(limit) ?? remainingOf(unit, limit, names.remaining);
  return start + remaining + names.reset + resetMs + MS_END;
}

const MS_END = "ms\r\n";

/** Only if the request has `x-svc-debug: 1`; printable ASCII, no longer than clients accept. */
function traceHeaders(call: Call): string {
  if (!call.incoming.debug || call.plan === undefined) return "";
  const trace = call.plan.trace().replace(/[^\x20-\x7e]/g, "?");
  return `x-svc-route-trace: ${trace.slice(0, 4000)}\r\n`;
}

export const JSON_TYPE = "content-type: application/json\r\n";

/** The last header: proxies that buffer must not hold events back. */
export const STREAM_TYPE = "content-type: text/event-stream; charset=utf-8\r\nx-accel-buffering: no\r\n";

/** Headers of an answer to a call, without its type. */
export const typelessHeaders = (limits: Limits, call: Call): string =>
  identityHeaders(call.requestId) + rateHeaders(limits, call) + traceHeaders(call);

/** Headers of a JSON answer to a call, errors included. */
export const answerHeaders = (limits: Limits, call: Call): string =>
  JSON_TYPE + typelessHeaders(limits, call);

/** Headers of an event stream. */
export const streamHeaders = (limits: Limits, call: Call): string =>
  STREAM_TYPE + typelessHeaders(limits, call);
