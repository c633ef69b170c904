/**
 * The error table: every failure a client can see, its HTTP status, wire `type` and `code`, and whether a retry may
 * help. `docs/errors.md` lists the same rows; a test compares the two.
 */
import type { Overflow } from "./overflow.ts";

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  /** False: the answer carries `x-should-retry: false`, which both SDK families obey. */
  readonly retryable: boolean;
}

const row = (status: number, type: string, code: string, retryable = false): ErrorRow =>
  Object.freeze({ status, type, code, retryable });

/** Keyed by an internal name, because one wire code (`upstream_capacity`) has two statuses. */
export const ERRORS = Object.freeze({
  invalid_json: row(400, "invalid_request", "invalid_json"),
  invalid_value: row(400, "invalid_request", "invalid_value"),
  unsupported_option: row(400, "invalid_request", "unsupported_option"),
  unsupported_version: row(400, "invalid_request", "unsupported_version"),
  context_length_exceeded: row(400, "invalid_request", "context_length_exceeded"),
  /** `previous_response_id` names no response that is stored for the key's project. OpenAI's status, code and words. */
  previous_response_not_found: row(400, "invalid_request", "previous_response_not_found"),
  /** Another call changes the conversation. OpenAI's status, code and words. */
  conversation_locked: row(400, "invalid_request", "conversation_locked", true),
  /** The same of an item that is added by hand. */
  item_already_in_conversation: row(400, "invalid_request", "item_already_in_conversation"),
  /** An endpoint does not know a parameter of the request, or not this value of it. */
  unsupported_parameter: row(400, "invalid_request", "unsupported_parameter"),
  /** The provider's policy forbids the prompt. */
  content_policy_violation: row(400, "invalid_request", "content_policy_violation"),
  capability_not_supported: row(400, "invalid_request", "capability_not_supported"),
  /** A question about usage needs more memory, rows or time than one may take. */
  query_too_large: row(400, "invalid_request", "query_too_large"),
  idempotency_key_invalid: row(400, "invalid_request", "idempotency_key_invalid"),
  /** The org's address or tax id lacks what its invoices must state. */
  billing_profile_incomplete: row(400, "invalid_request", "billing_profile_incomplete"),
  below_minimum: row(400, "invalid_request", "below_minimum"),
  above_cap: row(400, "invalid_request", "above_cap"),
  /** The upstream refused the request itself; its status is kept if it is 400, 404, 409, 413 or 422. */
  upstream_rejected: row(400, "invalid_request", "upstream_rejected"),
  missing_key: row(401, "authentication", "missing_key"),
  invalid_key: row(401, "authentication", "invalid_key"),
  expired_key: row(401, "authentication", "expired_key"),
  revoked_key: row(401, "authentication", "revoked_key"),
  session_expired: row(401, "authentication", "session_expired"),
  insufficient_credits: row(402, "insufficient_credits", "insufficient_credits"),
  budget_exceeded: row(402, "insufficient_credits", "budget_exceeded"),
  scope: row(403, "permission_denied", "scope"),
  role: row(403, "permission_denied", "role"),
  csrf: row(403, "permission_denied", "csrf"),
  two_factor_required: row(403, "permission_denied", "two_factor_required"),
  ip_not_allowed: row(403, "permission_denied", "ip_not_allowed"),
  plan_limit: row(403, "permission_denied", "plan_limit"),
  plan_feature: row(403, "permission_denied", "plan_feature"),
  org_closed: row(403, "permission_denied", "org_closed"),
  org_suspended: row(403, "permission_denied", "org_suspended"),
  denied_by_policy: row(403, "permission_denied", "denied_by_policy"),
  not_found: row(404, "not_found", "not_found"),
  model_not_found: row(404, "not_found", "model_not_found"),
  no_endpoint: row(404, "not_found", "no_endpoint"),
  method_not_allowed: row(405, "method_not_allowed", "method_not_allowed"),
  /** The client sends its body too slowly. */
  request_timeout: row(408, "invalid_request", "request_timeout", true),
  slug_taken: row(409, "conflict", "slug_taken"),
  idempotency_mismatch: row(409, "conflict", "idempotency_mismatch"),
  idempotency_in_progress: row(409, "conflict", "idempotency_in_progress", true),
  last_owner: row(409, "conflict", "last_owner"),
  not_refundable: row(409, "conflict", "not_refundable"),
  no_mandate: row(409, "conflict", "no_mandate"),
  state: row(409, "conflict", "state"),
  /** A detached call was ended by whoever may. */
  cancelled: row(409, "conflict", "cancelled"),
  payload_too_large: row(413, "payload_too_large", "payload_too_large"),
  unsupported_media_type: row(415, "unsupported_media_type", "unsupported_media_type"),
  rpm: row(429, "rate_limited", "rpm", true),
  tpm: row(429, "rate_limited", "tpm", true),
  concurrency: row(429, "rate_limited", "concurrency", true),
  /** Providers behind the model are saturated. */
  upstream_capacity: row(429, "rate_limited", "upstream_capacity", true),
  /** Every endpoint that could serve the call was out. */
  upstream_all_out: row(503, "unavailable", "upstream_capacity", true),
  /** The local store cannot commit (a full disk): no call that costs money is admitted. */
  storage_unavailable: row(503, "unavailable", "storage_unavailable", true),
  /** There is no exchange rate of the last days. */
  fx_stale: row(503, "unavailable", "fx_stale", true),
  /** The process has nearly reached its limit of open descriptors, or the payment gateway does not answer. */
  gateway_unavailable: row(503, "unavailable", "gateway_unavailable", true),
  /** No identity provider is configured, or it does not answer. */
  identity_unavailable: row(503, "unavailable", "identity_unavailable", true),
  shutting_down: row(503, "unavailable", "shutting_down", true),
  /** The analytics engine cannot be reached; inference does not need it. */
  analytics_unavailable: row(503, "unavailable", "analytics_unavailable", true),
  upstream_error: row(502, "upstream_error", "upstream_error", true),
  upstream_invalid_response: row(502, "upstream_error", "upstream_invalid_response", true),
  upstream_timeout: row(504, "upstream_error", "upstream_timeout", true),
  internal: row(500, "internal", "internal", true),
} satisfies Record<string, ErrorRow>);

