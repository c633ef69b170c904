/**
 * Schema of the catalog's YAML files: `config/providers.yaml` and `config/models/<vendor>.yaml`. Unknown keys are
 * errors; so is an endpoint without a price (never served at $0).
 */
import { z } from "zod";
import { SERVER_TOOL_NAMES, tierNameFault } from "./extra-names.ts";

const slug = z.string().regex(/^[a-z0-9-]+$/, "use lower-case letters, digits and dashes");
const envName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]*$/, "use the name of an environment variable, not its value");
const name = z.string().min(1).max(120);
const tokens = z.int().min(1).max(100_000_000);
const status = z.enum(["active", "inactive"]);
const markupBps = z.int().min(0).max(100_000);
const modality = z.enum(["text", "image", "audio", "video"]);
const dialect = z.enum([
  "chat",
  "responses",
  "messages",
  "gemini",
  "converse",
  "completions",
  "openai_embeddings",
  "gemini_embeddings",
  "cohere",
  "jina",
  "voyage",
]);
/** Preferred first. */
const dialects = z
  .array(dialect)
  .min(1, "name at least one dialect, such as dialects: [chat]")
  .refine((all) => new Set(all).size === all.length, "a dialect stands twice");
/** Public encodings; tokens of other models are counted by the provider or estimated. */
const tokenizer = z.enum(["o200k_base", "o200k_harmony", "cl100k_base", "p50k_base", "r50k_base"]);
const isoDate = z.iso.date("use a date such as 2026-07-02");

const dataPolicy = z.strictObject({
  trains: z.boolean(),
  retention_days: z.int().min(0),
  zdr: z.boolean(),
});

const member = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "use the name of a member of the body");

/** Applies to top-level members of a body. */
const bodyQuirks = z.strictObject({
  rename: z.record(member, member).default({}),
  /** The provider answers 400 to these: they are removed, with a warning. */
  unsupported: z.array(member).default([]),
  /** Removed without a warning, because their value is sent elsewhere. */
  omit: z.array(member).default([]),
  set: z.record(member, z.json()).default({}),
});

const quirks = z.strictObject({
  stream_usage: z.boolean().default(true),
  max_tokens_field: z.enum(["max_tokens", "max_completion_tokens", "either"]).default("either"),
  bills_after_disconnect: z.boolean().default(false),
  bodies: z.partialRecord(dialect, bodyQuirks).default({}),
});

const headerName = z.string().regex(/^[a-z0-9-]+$/, "use a header's name in lower case");

/** Headers that the gateway writes into each call itself: no line of the file may name them. */
const WRITTEN_HEADERS: readonly string[] = [
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "accept",
  "accept-encoding",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
];

/** Headers that carry a secret: allowed as the name that a credential is sent under, and with no value in the file. */
const SECRET_HEADERS: readonly string[] = [
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "cookie",
  "proxy-authorization",
];

const NO_PROXY_TEXT = "must be a proxy's URL, such as http://proxy.example:3128, or direct";

const headers = z
  .record(headerName, z.string().regex(/^[\x20-\x7e]{0,500}$/, "use printable ASCII characters"))
  .superRefine((all, context) => {
    for (const name of Object.keys(all).filter(
      (n) => WRITTEN_HEADERS.includes(n) || SECRET_HEADERS.includes(n),
    )) {
      context.addIssue({ code: "custom", path: [name], message: "is written by the gateway itself" });
    }
  });

const credentialHeader = headerName.refine((name) => !WRITTEN_HEADERS.includes(name), {
  error: "is written by the gateway itself",
});

const auth = z.union(
  [z.enum(["bearer", "aws_sigv4", "google_oauth"]), z.strictObject({ header: credentialHeader })],
  { error: "use bearer, aws_sigv4, google_oauth or { header: x-api-key }" },
);

const path = z
  .string()
  .regex(/^(none|\/[\x21-\x7e]*|https:\/\/[\x21-\x7e]+)$/, "use /path, a whole https URL, or none");

