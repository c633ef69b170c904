/**
 * A call's record as columns of the analytics table `requests`: one line per field, in the order of a RowBinary row. The row
 * is written once, when the call settles, and inserted unchanged; rows from the outbox and from ClickHouse are read by the
 * same lines. Tests compare the migrations and docs/analytics.md with them.
 *
 * Rows are kept longer than a release: lines that a release had must not be changed, moved or removed. A new line names its
 * layout by `since`, and may be anywhere in `FIXED`.
 */
import type { Cost, CostLine } from "../base/money.ts";
import type { Usage } from "../base/usage.ts";
import * as f from "./field.ts";
import type { AttemptRecord, CallRecord, RecordedError } from "./record.ts";
import { RowBinaryReader } from "./row-binary.ts";

type Identity = Pick<CallRecord, "orgId" | "tsMs" | "requestId">;
/** The members of an attempt that redaction does not change. */
type Attempt = Omit<AttemptRecord, "upstreamMessage">;
type Fixed = Omit<
  CallRecord,
  keyof Identity | keyof RecordedError | "redact" | "payloadState" | "attempts"
> & {
  readonly attempts: readonly Attempt[];
};
interface Redactable extends Readonly<RecordedError> {
  readonly payloadState: CallRecord["payloadState"];
  readonly attempts: readonly Pick<AttemptRecord, "upstreamMessage">[];
}

/** The columns that identify a record. Table `payloads` begins with the same columns. */
export const IDENTITY = f.group<Identity>({
  ...f.repeating({ orgId: f.string("org_id") }),
  tsMs: f.dateTime64("ts"),
  requestId: f.string("request_id"),
});

/** The columns after the identity that redaction does not change. */
export const FIXED = f.group<Fixed>({
  ...f.repeating({
    projectId: f.string("project_id"),
    keyId: f.string("key_id"),
    environment: f.lowCardinality("environment"),
    cell: f.lowCardinality("cell"),
    dialectIn: f.lowCardinality("dialect_in"),
    model: f.lowCardinality("model"),
    provider: f.lowCardinality("provider"),
    endpointId: f.lowCardinality("endpoint_id"),
    upstreamModel: f.lowCardinality("upstream_model"),
    region: f.lowCardinality("region"),
    status: f.lowCardinality("status"),
    httpStatus: f.uint16("http_status"),
    errorCode: f.lowCardinality("error_code"),
    stopReason: f.lowCardinality("stop_reason"),
  }),
  usage: f.group<Usage>({
    inputTokens: f.uint32("input_tokens"),
    outputTokens: f.uint32("output_tokens"),
    cacheReadTokens: f.uint32("cache_read_tokens"),
    cacheWriteTokens: f.uint32("cache_write_tokens"),
    reasoningTokens: f.uint32("reasoning_tokens"),
  }),
  usageSource: f.lowCardinality("usage_source"),
  cost: f.group<Cost>({
    total_micro_usd: f.int64("cost_micro"),
    ...f.repeating({ price_version: f.lowCardinality("price_version_id") }),
    lines: f.nested<CostLine>("cost_lines", {
      kind: f.lowCardinality("kind"),
      units: f.uint64("units"),
      unit_price_nano: f.uint64("unit_price_nano"),
      micro_usd: f.int64("micro_usd"),
      tool: f.optional(f.lowCardinality<string>("tool", { since: 4 })),
      tier: f.optional(f.lowCardinality<string>("tier", { since: 4 })),
    }),
  }),
  charged: f.bool("charged"),
  ttftMs: f.uint32("ttft_ms"),
  upstreamTtftMs: f.uint32("upstream_ttft_ms"),
  durationMs: f.uint32("duration_ms"),
  settledAtUs: f.micros("settled_at", { since: 3 }),
  gwOverheadMs: f.float64("gw_overhead_ms"),
  bytesIn: f.uint64("bytes_in"),
  bytesOut: f.uint64("bytes_out"),
  ...f.repeating({
    stream: f.bool("stream"),
    byok: f.bool("byok"),
    zdr: f.bool("zdr"),
    toolCalls: f.uint16("tool_calls"),
    hasImages: f.bool("has_images"),
    hasTools: f.bool("has_tools"),
    hasSchema: f.bool("has_schema"),
    policy: f.lowCardinality("policy"),
    policyVersion: f.uint32("policy_version"),
    rule: f.lowCardinality("rule"),
    canary: f.lowCardinality("canary"),
    experiment: f.lowCardinality("experiment"),
    arm: f.lowCardinality("arm"),
    maxTokens: f.uint32("max_tokens"),
    parallelTools: f.bool("parallel_tools"),
    hasAudio: f.bool("has_audio"),
    routeOptions: f.string("route_options"),
  }),
  sessionHash: f.string("session_hash"),
  appId: f.string("app_id"),
  userHash: f.string("user_hash"),
  tags: f.textMap("tags"),
  ...f.repeating({
    userAgent: f.string("user_agent"),
    clientIpPrefix: f.string("client_ip_prefix"),
  }),
  routeTrace: f.string("route_trace"),
  warnings: f.names("warnings"),
  retentionDays: f.uint16("retention_days"),
  attempts: f.counted(
    "attempts",
    f.nested<Attempt>("attempt_rows", {
      attempt: f.uint8("attempt"),
      tsMs: f.dateTime64("ts"),
      ...f.repeating({
        provider: f.lowCardinality("provider"),
        endpointId: f.lowCardinality("endpoint_id"),
        poolId: f.lowCardinality("pool_id"),
        keyHint: f.lowCardinality("key_hint"),
        outcome: f.lowCardinality("outcome"),
        httpStatus: f.uint16("http_status"),
        errorClass: f.lowCardinality("error_class"),
        upstreamCode: f.lowCardinality("upstream_code"),
        refusal: f.lowCardinality("refusal", { since: 5 }),
      }),
      ttftMs: f.uint32("ttft_ms"),
      durationMs: f.uint32("duration_ms"),
      outputTokens: f.uint32("output_tokens"),
    }),
  ),
});

