/** Events of mandates. Their data is the mandate as the API shows it. */
import { z } from "zod";
import { eventType } from "../../store/events/types.ts";
import { mandateShape } from "./mandate.ts";

export const mandateActive = eventType("mandate.active", mandateShape);
export const mandateFailed = eventType("mandate.failed", mandateShape);
export const mandateCancelled = eventType("mandate.cancelled", mandateShape);
export const mandatePaused = eventType(
  "mandate.paused",
  mandateShape.extend({
    reason: z
      .string()
      .describe(
        "`failures`: three debits in a row; `declined`, `dispute`, `bank`, `mismatch`: one was enough",
      ),
  }),
);
