/**
 * A call's record as columns of the analytics table `requests`, in RowBinary: written once, when the call settles, and
 * inserted as it is. Names, writer and reader stand in the same order; a test holds them to it. The migrations hold the
 * types; docs/analytics.md says what each column means.
 */
import type { CostKind, CostLine } from "../money.ts";
import type { AttemptOutcome, AttemptRecord, CallRecord, CallStatus, ErrorClass } from "../record.ts";
import type { UsageSource } from "../usage.ts";
import type { RowBinaryReader, RowBinaryWriter } from "./row-binary.ts";

/** `INSERT INTO requests (…) FORMAT RowBinary`: what {@link writeColumns} writes, then what finishing adds. */
export const REQUEST_COLUMNS: readonly string[] = [
  ...["org_id", "ts", "request_id"],
  ...["project_id", "key_id", "environment", "cell", "dialect_in", "model", "provider", "endpoint_id"],
  ...["upstream_model", "region", "status", "http_status", "error_code", "stop_reason"],
  ...["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"],
  ...["usage_source", "cost_micro", "price_version_id"],
  ...["cost_lines.kind", "cost_lines.units", "cost_lines.unit_price_nano", "cost_lines.micro_usd"],
  ...["charged", "ttft_ms", "upstream_ttft_ms", "duration_ms", "gw_overhead_ms", "bytes_in", "bytes_out"],
  ...["stream", "byok", "zdr", "tool_calls", "has_images", "has_tools", "has_schema"],
  ...["policy", "policy_version", "rule", "canary", "experiment", "arm"],
  ...["max_tokens", "parallel_tools", "has_audio", "route_options", "session_hash"],
  ...["app_id", "user_hash", "tags", "user_agent", "client_ip_prefix", "route_trace", "warnings"],
  ...["retention_days", "attempts"],
  ...["attempt_rows.attempt", "attempt_rows.ts", "attempt_rows.provider", "attempt_rows.endpoint_id"],
  ...["attempt_rows.pool_id", "attempt_rows.key_hint", "attempt_rows.outcome", "attempt_rows.http_status"],
  ...["attempt_rows.error_class", "attempt_rows.upstream_code", "attempt_rows.ttft_ms"],
  ...["attempt_rows.duration_ms", "attempt_rows.output_tokens"],
  // Both may change while the payload is redacted.
  ...["payload_state", "attempt_rows.upstream_message"],
];

/** The first three columns of `payloads` are the first three of `requests`: {@link writeIdentity}. */
export const PAYLOAD_COLUMNS: readonly string[] = [
  ...["org_id", "ts", "request_id"],
  ...["expires_at", "request", "response"],
];

/** What a record is found by. */
export function writeIdentity(o: RowBinaryWriter, r: CallRecord): void {
  o.text(r.orgId);
  o.time(r.tsMs);
  o.text(r.requestId);
}

/** The columns behind the identity, without the last two. Written out, not looped over: this runs once a call. */
export function writeColumns(o: RowBinaryWriter, r: CallRecord): void {
  o.text(r.projectId);
  o.text(r.keyId);
  o.text(r.environment);
  o.text(r.cell);
  o.text(r.dialectIn);
  o.text(r.model);
  o.text(r.provider);
  o.text(r.endpointId);
  o.text(r.upstreamModel);
  o.text(r.region);
  o.text(r.status);
  o.u16(r.httpStatus);
  o.text(r.errorCode);
  o.text(r.stopReason);
  o.u32(r.usage.inputTokens);
  o.u32(r.usage.outputTokens);
  o.u32(r.usage.cacheReadTokens);
  o.u32(r.usage.cacheWriteTokens);
  o.u32(r.usage.reasoningTokens);
  o.text(r.usageSource);
  o.u64(r.cost.total_micro_usd);
  o.text(r.cost.price_version);
  o.list(r.cost.lines, writeKind);
  o.list(r.cost.lines, writeUnits);
  o.list(r.cost.lines, writeUnitPrice);
  o.list(r.cost.lines, writeMicroUsd);
  o.bool(r.charged);
  o.u32(r.ttftMs);
  o.u32(r.upstreamTtftMs);
  o.u32(r.durationMs);
  o.f64(r.gwOverheadMs);
  o.u64(r.bytesIn);
  o.u64(r.bytesOut);
  o.bool(r.stream);
  o.bool(r.byok);
  o.bool(r.zdr);
  o.u16(r.toolCalls);
  o.bool(r.hasImages);
  o.bool(r.hasTools);
  o.bool(r.hasSchema);
  o.text(r.policy);
  o.u32(r.policyVersion);
  o.text(r.rule);
  o.text(r.canary);
  o.text(r.experiment);
  o.text(r.arm);
  o.u32(r.maxTokens);
  o.bool(r.parallelTools);
  o.bool(r.hasAudio);
  o.text(r.routeOptions);
  o.text(r.sessionHash);
  o.text(r.appId);
  o.text(r.userHash);
  writeTags(o, r.tags);
  o.text(r.userAgent);
  o.text(r.clientIpPrefix);
  o.text(r.routeTrace);
  o.list(r.warnings, writeText);
  o.u16(r.retentionDays);
  writeAttempts(o, r.attempts);
}

