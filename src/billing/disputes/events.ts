/** The event of a dispute. Its data is the disputed top-up as the API shows it, and the dispute. */
import { z } from "zod";
import { eventType } from "../../store/events/types.ts";
import { topupShape } from "../topups/topup.ts";

export const topupDisputed = eventType(
  "topup.disputed",
  topupShape.extend({ dispute: z.object({ ref: z.string(), state: z.string(), reason: z.string() }) }),
);
