/**
 * Tables of endpoints and deliveries. Methods that write must be called in an act. Deliveries that wait have a table of their
 * own, so that what a dead endpoint piles up is found without reading the rest, and a delivery costs few rows.
 */

import { merged } from "../../base/lists.ts";
import {
  type ExpiringTable,
  type ExpiryPorts,
  openExpiringTable,
} from "../../store/tables/expiring-table.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import { StoreTables } from "../../store/tables/store-tables.ts";
import type { DeliveryRow } from "./delivery.ts";
import type { EndpointRow, EndpointState } from "./endpoint.ts";

/** As long as events. */
const KEPT_DAYS = 30;

const FRESH: EndpointState = { waiting: 0, failingSinceMs: 0, failedAtMs: 0 };

export class WebhookTables extends StoreTables {
  /** [org id, endpoint id]. */
  readonly #endpoints = this.store.table<EndpointRow>("webhooks.endpoints");
  /** [endpoint id, delivery id], of deliveries that wait: they move to the log when they end. */
  readonly #pending = this.store.table<DeliveryRow>("webhooks.pending");
  /** [endpoint id, delivery id], of deliveries that have ended. */
  readonly #log: ExpiringTable<DeliveryRow>;
  /** [endpoint id]. */
  readonly #states = this.store.table<EndpointState>("webhooks.states");

  constructor(ports: ExpiryPorts) {
    super(ports.store);
    this.#log = openExpiringTable({
      ...ports,
      rows: "webhooks.deliveries",
      periods: "webhooks.delivery_days",
      keepPeriods: KEPT_DAYS,
    });
  }

  // -- Endpoints --

  endpoint(orgId: string, id: string): EndpointRow | undefined {
    return this.#endpoints.get([orgId, id]);
  }

  /** Oldest first. */
  endpointsOf(orgId: string): EndpointRow[] {
    const range = { start: [orgId], end: [orgId, PAST_IDS] };
    return Array.from(this.#endpoints.range(range), ({ value }) => value);
  }

  putEndpoint(row: EndpointRow): void {
    this.#endpoints.put([row.orgId, row.id], row);
  }

  /** Its deliveries stay until `forget`. */
  removeEndpoint({ orgId, id }: EndpointRow): void {
    this.#endpoints.remove([orgId, id]);
  }

  // -- Deliveries --

  delivery(endpointId: string, id: string): DeliveryRow | undefined {
    return this.#pending.get([endpointId, id]) ?? this.#log.get([endpointId, id]);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  deliveriesOf(endpointId: string, before = PAST_IDS): Iterable<DeliveryRow> {
    return merged(
      this.#pendingOf(endpointId, before),
      this.#log.members([endpointId], before),
      (a, b) => a.id >= b.id,
    );
  }

  *#pendingOf(endpointId: string, before: string): Generator<DeliveryRow> {
    const range = { start: [endpointId, before], end: [endpointId], reverse: true };
    for (const { value } of this.#pending.range(range)) if (value.id !== before) yield value;
  }

  /** A new delivery. */
  addDelivery(row: DeliveryRow): void {
    this.#pending.put([row.endpointId, row.id], row);
    this.#count(row.endpointId, 1);
  }

  /** Replaces a pending delivery, by one that is pending still or has ended. */
  putDelivery(row: DeliveryRow): void {
    const key = [row.endpointId, row.id];
    if (row.status === "pending") {
      this.#pending.put(key, row);
      return;
    }
    this.#pending.remove(key);
    this.#count(row.endpointId, -1, row.status === "delivered" ? { deliveredAtMs: row.triedAtMs } : {});
    this.#log.put(key, row, row.createdAtMs);
  }

  #count(endpointId: string, change: number, more: Pick<EndpointState, "deliveredAtMs"> = {}): void {
    const state = this.state(endpointId);
    this.putState(endpointId, { ...state, ...more, waiting: Math.max(0, state.waiting + change) });
  }

  /** Pending deliveries, oldest first, strictly younger than `after`. */
  waitingOf(endpointId: string, limit: number, after = ""): DeliveryRow[] {
    const range = { start: [endpointId, after], end: [endpointId, PAST_IDS], limit: limit + 1 };
    return Array.from(this.#pending.range(range), ({ value }) => value)
      .filter(({ id }) => id !== after)
      .slice(0, limit);
  }

  // -- States --

  state(endpointId: string): EndpointState {
    return this.#states.get([endpointId]) ?? FRESH;
  }

  putState(endpointId: string, state: EndpointState): void {
    this.#states.put([endpointId], state);
  }

  /** The endpoint fails no more. */
  putHealthy(endpointId: string): void {
    const state = this.state(endpointId);
    if (state.failingSinceMs > 0) this.putState(endpointId, { ...state, failingSinceMs: 0, failedAtMs: 0 });
  }

  /** Removes what is left of an endpoint that is gone. @returns whether more is left */
  forget(endpointId: string, most: number): boolean {
    for (const { id } of this.waitingOf(endpointId, most)) this.#pending.remove([endpointId, id]);
    const isMore = this.waitingOf(endpointId, 1).length > 0;
    if (this.#log.removeMembers([endpointId], most) || isMore) return true;
    this.#states.remove([endpointId]);
    return false;
  }

  /** Forgets old deliveries now, not when the time comes. */
  sweep(): Promise<void> {
    return this.#log.sweep();
  }

  close(): void {
    this.#log.close();
  }
}
