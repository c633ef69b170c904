/** Events of routing policies. */
import { z } from "zod";
import { eventType } from "../../store/events/types.ts";
import { summaryShape } from "./policy-wire.ts";

export const policyActivated = eventType("policy.activated", summaryShape);

export const canaryRed = eventType(
  "canary.red",
  z.object({
    policy: z.string(),
    version: z.int(),
    endpoint_id: z.string(),
    error_rate: z.number(),
    samples: z.int(),
  }),
);
