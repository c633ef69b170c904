/**
 * Why an attempt failed, in one vocabulary for all providers: what to record, whether another endpoint may succeed, and
 * how long the provider asks to wait.
 */
import type { Credential } from "../../base/endpoint.ts";
import type { ProxyAddress } from "../../base/network/proxy-address.ts";
import type { AttemptOutcome, ErrorClass } from "../../record/record.ts";
import type { UpstreamError } from "../../wire/neutral/contract.ts";
import { readErrorBody } from "../../wire/neutral/upstream-error.ts";
import { MESSAGE_LIMIT, WORD_LIMIT } from "../../wire/neutral/upstream-errors/said.ts";
import { FIREWALL_CODE, isOfFirewall } from "./firewall.ts";
import type { AnswerHeaders } from "./http/answer-head.ts";
import { ConnectError, codeOf, ProtocolError } from "./http/errors.ts";
import type { Meaning, Refusal } from "./refusals/refusal.ts";
import { REPORTED, refusalOf } from "./refusals/table.ts";
import { withoutSecrets } from "./secrets.ts";
import { struckOut } from "./struck-out/struck-out.ts";

export interface UpstreamFailure {
  readonly outcome: AttemptOutcome;
  readonly errorClass: ErrorClass;
  /** 0 where no status line arrived. */
  readonly httpStatus: number;
  readonly upstream: UpstreamError;
  readonly retryAfterMs: number | undefined;
  /** What the provider refused, where a row of the table of refusals matched. */
  readonly refusal?: Refusal | undefined;
}

const SILENT: UpstreamError = Object.freeze({ code: "", type: "", message: "" });

export const failure = (
  outcome: AttemptOutcome,
  errorClass: ErrorClass,
  httpStatus = 0,
  upstream: UpstreamError = SILENT,
  retryAfterMs?: number,
): UpstreamFailure => ({ outcome, errorClass, httpStatus, upstream, retryAfterMs });

/**
 * Removes the secrets of a call, and what else `struck-out.ts` names, from all that an upstream said: none of it may reach a client,
 * record or log (T61). Bounds it, too.
 * @param proxies by which the endpoint may have been called
 */
export function withoutCredential(
  failed: UpstreamFailure,
  credential: Credential | undefined,
  proxies?: readonly ProxyAddress[],
): UpstreamFailure {
  const { upstream } = failed;
  if (upstream === SILENT) return failed;
  // Messages about missing funds contain no credential.
  const isRefused = failed.errorClass === "auth" && failed.outcome !== "rate_limited";
  const withoutOwn = withoutSecrets(credential, proxies);
  const clean = (text: string, limit: number) =>
    text === "" ? text : struckOut(withoutOwn(text)).slice(0, limit);
  return {
    ...failed,
    upstream: {
      code: clean(upstream.code, WORD_LIMIT),
      type: clean(upstream.type, WORD_LIMIT),
      // A message about a refused credential may also contain masked forms of it.
      message: isRefused ? "" : clean(upstream.message, MESSAGE_LIMIT),
      ...(upstream.param !== undefined && { param: clean(upstream.param, WORD_LIMIT) }),
    },
  };
}

/** Failure for an answer with a status other than 2xx. @param nowMs wall clock */
export const answerFailure = (
  status: number,
  headers: AnswerHeaders,
  body: Buffer,
  nowMs: number,
): UpstreamFailure => {
  const said = readErrorBody(body, headers["x-amzn-errortype"] ?? "");
  const upstream = isOfFirewall(status, headers, body) ? { ...said, code: FIREWALL_CODE } : said;
  return statusFailure(status, upstream, retryAfterOf(headers, nowMs));
};

/** Failure for a status other than 2xx. 529 is Anthropic's "overloaded"; 499 and 408 come from proxies that gave up. */
export function statusFailure(
  status: number,
  upstream: UpstreamError,
  retryAfterMs: number | undefined,
): UpstreamFailure {
  const refusal = refusalOf(status, upstream);
  const errorClass = refusal === undefined ? classOf(status, upstream) : CLASSES[refusal.meaning];
  return {
    ...failure(
      outcomeOf(refusal, status),
      errorClass,
      status,
      upstream,
      retryAfterMs ?? upstream.retryAfterMs,
    ),
    refusal,
  };
}

/** The same refusal has the same outcome, whatever the status, and within a stream. */
function outcomeOf(refusal: Refusal | undefined, status: number): AttemptOutcome {
  switch (refusal?.meaning) {
    case "tier":
    case "quota":
    case "rate_limit":
      return "rate_limited";
    case "overloaded":
      return status >= 500 ? "http_error" : "rate_limited";
    case undefined:
      return status === 429 ? "rate_limited" : "http_error";
    default:
      return "http_error";
  }
}

