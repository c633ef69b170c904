/**
 * Writes `config/models/<vendor>.yaml` from a dated snapshot of the public models.dev catalogue:
 *   node scripts/import-models.ts <snapshot.json> [<config/models>]
 * A snapshot is `{source, providers: {<id>: {models: [...]}}}`. Files of vendors it does not produce stay untouched.
 * What is not in the data (which open-weight model is which, what the chat dialect cannot carry) stands in the tables.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Price {
  input?: number;
  output?: number;
  cache_read?: number;
  cache_write?: number;
  cached_input?: number;
  input_audio?: number;
  tiers?: { tier: { size: number } }[];
}

interface SourceModel {
  id: string;
  name?: string;
  release_date?: string;
  status?: string;
  reasoning?: boolean;
  tool_call?: boolean;
  structured_output?: boolean;
  modalities?: { input: string[]; output: string[] };
  context?: number;
  max_output?: number;
  usd_per_million?: Price;
}

interface Snapshot {
  source: string;
  providers: Record<string, { models: SourceModel[] }>;
}

/** Source provider → our provider id and, for makers that serve their own models, the vendor id. */
const PROVIDERS: Record<string, { id: string; vendor?: string }> = {
  openai: { id: "openai", vendor: "openai" },
  anthropic: { id: "anthropic", vendor: "anthropic" },
  google: { id: "google", vendor: "google" },
  mistral: { id: "mistral", vendor: "mistralai" },
  deepseek: { id: "deepseek", vendor: "deepseek" },
  xai: { id: "xai", vendor: "x-ai" },
  cohere: { id: "cohere", vendor: "cohere" },
  groq: { id: "groq" },
  "fireworks-ai": { id: "fireworks" },
  togetherai: { id: "together" },
};

/** Open-weight models: one model, whoever serves it. What a host serves and this does not name is left out. */
const OPEN_WEIGHT: Record<string, string[]> = {
  "openai/gpt-oss-120b": ["openai/gpt-oss-120b", "accounts/fireworks/models/gpt-oss-120b"],
  "openai/gpt-oss-20b": ["openai/gpt-oss-20b", "accounts/fireworks/models/gpt-oss-20b"],
  "openai/gpt-oss-safeguard-20b": ["openai/gpt-oss-safeguard-20b"],
  "meta-llama/llama-3.3-70b-instruct": ["llama-3.3-70b-versatile", "meta-llama/Llama-3.3-70B-Instruct-Turbo"],
  "meta-llama/llama-3.1-8b-instruct": ["llama-3.1-8b-instant"],
  "meta-llama/llama-3-8b-instruct": ["meta-llama/Meta-Llama-3-8B-Instruct-Lite"],
  "meta-llama/llama-4-scout": ["meta-llama/llama-4-scout-17b-16e-instruct"],
  "deepseek/deepseek-v4-pro": ["deepseek-v4-pro", "deepseek-ai/DeepSeek-V4-Pro"],
  "google/gemma-4-31b-it": ["google/gemma-4-31B-it"],
  "google/gemma-3n-e4b-it": ["google/gemma-3n-E4B-it"],
  "qwen/qwen3-32b": ["qwen/qwen3-32b"],
  "qwen/qwen-2.5-7b-instruct": ["Qwen/Qwen2.5-7B-Instruct-Turbo"],
  "qwen/qwen3-235b-a22b-2507": ["Qwen/Qwen3-235B-A22B-Instruct-2507-tput"],
  "qwen/qwen3.5-397b-a17b": ["Qwen/Qwen3.5-397B-A17B"],
  "qwen/qwen3.5-9b": ["Qwen/Qwen3.5-9B"],
  "qwen/qwen3.6-plus": ["Qwen/Qwen3.6-Plus"],
  "qwen/qwen3.7-max": ["Qwen/Qwen3.7-Max"],
  "qwen/qwen3.7-plus": ["accounts/fireworks/models/qwen3p7-plus"],
  "z-ai/glm-5": ["zai-org/GLM-5"],
  "z-ai/glm-5.1": [
    "zai-org/GLM-5.1",
    "accounts/fireworks/models/glm-5p1",
    "accounts/fireworks/routers/glm-5p1-fast",
  ],
  "z-ai/glm-5.2": [
    "zai-org/GLM-5.2",
    "accounts/fireworks/models/glm-5p2",
    "accounts/fireworks/routers/glm-5p2-fast",
  ],
  "moonshotai/kimi-k2.6": [
    "moonshotai/Kimi-K2.6",
    "accounts/fireworks/models/kimi-k2p6",
    "accounts/fireworks/routers/kimi-k2p6-fast",
  ],
  "moonshotai/kimi-k2.7-code": [
    "moonshotai/Kimi-K2.7-Code",
    "accounts/fireworks/models/kimi-k2p7-code",
    "accounts/fireworks/routers/kimi-k2p7-code-fast",
  ],
  "minimax/minimax-m2.7": ["MiniMaxAI/MiniMax-M2.7", "accounts/fireworks/models/minimax-m2p7"],
  "minimax/minimax-m3": ["MiniMaxAI/MiniMax-M3", "accounts/fireworks/models/minimax-m3"],
  "nvidia/nemotron-3-ultra-550b-a55b": ["nvidia/nemotron-3-ultra-550b-a55b"],
  "liquid/lfm2-24b-a2b": ["LiquidAI/LFM2-24B-A2B"],
  "deepcogito/cogito-v2.1-671b": ["deepcogito/cogito-v2-1-671b"],
  "essentialai/rnj-1-instruct": ["essentialai/Rnj-1-Instruct"],
};

