/**
 * An upstream's account of a failure: read for its code, its type and its reason, and it goes no further than that.
 */

import { objectOf } from "../json/values.ts";
import type { UpstreamError } from "./contract.ts";
import { bodyValues } from "./upstream-errors/body.ts";
import { googleDetails, type Said, saidBy } from "./upstream-errors/said.ts";

/** Google says when to come back in no header, but among the details (google.rpc.RetryInfo): "20.04s". */
function googleWaitMs(error: unknown): number | undefined {
  for (const { retryDelay } of googleDetails(error)) {
    const [, seconds] =
      /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(typeof retryDelay === "string" ? retryDelay : "") ?? [];
    if (seconds !== undefined && Number(seconds) > 0) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}

/**
 * An error within an answer or a stream: the member `error`, or the event or body that it is.
 * @param value of any shape
 */
export function readErrorValue(value: unknown): UpstreamError {
  const waitMs = googleWaitMs(value) ?? googleWaitMs(objectOf(value).error);
  return { ...(waitMs !== undefined && { retryAfterMs: waitMs }), ...errorOf(saidBy(value)) };
}

const errorOf = ({ code, type, message, param, promptTokens, contextTokens }: Said): UpstreamError => ({
  code,
  type,
  message,
  ...(param !== "" && { param }),
  ...(promptTokens > 0 && { promptTokens }),
  ...(contextTokens > 0 && { contextTokens }),
});

/**
 * The body of an upstream's error answer, whatever it is.
 * @param kind what a header says of it (AWS names the exception in `x-amzn-errortype`).
 */
export function readErrorBody(bytes: Buffer, kind = ""): UpstreamError {
  const read = firstTold(bodyValues(bytes)) ?? readErrorValue(undefined);
  return kind === "" || read.type !== "" ? read : { ...read, type: kind.split(":", 1)[0] ?? "" };
}

/** The first that says a reason; else the first. */
function firstTold(values: readonly unknown[]): UpstreamError | undefined {
  let first: UpstreamError | undefined;
  for (const value of values) {
    const read = readErrorValue(soleOf(value));
    if (read.message !== "") return read;
    first ??= read;
  }
  return first;
}

/** Gemini's compatible endpoint wraps the error in a list. */
export const soleOf = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 ? value[0] : value;
