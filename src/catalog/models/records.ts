/**
 * The wire shapes of models and endpoints (specification, "Model" and "Model endpoint record"), written from a
 * snapshot and from measured statistics. Prices shown are list prices; `markup_bps` says what is added when charged.
 */
import { z } from "zod";
import type { Endpoint, Model } from "../../base/endpoint.ts";
import { type TokenPrices, usdPerMillionFromNano } from "../../base/money.ts";
import * as field from "../../base/operation/fields.ts";
import type { CatalogSnapshot } from "./catalog.ts";

interface EndpointStats {
  /** 0 to 1. */
  readonly uptime30d: number;
  readonly ttftP50Ms: number;
  readonly ttftP95Ms: number;
  readonly attempts30d: number;
}

/** Current health of an endpoint. */
export interface LiveHealth {
  readonly state: "healthy" | "degraded" | "failing" | "saturated" | "unknown";
  /** 0 to 1, over roughly the last minute. */
  readonly errorRate: number;
  /** Undefined when nothing was observed lately. */
  readonly ttftMs: number | undefined;
  /** Output tokens a second after the first. */
  readonly tokensPerSecond: number | undefined;
  /** Milliseconds until it may be tried again; 0: now. */
  readonly outForMs: number;
}

/** Measured figures; analytics fills this port. */
export interface CatalogStats {
  endpoint(endpointId: string): EndpointStats | undefined;
  requests7d(modelId: string): number;
  /** Median of the model's attempts, not of the medians of its endpoints; 0 where nothing was measured. */
  ttftP50Ms(modelId: string): number;
}

/** Health of an endpoint without recent calls. */
const NOT_TRIED: LiveHealth = {
  state: "unknown",
  errorRate: 0,
  ttftMs: undefined,
  tokensPerSecond: undefined,
  outForMs: 0,
};

const NOTHING_MEASURED: EndpointStats = { uptime30d: 1, ttftP50Ms: 0, ttftP95Ms: 0, attempts30d: 0 };

/** Used until something is measured. */
export const NO_STATS: CatalogStats = {
  endpoint: () => undefined,
  requests7d: () => 0,
  ttftP50Ms: () => 0,
};

const modalities = z.array(z.enum(["text", "image", "audio", "video"]));
/** USD per million tokens. */
export const tierPrices = z.object({
  input: z.number().describe("Price of the prompt."),
  output: z.number().describe("Price of the answer."),
  cache_read: z.number().describe("Price of prompt tokens read from a cache."),
});
const prices = tierPrices.extend({
  search_unit: z.number().optional().describe("USD per 1,000 search units; only of rerankers that bill them"),
});
/** Prices of an endpoint, with what the provider bills beside tokens at the standard price. */
const endpointPrices = prices.extend({
  tiers: z.record(z.string(), tierPrices).optional().describe("By tier: tokens at its own price."),
  server_tools: z
    .record(z.string(), z.number())
    .optional()
    .describe("By tool that the provider runs: USD per 1,000 uses."),
});
const task = z.enum(["generate", "embed", "rerank"]).describe("What the model does.");
const STATUS = "`active`, or `deprecated`: still served, to be left.";
const status = z.enum(["active", "deprecated"]).describe(STATUS);
const abilities = {
  json_schema: z.boolean().describe("It can answer in JSON of a schema."),
  vision: z.boolean().describe("It reads images."),
  audio: z.boolean().describe("It reads sound."),
  reasoning: z.boolean().describe("It can reason before it answers."),
  cache: z.boolean().describe("Prompts can be cached."),
};
const bounds = {
  context_length: z.int().describe("Tokens of prompt and answer together at most."),
  max_output: z.int().describe("Tokens of the answer at most."),
};
const markup = z.int().describe("What is added to list prices when charged, basis points.");
const uptime = z
  .number()
  .describe("Share of attempts of 30 days that did not fail at the endpoint, 0 to 1; 1 without attempts.");
const ttftP50 = z.int().describe("Median time to the first token of streams, milliseconds.");

/** Parameters of paths. */
export const modelPath = z.object({
  vendor: z.string().describe("Who made the model."),
  model: z.string().describe("The model's name without its vendor."),
});

/** Absent where there are none. */
export const aliasesField = z
  .array(z.string())
  .optional()
  .describe("Other names that calls may give the model; absent where it has none.");

/** The member of a model's record, as `aliasesField` has it. */
export const aliasesOf = ({ aliases }: Model): { aliases?: string[] } =>
  aliases.length === 0 ? {} : { aliases: [...aliases] };

