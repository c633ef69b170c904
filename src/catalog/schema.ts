/**
 * The YAML form of the catalog: `config/providers.yaml` and `config/models/<vendor>.yaml`.
 * Every key is known or refused; an endpoint without a price is refused here (never served at $0).
 */
import { z } from "zod";

const slug = z.string().regex(/^[a-z0-9-]+$/, "use lower-case letters, digits and dashes");
const envName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]*$/, "use the name of an environment variable, not its value");
const name = z.string().min(1).max(120);
const tokens = z.int().min(1).max(100_000_000);
const status = z.enum(["active", "inactive"]);
const markupBps = z.int().min(0).max(100_000);
const modality = z.enum(["text", "image", "audio", "video"]);
const isoDate = z.iso.date("use a date such as 2026-07-02");

const dataPolicy = z.strictObject({
  trains: z.boolean(),
  retention_days: z.int().min(0),
  zdr: z.boolean(),
});

const quirks = z.strictObject({
  stream_usage: z.boolean().default(true),
  max_tokens_field: z.enum(["max_tokens", "max_completion_tokens", "either"]).default("either"),
  bills_after_disconnect: z.boolean().default(false),
});

const provider = z.strictObject({
  id: slug,
  name,
  /** `${NAME}` stands for an environment variable; `${SIMULATOR_URL}` for the built-in simulator's origin. */
  base_url: z.string().min(1),
  dialect: z.enum(["chat"]),
  /** The first that is set wins. Empty: the provider needs none. */
  credential_env: z.array(envName).default([]),
  simulated: z.boolean().default(false),
  data_policy: dataPolicy,
  regions: z.array(slug).min(1),
  terms_url: z
    .url({ protocol: /^https$/ })
    .or(z.literal(""))
    .default(""),
  status: status.default("active"),
  quirks: quirks.prefault({}),
});

export const providersFile = z.strictObject({ providers: z.array(provider).min(1) });

const usdPerMillion = z.number().min(0).max(1_000_000);

const price = z
  .strictObject(
    {
      input: usdPerMillion,
      output: usdPerMillion,
      cache_read: usdPerMillion.optional(),
      cache_write: usdPerMillion.optional(),
      /** Only where reasoning is priced apart from output. */
      reasoning: usdPerMillion.optional(),
      /** Says that a zero in `input` or `output` is meant. */
      free: z.boolean().default(false),
    },
    {
      error: (issue) =>
        issue.input === undefined
          ? "an endpoint needs a price in USD per million tokens, such as price: { input: 0.15, output: 0.60 }"
          : undefined,
    },
  )
  .superRefine((p, context) => {
    for (const key of ["input", "output"] as const) {
      if (p[key] > 0 || p.free) continue;
      context.addIssue({
        code: "custom",
        path: [key],
        message: `a price of 0 gives ${key} tokens away; add free: true if that is meant`,
      });
    }
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
  price,
  status: status.default("active"),
  quantization: z.string().max(20).default(""),
  /** What follows replaces the model's value for this endpoint. */
  context: tokens.optional(),
  max_output: tokens.optional(),
  capabilities: capabilities.optional(),
  modalities_in: z.array(modality).min(1).optional(),
  markup_bps: markupBps.optional(),
  data_policy: dataPolicy.optional(),
});

const model = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+\/[A-Za-z0-9._-]+$/, "use <vendor>/<model>"),
  name,
  /** ISO date; empty when unknown. */
  released: isoDate.or(z.literal("")).default(""),
  status: z.enum(["active", "deprecated"]).default("active"),
  modalities: z.strictObject({ in: z.array(modality).min(1), out: z.array(modality).min(1) }),
  context: tokens,
  max_output: tokens,
  capabilities,
  markup_bps: markupBps.default(0),
  endpoints: z.array(endpoint).min(1),
});

export const modelsFile = z.strictObject({ vendor: slug, models: z.array(model).min(1) });

export type ProviderEntry = z.output<typeof provider>;
export type EndpointEntry = z.output<typeof endpoint>;
export type ModelEntry = z.output<typeof model>;
export type ProvidersFile = z.output<typeof providersFile>;
export type ModelsFile = z.output<typeof modelsFile>;
