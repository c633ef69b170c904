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
import { type GroupNames, namesOfGroups } from "./group-names.ts";
import {
  type Beside,
  BUCKETS,
  type Condition,
  GROUPS,
  type Key,
  MAX_GROUPS,
  movedBucket,
  ONE_SUM,
  type Period,
  pairOf,
  sumsSql,
} from "./usage-sums.ts";
import {
  type Measured,
  measuredOf,
  measuredSchema,
  periodOf,
  RANGE_FIELDS,
  type TimedTotals,
  ZERO_MEASURED,
} from "./usage-wire.ts";

export interface UsageDeps {
  readonly budget: QueryBudget;
  readonly clock: Clock;
  readonly waitForInserts: WaitForInserts;
  /** Port: names beside the ids of groups. Default: none is known. */
  readonly names?: GroupNames | undefined;
  /** Groups by tag have times where the range has no more calls: each record is read for them. */
  readonly mostTimedByTag?: number;
}

/** Usage of 95,000 calls by tag took 126 to 177 ms on two busy cores, by model 133 to 141. */
const MOST_TIMED_BY_TAG = 100_000;

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
  compare: flag.optional().describe("Adds totals and series of the period before, of the same length."),
  project_id: FILTERS.project_id,
  key_id: FILTERS.key_id,
  model: FILTERS.model,
  provider: FILTERS.provider,
});

/** A question about the calls of an org, or of all orgs. */
type Query = Omit<z.output<typeof USAGE_QUERY>, "group_by"> & {
  readonly group_by?: keyof typeof GROUPS | undefined;
};

/** For whom sums are made. */
interface Asker extends Pick<Caller, "orgId" | "environment" | "scopes"> {
  /** An operator's: the calls of all orgs. */
  readonly isOfAll?: boolean;
}

const limitField = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_GROUPS)
  .default(MAX_GROUPS)
  .describe("So many groups at most, the dearest ones.");

/** The parameters of usage alone. */
const usageQuery = USAGE_QUERY.extend({ limit: limitField });

/** Those of an operator's, over the calls of all orgs: names of projects, keys and apps are their orgs' own. */
const installationQuery = USAGE_QUERY.omit({ project_id: true, key_id: true, tag: true }).extend({
  group_by: z.enum(["org", "model", "provider"]).optional().describe("What the groups are."),
  org_id: word.min(1).optional().describe("Only calls of this org."),
  limit: limitField,
});

const itemSchema = measuredSchema.extend({ bucket: field.time("When the item begins") });

const usageSchema = z.object({
  object: field.objectOf("usage"),
  range: z.object({ ...field.period, granularity: granularityField }).describe("The period that is summed."),
  group_by: z.string().describe("Empty when not grouped."),
  totals: measuredSchema.describe("Sums of the whole period."),
  series: z.array(itemSchema).describe("Sums by hour or day."),
  groups: z
    .array(
      measuredSchema.extend({
        key: z.string().describe("What the group is: a project, a key, a model, …"),
        name: z
          .string()
          .describe(
            "What it is called: of a project, a key, an app, a provider or a model; empty where no name is known, or where you may not list such things.",
          ),
        hint: z.string().optional().describe("Of a key: the end of the secret."),
      }),
    )
    .describe("Sums by group, the dearest first."),
  groups_total: z.int().describe("How many groups there are, also beyond `limit`."),
  groups_more: z.boolean().describe("Whether groups are left out."),
  ...INCOMPLETE_SINCE,
  compare: z
    .object({
      range: z.object(field.period).describe("The period before."),
      totals: measuredSchema.describe("Sums of the whole period."),
      series: z
        .array(itemSchema)
        .describe(
          "An item for each of `series`, in the same order: as much earlier as the period is long. An hour counts where it begins.",
        ),
    })
    .optional()
    .describe("The same of the period before."),
});

type Row = TimedTotals & { readonly k: string };
type Granularity = "hour" | "day";

