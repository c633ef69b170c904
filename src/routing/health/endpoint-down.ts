/**
 * The event of an endpoint that is down: to each org at most once for an outage, and at most once an hour for an endpoint,
 * whatever restarts. Calls wait for nothing of it.
 */

import type { Logger } from "pino";
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import type { Endpoint } from "../../base/endpoint.ts";
import * as field from "../../base/operation/fields.ts";
import { HOUR_MS } from "../../base/time.ts";
import type { Trail } from "../../store/events/trail.ts";
import { eventType } from "../../store/events/types.ts";
import type { Store } from "../../store/store.ts";
import { openExpiringTable } from "../../store/tables/expiring-table.ts";
import type { Health } from "./health.ts";
import { type News, Outages } from "./outages.ts";

const REASONS = ["capacity", "auth", "server", "network", "timeout", "protocol"] as const;
type Reason = (typeof REASONS)[number];

export const endpointDown = eventType(
  "endpoint.down",
  z.object({
    endpoint_id: field.endpointId,
    model: field.modelId,
    provider: field.providerId,
    reason: z.enum(REASONS).describe("Why it is down."),
    since: field.time("Since when it is down"),
  }),
);

/** Orgs of one act: each may have webhooks. */
const SLICE = 20;

export interface EndpointDownDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Trail["events"];
  readonly health: Pick<Health, "outage">;
  readonly log: Logger;
}

export interface EndpointDown {
  /** An org's call failed at the endpoint, or was refused because it is out. Never throws, and no call waits for it. */
  missed(endpoint: Endpoint, orgId: string): void;
  close(): void;
}

export function openEndpointDown({ store, clock, events, health, log }: EndpointDownDeps): EndpointDown {
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const outages = new Outages();
  /** [endpoint id, org id] → when it was told. */
  const told = openExpiringTable<number>({
    store,
    clock,
    onFailure,
    rows: "routing.down_told",
    periods: "routing.down_told_hours",
    periodMs: HOUR_MS,
    keepPeriods: 1,
  });

  /** In an act. */
  function tell(endpoint: Endpoint, orgId: string, reason: Reason, sinceMs: number): void {
    const nowMs = clock.now();
    const key = [endpoint.id, orgId];
    if (Math.abs(nowMs - (told.get(key) ?? Number.NEGATIVE_INFINITY)) < HOUR_MS) return;
    told.put(key, nowMs, nowMs);
    const { id, model, provider } = endpoint;
    const wire = { endpoint_id: id, model, provider: provider.id, reason, since: isoTime(sinceMs) };
    events.emit(endpointDown, orgId, wire);
  }

  async function tellAll(endpoint: Endpoint, { orgIds, sinceMs }: News, reason: Reason): Promise<void> {
    const sinceWallMs = Math.round(clock.now() - (clock.monotonic() - sinceMs));
    for (let from = 0; from < orgIds.length; from += SLICE) {
      const slice = orgIds.slice(from, from + SLICE);
      await store.act(() => {
        for (const orgId of slice) tell(endpoint, orgId, reason, sinceWallMs);
      });
    }
  }

  return {
    missed(endpoint: Endpoint, orgId: string): void {
      const outage = health.outage(endpoint);
      const news = outages.missed(endpoint.id, orgId, outage, clock.monotonic());
      if (outage === undefined || news === undefined) return;
      const reason = REASONS.find((each) => each === outage.reason) ?? "server";
      tellAll(endpoint, news, reason).catch((err: unknown) =>
        log.warn({ err, endpoint: endpoint.id }, "orgs could not be told of an endpoint that is down"),
      );
    },
    close: () => told.close(),
  };
}
