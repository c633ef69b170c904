/** Events of subscriptions. Their data is the subscription as the API shows it. */
import { eventType } from "../../store/events/types.ts";
import { subscriptionShape } from "./subscription.ts";

export const subscriptionChanged = eventType("subscription.changed", subscriptionShape);
export const subscriptionRenewed = eventType("subscription.renewed", subscriptionShape);
export const subscriptionPastDue = eventType("subscription.past_due", subscriptionShape);
