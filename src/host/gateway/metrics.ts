/** What `/metrics` reads: what each room says of itself, and the process. */
import { webhookMetrics } from "../../account/webhooks/metrics.ts";
import { analyticsMetrics } from "../../analytics/metrics.ts";
import {
  allMetrics,
  greatest,
  least,
  type MetricSources,
  measured,
  type RoomMetrics,
} from "../../base/metrics/sources.ts";
import type { Descriptors } from "../../base/process/descriptors.ts";
import { turnMetrics } from "../../base/turns/metrics.ts";
import { turnWatch } from "../../base/turns/turn-watch.ts";
import { billingMetrics } from "../../billing/metrics.ts";
import { cellMetrics } from "../../cluster/cells/metrics.ts";
import { creditMetrics } from "../../credits/metrics.ts";
import { healthMetrics } from "../../routing/health/metrics.ts";
import { jobMetrics } from "../../store/jobs/metrics.ts";
import type { House } from "./house.ts";

/** Facts about the process around the gateway. */
export interface ProcessFacts {
  droppedLogLines(): number;
}

export function metricsOf(
  house: House,
  calls: RoomMetrics,
  process: ProcessFacts & { readonly descriptors: Descriptors },
): MetricSources {
  const { cell, catalog, jobs } = house.ground;
  const { billing, money, limits } = house;
  return allMetrics([
    processMetrics(house, process),
    turnMetrics(turnWatch()),
    jobMetrics(jobs),
    billingMetrics(billing.books, billing.invoices),
    webhookMetrics(house.webhooks, house.reach.outbound),
    ...(cell === undefined
      ? []
      : [cellMetrics(cell, { leased: money.leased, leasedSlots: limits.leasedSlots })]),
    calls,
    analyticsMetrics(house),
    creditMetrics({ ...money, ...limits }),
    healthMetrics(house.routing.health, () =>
      [...catalog.current().models.values()].flatMap(({ endpoints }) => endpoints),
    ),
  ]);
}

const processMetrics = (
  { ground: { store }, bodyBudget }: House,
  { descriptors, droppedLogLines }: ProcessFacts & { readonly descriptors: Descriptors },
): RoomMetrics => ({
  gauges: {
    weir_descriptors_used: greatest("Files and sockets open, as far as they are counted.", () =>
      descriptors.used(),
    ),
    weir_descriptors_limit: least(
      "Files and sockets that the process may have open; 0 where that is not known.",
      () => descriptors.limit ?? 0,
    ),
    weir_bodies_bytes: measured("Memory that the bodies of requests under way take.", () => bodyBudget.bytes),
    weir_store_healthy: least("1 while the store commits.", () => (store.healthy() ? 1 : 0)),
  },
  counters: {
    weir_log_lines_dropped_total: measured(
      "Lines of log and start screen that could not be written.",
      droppedLogLines,
    ),
  },
});
