/** Operations on deliveries: what was sent to an endpoint, and sending it again. */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import type { Quotas } from "../../base/quota.ts";
import type { RulesOf } from "../../outbound/rules.ts";
import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import { EVENT_NAMES } from "../../store/events/types.ts";
import type { Store } from "../../store/store.ts";
import type { Vault } from "../provider-keys/vault.ts";
import { assertMayChange } from "../scopes.ts";
import { eventBody } from "./courier.ts";
import { DELIVERY_STATUSES, type DeliveryRow } from "./delivery.ts";
import { deliveryDetail, deliveryDetailShape, deliveryShape, deliveryWire } from "./delivery-wire.ts";
import type { EndpointRow } from "./endpoint.ts";
import type { Webhooks } from "./open.ts";
import type { WebhookTables } from "./webhook-tables.ts";

export interface WebhookOperationDeps extends Omit<Webhooks, "counts" | "erase" | "close"> {
  readonly store: Pick<Store, "act">;
  readonly events: Pick<Events, "get">;
  readonly trail: Trail;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly vault: Vault;
  readonly rulesOf: RulesOf;
  readonly quotas: Quotas;
}

const query = z.object({
  status: z.enum(DELIVERY_STATUSES).optional().describe("Only deliveries of this status."),
  type: z.enum(EVENT_NAMES).optional().describe("Only deliveries of events of this type."),
  event: z.string().min(1).max(100).optional().describe("Only deliveries of the event with this id."),
  ...pageQuery(50, 200),
});

const byId = z.object({
  id: field.pathId.describe("The webhook's id."),
  delivery: field.pathId.describe("The delivery's id."),
});

export const deliveryOperations = (deps: WebhookOperationDeps) => ({
  listDeliveries: operation({
    summary: "What was sent to a webhook in the last 30 days and what waits, newest first",
    method: "GET",
    path: "/v1/webhooks/{id}/deliveries",
    access: "read:org / admin",
    group: "Webhooks",
    params: z.object({ id: field.pathId.describe("The webhook's id.") }),
    query,
    output: pageOf(deliveryShape),
    errors: ["not_found"],
    run: ({ params, query }, caller) => listDeliveries(deps, caller, params.id, query),
  }),
  getDelivery: operation({
    summary: "Read a delivery with all that was sent and answered, and each try",
    method: "GET",
    path: "/v1/webhooks/{id}/deliveries/{delivery}",
    access: "read:org / admin",
    group: "Webhooks",
    params: byId,
    output: deliveryDetailShape,
    errors: ["not_found"],
    run: ({ params }, caller) => getDelivery(deps, caller, params.id, params.delivery),
  }),
  redeliver: operation({
    summary: "Send a delivery's event again: as a new delivery, or at once where it still waits",
    method: "POST",
    path: "/v1/webhooks/{id}/deliveries/{delivery}/redeliver",
    access: "write:org / admin",
    group: "Webhooks",
    params: byId,
    output: deliveryShape,
    errors: ["not_found", "scope", "state"],
    run: ({ params }, caller) => redeliver(deps, caller, params.id, params.delivery),
  }),
});

/** @throws WeirError `not_found`, also for one of another org */
export const ownEndpoint = (tables: WebhookTables, { orgId }: Caller, id: string): EndpointRow =>
  mustExist(tables.endpoint(orgId, id), "webhook");

/** A delivery with the event that it carries. */
export function shownDelivery({ events }: Pick<WebhookOperationDeps, "events">, row: DeliveryRow) {
  return deliveryWire(row, bodyOf(events, row));
}

/** The body that a delivery sends; undefined where its event is no longer kept. */
function bodyOf(events: WebhookOperationDeps["events"], { orgId, eventId }: DeliveryRow) {
  const event = events.get(orgId, eventId);
  return event === undefined ? undefined : eventBody(event);
}

function listDeliveries(
  deps: WebhookOperationDeps,
  caller: Caller,
  id: string,
  { status, type, event, limit, cursor }: z.output<typeof query>,
) {
  const { tables, cursors } = deps;
  ownEndpoint(tables, caller, id);
  return pageById({
    cursors,
    asked: { limit, cursor },
    list: `deliveries:${id}`,
    rows: (after) => tables.deliveriesOf(id, after),
    matches: (row) =>
      (status === undefined || row.status === status) &&
      (type === undefined || row.type === type) &&
      (event === undefined || row.eventId === event),
    show: (row) => shownDelivery(deps, row),
  });
}

function getDelivery(
  { tables, events }: WebhookOperationDeps,
  caller: Caller,
  id: string,
  deliveryId: string,
) {
  const { url } = ownEndpoint(tables, caller, id);
  const row = mustExist(tables.delivery(id, deliveryId), "delivery");
  return deliveryDetail(row, bodyOf(events, row), url);
}

async function redeliver(deps: WebhookOperationDeps, caller: Caller, id: string, deliveryId: string) {
  const { store, tables, queue, events, clock, trail } = deps;
  assertMayChange(caller, "live");
  const row = await store.act(() => {
    const endpoint = ownEndpoint(tables, caller, id);
    const old = mustExist(tables.delivery(id, deliveryId), "delivery");
    if (endpoint.status !== "active") throw fail("state", "The webhook is disabled. Enable it first.");
    const event = events.get(caller.orgId, old.eventId);
    if (event === undefined) throw fail("state", "The event is no longer kept.");
    trail.audit.note(caller, { act: "webhook.redeliver", target: id, after: { delivery: deliveryId } });
    return old.status === "pending" ? sendNow(deps, old, clock.now()) : queue.add(endpoint, event, true);
  });
  return shownDelivery(deps, row);
}

/** In an act: brings a delivery that waits forward. One that is being made just now stays as it is. */
function sendNow({ tables, queue }: WebhookOperationDeps, row: DeliveryRow, nowMs: number): DeliveryRow {
  if (!queue.drop(row.id)) return row;
  const now = { ...row, isAsked: true, nextAtMs: nowMs };
  tables.putDelivery(now);
  queue.enqueue(now, nowMs);
  return now;
}
