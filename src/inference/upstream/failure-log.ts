/**
 * Logs failures of providers for the operator: request, endpoint, kind. Rate-limited, because an outage fails thousands
 * of calls a second and a log must not fill the disk.
 */
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import type { AttemptRecord } from "../../record/record.ts";
import { isUnmatched } from "./refusals/unmatched.ts";

/** At most BURST lines at once, and PER_SECOND lines a second after that. */
const BURST = 50;
const PER_SECOND = 10;

/**
 * @returns a function to call with each failed attempt. Providers' messages are not logged: they may quote prompts and
 *   credentials.
 */
export function upstreamFailures(log: Logger, clock: Clock) {
  let left = BURST;
  let lastMs = clock.monotonic();
  let unlogged = 0;
  return (requestId: string, attempt: AttemptRecord): void => {
    const nowMs = clock.monotonic();
    left = Math.min(BURST, left + ((nowMs - lastMs) * PER_SECOND) / 1000);
    lastMs = nowMs;
    if (left < 1) {
      unlogged++;
      return;
    }
    left--;
    const { endpointId, provider, outcome, errorClass, httpStatus, attempt: number, durationMs } = attempt;
    // A code of the system, or of this gateway: whether the provider could not be reached, or the proxy to it.
    const code = errorClass === "network" && attempt.upstreamCode;
    const refusal = attempt.refusal || (isUnmatched(attempt) ? "(none)" : undefined);
    log.info(
      {
        requestId,
        endpoint: endpointId,
        provider,
        outcome,
        errorClass,
        httpStatus,
        ...(code && { code }),
        ...(refusal !== undefined && { refusal }),
        attempt: number,
        durationMs,
        ...(unlogged > 0 && { unlogged }),
      },
      "an upstream failed",
    );
    unlogged = 0;
  };
}