/** `object`, `created` and `owned_by` are what OpenAI's clients read; the rest is the specification's. */
export const modelRecordSchema = z.object({
  id: z.string().describe("Model id, `<vendor>/<model>`."),
  object: field.objectOf("model"),
  created: z.int().describe("Unix seconds of the release; 0 when unknown."),
  owned_by: z.string().describe("Who made the model; OpenAI's clients read it."),
  vendor: z.string().describe("Who made the model."),
  name: z.string().describe("Display name."),
  aliases: aliasesField,
  task,
  modalities: z
    .object({ in: modalities.describe("What it reads."), out: modalities.describe("What it writes.") })
    .describe("What it reads and writes."),
  ...bounds,
  pricing_from: prices.describe("List prices of the cheapest endpoint, USD per million tokens."),
  endpoints: z.int().describe("How many endpoints serve it."),
  status,
  markup_bps: markup,
  capabilities: z
    .object({
      tools: z.boolean().describe("It can call tools."),
      ...abilities,
      zdr: z.boolean().describe("An endpoint keeps nothing of the call."),
      no_train: z.boolean().describe("An endpoint does not train on prompts."),
    })
    .describe("What it can do."),
  uptime_30d: uptime,
  ttft_p50_ms: ttftP50,
  requests_7d: z.int().describe("Calls of the last seven days."),
});

const endpointHealth = z
  .object({
    state: z
      .enum(["healthy", "degraded", "failing", "saturated", "unknown"])
      .describe(
        "saturated: no credential is usable there now; failing: most recent calls failed, it is tried last; degraded: more than one in ten failed; unknown: not tried lately",
      ),
    error_rate: z
      .number()
      .describe("0 to 1, over roughly the last minute, of all gateways of the installation"),
    ttft_ms: z.int().nullable().describe("mean time to first token of the last minutes"),
    tokens_per_second: z.number().nullable().describe("mean output speed after the first token"),
    out_for_ms: z.int().describe("until it may be tried again; 0: now"),
  })
  .describe(
    "As the gateway that answers sees it now, but for the error rate; the figures beside it are of days.",
  );

export const endpointRecordSchema = z.object({
  id: z.string().describe("Endpoint id."),
  provider: field.providerId,
  provider_name: z.string().describe("The provider's display name."),
  upstream_model: field.upstreamModel,
  region: field.region,
  status: z.string().describe(STATUS),
  quantization: z.string().describe("How the weights are stored; empty when unknown."),
  ...bounds,
  capabilities: z
    .object({
      tools: z
        .object({
          function: z.boolean().describe("It can call functions."),
          parallel: z.boolean().describe("It can call several tools in one answer."),
        })
        .describe("It can call tools."),
      ...abilities,
    })
    .describe("What it can do."),
  price: endpointPrices.describe("List prices, USD per million tokens."),
  markup_bps: markup,
  data_policy: z
    .object({
      trains: z.boolean().describe("The provider trains on prompts."),
      retention_days: z.int().describe("For so many days the provider keeps prompts."),
      zdr: z.boolean().describe("The provider keeps nothing."),
    })
    .describe("How data is treated."),
  health: endpointHealth,
  uptime_30d: uptime,
  latency: z
    .object({
      ttft_p50_ms: ttftP50,
      ttft_p95_ms: z.int().describe("95 of 100 streams had a first token in so many milliseconds."),
    })
    .describe("Measured over the last days."),
  attempts_30d: z.int().describe("Attempts of the last 30 days."),
});

export type ModelRecord = z.output<typeof modelRecordSchema>;
export type EndpointRecord = z.output<typeof endpointRecordSchema>;

/** Endpoints that calls can reach now. */
export const activeEndpoints = (model: Model): readonly Endpoint[] =>
  model.endpoints.filter((e) => e.status === "active");

/**
 * A model has a capability if any of its endpoints has it; a price is the lowest of them; uptime is weighted by attempts.
 */
