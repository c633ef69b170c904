/** Headers of inference answers: the request id under the names SDKs read, rate-limit state, retry advice, the trace. */
import type { WeirError } from "../errors.ts";
import type { Limits, RateState } from "../limits/limits.ts";
import type { Call } from "./call.ts";

/** The id under our name and under those that the official SDKs read. */
export const identityHeaders = (requestId: string): string[] => [
  "x-svc-request-id",
  requestId,
  "x-request-id",
  requestId,
  "request-id",
  requestId,
];

/** `Retry-After` in whole seconds, rounded up, and exact; `x-should-retry: false` where no retry can help. */
export function retryHeaders(error: WeirError): string[] {
  const headers: string[] = [];
  if (error.retryAfterMs !== undefined) {
    headers.push("retry-after", String(Math.ceil(error.retryAfterMs / 1000)));
    headers.push("retry-after-ms", String(error.retryAfterMs));
  }
  if (!error.retryable) headers.push("x-should-retry", "false");
  return headers;
}

/** `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, as OpenAI names and writes them. */
function rateHeaders(limits: Limits, call: Call): string[] {
  const { requests, tokens } = limits.state(call.key);
  const headers: string[] = [];
  if (requests !== undefined) rate(headers, "requests", requests);
  if (tokens !== undefined) rate(headers, "tokens", tokens);
  return headers;
}

function rate(headers: string[], unit: string, { limit, remaining, resetMs }: RateState): void {
  headers.push(`x-ratelimit-limit-${unit}`, String(limit));
  headers.push(`x-ratelimit-remaining-${unit}`, String(remaining));
  headers.push(`x-ratelimit-reset-${unit}`, `${resetMs}ms`);
}

/** Only where asked for by `x-svc-debug: 1`; printable ASCII, within what clients take as a header. */
function traceHeaders(call: Call): string[] {
  if (!call.incoming.debug || call.plan === undefined) return [];
  const trace = call.plan.trace().replace(/[^\x20-\x7e]/g, "?");
  return ["x-svc-route-trace", trace.slice(0, 4000)];
}

const JSON_TYPE = ["content-type", "application/json"] as const;

/** The last two: proxies that buffer must not hold events back. */
const STREAM_TYPE = [
  "content-type",
  "text/event-stream; charset=utf-8",
  "cache-control",
  "no-cache",
  "x-accel-buffering",
  "no",
] as const;

const callHeaders = (type: readonly string[], limits: Limits, call: Call): string[] => [
  ...type,
  ...identityHeaders(call.requestId),
  ...rateHeaders(limits, call),
  ...traceHeaders(call),
];

/** Of a JSON answer to a call, errors included. */
export const answerHeaders = (limits: Limits, call: Call): string[] => callHeaders(JSON_TYPE, limits, call);

/** Of an event stream. */
export const streamHeaders = (limits: Limits, call: Call): string[] => callHeaders(STREAM_TYPE, limits, call);
