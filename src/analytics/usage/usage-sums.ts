/**
 * The statements of `GET /v1/usage`. A range is cut into its whole hours (whole days where tags are asked for) and the rest at its two
 * ends. The whole ones are read from a roll-up, the rest from the records. So sums are exact, and few rows are read at any volume.
 */
import { DAY_MS, HOUR_MS } from "../../base/time.ts";

const MAX_GROUPS = 1000;
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

export const ONE_SUM: Key = { of: () => "''", order: "k", limit: 1 };

/** Start of the bucket, in seconds since 1970. */
const bucketOf = (seconds: number): Key => ({
  of: (time) => `toString(intDiv(toUnixTimestamp(${time}), ${seconds}) * ${seconds})`,
  isByHour: seconds < 86_400,
  order: "k",
  limit: MAX_BUCKETS,
});
export const BUCKETS = { hour: bucketOf(3600), day: bucketOf(86_400) } as const;

const groupBy = (column: string): Key => ({
  of: () => column,
  order: "cost_micro DESC, requests DESC, k",
  limit: MAX_GROUPS,
});
export const GROUPS = {
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

/** A statement that gives a row for each value `k` of the key, and its parameters. */
export function sumsSql(
  key: Key,
  { where, isFiltered }: Condition,
  period: Period,
): { readonly sql: string; readonly params: Record<string, number> } {
  const isOfTags = key.isTag === true;
  // Tags are summed up by day, and without the other keys.
  const isSummedUp = !isOfTags || (key.isByHour !== true && !isFiltered);
  const params: Record<string, number> = {};
  const parts = cut(period, isOfTags ? DAY_MS : HOUR_MS).flatMap(({ isWhole, fromMs, toMs }, at) => {
    params[`from_${at}`] = fromMs;
    params[`to_${at}`] = toMs;
    const source = { key, where, at };
    if (!isWhole || !isSummedUp) return [fromRecords(source)];
    return isOfTags ? fromTags(source) : [fromHours(source)];
  });
  const sql = `SELECT k, ${ROLLED_UP} FROM (${parts.join(" UNION ALL ")})
    GROUP BY k HAVING requests > 0${key.limit === undefined ? "" : ` ORDER BY ${key.order} LIMIT ${key.limit}`}`;
  return { sql, params };
}

interface Source {
  readonly key: Pick<Key, "of" | "bucket">;
  readonly where: string;
  /** Number of the part: its parameters end in it. */
  readonly at: number;
}

const within = (time: string, at: number): string =>
  `${time} >= fromUnixTimestamp64Milli({from_${at}:Int64}) AND ${time} < fromUnixTimestamp64Milli({to_${at}:Int64})`;

const fromRecords = ({ key, where, at }: Source): string =>
  `SELECT ${key.of("ts")} AS k, ${FROM_RECORDS} FROM requests AS r WHERE ${where} AND ${within("ts", at)} GROUP BY k`;

const fromHours = ({ key, where, at }: Source): string =>
  `SELECT ${key.of("hour")} AS k, ${ROLLED_UP} FROM usage_hourly WHERE ${where} AND ${within("hour", at)} GROUP BY k`;

/** The calls without the tag, whose key is empty, are all calls less those that have it. */
function fromTags({ key: { bucket }, where, at }: Source): string[] {
  const signed = SUMS.map((name) => `toInt64(sign * sum(${name})) AS ${name}`).join(", ");
  const keyed = (start: string, value: string) => (bucket === undefined ? value : `(${start}, ${value})`);
  const none = { of: (time: string) => keyed(bucket?.(time) ?? "", "''") };
  const tagged = `SELECT ${bucket?.("day") ?? "''"} AS start, value, ${ROLLED_UP} FROM usage_tags_daily
    WHERE ${where} AND tag = {tag:String} AND ${within("day", at)} GROUP BY start, value`;
  return [
    fromHours({ key: none, where, at }),
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
