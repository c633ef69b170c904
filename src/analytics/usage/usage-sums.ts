/**
 * The statements of `GET /v1/usage`. A range is cut into its whole hours (whole days where tags are asked for) and the rest at its two
 * ends. The whole ones are read from a roll-up, the rest from the records. So sums are exact, and few rows are read at any volume.
 */
import { DAY_MS, HOUR_MS } from "../../base/time.ts";

/** Groups of one answer. */
export const MAX_GROUPS = 1000;
/** Buckets of 400 days by the hour. */
const MAX_BUCKETS = 9601;

/** The columns of the roll-ups that are summed up. */
export const SUMS = [
  "requests",
  "ok",
  "errors",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost_micro",
] as const;

export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The GROUP BY key. */
export interface Key {
  /** @param time the table's column of time: `hour` or `day` of a roll-up, `ts` of the records */
  readonly of: (time: string) => string;
  /** Its buckets are hours. */
  readonly isByHour?: boolean;
  /** The key is the value of the tag in parameter `tag`: alone, or behind the bucket. */
  readonly isTag?: boolean;
  /** How to make the bucket of a pair of bucket and group; the bucket comes first in the pair. */
  readonly bucket?: Key["of"];
  readonly order: string;
  /** Undefined: all rows. */
  readonly limit: number | undefined;
}

/** What a statement gives beside the sums of each key. */
export interface Beside {
  /**
   * Columns `ttft` and `duration`: p50 and p95 in milliseconds, each null where nothing was measured. By tag, whose roll-up has no times,
   * they come of the records, all of which are read.
   */
  readonly times?: boolean;
  /** A row for all keys together, whose `is_all` is 1. */
  readonly all?: boolean;
  /** Only the keys in parameter `keys`. */
  readonly isListed?: boolean;
  /** Columns `keys` and `calls`: how many keys there are, and calls of all of them, also beyond the limit. */
  readonly count?: boolean;
}

export const ONE_SUM: Key = { of: () => "''", order: "k", limit: 1 };

/** Start of the bucket, in seconds since 1970. */
const bucketOf = (seconds: number): Key => ({
  of: (time) => `toString(intDiv(toUnixTimestamp(${time}), ${seconds}) * ${seconds})`,
  isByHour: seconds < 86_400,
  order: "k",
  limit: MAX_BUCKETS,
});

/**
 * The bucket into which a moment falls once it is moved later by so many milliseconds: the buckets of a period before, named as those of
 * the period after it. An hour of a roll-up falls where its beginning does.
 */
export const movedBucket = ({ of: _, ...bucket }: Key, stepMs: number, laterMs: number): Key => ({
  ...bucket,
  of: (time) =>
    `toString(intDiv(intDiv(toUnixTimestamp64Milli(toDateTime64(${time}, 3, 'UTC')) + ${laterMs}, ${stepMs}) * ${stepMs}, 1000))`,
});

export const BUCKETS = { hour: bucketOf(3600), day: bucketOf(86_400) } as const;

const groupBy = (column: string): Key => ({
  of: () => column,
  order: "cost_micro DESC, requests DESC, k",
  limit: MAX_GROUPS,
});
export const GROUPS = {
  /** An operator's alone: elsewhere all calls are of one org. */
  org: groupBy("org_id"),
  project: groupBy("project_id"),
  key: groupBy("key_id"),
  model: groupBy("model"),
  provider: groupBy("provider"),
  byok: groupBy("if(byok, 'true', 'false')"),
  app: groupBy("app_id"),
  tag: { ...groupBy("tags[{tag:String}]"), isTag: true },
} as const;

/** Bucket and group in one key, a tuple. */
export const pairOf = (bucket: Key, group: Key): Key => ({
  of: (time) => `(${bucket.of(time)}, toString(${group.of(time)}))`,
  isByHour: bucket.isByHour === true,
  isTag: group.isTag === true,
  bucket: bucket.of,
  order: "k",
  limit: undefined,
});

export interface Condition {
  /** Over `requests` and the roll-ups. */
  readonly where: string;
  /** It names more than the org and the environment: more than the roll-ups by tag know. */
  readonly isFiltered: boolean;
}

/** Signed, so that sums can be taken from each other. */
const ROLLED_UP = SUMS.map((name) => `toInt64(sum(${name})) AS ${name}`).join(", ");
const COUNTED: Readonly<Partial<Record<string, string>>> = {
  requests: "count()",
  ok: "countIf(status = 'ok')",
  errors: "countIf(status IN ('error', 'rejected'))",
  cost_micro: "sumIf(r.cost_micro, charged)",
};
const FROM_RECORDS = SUMS.map((name) => `toInt64(${COUNTED[name] ?? `sum(r.${name})`}) AS ${name}`).join(
  ", ",
);

/**
 * States of times, merged as the roll-up keeps them: to the first token of streams, and whole, of calls that reached an endpoint. A call
 * that was refused before has no provider, and would take its millisecond into the median.
 */
const TIMES_ROLLED_UP = `, quantilesTDigestIfMergeState(0.5, 0.95, 0.99)(ttft) AS ttft,
  quantilesTDigestMergeStateIf(0.5, 0.95, 0.99)(duration, provider != '') AS duration`;
