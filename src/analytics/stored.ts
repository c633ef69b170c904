/**
 * A row of table `requests` back as the record it came from (but for what only the outbox keeps: redaction, payload).
 * With this, every answer is made from a `CallRecord`, whether it is still in the outbox or long in ClickHouse.
 */
import type { CostKind } from "../money.ts";
import type { AttemptRecord, CallRecord } from "../record.ts";
import type { ClickHouse } from "./client.ts";

/** Columns of a list item; a detail reads all. */
export const LIST_COLUMNS = `request_id, ts, project_id, key_id, model, provider, endpoint_id, region, status, http_status,
  error_code, stop_reason, attempts, input_tokens, cache_read_tokens, output_tokens, usage_source, cost_micro, ttft_ms,
  duration_ms, stream, byok, zdr, payload_state, app_id, user_hash`;

export interface StoredPayload {
  readonly request: string;
  readonly response: string;
}

/** A list item as stored: the names are the wire's. */
export interface ListRow {
  request_id: string;
  ts: string;
  project_id: string;
  key_id: string;
  model: string;
  provider: string;
  endpoint_id: string;
  region: string;
  status: CallRecord["status"];
  http_status: number;
  error_code: string;
  stop_reason: string;
  attempts: number;
  input_tokens: number;
  cache_read_tokens: number;
  output_tokens: number;
  usage_source: CallRecord["usageSource"];
  cost_micro: number;
  ttft_ms: number;
  duration_ms: number;
  stream: boolean;
  byok: boolean;
  zdr: boolean;
  payload_state: CallRecord["payloadState"];
  app_id: string;
  user_hash: string;
}

interface StoredRow extends ListRow {
  org_id: string;
  environment: "live" | "test";
  cell: string;
  dialect_in: string;
  upstream_model: string;
  cache_write_tokens: number;
  reasoning_tokens: number;
  charged: boolean;
  price_version_id: string;
  upstream_ttft_ms: number;
  gw_overhead_ms: number;
  bytes_in: number;
  bytes_out: number;
  tool_calls: number;
  has_images: boolean;
  has_tools: boolean;
  has_schema: boolean;
  policy: string;
  policy_version: number;
  rule: string;
  canary: string;
  experiment: string;
  arm: string;
  max_tokens: number;
  parallel_tools: boolean;
  has_audio: boolean;
  route_options: string;
  session_hash: string;
  tags: Record<string, string>;
  user_agent: string;
  client_ip_prefix: string;
  route_trace: string;
  warnings: string[];
  retention_days: number;
  "cost_lines.kind": CostKind[];
  "cost_lines.units": number[];
  "cost_lines.unit_price_nano": number[];
  "cost_lines.micro_usd": number[];
  "attempt_rows.attempt": number[];
  "attempt_rows.ts": string[];
  "attempt_rows.provider": string[];
  "attempt_rows.endpoint_id": string[];
  "attempt_rows.pool_id": string[];
  "attempt_rows.key_hint": string[];
  "attempt_rows.outcome": AttemptRecord["outcome"][];
  "attempt_rows.http_status": number[];
  "attempt_rows.error_class": AttemptRecord["errorClass"][];
  "attempt_rows.upstream_code": string[];
  "attempt_rows.upstream_message": string[];
  "attempt_rows.ttft_ms": number[];
  "attempt_rows.duration_ms": number[];
  "attempt_rows.output_tokens": number[];
}

/** Crockford's alphabet: the first ten characters of a request id are its milliseconds since 1970. */
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DAY_MS = 86_400_000;

/**
 * One request of an org, or undefined. The id tells its day, which finds the row in a few blocks; a row that stands
 * elsewhere (an id made by another clock) is found by the index on ids.
 */
export async function storedRequest(
  clickhouse: ClickHouse,
  orgId: string,
  requestId: string,
): Promise<CallRecord | undefined> {
  const madeMs = madeAtMs(requestId);
  const near =
    "AND ts BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})";
  const where = "org_id = {org:String} AND request_id = {id:String}";
  const params = { org: orgId, id: requestId, from: madeMs - DAY_MS, to: madeMs + DAY_MS };
  const [row] = await clickhouse.rows<StoredRow>(
    `SELECT * FROM requests WHERE ${where} ${near} LIMIT 1`,
    params,
  );
  if (row !== undefined) return recordOf(row);
  const [elsewhere] = await clickhouse.rows<StoredRow>(
    `SELECT * FROM requests WHERE ${where} LIMIT 1`,
    params,
  );
  return elsewhere === undefined ? undefined : recordOf(elsewhere);
}

