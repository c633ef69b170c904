/** Events of refunds. Their data is the refund as the API shows it. */
import { eventType } from "../../store/events/types.ts";
import { refundShape } from "./refund.ts";

export const refundSettled = eventType("refund.settled", refundShape);
export const refundFailed = eventType("refund.failed", refundShape);
