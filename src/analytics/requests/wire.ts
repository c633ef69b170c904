/** The shapes of records on the wire (specification, "Generation", "Request record") and their conversion from a record. */
import { z } from "zod";
import { isoTime, recordTime } from "../../base/clock.ts";
import { usageWire } from "../../base/usage.ts";
import { REQUEST_COLUMNS, type Values, valuesOf } from "../../record/columns.ts";
import type { CallRecord, PayloadState } from "../../record/record.ts";
import type { Candidate } from "./answer.ts";

const count = z.int().min(0);
const milliseconds = z.number().min(0);

const firstByte = milliseconds.describe(
  "From arrival to the first byte for the client; of a whole answer, whose bytes leave at once, to all of it. 0: no byte.",
);

const usageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  reasoning_tokens: count,
});

const costSchema = z.object({
  total_micro_usd: z.int(),
  lines: z.array(
    z.object({
      kind: z.string(),
      units: count,
      unit_price_nano: count,
      micro_usd: z.int(),
      tool: z.string().optional().describe("The tool that the provider ran; only of kind `server_tool`."),
      tier: z.string().optional().describe("The tier whose price it is; absent: the standard price."),
    }),
  ),
  price_version: z.string(),
});

export const generationSchema = z.object({
  id: z.string(),
  created: z.string().describe("ISO 8601 with milliseconds."),
  model: z.string(),
  resolved: z.object({
    provider: z.string(),
    endpoint_id: z.string(),
    upstream_model: z.string(),
    region: z.string(),
  }),
  usage: usageSchema,
  cost: costSchema,
  timing: z.object({ ttft_ms: firstByte, duration_ms: milliseconds, gw_overhead_ms: milliseconds }),
  stop: z.object({ reason: z.string() }),
  attempts: z.array(
    z.object({
      attempt: count,
      provider: z.string(),
      outcome: z.string(),
      http_status: count,
      ttft_ms: milliseconds,
    }),
  ),
  warnings: z.array(z.string()),
});

export const generationWire = (r: CallRecord): z.input<typeof generationSchema> => ({
  id: r.requestId,
  created: isoTime(r.tsMs),
  model: r.model,
  resolved: {
    provider: r.provider,
    endpoint_id: r.endpointId,
    upstream_model: r.upstreamModel,
    region: r.region,
  },
  usage: usageWire(r.usage),
  cost: {
    total_micro_usd: r.cost.total_micro_usd,
    lines: [...r.cost.lines],
    price_version: r.cost.price_version,
  },
  timing: { ttft_ms: r.ttftMs, duration_ms: r.durationMs, gw_overhead_ms: r.gwOverheadMs },
  stop: { reason: r.stopReason },
  attempts: r.attempts.map((a) => ({
    attempt: a.attempt,
    provider: a.provider,
    outcome: a.outcome,
    http_status: a.httpStatus,
    ttft_ms: a.ttftMs,
  })),
  warnings: [...r.warnings],
});

export const requestSchema = z.object({
  request_id: z.string(),
  ts: z.string().describe("YYYY-MM-DD hh:mm:ss.mmm, UTC."),
  project_id: z.string(),
  key_id: z.string(),
  model: z.string(),
  provider: z.string(),
  endpoint_id: z.string(),
  region: z.string(),
  status: z.enum(["ok", "error", "cancelled", "rejected"]),
  http_status: count,
  error_code: z.string().describe("Empty when none."),
  stop_reason: z.string(),
  attempts: count,
  input_tokens: count,
  cache_read_tokens: count,
  output_tokens: count,
  usage_source: z.enum(["provider", "estimated", "none"]),
  cost_micro: z.int(),
  ttft_ms: firstByte,
  duration_ms: milliseconds,
  stream: z.boolean(),
  byok: z.boolean(),
  zdr: z.boolean(),
  logged: z.boolean().describe("Whether request and answer were kept."),
  app_id: z.string(),
  user_hash: z.string(),
});

/** The members of a schema that have the same name as a column of `requests`. */
const columnsIn = (schema: z.ZodObject): string[] =>
  Object.keys(schema.shape).filter((name) => REQUEST_COLUMNS.includes(name));

/** Columns that a list item is made of: its members by name, and `payload_state` for `logged`. */
export const LIST_COLUMNS: readonly string[] = [...columnsIn(requestSchema), "payload_state"];

/** @param values those of {@link LIST_COLUMNS}, with the types of the schema */
export function listItem({ payload_state, ...values }: Values): z.input<typeof requestSchema> {
  const item = { ...values, ts: recordTime(values.ts as number), logged: payload_state === "available" };
  return item as z.input<typeof requestSchema>;
}