/** The payload of a stored request, or undefined once it has expired (or was erased). */
export async function storedPayload(
  clickhouse: ClickHouse,
  record: Pick<CallRecord, "orgId" | "requestId" | "tsMs">,
  nowMs: number,
): Promise<StoredPayload | undefined> {
  const [row] = await clickhouse.rows<StoredPayload>(
    `SELECT request, response FROM payloads
     WHERE org_id = {org:String} AND ts = fromUnixTimestamp64Milli({ts:Int64}) AND request_id = {id:String}
       AND expires_at > {now:DateTime('UTC')} LIMIT 1`,
    { org: record.orgId, ts: record.tsMs, id: record.requestId, now: Math.floor(nowMs / 1000) },
  );
  return row;
}

function madeAtMs(requestId: string): number {
  let ms = 0;
  for (const character of requestId.slice(0, 10)) ms = ms * 32 + Math.max(0, CROCKFORD.indexOf(character));
  return Math.min(ms, 4_000_000_000_000);
}

/** `YYYY-MM-DD hh:mm:ss.mmm`, UTC. */
export const msOf = (ts: string): number => Date.parse(`${ts.replace(" ", "T")}Z`);

function recordOf(row: StoredRow): CallRecord {
  return {
    requestId: row.request_id,
    tsMs: msOf(row.ts),
    orgId: row.org_id,
    projectId: row.project_id,
    keyId: row.key_id,
    environment: row.environment,
    cell: row.cell,
    dialectIn: row.dialect_in,
    model: row.model,
    provider: row.provider,
    endpointId: row.endpoint_id,
    upstreamModel: row.upstream_model,
    region: row.region,
    status: row.status,
    httpStatus: row.http_status,
    errorCode: row.error_code,
    stopReason: row.stop_reason,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWriteTokens: row.cache_write_tokens,
      reasoningTokens: row.reasoning_tokens,
    },
    usageSource: row.usage_source,
    cost: {
      total_micro_usd: row.cost_micro,
      price_version: row.price_version_id,
      lines: row["cost_lines.kind"].map((kind, at) => ({
        kind,
        units: row["cost_lines.units"][at] ?? 0,
        unit_price_nano: row["cost_lines.unit_price_nano"][at] ?? 0,
        micro_usd: row["cost_lines.micro_usd"][at] ?? 0,
      })),
    },
    charged: row.charged,
    ttftMs: row.ttft_ms,
    upstreamTtftMs: row.upstream_ttft_ms,
    durationMs: row.duration_ms,
    gwOverheadMs: row.gw_overhead_ms,
    bytesIn: row.bytes_in,
    bytesOut: row.bytes_out,
    stream: row.stream,
    byok: row.byok,
    zdr: row.zdr,
    toolCalls: row.tool_calls,
    hasImages: row.has_images,
    hasTools: row.has_tools,
    hasSchema: row.has_schema,
    ...routingOf(row),
    appId: row.app_id,
    userHash: row.user_hash,
    tags: row.tags,
    userAgent: row.user_agent,
    clientIpPrefix: row.client_ip_prefix,
    routeTrace: row.route_trace,
    warnings: row.warnings,
    attempts: attemptsOf(row),
    payloadState: row.payload_state,
    redact: { presets: [], patterns: [] },
    retentionDays: row.retention_days,
  };
}

const attemptsOf = (row: StoredRow): AttemptRecord[] =>
  row["attempt_rows.attempt"].map((attempt, at) => ({
    attempt,
    tsMs: msOf(row["attempt_rows.ts"][at] ?? row.ts),
    provider: row["attempt_rows.provider"][at] ?? "",
    endpointId: row["attempt_rows.endpoint_id"][at] ?? "",
    poolId: row["attempt_rows.pool_id"][at] ?? "",
    keyHint: row["attempt_rows.key_hint"][at] ?? "",
    outcome: row["attempt_rows.outcome"][at] ?? "invalid_response",
    httpStatus: row["attempt_rows.http_status"][at] ?? 0,
    errorClass: row["attempt_rows.error_class"][at] ?? "",
    upstreamCode: row["attempt_rows.upstream_code"][at] ?? "",
    upstreamMessage: row["attempt_rows.upstream_message"][at] ?? "",
    ttftMs: row["attempt_rows.ttft_ms"][at] ?? 0,
    durationMs: row["attempt_rows.duration_ms"][at] ?? 0,
    outputTokens: row["attempt_rows.output_tokens"][at] ?? 0,
  }));

/** What decided about the call, and what it asked for. */
const routingOf = (row: StoredRow) => ({
  policy: row.policy,
  policyVersion: row.policy_version,
  rule: row.rule,
  canary: row.canary,
  experiment: row.experiment,
  arm: row.arm,
  maxTokens: row.max_tokens,
  parallelTools: row.parallel_tools,
  hasAudio: row.has_audio,
  routeOptions: row.route_options,
  sessionHash: row.session_hash,
});
