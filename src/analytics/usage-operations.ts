/**
 * `GET /v1/usage`: sums over a range, as totals, a series and groups. Whole hours are read from the hourly roll-up, parts of
 * hours at both ends from the records: the sums are exact, and the query is fast at any volume.
 */
import { z } from "zod";
import { type Clock, isoTime } from "../clock.ts";
import { fail } from "../errors.ts";
import { type Caller, operation } from "../operation.ts";
import type { ClickHouse } from "./client.ts";
import { environmentCondition } from "./record-access.ts";
import { flag, instant } from "./request-filters.ts";

export interface UsageDeps {
  readonly clickhouse: ClickHouse;
  readonly clock: Clock;
  readonly waitForInserts: () => Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RANGES = { "24h": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS, "90d": 90 * DAY_MS } as const;
/** Records are kept this long. */
const MAX_RANGE_MS = 400 * DAY_MS;
const MAX_GROUPS = 1000;

const query = z.object({
  range: z
    .enum(["24h", "7d", "30d", "90d", "custom"])
    .default("24h")
    .describe("How far back from now; with `custom`, from `from` on."),
  from: instant.optional().describe("With range=custom: first instant."),
  to: instant.optional().describe("With range=custom: first instant after it; now unless given."),
  granularity: z.enum(["hour", "day"]).optional(),
  group_by: z.enum(["project", "key", "model", "provider", "byok", "app", "tag"]).optional(),
  tag: z.string().min(1).optional().describe("Key of the tag, with group_by=tag."),
  compare: flag.optional().describe("Adds the totals of the period before, of the same length."),
  project_id: z.string().optional(),
  key_id: z.string().optional(),
  model: z.string().optional(),
  provider: z.string().optional(),
});

type Query = z.output<typeof query>;

/** The parameters of usage, also of its export. */
export const USAGE_QUERY = query;

const sums = {
  requests: z.int(),
  ok: z.int(),
  errors: z.int().describe("`error` and `rejected`; `cancelled` counts as neither."),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_read_tokens: z.int(),
  cache_write_tokens: z.int(),
  reasoning_tokens: z.int(),
  cost_micro: z.int().describe("What was charged: calls with test keys cost nothing."),
};

const totalsSchema = z.object(sums);
type Totals = z.output<typeof totalsSchema>;

const usageSchema = z.object({
  object: z.literal("usage"),
  range: z.object({ from: z.string(), to: z.string(), granularity: z.enum(["hour", "day"]) }),
  group_by: z.string().describe("Empty when not grouped."),
  totals: totalsSchema,
  series: z.array(totalsSchema.extend({ bucket: z.string() })),
  groups: z.array(totalsSchema.extend({ key: z.string() })),
  compare: z
    .object({ range: z.object({ from: z.string(), to: z.string() }), totals: totalsSchema })
    .optional(),
});

const SUMS = Object.keys(sums) as (keyof Totals)[];
const ROLLED_UP = SUMS.map((name) => `sum(${name}) AS ${name}`).join(", ");
const FROM_RECORDS = `count() AS requests, countIf(status = 'ok') AS ok, countIf(status IN ('error', 'rejected')) AS errors,
  ${SUMS.filter((name) => name.endsWith("_tokens"))
    .map((name) => `sum(toUInt64(r.${name})) AS ${name}`)
    .join(", ")}, sumIf(r.cost_micro, charged) AS cost_micro`;

/** The GROUP BY key: an expression over the table's time column (`hour` of the roll-up, `ts` of the records). */
interface Key {
  readonly of: (time: string) => string;
  /** True if only the records have it. */
  readonly recordsOnly?: boolean;
  readonly order: string;
  readonly limit: number;
}

const ONE_SUM: Key = { of: () => "''", order: "k", limit: 1 };

/** Start of the bucket, in seconds since 1970. */
const bucketOf = (seconds: number): Key => ({
  of: (time) => `toString(intDiv(toUnixTimestamp(${time}), ${seconds}) * ${seconds})`,
  order: "k",
  limit: MAX_RANGE_MS / HOUR_MS,
});
const BUCKETS = { hour: bucketOf(3600), day: bucketOf(86_400) } as const;

const groupBy = (column: string, recordsOnly = false): Key => ({
  of: () => column,
  recordsOnly,
  order: "cost_micro DESC, requests DESC, k",
  limit: MAX_GROUPS,
});
const GROUPS = {
  project: groupBy("project_id"),
  key: groupBy("key_id"),
  model: groupBy("model"),
  provider: groupBy("provider"),
  byok: groupBy("if(byok, 'true', 'false')"),
  app: groupBy("app_id"),
  tag: groupBy("tags[{tag:String}]", true),
} as const;

interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

export function usageOperations({ clickhouse, clock, waitForInserts }: UsageDeps) {
  async function sumsBy(caller: Caller, q: Query, period: Period, key: Key) {
    const { where, params } = selection(q, caller, period);
    return await clickhouse.rows<Totals & { k: string }>(
      `SELECT k, ${ROLLED_UP} FROM (${parts(key, where, period)})
       GROUP BY k ORDER BY ${key.order} LIMIT ${key.limit}`,
      params,
    );
  }

  async function totals(caller: Caller, q: Query, period: Period): Promise<Totals> {
    const [row] = await sumsBy(caller, q, period, ONE_SUM);
    return row === undefined ? ZERO_TOTALS : totalsOf(row);
  }

  const getUsage = operation({
    name: "getUsage",
    summary: "Requests, tokens and cost over a range",
    query,
    output: usageSchema,
    errors: ["analytics_unavailable"],
    async run({ query: q }, caller) {
      const period = periodOf(q, clock.now());
      const granularity = granularityOf(q, period);
      if (q.group_by === "tag" && q.tag === undefined) {
        throw fail("invalid_value", "group_by=tag needs the tag's key in `tag`.", { param: "/tag" });
      }
      await waitForInserts();
      const before = { fromMs: 2 * period.fromMs - period.toMs, toMs: period.fromMs };
      const [total, series, groups, compared] = await Promise.all([
        totals(caller, q, period),
        sumsBy(caller, q, period, BUCKETS[granularity]),
        q.group_by === undefined ? [] : sumsBy(caller, q, period, GROUPS[q.group_by]),
        q.compare === true ? totals(caller, q, before) : undefined,
      ]);
      return {
        object: "usage" as const,
        range: { from: isoTime(period.fromMs), to: isoTime(period.toMs), granularity },
        group_by: q.group_by ?? "",
        totals: total,
        series: filledSeries(series, period, granularity),
        groups: groups.map((row) => ({ key: row.k, ...totalsOf(row) })),
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
  if (q.group_by === "tag" && q.tag === undefined) {
    throw fail("invalid_value", "group_by=tag needs the tag's key in `tag`.", { param: "/tag" });
  }
  const bucket = BUCKETS[granularityOf(q, period)];
  const group = q.group_by === undefined ? ONE_SUM : GROUPS[q.group_by];
  const pair: Key = {
    of: (time) => `(${bucket.of(time)}, toString(${group.of(time)}))`,
    recordsOnly: group.recordsOnly === true,
    order: "k",
    limit: 0,
  };
  const { where, params } = selection(q, caller, period);
  return {
    sql: `SELECT toString(toDateTime(toUInt32(k.1), 'UTC')) AS bucket, k.2 AS group, ${ROLLED_UP}
      FROM (${parts(pair, where, period)}) GROUP BY k`,
    params,
  };
}

/** Condition and parameters of a statement over `requests` or the roll-up. */
function selection(q: Query, caller: Caller, period: Period) {
  const filters = (["project_id", "key_id", "model", "provider"] as const).filter(
    (name) => q[name] !== undefined,
  );
  const named = filters.map((name) => ` AND ${name} = {${name}:String}`).join("");
  return {
    where: `org_id = {org:String}${environmentCondition(caller)}${named}`,
    params: {
      ...Object.fromEntries(filters.map((name) => [name, q[name]])),
      org: caller.orgId,
      tag: q.tag ?? "",
      from: period.fromMs,
      to: period.toMs,
      first_hour: Math.ceil(period.fromMs / HOUR_MS) * HOUR_MS,
      last_hour: Math.floor(period.toMs / HOUR_MS) * HOUR_MS,
    },
  };
}

/**
 * Reads whole hours from the roll-up and the rest from the records; everything from the records if the roll-up lacks the
 * key.
 */
function parts(key: Key, where: string, { fromMs, toMs }: Period): string {
  const at = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64})`;
  const records = (from: string, to: string) =>
    `SELECT ${key.of("ts")} AS k, ${FROM_RECORDS} FROM requests AS r
     WHERE ${where} AND ts >= ${at(from)} AND ts < ${at(to)} GROUP BY k`;
  const whole = Math.ceil(fromMs / HOUR_MS) < Math.floor(toMs / HOUR_MS);
  if (key.recordsOnly === true || !whole) return records("from", "to");
  return [
    `SELECT ${key.of("hour")} AS k, ${ROLLED_UP} FROM usage_hourly
     WHERE ${where} AND hour >= ${at("first_hour")} AND hour < ${at("last_hour")} GROUP BY k`,
    records("from", "first_hour"),
    records("last_hour", "to"),
  ].join(" UNION ALL ");
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

function periodOf(q: Query, nowMs: number): Period {
  if (q.range !== "custom") {
    for (const name of ["from", "to"] as const) {
      if (q[name] !== undefined) {
        throw fail("invalid_value", `\`${name}\` goes with range=custom.`, { param: `/${name}` });
      }
    }
    return { fromMs: nowMs - RANGES[q.range], toMs: nowMs };
  }
  if (q.from === undefined) throw fail("invalid_value", "range=custom needs `from`.", { param: "/from" });
  const fromMs = Date.parse(q.from);
  const toMs = q.to === undefined ? nowMs : Date.parse(q.to);
  if (fromMs >= toMs) throw fail("invalid_value", "`from` must be before `to`.", { param: "/from" });
  if (toMs - fromMs > MAX_RANGE_MS) {
    throw fail("invalid_value", "A range has at most 400 days.", { param: "/from" });
  }
  return { fromMs, toMs };
}

/** Specification: above 30 days `day` unless requested otherwise, above 90 days always `day`. */
function granularityOf(q: Query, { fromMs, toMs }: Period): "hour" | "day" {
  const lengthMs = toMs - fromMs;
  if (lengthMs > 90 * DAY_MS) return "day";
  return q.granularity ?? (lengthMs > 30 * DAY_MS ? "day" : "hour");
}

const totalsOf = (row: Totals): Totals =>
  Object.fromEntries(SUMS.map((name) => [name, row[name]])) as unknown as Totals;

const ZERO_TOTALS = Object.freeze(Object.fromEntries(SUMS.map((name) => [name, 0]))) as unknown as Totals;
