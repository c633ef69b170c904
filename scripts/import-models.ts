/**
 * Writes `config/models/<vendor>.yaml` from a dated snapshot of the public models.dev catalogue: node
 * scripts/import-models.ts <snapshot.json> [<config/models>]. A snapshot is `{source, providers: {<id>: {models:
 * [...]}}}`. Files of other vendors stay untouched. Facts that the data lacks (which open-weight model is which, who
 * else serves a model, how many tokens an image can cost) are in `import-tables.ts`. Retrieval models that the source
 * lacks are in hand-written files.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ALSO_SERVED,
  CLAUDE_SCHEMAS,
  DEFAULT_IMAGE_TOKENS,
  DISPLAY_NAMES,
  EMBEDDINGS,
  IMAGE_TOKENS,
  NO_PARALLEL_TOOLS,
  NOT_PRICED_WHOLE,
  NOT_TEXT,
  OPEN_WEIGHT,
  OPEN_WEIGHT_MARKUP_BPS,
  PROVIDERS,
  RESPONSES_ONLY,
  SCHEMAS_EVERYWHERE,
  SUPERSEDED,
  TOKENIZERS,
  VENDOR_TOKENIZERS,
} from "./import-tables.ts";

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

const MODEL_OF = new Map(
  Object.entries(OPEN_WEIGHT).flatMap(([ours, theirs]) =>
    theirs.map((upstream) => [upstream, ours] as const),
  ),
);

interface Endpoint {
  provider: string;
  /** If the provider has several. */
  region?: string;
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
  // Documents are not a modality of the catalog. Video is supported in Google's format only.
  const carried = ["text", "image", "audio", ...(provider === "google" ? ["video"] : [])];
  let modalitiesIn = (filled("modalities") as SourceModel["modalities"])?.input ?? ["text"];
  modalitiesIn = carried.filter((m) => modalitiesIn.includes(m));
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
    price: priceOf(provider, source.id, list),
  };
}

function capabilitiesOf(provider: string, source: SourceModel, tools: boolean, reasoning: boolean): string[] {
  const list = source.usd_per_million ?? {};
  const parallel = !NO_PARALLEL_TOOLS.has(provider) && !/^o\d|gpt-oss/.test(source.id.replace(/^.*\//, ""));
  // The source says nothing about some hosts of gpt-oss; all of them accept schemas.
  const schemas =
    source.structured_output ??
    (SCHEMAS_EVERYWHERE.has(provider) || CLAUDE_SCHEMAS.test(source.id) || source.id.includes("gpt-oss"));
  const cache = Boolean(list.cache_read ?? list.cached_input);
  const can: [string, boolean][] = [
    ["tools", tools],
    ["parallel_tools", tools && parallel],
    ["json_schema", schemas],
    ["reasoning", reasoning],
    ["cache", cache],
  ];
  return can.filter(([, yes]) => yes).map(([name]) => name);
}

/** In the source, zero for cached tokens means "no such price"; here it would make them free. */
function priceOf(provider: string, id: string, list: Price): Record<string, number> {
  if (EMBEDDINGS.test(id)) return { input: list.input ?? 0 };
  const cacheRead = list.cache_read || list.cached_input;
  return {
    input: list.input ?? 0,
    output: list.output ?? 0,
    ...(cacheRead ? { cache_read: cacheRead } : {}),
    ...(list.cache_write ? { cache_write: list.cache_write } : {}),
    // Anthropic: 1.25 times the input price for five minutes, twice for an hour.
    ...(list.cache_write && provider === "anthropic" ? { cache_write_1h: 2 * (list.input ?? 0) } : {}),
  };
}

const isWanted = (m: SourceModel): boolean =>
  m.status !== "deprecated" &&
  (m.usd_per_million?.input ?? 0) > 0 &&
  (m.context !== undefined || MODEL_OF.has(m.id)) &&
  !SUPERSEDED.has(m.id) &&
  !NOT_PRICED_WHOLE.test(m.id) &&
  !NOT_TEXT.test(m.id) &&
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
    const endpoint = endpointOf(provider, source, siblings);
    models.set(model, [...(models.get(model) ?? []), endpoint, ...alsoServed(endpoint)]);
  }
  return models;
}

const alsoServed = (endpoint: Endpoint): Endpoint[] =>
  Object.entries(ALSO_SERVED[endpoint.upstream] ?? {}).map(([provider, upstream]) => ({
    ...endpoint,
    provider,
    region: "global",
    upstream,
    notes: [...endpoint.notes, "Name and price by general knowledge."],
  }));

const firstFit = <T>(table: readonly (readonly [RegExp, T])[], text: string): T | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

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
  const imageTokens = firstFit(IMAGE_TOKENS, first.upstream) ?? DEFAULT_IMAGE_TOKENS;
  const tokenizer = firstFit(TOKENIZERS, id);
  const isEmbedding = EMBEDDINGS.test(first.upstream);
  const isSeeing = modalitiesIn.includes("image");
  const lines = [
    `  - id: ${id}`,
    `    name: ${JSON.stringify(DISPLAY_NAMES[id] ?? (named.source.name ?? id).replace(/ \(latest\)$/, ""))}`,
    ...(isEmbedding ? ["    task: embed"] : []),
    ...(tokenizer === undefined ? [] : [`    tokenizer: ${tokenizer}`]),
    ...(released === "" ? [] : [`    released: ${released}`]),
    `    modalities: { in: [${modalitiesIn.join(", ")}], out: [${isEmbedding ? "" : "text"}] }`,
    `    context: ${context}`,
    ...(isEmbedding ? [] : [`    max_output: ${maxOutput}`]),
    ...(isSeeing && imageTokens !== DEFAULT_IMAGE_TOKENS ? [`    image_tokens: ${imageTokens}`] : []),
    ...(isEmbedding ? [] : [`    capabilities: [${capabilities.join(", ")}]`]),
    ...(MODEL_OF.has(first.upstream) ? [`    markup_bps: ${OPEN_WEIGHT_MARKUP_BPS}`] : []),
    "    endpoints:",
  ];
  for (const e of endpoints)
    lines.push(...endpointLines(e, { context, maxOutput, capabilities, modalitiesIn }));
  return lines.join("\n");
}

