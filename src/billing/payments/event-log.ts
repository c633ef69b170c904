/**
 * Webhooks of payment gateways as they came, kept for a while for disputes with the payment service about what it told us. They
 * hold data of payers, so once it is known to which org an event belongs, an erasure of the org finds it: what stays of it is its
 * id and what it was about.
 */

import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { openExpiringTable } from "../../store/tables/expiring-table.ts";
import { PAST_IDS } from "../../store/tables/key-order.ts";
import type { GatewayId, Notice } from "./gateway.ts";

const KEPT_DAYS = 90;

/** An event as it came. */
export interface EventRow {
  readonly gatewayId: GatewayId;
  readonly eventId: string;
  readonly receivedAtMs: number;
  readonly subject: Notice["subject"];
  /** Raw body, as UTF-8; empty once the org is erased. */
  readonly body: string;
  /** Absent until the event has been handled, and where it is of no org. */
  readonly orgId?: string;
}

export interface EventLogDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Whether what an org's payers told is not to be kept any more. */
  readonly isErased: (orgId: string) => boolean;
  /** Told when old events could not be removed. */
  readonly onFailure: (error: unknown) => void;
}

/** All of them but `close` only in an act. */
export interface EventLog {
  has(gatewayId: GatewayId, eventId: string): boolean;
  put(row: Omit<EventRow, "orgId">): void;
  /** Whose it is. Without a row, nothing. */
  assign(gatewayId: GatewayId, eventId: string, orgId: string): void;
  /** Removes the bodies of an org's events. @param most events at once @returns whether more are left */
  erase(orgId: string, most: number): boolean;
  close(): void;
}

export function openEventLog({ store, clock, isErased, onFailure }: EventLogDeps): EventLog {
  /** [org id, payment gateway, event id] of those with a body. */
  const ofOrgs = store.table<true>("payments.events_of_orgs");
  const rows = openExpiringTable<EventRow>({
    store,
    clock,
    onFailure,
    rows: "payments.events",
    periods: "payments.event_days",
    keepPeriods: KEPT_DAYS,
    onRemove: (key, { orgId }) => orgId !== undefined && ofOrgs.remove([orgId, ...key]),
  });

  function put(row: EventRow): void {
    rows.put([row.gatewayId, row.eventId], row, row.receivedAtMs);
  }

  return {
    has: (gatewayId, eventId) => rows.get([gatewayId, eventId]) !== undefined,
    put,
    assign(gatewayId, eventId, orgId) {
      const row = rows.get([gatewayId, eventId]);
      if (row === undefined || row.orgId !== undefined) return;
      if (isErased(orgId)) put({ ...row, orgId, body: "" });
      else {
        put({ ...row, orgId });
        ofOrgs.put([orgId, gatewayId, eventId], true);
      }
    },
    erase(orgId, most) {
      const found = [...ofOrgs.range({ start: [orgId], end: [orgId, PAST_IDS], limit: most + 1 })];
      for (const { key } of found.slice(0, most)) {
        const [, gatewayId = "", eventId = ""] = key as string[];
        const row = rows.get([gatewayId, eventId]);
        if (row !== undefined) put({ ...row, body: "" });
        ofOrgs.remove(key);
      }
      return found.length > most;
    },
    close: () => rows.close(),
  };
}
