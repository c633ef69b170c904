/** What operations of this room look up: an org's own endpoint, and a delivery with the event that it carries. */
import { mustExist } from "../../base/errors.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { Events } from "../../store/events/events.ts";
import { eventBody } from "./courier.ts";
import { type DeliveryRow, deliveryWire } from "./delivery.ts";
import type { EndpointRow } from "./endpoint.ts";
import type { WebhookTables } from "./webhook-tables.ts";

/** @throws WeirError `not_found`, also for one of another org */
export const ownEndpoint = (tables: WebhookTables, { orgId }: Caller, id: string): EndpointRow =>
  mustExist(tables.endpoint(orgId, id), "webhook");

export function shownDelivery({ events }: { readonly events: Pick<Events, "get"> }, row: DeliveryRow) {
  const event = events.get(row.orgId, row.eventId);
  return deliveryWire(row, event === undefined ? undefined : eventBody(event));
}
