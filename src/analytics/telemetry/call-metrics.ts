/**
 * Metrics of calls by the GenAI conventions: those of a client, which the gateway is towards providers. Every call counts, sampled
 * or not. Attributes have few values: a model is named only where the catalog knows it.
 */
import type { Attributes, Meter } from "@opentelemetry/api";
import type { CallRecord } from "../../record/record.ts";
import { errorType, knownModel, operationOf, providerName } from "./call-attributes.ts";

/** Bounds of the conventions, seconds: 0.01 and its doubles. */
const SECONDS = Array.from({ length: 14 }, (_, i) => 0.01 * 2 ** i);
/** Tokens: powers of four. */
const TOKENS = Array.from({ length: 14 }, (_, i) => 4 ** i);

/** Series of attributes that are kept; the names of policies' models are few, and this bounds them anyway. */
const MAX_SERIES = 1000;

interface Series {
  readonly all: Attributes;
  readonly input: Attributes;
  readonly output: Attributes;
}

export function callMetrics(meter: Meter): (record: CallRecord) => void {
  const duration = meter.createHistogram("gen_ai.client.operation.duration", {
    description: "GenAI operation duration.",
    unit: "s",
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const firstChunk = meter.createHistogram("gen_ai.client.operation.time_to_first_chunk", {
    description: "Time to the first content of a streamed answer.",
    unit: "s",
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const tokens = meter.createHistogram("gen_ai.client.token.usage", {
    description: "Number of input and output tokens used.",
    unit: "{token}",
    advice: { explicitBucketBoundaries: TOKENS },
  });
  const series = new Map<string, Series>();
  return (record) => {
    const { all, input, output } = seriesOf(series, record);
    duration.record(record.durationMs / 1000, all);
    if (record.stream && record.ttftMs > 0) firstChunk.record(record.ttftMs / 1000, all);
    // What the gateway estimated is not reported: the conventions want counts that are known.
    if (record.usageSource !== "provider") return;
    tokens.record(record.usage.inputTokens, input);
    tokens.record(record.usage.outputTokens, output);
  };
}

function seriesOf(known: Map<string, Series>, record: CallRecord): Series {
  const error = errorType(record);
  const key = `${record.dialectIn} ${record.endpointId} ${record.environment} ${error} ${knownModel(record)}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= MAX_SERIES) known.clear();
  const model = knownModel(record);
  const all: Attributes = {
    "gen_ai.operation.name": operationOf(record),
    "gen_ai.provider.name": providerName(record.provider),
    "weir.environment": record.environment,
    ...(model !== undefined && {
      "gen_ai.request.model": model,
      "gen_ai.response.model": record.upstreamModel,
    }),
    ...(error !== undefined && { "error.type": error }),
  };
  const { "error.type": _, ...used } = all;
  const made = {
    all,
    input: { ...used, "gen_ai.token.type": "input" },
    output: { ...used, "gen_ai.token.type": "output" },
  };
  known.set(key, made);
  return made;
}