const MODEL_OF = new Map(
  Object.entries(OPEN_WEIGHT).flatMap(([ours, theirs]) =>
    theirs.map((upstream) => [upstream, ours] as const),
  ),
);

const DISPLAY_NAMES: Record<string, string> = { "openai/gpt-oss-120b": "GPT OSS 120B" };

/** Not for chat completions: the provider serves them on its Responses API only. */
const RESPONSES_ONLY = /^gpt-.*(codex|-pro)|^o\d-pro$|deep-research|multi-agent/;
const NOT_TEXT_GENERATION = /embed|tts|image|prompt-guard/;
/** Second names of a model that stands beside them, and snapshots that a newer one replaced. */
const SUPERSEDED = new Set([
  "claude-haiku-4-5-20251001",
  "claude-opus-4-1-20250805",
  "claude-opus-4-20250514",
  "claude-opus-4-5-20251101",
  "claude-sonnet-4-20250514",
  "claude-sonnet-4-5-20250929",
  "gemini-flash-latest",
  "gemini-flash-lite-latest",
  "gpt-4o-2024-05-13",
  "gpt-4o-2024-08-06",
  "gpt-4o-2024-11-20",
  "mistral-large-2411",
  "mistral-large-latest",
  "mistral-small-latest",
]);
/** Takes JSON schemas on every model, though the source is silent on most. */
const SCHEMAS_EVERYWHERE = new Set(["mistral", "fireworks", "cohere"]);
/** Does not take `parallel_tool_calls`. */
const NO_PARALLEL_TOOLS = new Set(["cohere", "deepseek"]);
const OPEN_WEIGHT_MARKUP_BPS = 500;

interface Endpoint {
  provider: string;
  upstream: string;
  source: SourceModel;
  notes: string[];
  context: number;
  maxOutput: number;
  capabilities: string[];
  modalitiesIn: string[];
  price: Record<string, number>;
}

