/**
 * What happened in an org, as data. An event is put in the act that it tells of, so there is no event without its change and
 * no change without its event.
 */

import type { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { type TrailOptions, type TrailRow, TrailRows } from "./trail-rows.ts";
import type { EventName, EventType } from "./types.ts";

export interface EventRow extends TrailRow {
  readonly type: EventName;
  /** The resource as the API showed it then. */
  readonly data: unknown;
}

/**
 * Called in the act of an event, to put what follows from it, such as deliveries to webhooks. One that throws is reported and
 * does not fail the act, but what it has put until then stays: check first, then put.
 */
export type EventListener = (event: EventRow) => void;

/** As long as deliveries of webhooks are kept. */
const KEPT_DAYS = 30;

export class Events extends TrailRows<EventRow> {
  readonly #clock: Clock;
  readonly #listeners: EventListener[] = [];
  readonly #onFailure: TrailOptions["onFailure"];

  constructor(options: TrailOptions) {
    super(options, { prefix: "evt", rows: "events.rows", periods: "events.days", keptDays: KEPT_DAYS });
    this.#clock = options.clock;
    this.#onFailure = options.onFailure;
  }

  /** Only in an act. @throws ZodError where the data is not what the type promises: nothing is put then */
  emit<D extends z.ZodType>(type: EventType<D>, orgId: string, data: z.input<D>): void {
    const createdAtMs = this.#clock.now();
    const event: EventRow = {
      id: newId("evt", createdAtMs),
      orgId,
      type: type.name,
      createdAtMs,
      data: type.data.parse(data),
    };
    this.put(event);
    for (const listener of this.#listeners) this.#tell(listener, event);
  }

  /** A change must not fail, again and again, because nobody can be told of it. */
  #tell(listener: EventListener, event: EventRow): void {
    try {
      listener(event);
    } catch (error) {
      this.#onFailure(error, `what follows from the event ${event.id} (${event.type}) was not put in full`);
    }
  }

  /** Before the first event. */
  listen(listener: EventListener): void {
    this.#listeners.push(listener);
  }
}

export const eventWire = (row: EventRow) => ({
  id: row.id,
  type: row.type,
  created_at: isoTime(row.createdAtMs),
  org_id: row.orgId,
  data: row.data,
});
