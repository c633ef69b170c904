/** The nightly run: the day before, at half past one in India, when payment gateways have closed it; missed nights are made up for. */

import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { DAY_MS } from "../../base/time.ts";
import { type JobHandler, jobKind } from "../../store/jobs/job.ts";
import { indianDay, indianDayStart } from "../invoices/financial-year.ts";
import { type NoticeDeps, onNotice } from "../notices/notices.ts";
import type { Reconciliation, ReconciliationDeps } from "./reconciliation.ts";

/** After midnight in India. */
const AT_MS = 90 * 60_000;
/** Nights that are made up for after a stop; an operator runs earlier ones. */
const MOST_MISSED = 7;

export const reconcile = jobKind({
  name: "billing.reconcile",
  payload: z.object({}),
  tries: 1000,
  atOnce: 1,
  atOncePerLane: 1,
  backoff: { firstMs: 60_000, mostMs: 3_600_000 },
  leaseMs: 120_000,
});

/** The order of the one job of the installation; put at each start. */
export const reconcileOrder = (nowMs: number) => ({
  key: "installation",
  orgId: "",
  payload: {},
  dueMs: nextNight(nowMs),
});

export function nextNight(nowMs: number): number {
  const tonight = indianDayStart(indianDay(nowMs)) + AT_MS;
  return tonight > nowMs ? tonight : tonight + DAY_MS;
}

export const reconciler = (
  reconciliation: Reconciliation,
  clock: Clock,
): JobHandler<Record<string, never>> => ({
  async run(_payload, { signal }) {
    for (const day of missedDays(reconciliation)) await reconciliation.run(day, signal);
    return { againAtMs: nextNight(clock.now()) };
  },
});

/** Days that are over and were not run since the newest one that was, oldest first. */
export function missedDays(reconciliation: Pick<Reconciliation, "newest" | "yesterday">): string[] {
  const yesterday = reconciliation.yesterday();
  const newest = reconciliation.newest()?.day ?? "";
  const days: string[] = [];
  const lastMs = indianDayStart(yesterday);
  for (let ms = lastMs; days.length < (newest === "" ? 1 : MOST_MISSED); ms -= DAY_MS) {
    const day = indianDay(ms);
    if (day <= newest) break;
    days.unshift(day);
  }
  return days;
}

/** Follows what a payment gateway has, as its webhook would make us do; for `ReconciliationDeps.follow`. */
export const followNow =
  (deps: NoticeDeps): ReconciliationDeps["follow"] =>
  async (gateway, subject, signal) => {
    const ending = await onNotice(deps, gateway, { eventId: "", subject }, signal);
    const act = ending?.act;
    if (act !== undefined) await deps.store.act(act);
  };
