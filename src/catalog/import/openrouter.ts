/**
 * Reads the answer of OpenRouter's `GET /api/v1/models`: all of it is served by the provider `openrouter`. Prices are texts,
 * USD per token, image or request; a negative one depends on the model that is chosen in the end. Fields:
 * https://openrouter.ai/docs/models.
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

const PROVIDER = "openrouter";

const tokens = z.number().nonnegative().nullish();
const entry = z.object({
  id: z.string(),
  name: z.string().min(1),
  created: z.number().nonnegative().max(1e11).optional(),
  context_length: tokens,
  architecture: z.object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) }),
  pricing: z.record(z.string(), z.unknown()),
  top_provider: z.object({ context_length: tokens, max_completion_tokens: tokens }).nullish(),
  supported_parameters: z.array(z.string()).default([]),
});
type Entry = z.output<typeof entry>;

const answer = z.object({
  data: z.array(z.unknown()),
  links: z.object({ next: z.string().nullish() }).nullish(),
});

export const isOpenRouter = (json: unknown): boolean => answer.safeParse(json).success;

/** Path or URL of the next page; undefined where the answer is whole. */
export const nextPage = (json: unknown): string | undefined =>
  answer.safeParse(json).data?.links?.next ?? undefined;

/** @param providers those of providers.yaml, by id */
export function openRouterOffers(
  json: unknown,
  providers: ReadonlyMap<string, ImportProvider>,
): SourceOffers {
  const { data } = answer.parse(json);
  const ours = providers.get(PROVIDER);
  if (ours === undefined) {
    return { offers: [], leftOut: [{ what: PROVIDER, why: "providers.yaml does not name the provider" }] };
  }
  const offers: Offer[] = [];
  const leftOut: LeftOut[] = [];
  for (const [at, model] of data.entries()) {
    const read = entry.safeParse(model);
    const what = read.data?.id ?? `the entry at ${at}`;
    takeOr(leftOut, what, () => void offers.push(offerOf(read, ours)));
  }
  return { offers, leftOut };
}

/** A price of images that is at most so many times that of a token is one per token, not one per image. */
const TOKENS_OF_AN_IMAGE = 20;

function offerOf(read: z.ZodSafeParseResult<Entry>, ours: ImportProvider): Offer {
  if (!read.success) throw new NotTaken("it lacks fields, or they have other types");
  const { id, pricing, architecture, supported_parameters: parameters, top_provider: top } = read.data;
  assertUsable(id, architecture.output_modalities);
  if (id.includes(":")) throw new NotTaken("it is a variant of another model");
  const task = architecture.output_modalities.includes("embeddings") ? "embed" : "generate";
  const perMillion = (key: string) => decimal(pricing[key], 6);
  const image = decimal(pricing.image);
  const isPerToken = Number(image ?? 0) * 1e6 <= TOKENS_OF_AN_IMAGE * Number(perMillion("prompt") ?? 0);
  const { bound, notes } = boundOf(pricing.overrides);
  const whole = top?.context_length ?? read.data.context_length ?? 0;
  const context = Math.min(whole, bound);
  const dear = (price: number) => price > Number(perMillion("prompt") ?? 0);
  const left = [
    ...(dear(Number(perMillion("audio") ?? 0)) ? ["audio"] : []),
    ...(isPerToken && dear(Number(image ?? 0) * 1e6) ? ["image"] : []),
  ];
  return {
    provider: ours.id,
    upstream: id,
    task,
    context,
    dialects: undefined,
    name: read.data.name.replace(/^[^:]{1,40}: /, ""),
    released: read.data.created ? new Date(read.data.created * 1000).toISOString().slice(0, 10) : "",
    maxOutput: Math.min(top?.max_completion_tokens || context, context),
    modalitiesIn: carried(
      architecture.input_modalities.filter((m) => !left.includes(m)),
      ours,
    ),
    capabilities: {
      tools: parameters.includes("tools"),
      parallel_tools: parameters.includes("parallel_tool_calls"),
      json_schema: parameters.includes("structured_outputs"),
      reasoning: parameters.includes("reasoning"),
      cache: Number(perMillion("input_cache_read") ?? 0) > 0,
    },
    price: usablePrice(task, {
      input: perMillion("prompt"),
      output: perMillion("completion"),
      cache_read: perMillion("input_cache_read"),
      cache_write: perMillion("input_cache_write"),
      cache_write_1h: perMillion("input_cache_write_1h"),
      reasoning: perMillion("internal_reasoning"),
      request: decimal(pricing.request),
      image: isPerToken ? undefined : image,
    }),
    notes: bound < whole ? notes : [],
  };
}

const overrides = z.array(z.object({ min_prompt_tokens: z.number().positive().optional() }));

/** Prompts from `min_prompt_tokens` on have other prices. */
function boundOf(listed: unknown): { bound: number; notes: string[] } {
  const read = overrides.safeParse(listed ?? []);
  if (!read.success) throw new NotTaken("its prices have conditions that are not understood");
  const bound = Math.min(...read.data.map((o) => (o.min_prompt_tokens ?? 1) - 1));
  if (bound === 0) throw new NotTaken("its prices have conditions that are not understood");
  return { bound, notes: [`Takes more tokens, at another price above ${bound}: bounded to one price.`] };
}
