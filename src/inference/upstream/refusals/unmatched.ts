/** Which failed attempts are refusals that the table of refusals does not know: its operator may want to have a row for them. */
import type { AttemptRecord, ErrorClass } from "../../../record/record.ts";

type Judged = Pick<AttemptRecord, "refusal" | "outcome" | "errorClass" | "upstreamCode">;

/** By which providers say within a stream that they failed. */
const FAULTS =
  /^(?:5\d\d|server_error|internal_server_error|internal_error|INTERNAL|timeout_error|DEADLINE_EXCEEDED)$/;

/**
 * Whether a provider refused, and no row matched: by a status of 400 to 499, or by an error that came with another status. A fault of its
 * own, or of a proxy that gave up, a cut stream or silence is no refusal.
 */
export function isUnmatched({ refusal, outcome, errorClass, upstreamCode }: Judged): boolean {
  if (refusal !== "") return false;
  if (outcome === "stream_error") return errorClass === "server" && !FAULTS.test(upstreamCode);
  return outcome === "rate_limited" || (outcome === "http_error" && isRefused(errorClass));
}

const isRefused = (errorClass: ErrorClass): boolean => errorClass === "client" || errorClass === "auth";