const paths = z.strictObject({
  call: path.optional(),
  stream: path.optional(),
  count: path.optional(),
  embed: path.optional(),
  rerank: path.optional(),
});

/** USD per 1,000 units, or per million tokens. */
const usdPerMillion = z.number().min(0).max(1_000_000);

/** USD per 1,000 uses of tools that the provider runs. */
const serverTools = z.partialRecord(z.enum(SERVER_TOOL_NAMES), usdPerMillion);

const provider = z.strictObject({
  id: slug,
  name,
  /**
   * `${NAME}` stands for an environment variable; `${SIMULATOR_URL}` for the built-in simulator's origin; `{region}` for
   * the endpoint's region.
   */
  base_url: z.string().min(1),
  /** Base URLs of regions that `base_url` does not serve. */
  region_urls: z.record(slug, z.string().min(1)).default({}),
  /** A proxy's URL, in which `${NAME}` stands for an environment variable; or `direct`, whatever the environment says. */
  proxy: z.string(NO_PROXY_TEXT).min(1, NO_PROXY_TEXT).max(2000).optional(),
  dialects,
  /** Overrides of the dialect's paths; see `src/inference/upstream/paths.ts`. */
  paths: z.partialRecord(dialect, paths).default({}),
  headers: headers.default({}),
  auth: auth.default("bearer"),
  /**
   * The first that is set wins; `NAME_2` … `NAME_16` beside it form a pool with it. Empty: the provider needs none. With
   * `google_oauth` the variable names a key file; with `aws_sigv4` it holds a bearer token, without which AWS's own
   * variables are read.
   */
  credential_env: z.array(envName).default([]),
  /** Calls without a credential work too, as for your own server. */
  credential_optional: z.boolean().default(false),
  simulated: z.boolean().default(false),
  data_policy: dataPolicy,
  regions: z.array(slug).min(1),
  terms_url: z
    .url({ protocol: /^https$/ })
    .or(z.literal(""))
    .default(""),
  /** Day on which you last checked data policy, regions and terms. */
  verified_at: z.iso.date().optional(),
  status: status.default("active"),
  quirks: quirks.prefault({}),
  /** Prices of tools that the provider runs, for its endpoints that list no price of their own. */
  server_tools: serverTools.default({}),
});

export const providersFile = z.strictObject({ providers: z.array(provider).min(1) });

const usdEach = z.number().min(0).max(1_000);

/** Tokens at a tier. All of them, because none follows from the standard price. */
const tierPrice = z.strictObject({
  input: usdPerMillion,
  output: usdPerMillion,
  cache_read: usdPerMillion.optional(),
  /** Price of cache entries kept for five minutes, where the provider distinguishes durations. */
  cache_write: usdPerMillion.optional(),
  /** Price of cache entries kept for an hour. */
  cache_write_1h: usdPerMillion.optional(),
  /** Only where reasoning tokens have a price of their own. */
  reasoning: usdPerMillion.optional(),
});

const tiers = z.record(z.string(), tierPrice).superRefine((all, context) => {
  for (const name of Object.keys(all)) {
    const fault = tierNameFault(name);
    if (fault !== undefined) context.addIssue({ code: "custom", path: [name], message: fault });
  }
});

/** Which of `input`, `output` and `search_unit` there must be depends on the model's task: checked in `build.ts`. */
const price = z.strictObject(
  {
    ...tierPrice.shape,
    input: usdPerMillion.optional(),
    output: usdPerMillion.optional(),
    /** USD per 1,000 units, as rerankers list it. */
    search_unit: usdPerMillion.optional(),
    /** USD per image, in addition to tokens. */
    image: usdEach.optional(),
    /** USD per call, in addition to tokens. */
    request: usdEach.optional(),
    /** By name; of several together `fast+us`. A tier without a price is not sent on the platform's credential. */
    tiers: tiers.optional(),
    /** Instead of the provider's. A tool without a price is not sent on the platform's credential. */
    server_tools: serverTools.optional(),
    /** Confirms that a price of zero is intended. */
    free: z.boolean().default(false),
  },
  {
    error: (issue) =>
      issue.input === undefined
        ? "an endpoint needs a price in USD per million tokens, such as price: { input: 0.15, output: 0.60 }"
        : undefined,
  },
);

