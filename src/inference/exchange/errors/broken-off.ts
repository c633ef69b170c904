/** The errors of calls whose process was killed while they ran, or whose cell was retired. */
import { fail, type WeirError } from "../../../base/errors.ts";

/**
 * How such a call ended. `charged`: its gateway came back, with its log. `retired`: its gateway never comes back, or was retired before.
 * `unlogged`: what it said may not be stored.
 */
export type Broken = "charged" | "retired" | "unlogged";

const ENDED = "The gateway that made this call ended before the call did.";

export const BROKEN_OFF: Readonly<Record<Broken, WeirError>> = {
  charged: fail("gateway_unavailable", `${ENDED} What it had said was charged.`),
  retired: fail(
    "gateway_unavailable",
    "The gateway that made this call was shut down for good. Unless the call had ended by then (GET /v1/requests/{id}), it is not charged.",
  ),
  unlogged: fail(
    "gateway_unavailable",
    `${ENDED} What it had said may not be stored (zero data retention, or logging other than "on"): it is lost, and not charged unless GET /v1/requests/{id} has it.`,
  ),
};
