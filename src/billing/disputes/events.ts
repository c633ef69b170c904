/** The event of a dispute. Its data is the disputed top-up as the API shows it, and the dispute. */
import { z } from "zod";
import { eventType } from "../../store/events/types.ts";
import { topupShape } from "../topups/topup.ts";

export const topupDisputed = eventType(
  "topup.disputed",
  topupShape.extend({
    dispute: z
      .object({
        ref: z.string().describe("The payment gateway's id of it."),
        state: z
          .string()
          .describe(
            "`warning`, `open`, `withdrawn` (the money is gone), `reinstated` (it came back), `lost` or `won`.",
          ),
        reason: z.string().describe("Why the payer disputes the payment."),
      })
      .describe("The dispute, as the payment gateway tells it."),
  }),
);
