/** The event of a budget that is used up: once in each of its periods, whatever crashes. */
import { z } from "zod";
import { type Clock, isoTime } from "../clock.ts";
import type { Trail } from "../events/trail.ts";
import { eventType } from "../events/types.ts";
import { openExpiringTable } from "../store/expiring-table.ts";
import type { Store } from "../store/store.ts";
import type { BudgetExceeded } from "./budget.ts";

export const budgetExceeded = eventType(
  "budget.exceeded",
  z.object({
    budget: z.enum(["key_daily", "project_monthly"]),
    key_id: z.string(),
    project_id: z.string(),
    limit_micro: z.int(),
    spent_micro: z.int(),
    hard: z.boolean(),
    resets_at: z.string(),
  }),
);

export interface BudgetEventDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Trail["events"];
  /** The org of a project. */
  readonly orgOf: (projectId: string) => string | undefined;
  readonly onFailure: (error: unknown) => void;
}

const DAY_MS = 86_400_000;

/**
 * @returns what to call in an act for each budget that was exceeded; the second call of a period puts nothing. It never throws,
 *   because the act is that of a charge, which must not fail because nobody can be told of it.
 */
export function budgetEvents({ store, clock, events, orgOf, onFailure }: BudgetEventDeps) {
  /** [budget, key or project, end of the period]. */
  const told = openExpiringTable<true>({
    ...{ store, clock, onFailure },
    ...{ rows: "limits.told", periods: "limits.told_days", periodMs: DAY_MS, keepPeriods: 40 },
  });
  const emit = (event: BudgetExceeded): void => {
    const { budget, keyId, projectId, resetsAtMs } = event;
    const orgId = orgOf(projectId);
    const period = [budget, budget === "key_daily" ? keyId : projectId, isoTime(resetsAtMs)];
    if (orgId === undefined || told.get(period) !== undefined) return;
    told.put(period, true, clock.now());
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
  const put = (event: BudgetExceeded): void => {
    try {
      emit(event);
    } catch (error) {
      onFailure(error);
    }
  };
  return { put, close: () => told.close() };
}