/** Writes only what differs from the model. */
function endpointLines(
  e: Endpoint,
  model: Pick<Endpoint, "context" | "maxOutput" | "capabilities" | "modalitiesIn">,
): string[] {
  const isEmbedding = EMBEDDINGS.test(e.upstream);
  const lines = [`      - provider: ${e.provider}`, `        upstream_model: ${e.upstream}`];
  for (const note of e.notes) lines.push(`        # ${note}`);
  if (e.region !== undefined) lines.push(`        region: ${e.region}`);
  if (RESPONSES_ONLY.test(e.upstream)) lines.push("        dialects: [responses]");
  if (/fp8|tput/i.test(e.upstream)) lines.push("        quantization: fp8");
  if (e.context !== model.context) lines.push(`        context: ${e.context}`);
  if (e.maxOutput !== model.maxOutput && !isEmbedding) lines.push(`        max_output: ${e.maxOutput}`);
  if (e.capabilities.join() !== model.capabilities.join()) {
    lines.push(`        capabilities: [${e.capabilities.join(", ")}]`);
  }
  if (e.modalitiesIn.join() !== model.modalitiesIn.join()) {
    lines.push(`        modalities_in: [${e.modalitiesIn.join(", ")}]`);
  }
  lines.push(`        price: ${pricesText(e)}`);
  return lines;
}

/** With the prices of tiers and tools, which the source does not have. */
function pricesText({ provider, upstream, price }: Endpoint): string {
  const standard = flow(price);
  const us = provider === "anthropic" && US_ONLY.test(upstream) ? multiplied(price, 1.1) : undefined;
  const priority = provider === "openai" ? PRIORITY[upstream] : undefined;
  const search = provider === "openai" ? MINI_SEARCHES[upstream] : undefined;
  const extras = [
    ...(priority === undefined ? [] : [`tiers: { priority: ${flow(priority)} }`]),
    ...(us === undefined ? [] : [`tiers: { us: ${flow(us)} }`]),
    ...(search === undefined ? [] : [`server_tools: { web_search: ${search} }`]),
  ];
  return extras.length === 0 ? standard : standard.replace(/ }$/, `, ${extras.join(", ")} }`);
}

const multiplied = (price: Record<string, number>, by: number): Record<string, number> =>
  Object.fromEntries(Object.entries(price).map(([key, usd]) => [key, Number((usd * by).toPrecision(12))]));

/** Inference in the US only costs 1.1 times as much: https://platform.claude.com/docs/en/manage-claude/data-residency */
const US_ONLY = /^claude-(?:opus-4-[678]|sonnet-4-6|sonnet-5|fable-5)$/;

/** https://openai.com/api-priority-processing/, as of November 2026; for prompts without the price of long contexts. */
const PRIORITY: Readonly<Record<string, Record<string, number>>> = {
  "gpt-5.5": { input: 12.5, output: 75, cache_read: 1.25 },
  "gpt-5.4": { input: 5, output: 30, cache_read: 0.5 },
  "gpt-5.4-mini": { input: 1.5, output: 9, cache_read: 0.15 },
  "gpt-5.2": { input: 3.5, output: 28, cache_read: 0.35 },
  "gpt-5.1": { input: 2.5, output: 20, cache_read: 0.25 },
  "gpt-5.1-codex": { input: 2.5, output: 20, cache_read: 0.25 },
  "gpt-5-codex": { input: 2.5, output: 20, cache_read: 0.25 },
  "gpt-5-mini": { input: 0.45, output: 3.6, cache_read: 0.045 },
  "gpt-4.1": { input: 3.5, output: 14, cache_read: 0.875 },
};

/**
 * USD per 1,000 searches where each is also billed as 8,000 tokens of prompt, whatever it finds:
 * https://developers.openai.com/api/docs/pricing. Held against the provider's usage, which may count these tokens too.
 */
const MINI_SEARCHES: Readonly<Record<string, number>> = { "gpt-4o-mini": 11.2, "gpt-4.1-mini": 13.2 };

const tokenizerLine = (vendor: string): string => {
  const tokenizer = VENDOR_TOKENIZERS[vendor];
  return tokenizer === undefined ? "" : `tokenizer: ${tokenizer}\n`;
};

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
      `${head.join("\n")}\n\nvendor: ${vendor}\n${tokenizerLine(vendor)}\nmodels:\n${bodies.join("\n\n")}\n`,
    );
  }
  const endpoints = [...vendors.values()].flat().reduce((n, [, e]) => n + e.length, 0);
  console.log(
    `${[...vendors.values()].flat().length} models, ${endpoints} endpoints, ${vendors.size} vendors`,
  );
}

main(process.argv.slice(2));
