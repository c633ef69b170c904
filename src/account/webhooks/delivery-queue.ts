/**
 * Which deliveries there are to make: new ones from events, each with its job, and how many of one endpoint may wait. Endpoints
 * in trouble have jobs of another kind, so that all of them together leave the slots of the others alone.
 */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { EventRow } from "../../store/events/events.ts";
import { type JobKind, jobKind } from "../../store/jobs/job.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import { type DeliveryRow, givenUp, newDelivery } from "./delivery.ts";
import { type EndpointRow, wantsType } from "./endpoint.ts";
import { SLOTS, type Standings } from "./standings.ts";
import type { WebhookTables } from "./webhook-tables.ts";

const payload = z.object({ endpointId: z.string() });
export type DeliveryPayload = z.output<typeof payload>;

/** Failures of receivers are no failures of the job: these tries are for faults of the gateway, and for its crashes. */
const ofFaults = {
  payload,
  tries: 8,
  backoff: { firstMs: 5_000, mostMs: 300_000 },
  /** A call takes 20 s at most: as long for its turn as for itself. */
  leaseMs: 60_000,
};

/** The key of a job is its delivery's id, its lane the endpoint. */
export const deliver = jobKind({
  name: "webhooks.deliver",
  ...ofFaults,
  atOnce: SLOTS.well.inAll,
  atOncePerLane: 8,
});

/** To endpoints that are slow or fail. */
export const deliverToTroubled = jobKind({
  name: "webhooks.deliver_to_troubled",
  ...ofFaults,
  atOnce: SLOTS.troubled.inAll,
  atOncePerLane: 4,
});

/** Deliveries of one endpoint that wait; for one more the oldest fails. */
export const MOST_WAITING = 20_000;
/** So many of those are looked at for one whose job does not run just now: more than run of one endpoint. */
const LOOKED_AT = 16;

export interface DeliveryQueueDeps {
  readonly tables: WebhookTables;
  readonly jobs: Pick<Jobs, "enqueue" | "drop">;
  readonly clock: Clock;
  readonly standings: Standings;
  /** Called in the act that ends a delivery. */
  readonly onEnded: (outcome: "delivered" | "failed") => void;
  /** For tests. */
  readonly mostWaiting?: number;
}

export class DeliveryQueue {
  readonly #deps: DeliveryQueueDeps;

  constructor(deps: DeliveryQueueDeps) {
    this.#deps = deps;
  }

  /** In the act of the event. */
  takeEvent(event: EventRow): void {
    for (const endpoint of this.#deps.tables.endpointsOf(event.orgId)) {
      if (isFor(event, endpoint)) this.add(endpoint, event, event.type === "webhook.test");
    }
  }

  /** In an act: a new delivery. @param isAsked somebody waits for it */
  add(
    { id: endpointId, orgId }: EndpointRow,
    { id: eventId, type }: Pick<EventRow, "id" | "type">,
    isAsked: boolean,
  ): DeliveryRow {
    const { tables, clock, standings, mostWaiting = MOST_WAITING } = this.#deps;
    const nowMs = clock.now();
    if (tables.state(endpointId).waiting >= mostWaiting) this.#giveWay(endpointId);
    const fresh = newDelivery({ endpointId, orgId, eventId, type, isAsked }, nowMs);
    const dueMs = isAsked ? nowMs : Math.max(nowMs, Math.ceil(standings.restsUntilMs(endpointId, nowMs)));
    const row = { ...fresh, nextAtMs: dueMs };
    tables.addDelivery(row);
    this.enqueue(row, dueMs);
    return row;
  }

  /** In an act. Nothing is added where a job of this kind waits or runs. @param kind that of the endpoint's deliveries now, unless given */
  enqueue({ id, endpointId, orgId }: DeliveryRow, dueMs: number, kind?: JobKind<DeliveryPayload>): void {
    const { jobs, standings } = this.#deps;
    const usual = standings.isTroubled(endpointId) ? deliverToTroubled : deliver;
    jobs.enqueue(kind ?? usual, { key: id, lane: endpointId, orgId, dueMs, payload: { endpointId } });
  }

  /** In an act: forgets the job of a delivery. @returns false where it runs just now, or there is none */
  drop(id: string): boolean {
    const { jobs } = this.#deps;
    return jobs.drop(deliver.name, id) || jobs.drop(deliverToTroubled.name, id);
  }

  /** In an act: puts a delivery that has ended. */
  end(row: DeliveryRow): void {
    this.#deps.tables.putDelivery(row);
    this.#deps.onEnded(row.status === "delivered" ? "delivered" : "failed");
  }

  /** In an act: ends the oldest delivery that nobody is trying just now. */
  #giveWay(endpointId: string): void {
    for (const row of this.#deps.tables.waitingOf(endpointId, LOOKED_AT)) {
      if (!this.drop(row.id)) continue;
      this.end(givenUp(row, "Too many deliveries wait for this webhook: the oldest are not tried again."));
      return;
    }
  }
}

const isFor = ({ type, data }: EventRow, endpoint: EndpointRow): boolean =>
  type === "webhook.test"
    ? endpoint.status === "active" && (data as { id?: unknown }).id === endpoint.id
    : wantsType(endpoint, type);