export function modelRecord(model: Model, snapshot: CatalogSnapshot, stats: CatalogStats): ModelRecord {
  const active = activeEndpoints(model);
  // Without a reachable endpoint, the record still shows what the model would cost and can do.
  const shown = active.length > 0 ? active : [...model.endpoints, ...snapshot.unreachable(model.id)];
  const some = (has: (e: Endpoint) => boolean) => shown.some(has);
  const least = (price: (e: Endpoint) => number) => usdPerMillionFromNano(Math.min(...shown.map(price)));
  const measured = shown.flatMap((e) => stats.endpoint(e.id) ?? []);
  return {
    id: model.id,
    object: "model",
    created: model.released === "" ? 0 : Date.parse(model.released) / 1000,
    owned_by: model.vendor,
    vendor: model.vendor,
    name: model.name,
    ...aliasesOf(model),
    task: model.task,
    modalities: { in: [...model.modalitiesIn], out: [...model.modalitiesOut] },
    context_length: model.contextLength,
    max_output: model.maxOutput,
    pricing_from: {
      input: least((e) => e.listPrices.input),
      output: least((e) => e.listPrices.output),
      cache_read: least((e) => e.listPrices.cacheRead ?? e.listPrices.input),
      ...searchUnitOf(shown),
    },
    endpoints: active.length,
    status: model.status,
    markup_bps: model.markupBps,
    capabilities: {
      tools: some((e) => e.capabilities.tools),
      json_schema: some((e) => e.capabilities.jsonSchema),
      vision: some((e) => e.capabilities.vision),
      audio: some((e) => e.capabilities.audio),
      reasoning: some((e) => e.capabilities.reasoning),
      cache: some((e) => e.capabilities.cache),
      zdr: some((e) => e.dataPolicy.zdr),
      no_train: some((e) => !e.dataPolicy.trains),
    },
    uptime_30d: uptimeOf(measured),
    ttft_p50_ms: stats.ttftP50Ms(model.id),
    requests_7d: stats.requests7d(model.id),
  };
}

export function endpointRecord(
  endpoint: Endpoint,
  stats: CatalogStats,
  live: LiveHealth = NOT_TRIED,
): EndpointRecord {
  const measured = stats.endpoint(endpoint.id) ?? NOTHING_MEASURED;
  const { capabilities, listPrices, dataPolicy } = endpoint;
  return {
    id: endpoint.id,
    provider: endpoint.provider.id,
    provider_name: endpoint.provider.name,
    upstream_model: endpoint.upstreamModel,
    region: endpoint.region,
    status: endpoint.status,
    quantization: endpoint.quantization,
    context_length: endpoint.contextLength,
    max_output: endpoint.maxOutput,
    capabilities: {
      tools: { function: capabilities.tools, parallel: capabilities.parallelTools },
      json_schema: capabilities.jsonSchema,
      vision: capabilities.vision,
      audio: capabilities.audio,
      reasoning: capabilities.reasoning,
      cache: capabilities.cache,
    },
    price: {
      ...tokenPricesOf(listPrices),
      ...searchUnitOf([endpoint]),
      ...extraPricesOf(listPrices),
    },
    markup_bps: endpoint.markupBps,
    data_policy: {
      trains: dataPolicy.trains,
      retention_days: dataPolicy.retentionDays,
      zdr: dataPolicy.zdr,
    },
    health: {
      state: live.state,
      error_rate: rounded(live.errorRate, 4),
      ttft_ms: live.ttftMs === undefined ? null : Math.round(live.ttftMs),
      tokens_per_second: live.tokensPerSecond === undefined ? null : rounded(live.tokensPerSecond, 1),
      out_for_ms: Math.ceil(live.outForMs),
    },
    uptime_30d: measured.uptime30d,
    latency: { ttft_p50_ms: measured.ttftP50Ms, ttft_p95_ms: measured.ttftP95Ms },
    attempts_30d: measured.attempts30d,
  };
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** The lowest price of search units, where any endpoint bills them; USD per 1,000. */
function searchUnitOf(endpoints: readonly Endpoint[]): { search_unit?: number } {
  const nanos = endpoints.flatMap((e) => e.listPrices.searchUnit ?? []);
  return nanos.length === 0 ? {} : { search_unit: Number(`${Math.min(...nanos)}e-6`) };
}

/** List prices of tokens, USD per million. */
export const tokenPricesOf = ({ input, output, cacheRead }: TokenPrices): z.output<typeof tierPrices> => ({
  input: usdPerMillionFromNano(input),
  output: usdPerMillionFromNano(output),
  cache_read: usdPerMillionFromNano(cacheRead ?? input),
});

function extraPricesOf({ tiers, serverTools }: Endpoint["listPrices"]) {
  const shown = ([name, prices]: [string, TokenPrices]) => [name, tokenPricesOf(prices)];
  return {
    ...(tiers && { tiers: Object.fromEntries(Object.entries(tiers).map(shown)) }),
    ...(serverTools && {
      server_tools: Object.fromEntries(
        Object.entries(serverTools).map(([name, nano]) => [name, Number(`${nano}e-6`)]),
      ),
    }),
  };
}

/** Weighted by attempts. */
function uptimeOf(measured: readonly EndpointStats[]): number {
  let attempts = 0;
  let sum = 0;
  for (const { uptime30d, attempts30d } of measured) {
    attempts += attempts30d;
    sum += uptime30d * attempts30d;
  }
  return attempts === 0 ? NOTHING_MEASURED.uptime30d : sum / attempts;
}
