/** Events of top-ups. Their data is the top-up as the API shows it. */
import { eventType } from "../../store/events/types.ts";
import { topupShape } from "./topup.ts";

export const topupPaid = eventType("topup.paid", topupShape);
export const topupFailed = eventType("topup.failed", topupShape);