/** The last columns of a row, which redaction may change. */
export const REDACTABLE = f.group<Redactable>({
  payloadState: f.lowCardinality("payload_state"),
  errorMessage: f.string("error_message", { since: 6 }),
  errorDetails: f.string("error_details", { since: 6 }),
  attempts: f.nested("attempt_rows", { upstreamMessage: f.string("upstream_message") }),
});

/** All columns of `requests` that are filled from the record, in the order of a row. */
export const COLUMNS: readonly f.Column[] = [IDENTITY, FIXED, REDACTABLE].flatMap(({ columns }) => columns);

/** `INSERT INTO requests (…) FORMAT RowBinary`: the names of {@link COLUMNS}. */
export const REQUEST_COLUMNS: readonly string[] = COLUMNS.map(nameOf);

export const PAYLOAD_COLUMNS: readonly string[] = [
  ...IDENTITY.columns.map(nameOf),
  "expires_at",
  "request",
  "response",
];

/** The layout of new rows: the layout of the newest column. */
export const LAYOUT = Math.max(...COLUMNS.map(({ since }) => since));

/** Reads a whole row. @throws RangeError if the bytes end too early */
export function readRecord(from: RowBinaryReader, layout: number): Omit<CallRecord, "redact"> {
  const identity = IDENTITY.read(from, layout);
  const { attempts, ...fixed } = FIXED.read(from, layout);
  const { attempts: messages, ...redactable } = REDACTABLE.read(from, layout);
  return {
    ...identity,
    ...fixed,
    ...redactable,
    // As the migration fills it for rows of before.
    settledAtUs: fixed.settledAtUs || (identity.tsMs + fixed.durationMs) * 1000,
    attempts: attempts.map((attempt, at) => ({
      ...attempt,
      upstreamMessage: messages[at]?.upstreamMessage ?? "",
    })),
  };
}

/** Values by column name; times are milliseconds since 1970. */
export type Values = Readonly<Record<string, unknown>>;

/** The values that a row of `requests` would have in the named columns. */
export const valuesOf = (record: CallRecord, names: readonly string[]): Values => valuesReader(names)(record);

/** The same for many records. */
export function valuesReader(names: readonly string[]): (record: CallRecord) => Values {
  const columns = columnsOf(names);
  return (record) => Object.fromEntries(columns.map((column) => [column.name, column.valueOf(record)]));
}

/** Reads rows of the named columns, as ClickHouse returns them. @throws RangeError if the bytes end too early */
export function readValues(bytes: Uint8Array, names: readonly string[]): Values[] {
  const columns = columnsOf(names);
  const from = new RowBinaryReader(bytes, 0);
  const rows: Values[] = [];
  while (from.at < bytes.length) {
    const row: Record<string, unknown> = {};
    for (const { name, read } of columns) row[name] = read(from);
    rows.push(row);
  }
  return rows;
}

const columnsOf = (names: readonly string[]): f.Column[] =>
  names.flatMap((name) => COLUMNS.find((column) => column.name === name) ?? []);

function nameOf({ name }: f.Column): string {
  return name;
}
