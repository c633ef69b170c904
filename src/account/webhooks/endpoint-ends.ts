/**
 * How an endpoint ends, for a while or for good: its waiting deliveries fail without a call. There may be very many of them,
 * so a job ends them in slices, each an act of its own.
 */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { systemCaller } from "../../base/operation/keyless.ts";
import type { Trail } from "../../store/events/trail.ts";
import { jobKind } from "../../store/jobs/job.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { givenUp } from "./delivery.ts";
import type { DeliveryQueue } from "./delivery-queue.ts";
import { type DisabledReason, type EndpointRow, endpointWire } from "./endpoint.ts";
import type { Standings } from "./standings.ts";
import { webhookDisabled } from "./webhook-events.ts";
import type { WebhookTables } from "./webhook-tables.ts";

/** Ends what waits for an endpoint that is disabled or gone, and removes what was kept of one that is gone. */
const clearEndpoint = jobKind({
  name: "webhooks.clear",
  payload: z.object({ endpointId: z.string() }),
  tries: 50,
  backoff: { firstMs: 5_000, mostMs: 300_000 },
  atOnce: 4,
  atOncePerLane: 1,
  leaseMs: 60_000,
});

/** Deliveries that one act ends. */
const SLICE = 200;

export interface EndpointEndsDeps {
  readonly store: Pick<Store, "act">;
  readonly tables: WebhookTables;
  readonly queue: DeliveryQueue;
  readonly jobs: Pick<Jobs, "enqueue" | "handle" | "of">;
  readonly clock: Clock;
  readonly standings: Standings;
  readonly trail: Trail;
}

export class EndpointEnds {
  readonly #deps: EndpointEndsDeps;

  constructor(deps: EndpointEndsDeps) {
    this.#deps = deps;
    deps.jobs.handle(clearEndpoint, {
      run: async ({ endpointId }, { orgId, signal }) => {
        let after: string | undefined = "";
        while (after !== undefined) {
          signal.throwIfAborted();
          const from: string = after;
          after = await deps.store.act(() => this.#endSlice(orgId, endpointId, from), { isOwed: true });
        }
        let isMore = deps.tables.endpoint(orgId, endpointId) === undefined;
        while (isMore) {
          signal.throwIfAborted();
          isMore = await deps.store.act(() => deps.tables.forget(endpointId, SLICE), { isOwed: true });
        }
        return undefined;
      },
    });
  }

  /** In an act, by a request. */
  disable(row: EndpointRow, reason: DisabledReason): EndpointRow {
    const disabled: EndpointRow = { ...row, status: "disabled", disabledReason: reason };
    this.#deps.tables.putEndpoint(disabled);
    this.#clear(row);
    return disabled;
  }

  /** In an act, by the gateway itself: the org sees it in its audit and hears of it. */
  disableForFailures(row: EndpointRow, reason: Exclude<DisabledReason, "manual">): void {
    const { clock, trail } = this.#deps;
    const nowMs = clock.now();
    const before = endpointWire(row, nowMs);
    const after = endpointWire(this.disable(row, reason), nowMs);
    const caller = systemCaller("webhooks", row.orgId);
    trail.audit.note(caller, { act: "webhook.disable", target: row.id, before, after });
    trail.events.emit(webhookDisabled, row.orgId, after);
  }

  /** In an act. */
  remove(row: EndpointRow): void {
    this.#deps.tables.removeEndpoint(row);
    this.#clear(row);
  }

  /** Ids of an org's endpoints that a job has still to clear. */
  clearing(orgId: string): string[] {
    return Array.from(this.#deps.jobs.of(clearEndpoint, orgId), ({ payload }) => {
      const { data } = clearEndpoint.payload.safeParse(payload);
      return data?.endpointId ?? "";
    });
  }

  #clear({ id, orgId }: EndpointRow): void {
    const { jobs, standings } = this.#deps;
    jobs.enqueue(clearEndpoint, { orgId, lane: id, payload: { endpointId: id } });
    standings.forget(id);
  }

  /** In an act. A delivery that is being made ends by itself. @returns where to go on; undefined: that was all */
  #endSlice(orgId: string, endpointId: string, after: string): string | undefined {
    const { tables, queue } = this.#deps;
    const endpoint = tables.endpoint(orgId, endpointId);
    if (endpoint?.status === "active") return undefined;
    const why = endpoint === undefined ? "The webhook was deleted." : "The webhook was disabled.";
    const rows = tables.waitingOf(endpointId, SLICE, after);
    for (const row of rows) if (queue.drop(row.id)) queue.end(givenUp(row, why));
    return rows.length < SLICE ? undefined : rows.at(-1)?.id;
  }
}
