/** Errors as clients of the messages format read them (Anthropic API reference, "Errors"). */
import { cut, type WeirError } from "../../base/errors.ts";
import { latin1Json } from "../json/json.ts";
import { sseEvent } from "../neutral/sse.ts";
import { messagesOverflow } from "../overflow/anthropic.ts";

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

const typeOf = (status: number): string =>
  TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");

/** The message, in the words that Anthropic has for a prompt that is too long. */
export const messagesErrorWords = ({ message, overflow }: WeirError): string =>
  overflow === undefined ? message : cut(messagesOverflow(overflow));

const envelope = (error: WeirError, requestId: string) => ({
  type: "error",
  error: {
    type: typeOf(error.status),
    message: messagesErrorWords(error),
    code: error.code,
    ...(error.param !== undefined && { param: error.param }),
    ...(error.retryAfterMs !== undefined && { retry_after_ms: error.retryAfterMs }),
    ...(error.details !== undefined && { details: error.details }),
  },
  request_id: requestId,
});

/** A whole body, JSON. */
export const messagesErrorBody = (error: WeirError, requestId: string): string =>
  JSON.stringify(envelope(error, requestId));

/** The event that ends a stream, latin1 text. */
export const messagesErrorEvent = (error: WeirError, requestId: string): string =>
  sseEvent("error", latin1Json(envelope(error, requestId)));