const TIMES_FROM_RECORDS = `, quantilesTDigestIfState(0.5, 0.95, 0.99)(r.ttft_ms, toUInt8(r.stream AND r.ttft_ms > 0)) AS ttft,
  quantilesTDigestStateIf(0.5, 0.95, 0.99)(r.duration_ms, r.provider != '') AS duration`;
const TIMES_MERGED = `, arraySlice(quantilesTDigestIfMerge(0.5, 0.95, 0.99)(ttft), 1, 2) AS ttft,
  arraySlice(quantilesTDigestMerge(0.5, 0.95, 0.99)(duration), 1, 2) AS duration`;

/** A statement that gives a row for each value `k` of the key, and its parameters. */
export function sumsSql(
  key: Key,
  { where, isFiltered }: Condition,
  period: Period,
  beside: Beside = {},
): { readonly sql: string; readonly params: Record<string, number> } {
  const isOfTags = key.isTag === true;
  // Tags are summed up by day, without the other keys and without times.
  const isSummedUp = !isOfTags || (key.isByHour !== true && !isFiltered && beside.times !== true);
  const params: Record<string, number> = {};
  const parts = cut(period, isOfTags ? DAY_MS : HOUR_MS).flatMap(({ isWhole, fromMs, toMs }, at) => {
    params[`from_${at}`] = fromMs;
    params[`to_${at}`] = toMs;
    const source = { key, where, at, beside };
    if (!isWhole || !isSummedUp) return [fromRecords(source)];
    return isOfTags ? fromTags(source) : [fromHours(source)];
  });
  return { sql: merged(key, parts, beside), params };
}

/** One row a key, of the rows of all parts. */
function merged({ order, limit }: Key, parts: readonly string[], { times, all, count }: Beside): string {
  const columns = `k${all ? ", grouping(k) AS is_all" : ""}, ${ROLLED_UP}${times ? TIMES_MERGED : ""}`;
  const rows = `SELECT ${columns} FROM (${parts.join(" UNION ALL ")})
    GROUP BY ${all ? "GROUPING SETS ((k), ())" : "k"} HAVING requests > 0`;
  if (limit === undefined) return rows;
  if (count)
    return `SELECT *, count() OVER () AS keys, sum(requests) OVER () AS calls FROM (${rows}) ORDER BY ${order} LIMIT ${limit}`;
  return `${rows} ORDER BY ${order} LIMIT ${all ? limit + 1 : limit}`;
}

interface Source {
  readonly key: Pick<Key, "of" | "bucket">;
  readonly where: string;
  /** Number of the part: its parameters end in it. */
  readonly at: number;
  readonly beside: Beside;
}

const within = (time: string, at: number): string =>
  `${time} >= fromUnixTimestamp64Milli({from_${at}:Int64}) AND ${time} < fromUnixTimestamp64Milli({to_${at}:Int64})`;

const listed = ({ key, beside }: Source, time: string): string =>
  beside.isListed ? ` AND toString(${key.of(time)}) IN {keys:Array(String)}` : "";

const fromRecords = (source: Source): string =>
  `SELECT ${source.key.of("ts")} AS k, ${FROM_RECORDS}${source.beside.times ? TIMES_FROM_RECORDS : ""} FROM requests AS r
   WHERE ${source.where} AND ${within("ts", source.at)}${listed(source, "ts")} GROUP BY k`;

const fromHours = (source: Source): string =>
  `SELECT ${source.key.of("hour")} AS k, ${ROLLED_UP}${source.beside.times ? TIMES_ROLLED_UP : ""} FROM usage_hourly
   WHERE ${source.where} AND ${within("hour", source.at)}${listed(source, "hour")} GROUP BY k`;

/** The calls without the tag, whose key is empty, are all calls less those that have it. */
function fromTags({ key: { bucket }, where, at }: Source): string[] {
  const signed = SUMS.map((name) => `toInt64(sign * sum(${name})) AS ${name}`).join(", ");
  const keyed = (start: string, value: string) => (bucket === undefined ? value : `(${start}, ${value})`);
  const none = { of: (time: string) => keyed(bucket?.(time) ?? "", "''") };
  const tagged = `SELECT ${bucket?.("day") ?? "''"} AS start, value, ${ROLLED_UP} FROM usage_tags_daily
    WHERE ${where} AND tag = {tag:String} AND ${within("day", at)} GROUP BY start, value`;
  return [
    fromHours({ key: none, where, at, beside: {} }),
    `SELECT ${keyed("start", "group")} AS k, ${signed} FROM (${tagged})
     ARRAY JOIN [value, ''] AS group, [1, -1] AS sign GROUP BY k, sign`,
  ];
}

interface Part extends Period {
  /** Its hours or days are whole; other parts are read from the records. */
  readonly isWhole: boolean;
}

/** Cuts a range into its whole hours or days (of `unitMs` milliseconds) and the rest before and after them. */
function cut({ fromMs, toMs }: Period, unitMs: number): Part[] {
  const [start, end] = [Math.ceil(fromMs / unitMs) * unitMs, Math.floor(toMs / unitMs) * unitMs];
  if (start >= end) return [{ isWhole: false, fromMs, toMs }];
  const parts: Part[] = [
    { isWhole: false, fromMs, toMs: start },
    { isWhole: true, fromMs: start, toMs: end },
    { isWhole: false, fromMs: end, toMs },
  ];
  return parts.filter((part) => part.fromMs < part.toMs);
}
