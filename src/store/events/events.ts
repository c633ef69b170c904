/**
 * What happened in an org, as data. An event is put in the act that it tells of, so there is no event without its change and
 * no change without its event.
 */

import type { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { DAY_MS } from "../../base/time.ts";
import type { Store } from "../store.ts";
import { type ExpiringTable, openExpiringTable } from "../tables/expiring-table.ts";
import type { EventName, EventType } from "./types.ts";

export interface EventRow {
  readonly id: string;
  readonly orgId: string;
  readonly type: EventName;
  readonly createdAtMs: number;
  /** The resource as the API showed it then. */
  readonly data: unknown;
}

/**
 * Called in the act of an event, to put what follows from it, such as deliveries to webhooks. One that throws is reported and
 * does not fail the act, but what it has put until then stays: check first, then put.
 */
export type EventListener = (event: EventRow) => void;

export interface EventsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** For the operator's log. @param what in words: what does not happen, or happens later */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** As long as deliveries of webhooks are kept. */
const KEPT_DAYS = 30;

export class Events {
  readonly #clock: Clock;
  /** [org id, event id]; ids sort by time. */
  readonly #rows: ExpiringTable<EventRow>;
  readonly #listeners: EventListener[] = [];
  readonly #onFailure: EventsOptions["onFailure"];

  constructor({ store, clock, onFailure }: EventsOptions) {
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#rows = openExpiringTable({
      store,
      clock,
      onFailure: forgetting(onFailure),
      rows: "events.rows",
      periods: "events.days",
      periodMs: DAY_MS,
      keepPeriods: KEPT_DAYS,
    });
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
    this.#rows.put([orgId, event.id], event, createdAtMs);
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

  get(orgId: string, id: string): EventRow | undefined {
    return this.#rows.get([orgId, id]);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  of(orgId: string, before?: string): Iterable<EventRow> {
    return this.#rows.members([orgId], before);
  }

  /** Only in an act: an org's events hold names and addresses, and go when it is erased. @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    return this.#rows.removeMembers([orgId], most);
  }

  /** Forgets what is old. */
  sweep(): Promise<void> {
    return this.#rows.sweep();
  }

  close(): void {
    this.#rows.close();
  }
}

/** What a sweep that failed is reported as. */
export const forgetting = (onFailure: EventsOptions["onFailure"]) => (error: unknown) =>
  onFailure(error, "what is old could not be forgotten; it is tried again");

export const eventWire = (row: EventRow) => ({
  id: row.id,
  type: row.type,
  created_at: isoTime(row.createdAtMs),
  org_id: row.orgId,
  data: row.data,
});
