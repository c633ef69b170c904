/**
 * A record as rows of the analytics tables, column by column in the order in which an INSERT names them. The migrations
 * hold the types; `docs/analytics.md` says what each column means.
 */

import type { CostLine } from "../money.ts";
import type { AttemptRecord, CallRecord } from "../record.ts";
import type { RowBinary } from "./row-binary.ts";

type Column<R> = readonly [name: string, write: (out: RowBinary, record: R) => void];

const DAY_MS = 86_400_000;

const lines = <K extends keyof CostLine>(
  key: K,
  write: (out: RowBinary, value: CostLine[K]) => void,
): Column<CallRecord> => [`cost_lines.${key}`, (o, r) => o.list(r.cost.lines, (line) => write(o, line[key]))];

const attempts = <K extends keyof AttemptRecord>(
  name: string,
  key: K,
  write: (out: RowBinary, value: AttemptRecord[K]) => void,
): Column<CallRecord> => [
  `attempt_rows.${name}`,
  (o, r) => o.list(r.attempts, (attempt) => write(o, attempt[key])),
];

const text = (o: RowBinary, value: string) => o.text(value);
const u32 = (o: RowBinary, value: number) => o.u32(value);
const u64 = (o: RowBinary, value: number) => o.u64(value);

/** Table `requests`. */
export const REQUEST_COLUMNS: readonly Column<CallRecord>[] = [
  ["request_id", (o, r) => o.text(r.requestId)],
  ["ts", (o, r) => o.time(r.tsMs)],
  ["org_id", (o, r) => o.text(r.orgId)],
  ["project_id", (o, r) => o.text(r.projectId)],
  ["key_id", (o, r) => o.text(r.keyId)],
  ["environment", (o, r) => o.text(r.environment)],
  ["cell", (o, r) => o.text(r.cell)],
  ["dialect_in", (o, r) => o.text(r.dialectIn)],
  ["model", (o, r) => o.text(r.model)],
  ["provider", (o, r) => o.text(r.provider)],
  ["endpoint_id", (o, r) => o.text(r.endpointId)],
  ["upstream_model", (o, r) => o.text(r.upstreamModel)],
  ["region", (o, r) => o.text(r.region)],
  ["status", (o, r) => o.text(r.status)],
  ["http_status", (o, r) => o.u16(r.httpStatus)],
  ["error_code", (o, r) => o.text(r.errorCode)],
  ["stop_reason", (o, r) => o.text(r.stopReason)],
  ["attempts", (o, r) => o.u8(r.attempts.length)],
  ["input_tokens", (o, r) => o.u32(r.usage.inputTokens)],
  ["output_tokens", (o, r) => o.u32(r.usage.outputTokens)],
  ["cache_read_tokens", (o, r) => o.u32(r.usage.cacheReadTokens)],
  ["cache_write_tokens", (o, r) => o.u32(r.usage.cacheWriteTokens)],
  ["reasoning_tokens", (o, r) => o.u32(r.usage.reasoningTokens)],
  ["usage_source", (o, r) => o.text(r.usageSource)],
  ["cost_micro", (o, r) => o.u64(r.cost.total_micro_usd)],
  ["charged", (o, r) => o.bool(r.charged)],
  ["price_version_id", (o, r) => o.text(r.cost.price_version)],
  lines("kind", text),
  lines("units", u64),
  lines("unit_price_nano", u64),
  lines("micro_usd", u64),
  ["ttft_ms", (o, r) => o.u32(r.ttftMs)],
  ["upstream_ttft_ms", (o, r) => o.u32(r.upstreamTtftMs)],
  ["duration_ms", (o, r) => o.u32(r.durationMs)],
  ["gw_overhead_ms", (o, r) => o.f64(r.gwOverheadMs)],
  ["bytes_in", (o, r) => o.u64(r.bytesIn)],
  ["bytes_out", (o, r) => o.u64(r.bytesOut)],
  ["stream", (o, r) => o.bool(r.stream)],
  ["byok", (o, r) => o.bool(r.byok)],
  ["zdr", (o, r) => o.bool(r.zdr)],
  ["tool_calls", (o, r) => o.u16(r.toolCalls)],
  ["has_images", (o, r) => o.bool(r.hasImages)],
  ["has_tools", (o, r) => o.bool(r.hasTools)],
  ["has_schema", (o, r) => o.bool(r.hasSchema)],
  ["app_id", (o, r) => o.text(r.appId)],
  ["user_hash", (o, r) => o.text(r.userHash)],
  ["tags", writeTags],
  ["user_agent", (o, r) => o.text(r.userAgent)],
  ["client_ip_prefix", (o, r) => o.text(r.clientIpPrefix)],
  ["route_trace", (o, r) => o.text(r.routeTrace)],
  ["warnings", (o, r) => o.list(r.warnings, (warning) => o.text(warning))],
  ["payload_state", (o, r) => o.text(r.payloadState)],
  ["retention_days", (o, r) => o.u16(r.retentionDays)],
  attempts("attempt", "attempt", (o, n) => o.u8(n)),
  attempts("ts", "tsMs", (o, ms) => o.time(ms)),
  attempts("provider", "provider", text),
  attempts("endpoint_id", "endpointId", text),
  attempts("pool_id", "poolId", text),
  attempts("key_hint", "keyHint", text),
  attempts("outcome", "outcome", text),
  attempts("http_status", "httpStatus", (o, n) => o.u16(n)),
  attempts("error_class", "errorClass", text),
  attempts("upstream_code", "upstreamCode", text),
  attempts("upstream_message", "upstreamMessage", text),
  attempts("ttft_ms", "ttftMs", u32),
  attempts("duration_ms", "durationMs", u32),
  attempts("output_tokens", "outputTokens", u32),
];

export interface Payload {
  readonly record: CallRecord;
  readonly request: Uint8Array;
  readonly response: Uint8Array;
}

/** Table `payloads`. */
export const PAYLOAD_COLUMNS: readonly Column<Payload>[] = [
  ["org_id", (o, { record }) => o.text(record.orgId)],
  ["ts", (o, { record }) => o.time(record.tsMs)],
  ["request_id", (o, { record }) => o.text(record.requestId)],
  ["expires_at", (o, { record }) => o.second(record.tsMs + record.retentionDays * DAY_MS)],
  ["request", (o, { request }) => o.bytes(request)],
  ["response", (o, { response }) => o.bytes(response)],
];

export function writeRow<R>(out: RowBinary, columns: readonly Column<R>[], record: R): void {
  for (const [, write] of columns) write(out, record);
}

/** `"name", …` as an INSERT takes them. */
export const columnNames = <R>(columns: readonly Column<R>[]): string =>
  columns.map(([name]) => `\`${name}\``).join(", ");

function writeTags(o: RowBinary, r: CallRecord): void {
  const entries = Object.entries(r.tags);
  o.varint(entries.length);
  for (const [key, value] of entries) {
    o.text(key);
    o.text(value);
  }
}
