/** The shapes of records on the wire (specification, "Generation", "Request record") and their conversion from a record. */
import { z } from "zod";
import { isoTime, recordTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { usageWire } from "../../base/usage.ts";
import { REQUEST_COLUMNS, type Values, valuesOf } from "../../record/columns.ts";
import { type CallRecord, isCharged, type PayloadState } from "../../record/record.ts";
import type { Candidate } from "./answer.ts";
import { errorSchema, errorWire } from "./error-wire.ts";
import { type PlanOf, planSchema, planWire } from "./plan-wire.ts";

const count = z.int().min(0);
const milliseconds = z.number().min(0);

const firstByte = milliseconds.describe(
  "From arrival to the first byte for the client; of a whole answer, whose bytes leave at once, to all of it. 0: no byte.",
);

const tokens = field.tokens(count);
const usageSchema = z.object(tokens).describe("Tokens read and written.");
const duration = milliseconds.describe("From the request to the end of the answer, milliseconds.");
const gatewayOverhead = milliseconds.describe(
  "The part of the call's time in which no provider was waited for, milliseconds.",
);
const upstreamFirstToken = milliseconds.describe(
  "From the attempt that answered to its first token, milliseconds.",
);
const stopSchema = z
  .object({
    reason: field.stopReason,
  })
  .describe("Why the answer ended.");

/** An attempt, as far as the short form of a record has it. */
const attempted = {
  attempt: count.describe("Which attempt it was, from 1."),
  provider: field.providerId,
  outcome: z.string().describe("How the attempt ended."),
  http_status: count.describe("What the provider answered; 0: nothing."),
  ttft_ms: milliseconds.describe("From the attempt to its first token, milliseconds."),
};

const costSchema = z
  .object({
    total_micro_usd: field.totalMicroUsd,
    lines: z
      .array(
        z.object({
          kind: z.string().describe("What is charged: `input`, `output`, `cache_read`, …"),
          units: count.describe("Tokens, or what else the line counts."),
          unit_price_nano: count.describe("Nano-USD a unit."),
          micro_usd: z.int().describe("The line's sum, micro-USD."),
          tool: z.string().optional().describe("The tool that the provider ran; only of kind `server_tool`."),
          tier: z.string().optional().describe("The tier whose price it is; absent: the standard price."),
        }),
      )
      .describe("What the cost is made of; each line is rounded once."),
    price_version: field.priceVersion,
  })
  .describe("What the call costs.");

export const generationSchema = z.object({
  id: z.string().describe("Request id of the call."),
  created: z.string().describe("ISO 8601 with milliseconds."),
  model: field.modelId,
  resolved: z
    .object({
      provider: field.providerId,
      endpoint_id: field.endpointId,
      upstream_model: field.upstreamModel,
      region: field.region,
    })
    .describe("Where the call was answered."),
  usage: usageSchema,
  cost: costSchema,
  timing: z
    .object({ ttft_ms: firstByte, duration_ms: duration, gw_overhead_ms: gatewayOverhead })
    .describe("Times of the call."),
  stop: stopSchema,
  attempts: z.array(z.object(attempted)).describe("The endpoints that were asked, in order."),
  warnings: field.warnings,
  error: errorSchema,
});

/**
 * @param r with its error redacted, if its row still waits in the outbox
 * @param mayReadTexts as of `errorWire`
 */
export const generationWire = (r: CallRecord, mayReadTexts: boolean): z.input<typeof generationSchema> => ({
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
  error: errorWire(r, mayReadTexts),
});

export const requestSchema = z.object({
  request_id: field.requestId,
  ts: z.string().describe("YYYY-MM-DD hh:mm:ss.mmm, UTC."),
  project_id: field.projectId,
  key_id: field.keyId,
  model: z
    .string()
    .describe("Model id, `<vendor>/<model>`; what the client wrote where there is no such model."),
  provider: field.providerId,
  endpoint_id: field.endpointId,
  region: field.region,
  status: z.enum(["ok", "error", "cancelled", "rejected"]).describe("How the call ended."),
  http_status: count.describe("What the client got."),
  error_code: z.string().describe("Empty when none."),
  stop_reason: z.string().describe("Why the answer ended."),
  attempts: count.describe("How many endpoints were asked."),
  input_tokens: tokens.input_tokens,
  cache_read_tokens: tokens.cache_read_tokens,
  output_tokens: tokens.output_tokens,
  usage_source: field.usageSource,
  cost_micro: z.int().describe("What was charged, micro-USD."),
  ttft_ms: firstByte,
  duration_ms: duration,
  stream: z.boolean().describe("The answer came as server-sent events."),
  byok: z.boolean().describe("An org's own provider key answered."),
  zdr: z.boolean().describe("Zero data retention: nothing is kept, here or at the provider."),
  logged: z.boolean().describe("Whether request and answer were kept."),
  app_id: z.string().describe("The app that called."),
  user_hash: z.string().describe("Hash of the end user's name; empty without one."),
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
  z.object({
    type: z.enum(["text", "reasoning"]).describe("What kind of thing this is."),
    text: z.string().describe("The text."),
  }),
  z.object({
    type: z.literal("tool_call").describe("What kind of thing this is."),
    id: z.string().describe("Request id of the call."),
    name: z.string().describe("Its name."),
    arguments: z.string().describe("JSON text of an object."),
  }),
]);

export const requestDetailSchema = requestSchema.extend({
  cell: z.string().describe("The gateway process that took the call."),
  dialect_in: z.string().describe("The format that the client spoke."),
  upstream_model: field.upstreamModel,
  price_version_id: z.string().describe("The version of the prices."),
  upstream_ttft_ms: upstreamFirstToken,
  gw_overhead_ms: gatewayOverhead,
  bytes_in: count.describe("Bytes of the request's body."),
  bytes_out: count.describe("Bytes of the answer's body."),
  tool_calls: count.describe("Tools that the answer calls."),
  has_images: z.boolean().describe("The request has images."),
  has_tools: z.boolean().describe("The request has tools."),
  has_schema: z.boolean().describe("The request asks for JSON of a schema."),
  policy: z.string().describe("The routing policy that decided; empty where none is in force."),
  policy_version: count.describe("0 where none is."),
  rule: z.string().describe("The rule of it that matched; empty: none did."),
  canary: z.string().describe("Endpoint of the canary in whose share the call was; else empty."),
  experiment: z.string().describe("The experiment that the call was part of; else empty."),
  arm: z.string().describe("The experiment's arm."),
  cache_write_tokens: tokens.cache_write_tokens,
  reasoning_tokens: tokens.reasoning_tokens,
  tags: z.record(z.string(), z.string()).describe("Words of yours to group and find calls by."),
  user_agent: z.string().describe("The client's `User-Agent`."),
  client_ip_prefix: z.string().describe("The client's network: /24 of IPv4, /48 of IPv6."),
  route_trace: z.string().describe("What decided about the endpoints."),
  plan: planSchema,
  error: errorSchema,
  cost: costSchema,
  receipt: z
    .string()
    .describe(
      "Path of the call's signed receipt, which is made when it is asked for: there is one for every call.",
    ),
  ledger: z
    .string()
    .nullable()
    .describe("Path of the ledger's entries of the call; null where nothing was charged."),
  timing: z
    .object({
      ttft_ms: firstByte,
      upstream_ttft_ms: upstreamFirstToken,
      duration_ms: duration,
      gw_overhead_ms: gatewayOverhead,
    })
    .describe("Times of the call."),
  usage: z
    .object({
      source: z.string().describe("Who counted the tokens, as in `usage_source`."),
      normalised: usageSchema.describe("The counts in one form for all providers."),
    })
    .describe("Tokens read and written."),
  attempt_rows: z
    .array(
      z.object({
        attempt: attempted.attempt,
        ts: z.string().describe("When the attempt began, `YYYY-MM-DD hh:mm:ss.mmm`, UTC."),
        provider: attempted.provider,
        endpoint_id: field.endpointId,
        pool_id: z.string().describe("The pool of keys that the attempt's key belongs to."),
        key_hint: z.string().describe("The end of the provider key that was used."),
        outcome: attempted.outcome,
        http_status: attempted.http_status,
        error_class: z
          .string()
          .describe(
            "Whose failure it was: `client`, `capacity`, `auth`, `server`, `network`, `timeout`, `protocol`; empty: none.",
          ),
        refusal: z
          .string()
          .describe(
            "What the provider refused, as the row of the table of refusals; empty: nothing, or no row matched.",
          ),
        ttft_ms: attempted.ttft_ms,
        duration_ms: milliseconds.describe("From the attempt to its end, milliseconds."),
        output_tokens: tokens.output_tokens,
      }),
    )
    .describe("The endpoints that were asked, in order."),
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
      candidates: z
        .array(
          z.object({
            index: count.describe("Which of the answers, inputs or documents it is, from 0."),
            content: z.array(part).describe("What is said: a text, or parts of several kinds."),
            stop: stopSchema,
          }),
        )
        .describe("The answers."),
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

/** What a detail shows beside the record. */
interface Beside {
  readonly planOf: PlanOf;
  /** As of `errorWire`. */
  readonly mayReadTexts: boolean;
  /** Why there is a payload to show, or none. */
  readonly payloadState: PayloadState | "restricted";
  readonly payload?: DetailPayload;
}

/** @param r as of `generationWire` */
export function requestDetailWire(
  r: CallRecord,
  { planOf, mayReadTexts, payloadState, payload }: Beside,
): Detail {
  const usage = usageWire(r.usage);
  const { cost, timing, error } = generationWire(r, mayReadTexts);
  return {
    ...(valuesOf(r, DETAIL_COLUMNS) as Detail),
    ...listItem(valuesOf(r, LIST_COLUMNS)),
    plan: planWire(r, planOf(r)),
    error,
    cost,
    receipt: `/v1/generation/${r.requestId}/receipt`,
    ledger: isCharged(r) ? `/v1/credits/ledger?request_id=${r.requestId}` : null,
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
      refusal: a.refusal,
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