const MOST_SCHEDULED = 100;

/** Prices that replace `price` at an instant, the earliest first. */
const scheduled = z
  .array(
    z.strictObject({
      from: z.iso.datetime({ offset: true, error: "use an instant such as 2026-12-01T00:00:00Z" }),
      price,
    }),
  )
  .max(MOST_SCHEDULED)
  .superRefine((all, context) => {
    all.forEach(({ from }, at) => {
      const before = all[at - 1];
      if (before === undefined || Date.parse(before.from) < Date.parse(from)) return;
      context.addIssue({ code: "custom", path: [at, "from"], message: "must be later than the one before" });
    });
  });

/** Vision and audio follow from the modalities. */
const capabilities = z.array(z.enum(["tools", "parallel_tools", "json_schema", "reasoning", "cache"]));

const endpoint = z.strictObject({
  provider: slug,
  upstream_model: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, "use 1 to 200 printable characters without spaces"),
  /** May be left out where the provider has one region. */
  region: slug.optional(),
  /** Overrides the provider's. */
  dialects: dialects.optional(),
  price,
  scheduled: scheduled.default([]),
  status: status.default("active"),
  quantization: z.string().max(20).default(""),
  /** The following override the model's values for this endpoint. */
  context: tokens.optional(),
  max_output: tokens.optional(),
  image_tokens: tokens.optional(),
  capabilities: capabilities.optional(),
  modalities_in: z.array(modality).min(1).optional(),
  markup_bps: markupBps.optional(),
  data_policy: dataPolicy.optional(),
});

const MOST_ALIASES = 20;

/** As clients write names of models: tags and dates of other catalogues have a colon or an at sign. */
const alias = z
  .string()
  .max(120)
  .regex(/^([A-Za-z0-9._-]+\/)?[A-Za-z0-9._:@-]+$/, "use <model> or <vendor>/<model>");

const model = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+\/[A-Za-z0-9._-]+$/, "use <vendor>/<model>"),
  name,
  /** Other names of the model, each with this file's vendor and without, or exactly as it is where it names one. */
  aliases: z
    .array(alias, "must be a list, such as [rocket, rocket-2.0]")
    .max(MOST_ALIASES, `has more than ${MOST_ALIASES} names`)
    .default([]),
  task: z.enum(["generate", "embed", "rerank"]).default("generate"),
  /** Overrides the file's. */
  tokenizer: tokenizer.optional(),
  /** ISO date; empty when unknown. */
  released: isoDate.or(z.literal("")).default(""),
  status: z.enum(["active", "deprecated"]).default("active"),
  modalities: z.strictObject({ in: z.array(modality).min(1), out: z.array(modality) }),
  context: tokens,
  /** Needed where the task is to generate. */
  max_output: tokens.optional(),
  /** The most tokens that one image of a prompt can cost. */
  image_tokens: tokens.default(3_200),
  /** Needed where the task is to generate. */
  capabilities: capabilities.optional(),
  markup_bps: markupBps.default(0),
  endpoints: z.array(endpoint).min(1),
});

export const modelsFile = z.strictObject({
  vendor: slug,
  /** Default for the models of this file. */
  tokenizer: tokenizer.optional(),
  models: z.array(model).min(1),
});

export type ProviderEntry = z.output<typeof provider>;
export type PriceEntry = z.output<typeof price>;
export type TierPriceEntry = z.output<typeof tierPrice>;
export type EndpointEntry = z.output<typeof endpoint>;
export type ModelEntry = z.output<typeof model>;
export type ProvidersFile = z.output<typeof providersFile>;
export type ModelsFile = z.output<typeof modelsFile>;
