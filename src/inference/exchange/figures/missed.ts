/** Which endpoints a call would have been served by, had they not failed. */
import type { Endpoint } from "../../../base/endpoint.ts";
import type { Call } from "../call.ts";

const NONE: readonly Endpoint[] = [];

/** Endpoints at which it failed, or for which it was refused because all are out. Each once; a good call costs nothing. */
export function missedEndpoints({ attempts, plan, model }: Call): readonly Endpoint[] {
  if (plan === undefined || model === undefined) return NONE;
  if (plan.attempts.length === 0) {
    if (plan.availability !== "saturated" && plan.availability !== "refused") return NONE;
    const out = plan.excluded.filter(({ kind }) => kind === "saturated" || kind === "refused");
    return model.endpoints.filter(({ id }) => out.some(({ endpointId }) => endpointId === id));
  }
  const [first] = attempts;
  if (first === undefined || (attempts.length === 1 && first.outcome === "ok")) return NONE;
  const isMissed = ({ id }: Endpoint) =>
    attempts.some(
      ({ endpointId, outcome, errorClass }) =>
        endpointId === id && outcome !== "ok" && outcome !== "cancelled" && errorClass !== "client",
    );
  return plan.attempts.filter(isMissed);
}