/** How sums are made: of one asker after the other, each within the budget of questions of the org. */
function usageSums({
  budget,
  clock,
  waitForInserts,
  names = () => new Map(),
  mostTimedByTag = MOST_TIMED_BY_TAG,
}: UsageDeps) {
  async function rowsBy<T>(
    asker: Asker,
    q: Query,
    period: Period,
    key: Key,
    beside: Beside,
    keys?: string[],
  ) {
    const { where, params: named } = selection(q, asker);
    const { sql, params } = sumsSql(key, where, period, beside);
    return await budget.of(asker.orgId).rows<Row & T>(sql, { ...named, ...params, ...(keys && { keys }) });
  }

  /** The sums of each bucket that has calls, and those of all buckets. */
  async function bucketsOf(asker: Asker, q: Query, period: Period, key: Key) {
    const rows = await rowsBy<{ is_all: number }>(asker, q, period, key, { times: true, all: true });
    return { items: rows.filter((row) => row.is_all === 0), all: rows.find((row) => row.is_all === 1) };
  }

  /** Times are read of the groups that are answered alone: there may be many others. */
  async function groupsOf(asker: Asker, q: Query & { limit: number }, period: Period) {
    const group = groupOf(q);
    if (group === undefined) return { groups: [], groups_total: 0, groups_more: false };
    const key = { ...group, limit: q.limit };
    const rows = await rowsBy<{ keys: number; calls: number }>(asker, q, period, key, { count: true });
    const [{ keys: total, calls } = { keys: 0, calls: 0 }] = rows;
    const isTimed = rows.length > 0 && (group.isTag !== true || calls <= mostTimedByTag);
    const listed = rows.map(({ k }) => k);
    const timed = isTimed ? await rowsBy(asker, q, period, key, { times: true, isListed: true }, listed) : [];
    const times = new Map(timed.map(({ k, ttft = [], duration = [] }) => [k, { ttft, duration }]));
    const nameOf = namesOfGroups(names, q.group_by, asker, listed);
    return {
      groups: rows.map((row) => ({
        key: row.k,
        ...nameOf(row.k),
        ...measuredOf({ ...row, ...times.get(row.k) }),
      })),
      groups_total: total,
      groups_more: total > rows.length,
    };
  }

  async function comparedWith(asker: Asker, q: Query, period: Period, granularity: Granularity) {
    const lengthMs = period.toMs - period.fromMs;
    const before = { fromMs: period.fromMs - lengthMs, toMs: period.fromMs };
    const key = movedBucket(BUCKETS[granularity], STEP_MS[granularity], lengthMs);
    const { items, all } = await bucketsOf(asker, q, before, key);
    return {
      range: { from: isoTime(before.fromMs), to: isoTime(before.toMs) },
      totals: all === undefined ? ZERO_MEASURED : measuredOf(all),
      series: filledSeries(items, period, granularity, lengthMs),
    };
  }

  async function sums(asker: Asker, q: Query & { limit: number }) {
    const period = periodOf(q, clock.now());
    const granularity = granularityOf(q, period);
    groupOf(q);
    const missingSinceMs = await waitForInserts();
    const [{ items, all }, groups, compare] = await Promise.all([
      bucketsOf(asker, q, period, BUCKETS[granularity]),
      groupsOf(asker, q, period),
      q.compare === true ? comparedWith(asker, q, period, granularity) : undefined,
    ]);
    return {
      object: "usage" as const,
      range: { from: isoTime(period.fromMs), to: isoTime(period.toMs), granularity },
      group_by: q.group_by ?? "",
      totals: all === undefined ? ZERO_MEASURED : measuredOf(all),
      series: filledSeries(items, period, granularity),
      ...groups,
      ...incompleteSince(missingSinceMs),
      ...(compare !== undefined && { compare }),
    };
  }

  return sums;
}

export function usageOperations(deps: UsageDeps) {
  const sums = usageSums(deps);
  const same = {
    output: usageSchema,
    errors: ["query_too_large", "concurrency", "analytics_unavailable"],
  } as const;
  return {
    getUsage: operation({
      summary: "Requests, tokens and cost over a range",
      method: "GET",
      path: "/v1/usage",
      access: "read:usage / viewer",
      group: "Usage",
      query: usageQuery,
      ...same,
      run: ({ query }, caller) => sums(caller, query),
    }),
    operatorSumUsage: operation({
      summary: "Requests, tokens and cost over a range, of all orgs or of one: totals, a series, and groups",
      method: "GET",
      path: "/v1/operator/usage/sums",
      access: "operator",
      group: "Operator",
      query: installationQuery,
      ...same,
      run: ({ query: { org_id: orgId, ...query } }, { environment, scopes }) =>
        sums({ orgId: orgId ?? "", environment, scopes, isOfAll: orgId === undefined }, query),
    }),
  };
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
function selection(q: Query, asker: Asker): { where: Condition; params: Record<string, unknown> } {
  const { project_id, key_id, model, provider } = q;
  const { conditions, params } = sqlOf({ project_id, key_id, model, provider });
  const own = asker.isOfAll === true ? "1 = 1" : `org_id = {org:String}${environmentCondition(asker)}`;
  return {
    where: { where: [own, ...conditions].join(" AND "), isFiltered: conditions.length > 0 },
    params: { ...params, org: asker.orgId, tag: q.tag ?? "" },
  };
}

const STEP_MS = { hour: HOUR_MS, day: DAY_MS } as const;

/**
 * Every bucket of the range, including empty ones, so that a chart has no holes.
 * @param earlierMs by how much the items begin earlier than their buckets: those of a period before
 */
function filledSeries(
  rows: readonly Row[],
  { fromMs, toMs }: Period,
  granularity: Granularity,
  earlierMs = 0,
) {
  const stepMs = STEP_MS[granularity];
  const found = new Map(rows.map((row) => [Number(row.k) * 1000, row]));
  const series: (Measured & { bucket: string })[] = [];
  for (let at = Math.floor(fromMs / stepMs) * stepMs; at < toMs; at += stepMs) {
    const row = found.get(at);
    series.push({
      bucket: isoTime(at - earlierMs),
      ...(row === undefined ? ZERO_MEASURED : measuredOf(row)),
    });
  }
  return series;
}

/** Specification: above 30 days `day` unless requested otherwise, above 90 days always `day`. */
function granularityOf(q: Query, { fromMs, toMs }: Period): Granularity {
  const lengthMs = toMs - fromMs;
  if (lengthMs > 90 * DAY_MS) return "day";
  return q.granularity ?? (lengthMs > 30 * DAY_MS ? "day" : "hour");
}