/** Identity and columns back. @throws RangeError where the bytes end too early. */
export function readColumns(i: RowBinaryReader): Omit<CallRecord, "payloadState" | "redact"> {
  const orgId = i.text();
  const tsMs = i.u64();
  const requestId = i.text();
  return {
    orgId,
    tsMs,
    requestId,
    projectId: i.text(),
    keyId: i.text(),
    environment: i.text() as CallRecord["environment"],
    cell: i.text(),
    dialectIn: i.text(),
    model: i.text(),
    provider: i.text(),
    endpointId: i.text(),
    upstreamModel: i.text(),
    region: i.text(),
    status: i.text() as CallStatus,
    httpStatus: i.u16(),
    errorCode: i.text(),
    stopReason: i.text(),
    usage: {
      inputTokens: i.u32(),
      outputTokens: i.u32(),
      cacheReadTokens: i.u32(),
      cacheWriteTokens: i.u32(),
      reasoningTokens: i.u32(),
    },
    usageSource: i.text() as UsageSource,
    cost: { total_micro_usd: i.u64(), price_version: i.text(), lines: readLines(i) },
    charged: i.bool(),
    ttftMs: i.u32(),
    upstreamTtftMs: i.u32(),
    durationMs: i.u32(),
    gwOverheadMs: i.f64(),
    bytesIn: i.u64(),
    bytesOut: i.u64(),
    stream: i.bool(),
    byok: i.bool(),
    zdr: i.bool(),
    toolCalls: i.u16(),
    hasImages: i.bool(),
    hasTools: i.bool(),
    hasSchema: i.bool(),
    policy: i.text(),
    policyVersion: i.u32(),
    rule: i.text(),
    canary: i.text(),
    experiment: i.text(),
    arm: i.text(),
    maxTokens: i.u32(),
    parallelTools: i.bool(),
    hasAudio: i.bool(),
    routeOptions: i.text(),
    sessionHash: i.text(),
    appId: i.text(),
    userHash: i.text(),
    tags: readTags(i),
    userAgent: i.text(),
    clientIpPrefix: i.text(),
    routeTrace: i.text(),
    warnings: i.list(readText),
    retentionDays: i.u16(),
    attempts: readAttempts(i),
  };
}

const writeText = (o: RowBinaryWriter, text: string) => o.text(text);
const readText = (i: RowBinaryReader) => i.text();
const readU8 = (i: RowBinaryReader) => i.u8();
const readU16 = (i: RowBinaryReader) => i.u16();
const readU32 = (i: RowBinaryReader) => i.u32();
const readU64 = (i: RowBinaryReader) => i.u64();

const writeKind = (o: RowBinaryWriter, line: CostLine) => o.text(line.kind);
const writeUnits = (o: RowBinaryWriter, line: CostLine) => o.u64(line.units);
const writeUnitPrice = (o: RowBinaryWriter, line: CostLine) => o.u64(line.unit_price_nano);
const writeMicroUsd = (o: RowBinaryWriter, line: CostLine) => o.u64(line.micro_usd);

function readLines(i: RowBinaryReader): CostLine[] {
  const kinds = i.list(readText);
  const units = i.list(readU64);
  const prices = i.list(readU64);
  const amounts = i.list(readU64);
  return kinds.map((kind, at) => ({
    kind: kind as CostKind,
    units: units[at] ?? 0,
    unit_price_nano: prices[at] ?? 0,
    micro_usd: amounts[at] ?? 0,
  }));
}

function writeTags(o: RowBinaryWriter, tags: Readonly<Record<string, string>>): void {
  const entries = Object.entries(tags);
  o.varint(entries.length);
  for (const [key, value] of entries) {
    o.text(key);
    o.text(value);
  }
}

const readTags = (i: RowBinaryReader): Record<string, string> =>
  Object.fromEntries(i.list((entry) => [entry.text(), entry.text()]));

/** A column each. */
const ATTEMPT_WRITERS: readonly ((o: RowBinaryWriter, a: AttemptRecord) => void)[] = [
  (o, a) => o.u8(a.attempt),
  (o, a) => o.time(a.tsMs),
  (o, a) => o.text(a.provider),
  (o, a) => o.text(a.endpointId),
  (o, a) => o.text(a.poolId),
  (o, a) => o.text(a.keyHint),
  (o, a) => o.text(a.outcome),
  (o, a) => o.u16(a.httpStatus),
  (o, a) => o.text(a.errorClass),
  (o, a) => o.text(a.upstreamCode),
  (o, a) => o.u32(a.ttftMs),
  (o, a) => o.u32(a.durationMs),
  (o, a) => o.u32(a.outputTokens),
];

function writeAttempts(o: RowBinaryWriter, attempts: readonly AttemptRecord[]): void {
  o.u8(attempts.length);
  for (const write of ATTEMPT_WRITERS) o.list(attempts, write);
}

/** Their messages apart, which stand in the last column. */
function readAttempts(i: RowBinaryReader): AttemptRecord[] {
  i.u8();
  const attempts = i.list(readU8);
  const times = i.list(readU64);
  const [providers, endpoints, pools, hints, outcomes] = Array.from({ length: 5 }, () => i.list(readText));
  const statuses = i.list(readU16);
  const classes = i.list(readText);
  const codes = i.list(readText);
  const [ttfts, durations, outputs] = Array.from({ length: 3 }, () => i.list(readU32));
  return attempts.map((attempt, at) => ({
    attempt,
    tsMs: times[at] ?? 0,
    provider: providers?.[at] ?? "",
    endpointId: endpoints?.[at] ?? "",
    poolId: pools?.[at] ?? "",
    keyHint: hints?.[at] ?? "",
    outcome: (outcomes?.[at] ?? "invalid_response") as AttemptOutcome,
    httpStatus: statuses[at] ?? 0,
    errorClass: (classes[at] ?? "") as ErrorClass,
    upstreamCode: codes[at] ?? "",
    upstreamMessage: "",
    ttftMs: ttfts?.[at] ?? 0,
    durationMs: durations?.[at] ?? 0,
    outputTokens: outputs?.[at] ?? 0,
  }));
}
