/** Events of orgs for those who watch: as they happen, and what a client of `GET /v1/live` missed while it was away. */
import { firstIdAt } from "../../base/ids.ts";
import { type EventRow, type Events, eventWire } from "../../store/events/events.ts";
import { eventShape } from "../../store/events/operations.ts";
import { type OfOrg, OrgFeed } from "../tail/org-feed.ts";
import { eventMadeAtMs, type LivePosition } from "./live-position.ts";

/** Where events of orgs are kept. */
export type EventSource = Pick<Events, "of" | "watch">;

/** An event as `GET /v1/events` shows it. */
export const orgEventSchema = eventShape;

/** The same as JSON, made once for all who get it. */
export interface OrgEvent extends OfOrg {
  /** Ids sort by time. */
  readonly id: string;
  readonly json: string;
}

export interface MissedEvents {
  /** Oldest first; where there is more than may be sent, the newest. */
  readonly events: readonly OrgEvent[];
  readonly isWhole: boolean;
}

const MOST_EVENTS = 200;
/**
 * An event of another cell may be known here only after a later one of this cell: a client that comes back is sent those of so long
 * before its position once more.
 */
const OTHERS_MS = 2000;

export class OrgEvents extends OrgFeed<OrgEvent> {
  readonly #source: EventSource;
  readonly #hasOthers: boolean;

  /** @param hasOthers events come from other cells too */
  constructor(source: EventSource, hasOthers: boolean) {
    super();
    this.#source = source;
    this.#hasOthers = hasOthers;
    source.watch((row) => {
      if (this.isWatched(row.orgId)) this.receive(orgEvent(row));
    });
  }

  /** What came after the position. */
  missed(orgId: string, position: LivePosition): MissedEvents {
    const atMs = eventMadeAtMs(position) - OTHERS_MS;
    const after = this.#hasOthers ? firstIdAt("evt", Math.max(0, atMs)) : position.eventId;
    const events: OrgEvent[] = [];
    // Read lazily: no more than is sent.
    for (const row of this.#source.of(orgId)) {
      if (row.id <= after) break;
      if (events.length === MOST_EVENTS) return { events: events.reverse(), isWhole: false };
      events.push(orgEvent(row));
    }
    return { events: events.reverse(), isWhole: true };
  }
}

const orgEvent = (row: EventRow): OrgEvent => ({
  orgId: row.orgId,
  id: row.id,
  json: JSON.stringify(eventWire(row)),
});
