/**
 * The roll-ups as statements over `requests`. Normally the materialized views of the migrations fill them. After an
 * insertion that may have failed half way, the sums that a batch lacks are computed again from its rows. Expressions are
 * those of the views (a test compares what both write): a migration that changes a view must change them here.
 */

export interface RollUp {
  readonly table: string;
  /** Column and expression; the first `keys` of them are the GROUP BY columns. */
  readonly columns: readonly Column[];
  readonly keys: number;
  /** The column by whose month the table is partitioned. */
  readonly time: "hour" | "day";
  readonly from: string;
}

type Column = readonly [name: string, expression: string];

const hourOf = (time: string): string => `toStartOfHour(toDateTime(${time}, 'UTC'), 'UTC')`;
const dayOf = (time: string): string => `toStartOfDay(toDateTime(${time}, 'UTC'), 'UTC')`;
const total = (column: string): string => `sum(toUInt64(${column}))`;
const asNamed = (...names: string[]): Column[] => names.map((name) => [name, name]);
/**
 * The greatest inserted batch of each run of a spool. It is written together with the sums, so it is in the same part. The views
 * write it without a sum, as the rows of one insertion are one batch.
 */
const BATCHES: Column = ["batches", "maxMap(map(toString(spool_run), spool_batch))"];

const SUMS: readonly Column[] = [
  ["requests", "count()"],
  ["ok", "countIf(status = 'ok')"],
  ["errors", "countIf(status IN ('error', 'rejected'))"],
  ...["input", "output", "cache_read", "cache_write", "reasoning"].map(
    (kind): Column => [`${kind}_tokens`, total(`requests.${kind}_tokens`)],
  ),
  ["cost_micro", "sumIf(requests.cost_micro, charged)"],
];

const USAGE_KEYS = asNamed("project_id", "key_id", "model", "provider", "byok", "app_id", "environment");

const USAGE: RollUp = {
  table: "usage_hourly",
  from: "requests",
  keys: 9,
  time: "hour",
  columns: [
    ...asNamed("org_id"),
    ["hour", hourOf("ts")] as const,
    ...USAGE_KEYS,
    ...SUMS,
    ["ttft", "quantilesTDigestIfState(0.5, 0.95, 0.99)(ttft_ms, toUInt8(stream AND ttft_ms > 0))"],
    ["duration", "quantilesTDigestState(0.5, 0.95, 0.99)(duration_ms)"],
    BATCHES,
  ],
};

/** By the tags of calls. They tell of people as tags do, and are erased with them. */
export const USAGE_TAGS: RollUp = {
  table: "usage_tags_daily",
  from: "requests ARRAY JOIN mapKeys(tags) AS tag, mapValues(tags) AS value",
  keys: 5,
  time: "day",
  columns: [
    ...asNamed("org_id", "tag"),
    ["day", dayOf("ts")] as const,
    ...asNamed("value", "environment"),
    ...SUMS,
    BATCHES,
  ],
};

const SPEED =
  "(toInt64(try.duration_ms) - toInt64(try.ttft_ms)) / greatest(toInt64(try.output_tokens) - 1, 1)";
const IS_SPEED_KNOWN =
  "stream AND try.ttft_ms > 0 AND try.output_tokens > 1 AND try.duration_ms >= try.ttft_ms";

const ATTEMPTS: RollUp = {
  table: "attempts_hourly",
  from: "requests ARRAY JOIN attempt_rows AS try",
  keys: 5,
  time: "hour",
  columns: [
    ["endpoint_id", "try.endpoint_id"],
    ["hour", hourOf("try.ts")],
    ["provider", "try.provider"],
    ["model", "model"],
    ["environment", "environment"],
    ["attempts", "count()"],
    ["ok", "countIf(try.outcome = 'ok')"],
    [
      "down",
      `countIf(try.error_class IN ('server', 'network', 'timeout', 'protocol')
        OR (try.error_class IN ('capacity', 'auth') AND NOT startsWith(try.pool_id, 'byok_')))`,
    ],
    ["cancelled", "countIf(try.outcome = 'cancelled')"],
    ["output_tokens", total("try.output_tokens")],
    ["ttft", "quantilesTDigestIfState(0.5, 0.95)(try.ttft_ms, toUInt8(stream AND try.ttft_ms > 0))"],
    ["tpot", `quantilesTDigestIfState(0.5, 0.95)(toFloat32(${SPEED}), toUInt8(${IS_SPEED_KNOWN}))`],
    BATCHES,
  ],
};

export const ROLL_UPS: readonly RollUp[] = [USAGE, ATTEMPTS, USAGE_TAGS];

/**
 * Months of a batch that are missing in the roll-up. A month is a partition, and the rows of one batch are inserted into
 * a partition as one part: it exists as a whole or not at all.
 * @param batch condition on `requests` that selects the batch's rows; parameters `run` and `number` name the batch
 */
export const missingMonths = ({ table, from, columns, time }: RollUp, batch: string): string => {
  const start = columns.find(([name]) => name === time)?.[1] ?? "";
  return `SELECT DISTINCT toYYYYMM(${start}) AS month FROM ${from} WHERE ${batch} AND month NOT IN (
    SELECT toYYYYMM(${time}) FROM ${table} WHERE batches[{run:String}] >= {number:UInt64})`;
};

/** Inserts the batch's sums for the months in parameter `months`. */
export const insertMonths = ({ table, from, columns, keys, time }: RollUp, batch: string): string => {
  const names = columns.map(([name]) => name);
  return `INSERT INTO ${table} (${names.join(", ")})
    SELECT ${columns.map(([name, expression]) => `${expression} AS ${name}`).join(", ")}
    FROM ${from} WHERE ${batch}
    GROUP BY ${names.slice(0, keys).join(", ")} HAVING has({months:Array(UInt32)}, toYYYYMM(${time}))`;
};
