/** Events of this room. Their data is the resource as the API shows it. */
import { z } from "zod";
import { eventType } from "../store/events/types.ts";
import { refundShape } from "./refunds/refund.ts";
import { topupShape } from "./topups/topup.ts";

export const topupPaid = eventType("topup.paid", topupShape);
export const topupFailed = eventType("topup.failed", topupShape);
export const topupDisputed = eventType(
  "topup.disputed",
  topupShape.extend({ dispute: z.object({ ref: z.string(), state: z.string(), reason: z.string() }) }),
);
export const refundSettled = eventType("refund.settled", refundShape);
export const refundFailed = eventType("refund.failed", refundShape);