export type ErrorName = keyof typeof ERRORS;

export interface ErrorExtras {
  /** JSON pointer to the invalid field, such as `/messages/0/content`. */
  readonly param?: string;
  /** Exact wait in milliseconds; sets `Retry-After` and `retry-after-ms`. */
  readonly retryAfterMs?: number;
  /** Safe for the caller to see; never an upstream body. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Overrides the table if an upstream's own status is kept. */
  readonly status?: number;
  /** Overrides the table if a retry cannot help in this case. */
  readonly retryable?: boolean;
  /** No row has the credential: another process may have stored it a moment ago. */
  readonly isUnknown?: boolean;
  /** For `context_length_exceeded`: formats with words of their own make their message of it. */
  readonly overflow?: Overflow;
  readonly cause?: unknown;
}

/** A failure with a row in {@link ERRORS}. `message` is written for the client and must contain no secret. */
export class WeirError extends Error {
  readonly kind: ErrorName;
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly retryable: boolean;
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly isUnknown: boolean;
  readonly overflow: Overflow | undefined;

  constructor(kind: ErrorName, message: string, extras: ErrorExtras = {}) {
    super(cut(message), extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = "WeirError";
    const row = ERRORS[kind];
    this.kind = kind;
    this.status = extras.status ?? row.status;
    this.type = row.type;
    this.code = row.code;
    this.retryable = extras.retryable ?? row.retryable;
    this.param = extras.param === undefined ? undefined : cut(extras.param);
    this.retryAfterMs = extras.retryAfterMs;
    this.details = extras.details;
    this.isUnknown = extras.isUnknown ?? false;
    this.overflow = extras.overflow;
  }
}

/** Messages and pointers may repeat input, which may be megabytes long. */
const MAX_TEXT = 2000;

/** @returns the text, bounded as messages of errors are */
export const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/**
 * Creates a {@link WeirError}, for use as `throw fail(...)`. Client errors have no stack: capturing one costs more than
 * refusing the call, and a flood of refusals must stay cheap.
 */
export function fail(kind: ErrorName, message: string, extras?: ErrorExtras): WeirError {
  if (kind === "internal") return new WeirError(kind, message, extras);
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new WeirError(kind, message, extras);
  Error.stackTraceLimit = limit;
  return error;
}

/**
 * Returns the row, or whatever else a caller has looked up, where the look-up found it.
 * @param what it is, after "There is no such"; @param param JSON pointer of what names it in the request, where that is in a body
 * @throws WeirError `not_found`, also where it belongs to others: they are not told that it exists
 */
export function mustExist<T>(found: T | undefined, what: string, param?: string): T {
  if (found !== undefined) return found;
  throw fail("not_found", `There is no such ${what}.`, param === undefined ? {} : { param });
}

/** Converts any thrown value to a {@link WeirError}; unknown ones become `internal` without details. */
export function asWeirError(thrown: unknown): WeirError {
  if (thrown instanceof WeirError) return thrown;
  return new WeirError("internal", "The gateway failed on this request. The failure is recorded.", {
    cause: thrown,
  });
}

/**
 * The error envelope of every route but messages, as JSON: includes what OpenAI's SDKs read (`code`, `type`, `message`,
 * `param`). `param` is null where no field is at fault, since OpenAI requires it of an error (its OpenAPI document, "Error").
 */
export function errorEnvelope(error: WeirError, requestId: string): string {
  return JSON.stringify({
    error: {
      type: error.type,
      code: error.code,
      message: error.message,
      param: error.param ?? null,
      request_id: requestId,
      ...(error.retryAfterMs !== undefined && { retry_after_ms: error.retryAfterMs }),
      ...(error.details !== undefined && { details: error.details }),
    },
  });
}