/** Class by what is refused: only this request, the credential as such, or every call for now. */
const CLASSES: Readonly<Record<Meaning, ErrorClass>> = {
  firewall: "server",
  context_overflow: "client",
  output_limit: "client",
  unknown_model: "client",
  unsupported_parameter: "client",
  invalid_value: "client",
  content_policy: "client",
  tier: "client",
  quota: "auth",
  credential: "auth",
  // The endpoint serves no call from here, whatever the key.
  region: "server",
  overloaded: "capacity",
  rate_limit: "capacity",
};

function classOf(status: number, { param }: UpstreamError): ErrorClass {
  if (status === 429) return "capacity";
  if (status === 503 || status === 529) return "capacity";
  // 402: the gateway's account at the provider is out of funds; like a bad credential the operator must fix it.
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 408 || status === 499 || status === 504) return "timeout";
  // Bedrock: the model failed (can1357/oh-my-pi#12449). OpenAI: a tool's server of the caller's did (RageAgainstThePixel/OpenAI-DotNet#486).
  if (status === 424 && param === undefined) return "server";
  return status >= 400 && status < 500 ? "client" : "server";
}

/** An error event in a stream, or an error object with status 200, classified by its content. */
export function reportedFailure(upstream: UpstreamError, httpStatus: number): UpstreamFailure {
  if (upstream.isUnusable === true) return failure("invalid_response", "protocol", httpStatus, upstream);
  const refusal = refusalOf(REPORTED, upstream);
  if (refusal === undefined) return unknownReport(upstream, httpStatus);
  const errorClass = CLASSES[refusal.meaning];
  const outcome = outcomeOf(refusal, httpStatus);
  return { ...failure(outcome, errorClass, httpStatus, upstream, upstream.retryAfterMs), refusal };
}

function unknownReport(upstream: UpstreamError, httpStatus: number): UpstreamFailure {
  const words = `${upstream.code} ${upstream.type}`.toLowerCase();
  if (/rate_limit|overloaded|capacity|too_many|throttl|resource_exhausted|unavailable/.test(words)) {
    return failure("rate_limited", "capacity", httpStatus, upstream, upstream.retryAfterMs);
  }
  // A member of the request that is named is at fault, whatever the kind is called.
  if (upstream.param !== undefined) return failure("http_error", "client", httpStatus, upstream);
  if (/invalid_request|invalid_argument|context_length|bad_request|validation|\b400\b|\b422\b/.test(words)) {
    return failure("http_error", "client", httpStatus, upstream);
  }
  return failure("stream_error", "server", httpStatus, upstream);
}

/** @param httpStatus the status that had arrived, or 0. */
export function networkFailure(error: unknown, httpStatus: number): UpstreamFailure {
  const upstream = { code: codeOf(error), type: "", message: "" };
  if (error instanceof ConnectError) return failure("connect_error", "network", httpStatus, upstream);
  if (error instanceof ProtocolError) return failure("invalid_response", "protocol", httpStatus, upstream);
  return failure("stream_error", "network", httpStatus, upstream);
}

/**
 * Whether another endpoint may be tried. Not if the request itself was refused (the next would refuse it too) and not
 * after a cancel. An endpoint that does not know the model, or whose account's tier is too small for the request, says nothing about
 * the others. An overflow is a refusal of the request here: whether an endpoint with a longer context is left, the exchange knows.
 */
export function mayFallBack(failed: UpstreamFailure): boolean {
  const { errorClass, outcome, httpStatus, refusal } = failed;
  if (outcome === "cancelled") return false;
  if (errorClass !== "client") return true;
  return httpStatus === 404 || refusal?.meaning === "unknown_model" || isTooLargeForTier(failed);
}

/** The prompt, or prompt and answer, do not fit the model's context. */
export const isOverflow = ({ refusal }: UpstreamFailure): boolean => refusal?.meaning === "context_overflow";

/** The request is too large for the account's tier: other accounts may succeed, waiting does not help. */
const isTooLargeForTier = ({ refusal }: UpstreamFailure): boolean => refusal?.meaning === "tier";

/** Whether waiting may help: not if the account, its credential or the request's size is the cause. */
export const mayPass = (failed: UpstreamFailure): boolean =>
  failed.errorClass !== "auth" && !isTooLargeForTier(failed);

/** `retry-after-ms`, else `Retry-After` in seconds or as a date; undefined where absent or past. */
function retryAfterOf(headers: AnswerHeaders, nowMs: number): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (exact > 0) return Math.ceil(exact);
  const value = headers["retry-after"];
  if (value === undefined || value === "") return undefined;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return ms > 0 ? Math.ceil(ms) : undefined;
}