const part = z.union([
  z.object({ type: z.enum(["text", "reasoning"]), text: z.string() }),
  z.object({ type: z.literal("tool_call"), id: z.string(), name: z.string(), arguments: z.string() }),
]);

export const requestDetailSchema = requestSchema.extend({
  cell: z.string(),
  dialect_in: z.string(),
  upstream_model: z.string(),
  price_version_id: z.string(),
  upstream_ttft_ms: milliseconds,
  gw_overhead_ms: milliseconds,
  bytes_in: count,
  bytes_out: count,
  tool_calls: count,
  has_images: z.boolean(),
  has_tools: z.boolean(),
  has_schema: z.boolean(),
  policy: z.string().describe("The routing policy that decided; empty where none is in force."),
  policy_version: count.describe("0 where none is."),
  rule: z.string().describe("The rule of it that matched; empty: none did."),
  canary: z.string().describe("Endpoint of the canary in whose share the call was; else empty."),
  experiment: z.string().describe("The experiment that the call was part of; else empty."),
  arm: z.string(),
  cache_write_tokens: count,
  reasoning_tokens: count,
  tags: z.record(z.string(), z.string()),
  user_agent: z.string(),
  client_ip_prefix: z.string(),
  route_trace: z.string(),
  timing: z.object({
    ttft_ms: firstByte,
    upstream_ttft_ms: milliseconds,
    duration_ms: milliseconds,
    gw_overhead_ms: milliseconds,
  }),
  usage: z.object({ source: z.string(), normalised: usageSchema }),
  attempt_rows: z.array(
    z.object({
      attempt: count,
      ts: z.string(),
      provider: z.string(),
      endpoint_id: z.string(),
      pool_id: z.string(),
      key_hint: z.string(),
      outcome: z.string(),
      http_status: count,
      error_class: z.string(),
      ttft_ms: milliseconds,
      duration_ms: milliseconds,
      output_tokens: count,
    }),
  ),
  payload_state: z
    .enum(["available", "off", "zdr", "expired", "erased", "restricted"])
    .describe(
      "Why `request` and `response` are there or not. `restricted`: kept, but of another project than the key's, which lacks the scope `read:payloads`.",
    ),
  request: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "In canonical form: as `POST /v1/svc/generate` (or `embed`, `rerank`) would be asked the same, whatever the client's " +
        "format; redacted. Only while available; absent where the body cannot be read as one of its format.",
    ),
  request_raw: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .optional()
    .describe(
      "With `?raw=1`, while available: the client's own body, redacted; as text where it is no JSON object.",
    ),
  response: z
    .object({
      candidates: z.array(
        z.object({ index: count, content: z.array(part), stop: z.object({ reason: z.string() }) }),
      ),
      usage: usageSchema,
      cost: costSchema,
    })
    .optional()
    .describe("Only while available."),
});

type Detail = z.input<typeof requestDetailSchema>;

/** Members of a detail that are columns by name, unchanged. */
const DETAIL_COLUMNS = columnsIn(requestDetailSchema);

export interface DetailPayload {
  readonly request: Readonly<Record<string, unknown>> | undefined;
  readonly candidates: Candidate[];
  /** If the client asked for it. */
  readonly raw?: Record<string, unknown> | string;
}

/** @param payloadState why there is a payload to show, or none */
export function requestDetailWire(
  r: CallRecord,
  payloadState: PayloadState | "restricted",
  payload?: DetailPayload,
): Detail {
  const usage = usageWire(r.usage);
  const { cost, timing } = generationWire(r);
  return {
    ...(valuesOf(r, DETAIL_COLUMNS) as Detail),
    ...listItem(valuesOf(r, LIST_COLUMNS)),
    timing: { ...timing, upstream_ttft_ms: r.upstreamTtftMs },
    usage: { source: r.usageSource, normalised: usage },
    attempt_rows: r.attempts.map((a) => ({
      attempt: a.attempt,
      ts: recordTime(a.tsMs),
      provider: a.provider,
      endpoint_id: a.endpointId,
      pool_id: a.poolId,
      key_hint: a.keyHint,
      outcome: a.outcome,
      http_status: a.httpStatus,
      error_class: a.errorClass,
      ttft_ms: a.ttftMs,
      duration_ms: a.durationMs,
      output_tokens: a.outputTokens,
    })),
    payload_state: payloadState,
    ...(payload?.request !== undefined && { request: payload.request }),
    ...(payload?.raw !== undefined && { request_raw: payload.raw }),
    ...(payload !== undefined && { response: { candidates: payload.candidates, usage, cost } }),
  };
}
