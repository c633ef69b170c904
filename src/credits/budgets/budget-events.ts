/** The events of a budget that is used up and of a day of unusual spend: once in each period, whatever crashes. */

import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { attempt } from "../../store/attempt.ts";
import type { Trail } from "../../store/events/trail.ts";
import { eventType } from "../../store/events/types.ts";
import type { Store } from "../../store/store.ts";
import { openExpiringTable } from "../../store/tables/expiring-table.ts";
import { BUDGET_NAMES, type BudgetExceeded, type BudgetName, type SpendSpike } from "./budget.ts";

export const budgetExceeded = eventType(
  "budget.exceeded",
  z.object({
    budget: z.enum(BUDGET_NAMES).describe("Which budget it is."),
    key_id: z.string().describe("Key of the call that met the budget; `project_id` is the call's project"),
    project_id: field.projectId,
    limit_micro: z.int().describe("The budget, micro-USD."),
    spent_micro: z.int().describe("What the period has cost so far, micro-USD."),
    hard: field.hard,
    resets_at: field.time("When the next period begins"),
  }),
);

export interface BudgetEventDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Trail["events"];
  readonly onFailure: (error: unknown) => void;
}

export const spendSpike = eventType(
  "spend.spike",
  z.object({
    day: z.string().describe("`YYYY-MM-DD` in the org's time zone"),
    spent_micro: z.int().describe("What the org had spent on that day when this was told, micro-USD"),
    usual_micro: z
      .int()
      .describe(
        "Mean of the days with spend among the seven days before, micro-USD; at least three have any",
      ),
    spike_alert_pct: z
      .int()
      .describe("The org's setting: by so many percent the day exceeds the usual, or more"),
  }),
);

/**
 * @returns what to call in an act for each budget that was exceeded and each spike; the second call of a period puts nothing. It
 *   never throws, because the act is that of a charge, which must not fail because nobody can be told of it.
 */
export function budgetEvents({ store, clock, events, onFailure }: BudgetEventDeps) {
  /** [budget or `org_spike`, first key of a lineage, project or org, end of the period]. */
  const told = openExpiringTable<true>({
    store,
    clock,
    onFailure,
    rows: "limits.told",
    periods: "limits.told_days",
    keepPeriods: 40,
  });
  /** Whether this is the first time in the period; notes it. */
  const isFirst = (period: string[]): boolean => {
    if (told.get(period) !== undefined) return false;
    told.put(period, true, clock.now());
    return true;
  };
  const emitExceeded = (event: BudgetExceeded): void => {
    const { budget, keyId, projectId, orgId, resetsAtMs } = event;
    if (!isFirst([budget, ownerOf[budget](event), isoTime(resetsAtMs)])) return;
    events.emit(budgetExceeded, orgId, {
      budget,
      key_id: keyId,
      project_id: projectId,
      limit_micro: event.limitMicroUsd,
      spent_micro: event.spentMicroUsd,
      hard: event.hard,
      resets_at: isoTime(resetsAtMs),
    });
  };
  const emitSpike = ({ orgId, day, dayEndsMs, ...spike }: SpendSpike): void => {
    if (!isFirst(["org_spike", orgId, isoTime(dayEndsMs)])) return;
    events.emit(spendSpike, orgId, {
      day,
      spent_micro: spike.spentMicroUsd,
      usual_micro: spike.usualMicroUsd,
      spike_alert_pct: spike.alertPct,
    });
  };
  return {
    put: (event: BudgetExceeded) => attempt(onFailure, () => emitExceeded(event)),
    putSpike: (event: SpendSpike) => attempt(onFailure, () => emitSpike(event)),
    close: () => told.close(),
  };
}

const ownerOf: Readonly<Record<BudgetName, (event: BudgetExceeded) => string>> = {
  key_daily: ({ keyId, lineageId = keyId }) => lineageId,
  project_monthly: ({ projectId }) => projectId,
  org_monthly: ({ orgId }) => orgId,
};
