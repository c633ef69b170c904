/**
 * What a caller is told when no attempt answered: one table from failure classes to errors. The upstream's message is
 * passed on only where it concerns the caller's request; its body never is.
 */
import { fail, type WeirError } from "../errors.ts";
import type { UpstreamFailure } from "../upstream/failure.ts";

/** A wait to name where the provider named none. */
const USUAL_WAIT_MS = 1000;
/** Statuses of a refused request that mean the same here as there. */
const KEPT_STATUSES = new Set([400, 404, 409, 413, 422]);

/** @param failed undefined when no attempt could be made because every endpoint had just saturated. */
export function callerError(failed: UpstreamFailure | undefined, modelId: string): WeirError {
  if (failed === undefined) {
    return fail("upstream_all_out", `Every endpoint of ${modelId} is saturated. Try again later.`, {
      retryAfterMs: USUAL_WAIT_MS,
    });
  }
  switch (failed.errorClass) {
    case "client":
      return rejected(failed);
    case "capacity":
      return fail("upstream_capacity", `The providers behind ${modelId} are saturated. Try again later.`, {
        retryAfterMs: failed.retryAfterMs ?? USUAL_WAIT_MS,
      });
    case "timeout":
      return fail("upstream_timeout", `The provider behind ${modelId} did not answer in time.`);
    case "protocol":
      return fail(
        "upstream_invalid_response",
        `The provider behind ${modelId} sent an answer that cannot be read.`,
      );
    case "auth":
      // Whose credential failed is the operator's matter; the message may quote it.
      return fail("upstream_error", `The provider behind ${modelId} refused the gateway.`);
    default:
      return fail("upstream_error", `The provider behind ${modelId} failed.`);
  }
}

function rejected({ httpStatus, upstream }: UpstreamFailure): WeirError {
  const status = KEPT_STATUSES.has(httpStatus) ? httpStatus : 400;
  const message = upstream.message === "" ? "The provider refused this request." : upstream.message;
  if (upstream.code === "context_length_exceeded") return fail("context_length_exceeded", message);
  const details = upstream.code === "" ? {} : { details: { upstream_code: upstream.code } };
  return fail("upstream_rejected", message, { status, ...details });
}