function endpointOf(provider: string, source: SourceModel, siblings: SourceModel[]): Endpoint {
  const filled = <K extends keyof SourceModel>(key: K) =>
    source[key] ?? siblings.find((s) => s[key] !== undefined)?.[key];
  const list = source.usd_per_million ?? {};
  const notes: string[] = [];
  const whole = Number(filled("context"));
  const tier = Math.min(...(list.tiers ?? []).map((t) => t.tier.size));
  const context = Math.min(whole, tier);
  if (source.context === undefined) notes.push("Context not in the source; that of its other hosts.");
  if (context < whole)
    notes.push(`Takes ${whole} tokens, at a higher price above ${tier}: bounded to one price.`);
  // The chat dialect carries no video and no documents.
  let modalitiesIn = (filled("modalities") as SourceModel["modalities"])?.input ?? ["text"];
  modalitiesIn = modalitiesIn.filter((m) => ["text", "image", "audio"].includes(m));
  if ((list.input_audio ?? 0) > (list.input ?? 0) && modalitiesIn.includes("audio")) {
    modalitiesIn = modalitiesIn.filter((m) => m !== "audio");
    notes.push(`Audio costs ${list.input_audio} in; left out, since all input is charged at one price.`);
  }
  return {
    provider,
    upstream: source.id,
    source,
    notes,
    context,
    maxOutput: Math.min(Number(filled("max_output")), context),
    capabilities: capabilitiesOf(
      provider,
      source,
      filled("tool_call") === true,
      filled("reasoning") === true,
    ),
    modalitiesIn,
    price: priceOf(list),
  };
}

