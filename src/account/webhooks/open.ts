/**
 * The room of webhooks, opened: events become deliveries in their own act, and jobs make them. Nothing of it is lost by a
 * crash; an endpoint may get an event twice, with the same `webhook-id`.
 */

import type { Events } from "../../store/events/events.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { Vault } from "../provider-keys/vault.ts";
import { Courier, type CourierDeps } from "./courier.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import type { EndpointRow } from "./endpoint.ts";
import { EndpointEnds } from "./endpoint-ends.ts";
import { Standings } from "./standings.ts";
import { WebhookTables } from "./webhook-tables.ts";

export interface WebhooksOptions extends Pick<CourierDeps, "outbound" | "rulesOf" | "clock" | "random"> {
  readonly store: Store;
  readonly events: Pick<Events, "listen" | "get">;
  readonly trail: Trail;
  /** Not started yet. */
  readonly jobs: Pick<Jobs, "enqueue" | "drop" | "handle" | "of">;
  readonly vault: Vault;
  /** The gateway's version, for `User-Agent`. */
  readonly version: string;
  /** Told when old deliveries could not be removed. */
  readonly onFailure: (error: unknown) => void;
  /** For tests: see `MOST_WAITING`. */
  readonly mostWaiting?: number;
}

/** Since the start. */
export interface WebhookCounts {
  /** Deliveries by how they ended. */
  readonly ended: Record<"delivered" | "failed", number>;
  /** Tries by how they went; `spared`: the endpoint was left alone. */
  readonly tries: Record<"good" | "bad" | "spared", number>;
}

export interface Webhooks {
  readonly tables: WebhookTables;
  readonly queue: DeliveryQueue;
  readonly endpointEnds: EndpointEnds;
  readonly standings: Standings;
  readonly counts: Readonly<WebhookCounts>;
  /**
   * Only in an act: an org's endpoints go with their deliveries when it is erased, and so do the deliveries of endpoints that
   * were deleted a moment ago. @returns whether more are left
   */
  erase(orgId: string, most: number): boolean;
  close(): void;
}

export function openWebhooks(options: WebhooksOptions): Webhooks {
  const { store, events, trail, jobs, vault, clock, random, mostWaiting, onFailure } = options;
  const counts: WebhookCounts = {
    ended: { delivered: 0, failed: 0 },
    tries: { good: 0, bad: 0, spared: 0 },
  };
  const tables = new WebhookTables({ store, clock, onFailure });
  const standings = new Standings(random);
  const queue = new DeliveryQueue({
    tables,
    jobs,
    clock,
    standings,
    ...(mostWaiting !== undefined && { mostWaiting }),
    onEnded(outcome) {
      counts.ended[outcome]++;
      store.ifDropped(() => counts.ended[outcome]--);
    },
  });
  const endpointEnds = new EndpointEnds({ store, tables, queue, jobs, clock, standings, trail });
  new Courier({
    ...options,
    tables,
    queue,
    endpointEnds,
    standings,
    secretsOf: (endpoint, nowMs) => secretsOf(vault, endpoint, nowMs),
    userAgent: `Weir-Webhooks/${options.version}`,
    onTry: (outcome) => counts.tries[outcome]++,
  });
  events.listen((event) => queue.takeEvent(event));
  return {
    tables,
    queue,
    endpointEnds,
    standings,
    counts,
    erase(orgId, most) {
      const endpoints = tables.endpointsOf(orgId);
      const ids = [...endpointEnds.clearing(orgId), ...endpoints.map(({ id }) => id)];
      if (ids.some((id) => tables.forget(id, most))) return true;
      for (const endpoint of endpoints) {
        tables.removeEndpoint(endpoint);
        standings.forget(endpoint.id);
      }
      return false;
    },
    close: () => tables.close(),
  };
}

/** The secrets that sign now, in clear; kept nowhere. */
const secretsOf = (vault: Vault, { id, orgId, secrets }: EndpointRow, nowMs: number): string[] =>
  secrets
    .filter(({ untilMs }) => untilMs === null || untilMs > nowMs)
    .flatMap(({ sealed }) => vault.open(sealed, { orgId, id }) ?? []);
