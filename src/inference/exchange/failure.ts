/**
 * The error that the client gets if no attempt answered: one table from failure classes to errors. The upstream's message is
 * passed on only if it concerns the client's request; its body never is.
 */
import { fail, type WeirError } from "../../base/errors.ts";
import type { LaneLease } from "../../routing/health/health.ts";
import { isOverflow, mayFallBack, mayPass, type UpstreamFailure } from "../upstream/failure.ts";
import type { Call } from "./call.ts";
import { refusedCredential } from "./empty-plan.ts";
import { type Refused, refusedRequest, upstreamCode } from "./errors/refused-request.ts";

/** `Retry-After` if the provider gave none. */
const DEFAULT_WAIT_MS = 1000;

/** The one of a call's two failures that helps its client more: a refusal of the request itself, else a temporary one. */
export function moreHelpful(known: UpstreamFailure | undefined, failed: UpstreamFailure): UpstreamFailure {
  if (known === undefined) return failed;
  if (isOverflow(known)) return mayServe(failed) ? failed : known;
  if (isOverflow(failed)) return mayServe(known) ? known : failed;
  if (!mayFallBack(known)) return known;
  if (!mayFallBack(failed)) return failed;
  if (mayPass(known) !== mayPass(failed)) return mayPass(known) ? known : failed;
  // If both are saturated, the one with the shorter wait.
  const areFull = known.errorClass === "capacity" && failed.errorClass === "capacity";
  return areFull && waitOf(known) < waitOf(failed) ? known : failed;
}

/**
 * Whether an endpoint's failure tells more than that the context of another was too short: the prompt does not fit there either, the
 * request is refused for another reason, or the endpoint may serve it later.
 */
const mayServe = (failed: UpstreamFailure): boolean =>
  !mayFallBack(failed) || (mayPass(failed) && failed.errorClass !== "client");

const waitOf = ({ retryAfterMs }: UpstreamFailure): number => retryAfterMs ?? DEFAULT_WAIT_MS;

/**
 * @param failed undefined if no attempt could be made because every endpoint had just saturated
 * @param call what was tried, and what was excluded
 */
export function callerError(
  failed: UpstreamFailure | undefined,
  call: Pick<Call, "model" | "plan"> & Refused & { readonly lane: Pick<LaneLease, "key"> | undefined },
): WeirError {
  const { model, lane, plan } = call;
  const modelId = model?.id ?? "the model";
  if (failed === undefined) {
    return fail("upstream_all_out", `Every endpoint of ${modelId} is saturated. Try again later.`, {
      retryAfterMs: DEFAULT_WAIT_MS,
    });
  }
  // A saturated endpoint may serve the same call later; so may one whose failure is temporary.
  const isCurable = mayPass(failed) || plan?.excluded.some(({ kind }) => kind === "saturated") === true;
  if (failed.outcome === "rate_limited") return limited(failed, modelId, isCurable);
  if (failed.refusal?.meaning === "firewall") return fail("upstream_error", stopped(failed, modelId));
  switch (failed.errorClass) {
    case "client":
      return refusedRequest(failed, call);
    case "capacity":
      return fail("upstream_capacity", saturated(modelId), { retryAfterMs: waitOf(failed) });
    case "timeout":
      return fail("upstream_timeout", `The provider behind ${modelId} did not answer in time.`);
    case "protocol":
      return fail(
        "upstream_invalid_response",
        `The provider behind ${modelId} sent an answer that cannot be read.`,
      );
    case "auth":
      // The provider's message may quote the credential.
      return fail("upstream_error", refusedCredential(modelId, lane?.key.isByok === true), {
        retryable: isCurable,
      });
    default:
      return fail("upstream_error", `The provider behind ${modelId} failed.`);
  }
}

/** The words of a firewall may be repeated: it knows no credential that it could tell. */
const stopped = ({ upstream: { message } }: UpstreamFailure, modelId: string) =>
  `A firewall before the provider behind ${modelId} refused the call${message === "" ? "." : `: ${message}`}`;

const saturated = (modelId: string) => `The providers behind ${modelId} are saturated. Try again later.`;

/** A rate limit. It is not retryable if the provider will never take this request, for example because it is too large. */
function limited(failed: UpstreamFailure, modelId: string, retryable: boolean): WeirError {
  const { upstream } = failed;
  return fail("upstream_capacity", upstream.message || saturated(modelId), {
    retryAfterMs: waitOf(failed),
    retryable,
    ...upstreamCode(upstream.code || upstream.type),
  });
}
