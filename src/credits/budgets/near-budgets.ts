/**
 * Keys and projects that have used half of their budget in the current period: an index, so that whoever asks which budgets are near
 * their end reads these and not the spend of all keys. Each is noted once a period; what it has spent is asked of the budgets.
 */
import type { Clock } from "../../base/clock.ts";
import type { Store } from "../../store/store.ts";
import { openExpiringTable } from "../../store/tables/expiring-table.ts";
import { type Budget, type BudgetScope, isNear } from "./budget.ts";
import { monthOf } from "./periods.ts";

/** A budget of which half is used. An org's is not noted: there is one, which can be looked at. */
export interface NearBudget {
  readonly orgId: string;
  readonly of: "key" | "project";
  /** The key of the call that used it (its lineage has the budget), or the project. */
  readonly id: string;
  /** First key of the lineage, or the project: noted once. */
  readonly ownerId: string;
  /** The org's: `YYYY-MM-DD` for a key, `YYYY-MM` for a project. */
  readonly period: string;
}

/** Called beside charges: returns at once, and never throws. */
export type NoteNear = (near: NearBudget) => void;

/** What was last noted of a key's or project's spend, in memory, so that it is noted once. */
export interface NearMark {
  near: string;
}

/** Notes it of the key's budget, where half is used and that is news. @param spentMicroUsd of the day */
export function noteKey(
  note: NoteNear,
  mark: NearMark,
  scope: BudgetScope,
  spentMicroUsd: number,
  day: string,
): void {
  if (mark.near === day || !isNear(scope.keyDaily, spentMicroUsd)) return;
  mark.near = day;
  const { orgId, keyId, lineageId = keyId } = scope;
  note({ orgId, of: "key", id: keyId, ownerId: lineageId, period: day });
}

/** Like {@link noteKey}, of the project's budget. @param spentMicroUsd of the month that `day` is in */
export function noteProject(
  note: NoteNear,
  mark: NearMark,
  scope: { readonly orgId: string; readonly projectId: string; readonly projectMonthly?: Budget | undefined },
  spentMicroUsd: number,
  day: string,
): void {
  if (!isNear(scope.projectMonthly, spentMicroUsd) || mark.near === monthOf(day)) return;
  mark.near = monthOf(day);
  const { orgId, projectId } = scope;
  note({ orgId, of: "project", id: projectId, ownerId: projectId, period: monthOf(day) });
}

export interface NearBudgets {
  readonly note: NoteNear;
  /** Ids as they were noted in a period, of an org; at most so many. In memory and the store. */
  of(orgId: string, of: NearBudget["of"], period: string, most: number): string[];
  close(): void;
}

export interface NearBudgetDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

/** Days for which a row stays: a month, and what time zones and clocks may differ. */
const KEPT_DAYS = 33;
/** Notes of one act: a day's first burst of a large org is no long act. */
const SLICE = 100;

export function openNearBudgets({ store, clock, onFailure }: NearBudgetDeps): NearBudgets {
  /** [org id, key or project, period, owner id] → id. */
  const rows = openExpiringTable<string>({
    store,
    clock,
    onFailure,
    rows: "limits.near",
    periods: "limits.near_days",
    keepPeriods: KEPT_DAYS,
  });
  const waiting: NearBudget[] = [];

  function put({ orgId, of, id, ownerId, period }: NearBudget): void {
    const key = [orgId, of, period, ownerId];
    if (rows.get(key) === undefined) rows.put(key, id, clock.now());
  }

  /**
   * After the act of the charge, which must not wait for it: at a cell these rows are shared. A gateway alone asks for it in the charge's
   * turn of the event loop, so both are in one append to the journal. A cell that dies between the two leaves the note to whichever cell
   * next hears what was spent: with the next call, also one that is refused.
   */
  async function putWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const slice = waiting.splice(0, SLICE);
      await store.act(() => slice.forEach(put), { isOwed: true }).catch(onFailure);
    }
  }

  return {
    note(near) {
      if (waiting.push(near) === 1) queueMicrotask(() => void putWaiting());
    },
    of(orgId, of, period, most) {
      const ids: string[] = [];
      for (const id of rows.members([orgId, of, period])) {
        if (ids.length === most) break;
        ids.push(id);
      }
      return ids;
    },
    close: () => rows.close(),
  };
}
