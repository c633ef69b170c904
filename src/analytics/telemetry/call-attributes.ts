/**
 * What the GenAI semantic conventions (1.42, "Inference") call the facts of a record. What they have no name for is `weir.*`. No
 * text of a prompt or an answer is here, nor what says who the end user is.
 */
import { type Attributes, type SpanStatus, SpanStatusCode } from "@opentelemetry/api";
import type { AttemptRecord, CallRecord } from "../../record/record.ts";

const OPERATIONS: Readonly<Record<string, string>> = {
  completions: "text_completion",
  embeddings: "embeddings",
  embed: "embeddings",
  // The conventions have no name for it.
  rerank: "rerank",
};

/** Ids of our catalog whose providers the conventions call otherwise. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "azure-openai": "azure.ai.openai",
  bedrock: "aws.bedrock",
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** The provider of a call that reached none: the answer is the gateway's own. */
const NO_PROVIDER = "weir";

export const operationOf = ({ dialectIn }: CallRecord): string => OPERATIONS[dialectIn] ?? "chat";

export const providerName = (id: string): string => PROVIDERS[id] ?? (id === "" ? NO_PROVIDER : id);

/** A model of the catalog; undefined where the client may have named anything, so that names stay few. */
export const knownModel = ({ endpointId, model }: CallRecord): string | undefined =>
  endpointId === "" ? undefined : model;

export function spanName(record: CallRecord): string {
  const model = knownModel(record);
  return model === undefined ? operationOf(record) : `${operationOf(record)} ${model}`;
}

export function callAttributes(record: CallRecord): Attributes {
  const { usage, cost, stream, ttftMs } = record;
  const has = record.usageSource !== "none";
  return withoutAbsent({
    "gen_ai.operation.name": operationOf(record),
    "gen_ai.provider.name": providerName(record.provider),
    "gen_ai.request.model": record.model || undefined,
    "gen_ai.request.max_tokens": record.maxTokens || undefined,
    "gen_ai.request.stream": stream || undefined,
    "gen_ai.conversation.id": record.sessionHash || undefined,
    "gen_ai.response.model": record.upstreamModel || undefined,
    "gen_ai.response.finish_reasons": record.stopReason === "" ? undefined : [record.stopReason],
    "gen_ai.response.time_to_first_chunk": stream && ttftMs > 0 ? ttftMs / 1000 : undefined,
    "gen_ai.usage.input_tokens": has ? usage.inputTokens : undefined,
    "gen_ai.usage.output_tokens": has ? usage.outputTokens : undefined,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens || undefined,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens || undefined,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens || undefined,
    "error.type": errorType(record),
    "http.response.status_code": record.httpStatus,
    "weir.request_id": record.requestId,
    "weir.org_id": record.orgId,
    "weir.project_id": record.projectId,
    "weir.key_id": record.keyId,
    "weir.environment": record.environment,
    "weir.status": record.status,
    "weir.format": record.dialectIn,
    "weir.endpoint_id": record.endpointId || undefined,
    "weir.region": record.region || undefined,
    "weir.attempts": record.attempts.length,
    "weir.cost_micro_usd": cost.total_micro_usd,
    "weir.charged": record.charged,
    "weir.byok": record.byok || undefined,
    "weir.usage_source": record.usageSource,
    "weir.gateway_overhead_ms": record.gwOverheadMs,
    "weir.policy": record.policy || undefined,
    "weir.policy_version": record.policy === "" ? undefined : record.policyVersion,
    "weir.rule": record.rule || undefined,
    "weir.canary": record.canary || undefined,
    "weir.experiment": record.experiment || undefined,
    "weir.arm": record.arm || undefined,
    "weir.app": record.appId || undefined,
  });
}

/** Never the upstream's message: it may quote the prompt. */
export function attemptAttributes(record: CallRecord, attempt: AttemptRecord): Attributes {
  const answered = attempt.endpointId === record.endpointId && attempt.outcome === "ok";
  return withoutAbsent({
    "gen_ai.operation.name": operationOf(record),
    "gen_ai.provider.name": providerName(attempt.provider),
    "gen_ai.request.model": record.model,
    "gen_ai.response.model": answered ? record.upstreamModel : undefined,
    "gen_ai.response.time_to_first_chunk":
      record.stream && attempt.ttftMs > 0 ? attempt.ttftMs / 1000 : undefined,
    "gen_ai.usage.output_tokens": attempt.outputTokens || undefined,
    "error.type": isFailed(attempt) ? attempt.outcome : undefined,
    "http.response.status_code": attempt.httpStatus || undefined,
    "http.request.resend_count": attempt.attempt > 1 ? attempt.attempt - 1 : undefined,
    "weir.attempt": attempt.attempt,
    "weir.endpoint_id": attempt.endpointId,
    "weir.pool_id": attempt.poolId,
    "weir.outcome": attempt.outcome,
    "weir.error_class": attempt.errorClass || undefined,
    "weir.upstream_code": attempt.upstreamCode.slice(0, 100) || undefined,
  });
}

/** The wire code of the error table; undefined for a call that went well. */
export const errorType = ({ errorCode, status }: CallRecord): string | undefined =>
  errorCode !== "" ? errorCode : status === "ok" ? undefined : status;

/** A refusal of the client's request, and a client that left, are no errors of the server (semantic conventions, "HTTP spans"). */
export const callStatus = ({ status, httpStatus }: CallRecord): SpanStatus =>
  httpStatus >= 500 || (status === "error" && httpStatus < 400) ? FAILED : UNSET;

export const attemptStatus = (attempt: AttemptRecord): SpanStatus => (isFailed(attempt) ? FAILED : UNSET);

const isFailed = ({ outcome }: AttemptRecord): boolean => outcome !== "ok" && outcome !== "cancelled";

const FAILED: SpanStatus = Object.freeze({ code: SpanStatusCode.ERROR });
const UNSET: SpanStatus = Object.freeze({ code: SpanStatusCode.UNSET });

function withoutAbsent(attributes: Attributes): Attributes {
  for (const name in attributes) if (attributes[name] === undefined) delete attributes[name];
  return attributes;
}
