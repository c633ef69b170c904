/** Which failed attempts are refusals that the table of refusals does not know: its operator may want to have a row for them. */
import type { AttemptRecord } from "../../../record/record.ts";

type Judged = Pick<AttemptRecord, "refusal" | "outcome" | "httpStatus" | "errorClass">;

/**
 * Whether a provider refused, and no row matched: by a status of 400 to 499, or by an error that came with another status. A fault of its
 * own (5xx), a cut stream or silence is no refusal.
 */
export function isUnmatched({ refusal, outcome, httpStatus, errorClass }: Judged): boolean {
  if (refusal !== "") return false;
  if (outcome === "stream_error") return errorClass === "server";
  return outcome === "rate_limited" || (outcome === "http_error" && httpStatus < 500);
}
