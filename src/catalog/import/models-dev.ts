/**
 * Reads models.dev's `api.json`: providers by id, each with `models` by id. Prices (`cost`) are USD per million tokens;
 * `context_over_200k` and `tiers` are those of longer prompts. Fields: https://github.com/sst/models.dev, README.
 */
import { z } from "zod";
import { decimal } from "./decimal.ts";
import {
  assertUsable,
  carried,
  type ImportProvider,
  type LeftOut,
  NotTaken,
  type Offer,
  type SourceOffers,
  takeOr,
  usablePrice,
} from "./offer.ts";

/** Their id → ours, where they differ. */
const OUR_PROVIDER: Readonly<Record<string, string>> = {
  togetherai: "together",
  "fireworks-ai": "fireworks",
  "google-vertex": "vertex",
  "amazon-bedrock": "bedrock",
  azure: "azure-openai",
};

const price = z.number().nonnegative().optional();
const tokens = z.number().nonnegative();
const entry = z.object({
  id: z.string(),
  name: z.string().min(1).optional(),
  release_date: z.string().optional(),
  status: z.string().optional(),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  structured_output: z.boolean().optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }).optional(),
  limit: z.object({ context: tokens, output: tokens.optional() }),
  cost: z
    .object({
      input: price,
      output: price,
      reasoning: price,
      cache_read: price,
      cache_write: price,
      input_audio: price,
      context_over_200k: z.unknown().optional(),
      tiers: z.array(z.object({ tier: z.object({ size: tokens }) })).optional(),
    })
    .prefault({}),
  provider: z.object({ shape: z.string().optional() }).optional(),
});
type Entry = z.output<typeof entry>;

const provider = z.object({ models: z.record(z.string(), z.unknown()) });
const document = z.record(z.string(), z.unknown());

/** Whether it looks like models.dev's; a single provider is enough. */
export const isModelsDev = (json: unknown): boolean => {
  const all = document.safeParse(json);
  return all.success && Object.values(all.data).some((value) => provider.safeParse(value).success);
};

/** @param providers those of providers.yaml, by id */
export function modelsDevOffers(json: unknown, providers: ReadonlyMap<string, ImportProvider>): SourceOffers {
  const offers: Offer[] = [];
  const leftOut: LeftOut[] = [];
  for (const [theirId, value] of Object.entries(document.parse(json))) {
    const ours = providers.get(
      Object.hasOwn(OUR_PROVIDER, theirId) ? (OUR_PROVIDER[theirId] ?? "") : theirId,
    );
    const read = provider.safeParse(value);
    if (ours === undefined || !read.success) {
      const why = read.success ? "providers.yaml does not name the provider" : "it lists no models";
      leftOut.push({ what: theirId, why });
      continue;
    }
    for (const [id, model] of Object.entries(read.data.models)) {
      const take = () => void offers.push(offerOf(entry.safeParse(model), ours));
      takeOr(leftOut, `${theirId}: ${id}`, take);
    }
  }
  return { offers, leftOut };
}

/** Prompts above this have other prices, where the source gives `context_over_200k`. */
const LONG_PROMPT = 200_000;

function offerOf(read: z.ZodSafeParseResult<Entry>, ours: ImportProvider): Offer {
  if (!read.success) throw new NotTaken("it lacks fields, or they have other types");
  const { id, cost, limit, modalities = { input: ["text"], output: ["text"] }, ...model } = read.data;
  if (model.status === "deprecated") throw new NotTaken("the source calls it deprecated");
  assertUsable(id, modalities.output);
  const task = /embed/i.test(id) ? "embed" : "generate";
  const tiers = (cost.tiers ?? []).map(({ tier }) => tier.size).filter((size) => size > 0);
  const bound = Math.min(...tiers, cost.context_over_200k == null ? Number.POSITIVE_INFINITY : LONG_PROMPT);
  const notes: string[] = [];
  if (bound < limit.context)
    notes.push(`Takes ${limit.context} tokens, at another price above ${bound}: bounded to one price.`);
  const hasDearAudio = (cost.input_audio ?? 0) > (cost.input ?? 0);
  const input = modalities.input.filter((modality) => modality !== "audio" || !hasDearAudio);
  const context = Math.min(limit.context, bound);
  return {
    provider: ours.id,
    upstream: id,
    name: (model.name ?? id).replace(/ \(latest\)$/, ""),
    task,
    notes,
    released: /^\d{4}-\d{2}-\d{2}$/.test(model.release_date ?? "") ? (model.release_date ?? "") : "",
    context,
    maxOutput: Math.min(limit.output || context, context),
    modalitiesIn: carried(input, ours),
    capabilities: {
      ...said("tools", model.tool_call),
      // Without tools there are no parallel ones; with them the source does not say.
      ...(model.tool_call === false ? { parallel_tools: false } : {}),
      ...said("json_schema", model.structured_output),
      ...said("reasoning", model.reasoning),
      ...(cost.cache_read ? { cache: true } : {}),
    },
    price: usablePrice(task, {
      input: decimal(cost.input),
      output: decimal(cost.output),
      reasoning: decimal(cost.reasoning),
      cache_read: decimal(cost.cache_read),
      cache_write: decimal(cost.cache_write),
    }),
    dialects:
      model.provider?.shape === "responses" && ours.dialects.includes("responses")
        ? ["responses"]
        : undefined,
  };
}

const said = <K extends string>(key: K, value: boolean | undefined): { [P in K]?: boolean } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: boolean };
