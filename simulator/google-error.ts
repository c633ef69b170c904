/**
 * Errors in the format of Google's APIs: a google.rpc.Status as JSON, with the HTTP status as code and a status name.
 * Shape: https://cloud.google.com/apis/design/errors, https://ai.google.dev/gemini-api/docs/troubleshooting
 */

import { fail } from "../src/base/errors.ts";
import type { Headers, ReportedError } from "./dialect.ts";

const STATUS_NAMES: Readonly<Record<number, string>> = Object.freeze({
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
});

/** Format of Google's reasons; the simulator's own codes differ and are omitted. */
const REASON = /^[A-Z][A-Z0-9_]*$/;

/** `type` overrides the status name, `code` becomes the reason of an ErrorInfo, `param` a field violation. */
export function googleError({ status, message, type, code, param }: ReportedError): string {
  const usual = STATUS_NAMES[status] ?? (status < 500 ? "FAILED_PRECONDITION" : "INTERNAL");
  const details: object[] = [];
  if (code !== undefined && REASON.test(code)) {
    const domain = "googleapis.com";
    details.push({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: code, domain });
  }
  if (param !== undefined) {
    const fieldViolations = [{ field: param, description: message }];
    details.push({ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations });
  }
  const said = { code: status, message, status: type ?? usual };
  return JSON.stringify({ error: details.length === 0 ? said : { ...said, details } });
}

/** @throws WeirError 400 for the key `invalid`: Google refuses a wrong key as an invalid argument */
export function refuseInvalidKey(headers: Headers): void {
  if (headers["x-goog-api-key"] !== "invalid") return;
  throw fail("invalid_value", "API key not valid. Please pass a valid API key.");
}

/** @throws WeirError 400 for a field unknown to the message at `where` */
export function refuseUnknown(json: object, known: ReadonlySet<string>, where?: string): void {
  const stranger = Object.keys(json).find((name) => !known.has(name));
  if (stranger === undefined) return;
  const place = where === undefined ? "" : ` at '${where}'`;
  const message = `Invalid JSON payload received. Unknown name "${stranger}"${place}: Cannot find field.`;
  throw fail("invalid_value", message, { param: where === undefined ? stranger : `${where}.${stranger}` });
}
