/** `GET /v1/usage`: sums over a range, as totals, a series and groups; exact, and fast at any volume. */

import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { INCOMPLETE_SINCE, incompleteSince } from "../../base/operation/incomplete-since.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { DAY_MS, HOUR_MS } from "../../base/time.ts";
import type { WaitForInserts } from "../clickhouse/inserted-until.ts";
import type { QueryBudget } from "../clickhouse/query-budget.ts";
import { environmentCondition } from "../requests/record-access.ts";
import { FILTERS, flag, sqlOf, word } from "../requests/request-filters.ts";
import {
  BUCKETS,
  type Condition,
  GROUPS,
  type Key,
  ONE_SUM,
  type Period,
  pairOf,
  sumsSql,
} from "./usage-sums.ts";
import {
  added,
  periodOf,
  RANGE_FIELDS,
  type Totals,
  totalsOf,
  totalsSchema,
  ZERO_TOTALS,
} from "./usage-wire.ts";

export interface UsageDeps {
  readonly budget: QueryBudget;
  readonly clock: Clock;
  readonly waitForInserts: WaitForInserts;
}

const granularityField = z.enum(["hour", "day"]).describe("The length of each item of the series.");

/** The parameters of usage, also of its export. */
export const USAGE_QUERY = z.object({
  ...RANGE_FIELDS,
  granularity: granularityField.optional(),
  group_by: z
    .enum(["project", "key", "model", "provider", "byok", "app", "tag"])
    .optional()
    .describe("What the groups are."),
  tag: word.min(1).optional().describe("Key of the tag, with group_by=tag."),
  compare: flag.optional().describe("Adds the totals of the period before, of the same length."),
  project_id: FILTERS.project_id,
  key_id: FILTERS.key_id,
  model: FILTERS.model,
  provider: FILTERS.provider,
});

type Query = z.output<typeof USAGE_QUERY>;

const usageSchema = z.object({
  object: field.objectOf("usage"),
  range: z.object({ ...field.period, granularity: granularityField }).describe("The period that is summed."),
  group_by: z.string().describe("Empty when not grouped."),
  totals: totalsSchema.describe("Sums of the whole period."),
  series: z
    .array(totalsSchema.extend({ bucket: field.time("When the item begins") }))
    .describe("Sums by hour or day."),
  groups: z
    .array(
      totalsSchema.extend({ key: z.string().describe("What the group is: a project, a key, a model, …") }),
    )
    .describe("Sums by group, the dearest first."),
  ...INCOMPLETE_SINCE,
  compare: z
    .object({
      range: z.object(field.period).describe("The period before."),
      totals: totalsSchema.describe("Sums of the whole period."),
    })
    .optional()
    .describe("The totals of the period before."),
});

export function usageOperations({ budget, clock, waitForInserts }: UsageDeps) {
  async function sumsBy(caller: Caller, q: Query, period: Period, key: Key) {
    const { where, params: named } = selection(q, caller);
    const { sql, params } = sumsSql(key, where, period);
    return await budget.of(caller.orgId).rows<Totals & { k: string }>(sql, { ...named, ...params });
  }

  async function totals(caller: Caller, q: Query, period: Period): Promise<Totals> {
    const [row] = await sumsBy(caller, q, period, ONE_SUM);
    return row === undefined ? ZERO_TOTALS : totalsOf(row);
  }

  const getUsage = operation({
    summary: "Requests, tokens and cost over a range",
    method: "GET",
    path: "/v1/usage",
    access: "read:usage / viewer",
    group: "Usage",
    query: USAGE_QUERY,
    output: usageSchema,
    errors: ["query_too_large", "concurrency", "analytics_unavailable"],
    async run({ query: q }, caller) {
      const period = periodOf(q, clock.now());
      const granularity = granularityOf(q, period);
      const group = groupOf(q);
      const missingSinceMs = await waitForInserts();
      const before = { fromMs: 2 * period.fromMs - period.toMs, toMs: period.fromMs };
      const [series, groups, compared] = await Promise.all([
        sumsBy(caller, q, period, BUCKETS[granularity]),
        group === undefined ? [] : sumsBy(caller, q, period, group),
        q.compare === true ? totals(caller, q, before) : undefined,
      ]);
      return {
        object: "usage" as const,
        range: { from: isoTime(period.fromMs), to: isoTime(period.toMs), granularity },
        group_by: q.group_by ?? "",
        totals: added(series),
        series: filledSeries(series, period, granularity),
        groups: groups.map((row) => ({ key: row.k, ...totalsOf(row) })),
        ...incompleteSince(missingSinceMs),
        ...(compared !== undefined && {
          compare: { range: { from: isoTime(before.fromMs), to: isoTime(before.toMs) }, totals: compared },
        }),
      };
    },
  });

  return { getUsage };
}

export interface UsageExport {
  /** Columns `bucket`, `group` and the sums. */
  readonly sql: string;
  readonly params: Record<string, unknown>;
}

/** The sums by bucket and group, without a limit. @throws WeirError 400 for a range that is not one */
export function usageExport(q: Query, caller: Caller, nowMs: number): UsageExport {
  const period = periodOf(q, nowMs);
  const group = groupOf(q) ?? ONE_SUM;
  const { where, params: named } = selection(q, caller);
  const { sql, params } = sumsSql(pairOf(BUCKETS[granularityOf(q, period)], group), where, period);
  return {
    sql: `SELECT toString(toDateTime(toUInt32(k.1), 'UTC')) AS bucket, k.2 AS group, * EXCEPT (k) FROM (${sql})`,
    params: { ...named, ...params },
  };
}

/** By what the sums are grouped; undefined where no groups are asked for. @throws WeirError 400 where the key of the tag is missing */
function groupOf({ group_by, tag }: Query): Key | undefined {
  if (group_by === "tag" && tag === undefined)
    throw fail("invalid_value", "group_by=tag needs the tag's key in `tag`.", { param: "/tag" });
  return group_by && GROUPS[group_by];
}

/** Condition over `requests` or a roll-up, and its parameters. */
function selection(q: Query, caller: Caller): { where: Condition; params: Record<string, unknown> } {
  const { project_id, key_id, model, provider } = q;
  const { conditions, params } = sqlOf({ project_id, key_id, model, provider });
  const own = `org_id = {org:String}${environmentCondition(caller)}`;
  return {
    where: { where: [own, ...conditions].join(" AND "), isFiltered: conditions.length > 0 },
    params: { ...params, org: caller.orgId, tag: q.tag ?? "" },
  };
}

/** Every bucket of the range, including empty ones, so that a chart has no holes. */
function filledSeries(
  rows: readonly (Totals & { k: string })[],
  { fromMs, toMs }: Period,
  granularity: "hour" | "day",
) {
  const stepMs = granularity === "hour" ? HOUR_MS : DAY_MS;
  const found = new Map(rows.map((row) => [Number(row.k) * 1000, row]));
  const series: (Totals & { bucket: string })[] = [];
  for (let at = Math.floor(fromMs / stepMs) * stepMs; at < toMs; at += stepMs) {
    const row = found.get(at);
    series.push({ bucket: isoTime(at), ...(row === undefined ? ZERO_TOTALS : totalsOf(row)) });
  }
  return series;
}

/** Specification: above 30 days `day` unless requested otherwise, above 90 days always `day`. */
function granularityOf(q: Query, { fromMs, toMs }: Period): "hour" | "day" {
  const lengthMs = toMs - fromMs;
  if (lengthMs > 90 * DAY_MS) return "day";
  return q.granularity ?? (lengthMs > 30 * DAY_MS ? "day" : "hour");
}
