/** Events about webhooks; the data is the endpoint as the API shows it. */
import { eventType } from "../../store/events/types.ts";
import { endpointShape } from "./endpoint.ts";

export const webhookDisabled = eventType("webhook.disabled", endpointShape);
export const webhookTest = eventType("webhook.test", endpointShape);
