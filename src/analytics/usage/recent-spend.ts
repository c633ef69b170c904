/** What an org, its projects and its keys were charged lately: for forecasts. From the hourly sums, of the ids that are asked for alone. */
import type { Clock } from "../../base/clock.ts";
import { DAY_MS } from "../../base/time.ts";
import type { QueryBudget } from "../clickhouse/query-budget.ts";
import { GROUPS, type Key, ONE_SUM, sumsSql } from "./usage-sums.ts";
import type { Totals } from "./usage-wire.ts";

export interface RecentSpendDeps {
  readonly budget: QueryBudget;
  readonly clock: Clock;
}

/** Micro-USD. */
interface Recent {
  /** Charged in seven days. */
  readonly orgMicroUsd: number;
  /** Charged in seven days, by id; one that was charged nothing is missing. */
  readonly projects: ReadonlyMap<string, number>;
  /** Charged in 24 hours, by id. */
  readonly keys: ReadonlyMap<string, number>;
}

/** @throws WeirError `concurrency`, `query_too_large`, `analytics_unavailable` */
export type RecentSpendReader = (
  orgId: string,
  ids: { readonly projects: readonly string[]; readonly keys: readonly string[] },
) => Promise<Recent>;

export function recentSpend({ budget, clock }: RecentSpendDeps): RecentSpendReader {
  async function costs(orgId: string, key: Key, days: number, keys?: readonly string[]) {
    if (keys?.length === 0) return new Map<string, number>();
    const toMs = clock.now();
    const where = { where: "org_id = {org:String}", isFiltered: false };
    const period = { fromMs: toMs - days * DAY_MS, toMs };
    const { sql, params } = sumsSql(key, where, period, keys && { isListed: true });
    const rows = await budget
      .of(orgId)
      .rows<Totals & { k: string }>(sql, { ...params, org: orgId, ...(keys && { keys }) });
    return new Map(rows.map(({ k, cost_micro }) => [k, cost_micro]));
  }

  return async (orgId, { projects, keys }) => {
    const [org, ofProjects, ofKeys] = await Promise.all([
      costs(orgId, ONE_SUM, 7),
      costs(orgId, GROUPS.project, 7, projects),
      costs(orgId, GROUPS.key, 1, keys),
    ]);
    return { orgMicroUsd: org.get("") ?? 0, projects: ofProjects, keys: ofKeys };
  };
}