function capabilitiesOf(provider: string, source: SourceModel, tools: boolean, reasoning: boolean): string[] {
  const list = source.usd_per_million ?? {};
  const parallel = !NO_PARALLEL_TOOLS.has(provider) && !/^o\d|gpt-oss/.test(source.id.replace(/^.*\//, ""));
  // The source is silent on some hosts of gpt-oss; all of them take schemas.
  const schemas =
    source.structured_output ?? (SCHEMAS_EVERYWHERE.has(provider) || source.id.includes("gpt-oss"));
  const cache = Boolean(list.cache_read ?? list.cached_input);
  const can: [string, boolean][] = [
    ["tools", tools],
    ["parallel_tools", tools && parallel],
    // Anthropic's compatible endpoint ignores response_format and does not cache.
    ["json_schema", schemas && provider !== "anthropic"],
    ["reasoning", reasoning],
    ["cache", cache && provider !== "anthropic"],
  ];
  return can.filter(([, yes]) => yes).map(([name]) => name);
}

/** A zero for cached tokens means "no such price" in the source; it would give them away here. */
function priceOf(list: Price): Record<string, number> {
  const cacheRead = list.cache_read || list.cached_input;
  return {
    input: list.input ?? 0,
    output: list.output ?? 0,
    ...(cacheRead ? { cache_read: cacheRead } : {}),
    ...(list.cache_write ? { cache_write: list.cache_write } : {}),
  };
}

const isWanted = (m: SourceModel): boolean =>
  m.status !== "deprecated" &&
  (m.usd_per_million?.input ?? 0) > 0 &&
  (m.context !== undefined || MODEL_OF.has(m.id)) &&
  !SUPERSEDED.has(m.id) &&
  !RESPONSES_ONLY.test(m.id) &&
  !NOT_TEXT_GENERATION.test(m.id) &&
  (m.modalities?.output ?? ["text"]).join() === "text";

function collect(snapshot: Snapshot): Map<string, Endpoint[]> {
  const found: { model: string; provider: string; source: SourceModel }[] = [];
  for (const [sourceId, { models }] of Object.entries(snapshot.providers)) {
    const provider = PROVIDERS[sourceId];
    if (provider === undefined) continue;
    for (const source of models.filter(isWanted)) {
      const model = MODEL_OF.get(source.id) ?? (provider.vendor && `${provider.vendor}/${source.id}`);
      if (model) found.push({ model, provider: provider.id, source });
    }
  }
  const models = new Map<string, Endpoint[]>();
  for (const { model, provider, source } of found) {
    const siblings = found.filter((f) => f.model === model).map((f) => f.source);
    models.set(model, [...(models.get(model) ?? []), endpointOf(provider, source, siblings)]);
  }
  return models;
}

const flow = (fields: Record<string, unknown>): string =>
  `{ ${Object.entries(fields)
    .map(([k, v]) => `${k}: ${v}`)
    .join(", ")} }`;

function modelText(id: string, endpoints: Endpoint[]): string {
  const first = endpoints[0] as Endpoint;
  const named = endpoints.find((e) => e.source.name !== undefined) ?? first;
  const fullest = (list: (e: Endpoint) => string[]) =>
    endpoints.map(list).reduce((a, b) => (b.length > a.length ? b : a));
  const capabilities = fullest((e) => e.capabilities);
  const modalitiesIn = fullest((e) => e.modalitiesIn);
  const released =
    endpoints
      .map((e) => e.source.release_date ?? "")
      .sort()
      .find((d) => d !== "") ?? "";
  const context = Math.max(...endpoints.map((e) => e.context));
  const maxOutput = Math.max(...endpoints.map((e) => e.maxOutput));
  const lines = [
    `  - id: ${id}`,
    `    name: ${JSON.stringify(DISPLAY_NAMES[id] ?? (named.source.name ?? id).replace(/ \(latest\)$/, ""))}`,
    ...(released === "" ? [] : [`    released: ${released}`]),
    `    modalities: { in: [${modalitiesIn.join(", ")}], out: [text] }`,
    `    context: ${context}`,
    `    max_output: ${maxOutput}`,
    `    capabilities: [${capabilities.join(", ")}]`,
    ...(MODEL_OF.has(first.upstream) ? [`    markup_bps: ${OPEN_WEIGHT_MARKUP_BPS}`] : []),
    "    endpoints:",
  ];
  for (const e of endpoints) {
    lines.push(`      - provider: ${e.provider}`, `        upstream_model: ${e.upstream}`);
    for (const note of e.notes) lines.push(`        # ${note}`);
    if (/fp8|tput/i.test(e.upstream)) lines.push("        quantization: fp8");
    if (e.context !== context) lines.push(`        context: ${e.context}`);
    if (e.maxOutput !== maxOutput) lines.push(`        max_output: ${e.maxOutput}`);
    if (e.capabilities.join() !== capabilities.join()) {
      lines.push(`        capabilities: [${e.capabilities.join(", ")}]`);
    }
    if (e.modalitiesIn.join() !== modalitiesIn.join()) {
      lines.push(`        modalities_in: [${e.modalitiesIn.join(", ")}]`);
    }
    lines.push(`        price: ${flow(e.price)}`);
  }
  return lines.join("\n");
}

function main([snapshotFile, outDir = "config/models"]: string[]): void {
  if (snapshotFile === undefined)
    throw new Error("usage: import-models.ts <snapshot.json> [<config/models>]");
  const snapshot = JSON.parse(readFileSync(snapshotFile, "utf8")) as Snapshot;
  const vendors = Map.groupBy(collect(snapshot), ([id]) => id.slice(0, id.indexOf("/")));
  for (const [vendor, models] of vendors) {
    const head = [
      `# Source: ${snapshot.source}.`,
      "# Written by scripts/import-models.ts. Prices: USD per million tokens, as the provider lists them.",
    ];
    const bodies = models
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, endpoints]) => modelText(id, endpoints));
    writeFileSync(
      join(outDir, `${vendor}.yaml`),
      `${head.join("\n")}\n\nvendor: ${vendor}\n\nmodels:\n${bodies.join("\n\n")}\n`,
    );
  }
  const endpoints = [...vendors.values()].flat().reduce((n, [, e]) => n + e.length, 0);
  console.log(
    `${[...vendors.values()].flat().length} models, ${endpoints} endpoints, ${vendors.size} vendors`,
  );
}

main(process.argv.slice(2));
