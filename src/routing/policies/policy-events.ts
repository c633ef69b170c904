/** Events of routing policies. */
import { z } from "zod";
import * as field from "../../base/operation/fields.ts";
import { eventType } from "../../store/events/types.ts";
import { summaryShape } from "./policy-wire.ts";

export const policyActivated = eventType("policy.activated", summaryShape);

export const canaryRed = eventType(
  "canary.red",
  z.object({
    policy: z.string().describe("The policy's name."),
    version: z.int().describe("The version whose canary it is."),
    endpoint_id: field.endpointId,
    error_rate: z.number().describe("Share of the canary's calls that failed, 0 to 1."),
    samples: z.int().describe("Results so far."),
  }),
);
