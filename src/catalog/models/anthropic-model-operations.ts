/**
 * The model list in Anthropic's format: `GET /v1/models` and `GET /v1/models/{id}` of Anthropic's API, used where a
 * request carries `anthropic-version`. Shape: "Models" of Anthropic's API reference and its official SDK.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { Model } from "../../base/endpoint.ts";
import { fail } from "../../base/errors.ts";
import { operation } from "../../base/operation/operation.ts";
import type { CatalogSnapshot } from "./catalog.ts";
import type { CatalogOperationsDeps } from "./operations.ts";
import { activeEndpoints, aliasesField, aliasesOf } from "./records.ts";
import { modelNamed } from "./stats-operations.ts";

const modelSchema = z.object({
  type: z.literal("model"),
  id: z.string(),
  aliases: aliasesField,
  display_name: z.string(),
  created_at: z.string().describe("Release of the model; 1970 where it is not known."),
  max_input_tokens: z.int().describe("The model's context length."),
  max_tokens: z.int().describe("The most `max_tokens` of a request."),
  lifecycle: z.enum(["active", "deprecated"]),
  deprecated_at: z.null(),
  retires_at: z.null(),
  line: z.null(),
  capabilities: z.null().describe("`GET /v1/models` without `anthropic-version` tells them."),
});

/** Limits of Anthropic's API. */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
  after_id: z.string().optional().describe("The page after this model."),
  before_id: z.string().optional().describe("The page before this model."),
});

export function anthropicModelOperations({ catalog }: Pick<CatalogOperationsDeps, "catalog">) {
  const one = (id: string) => {
    const snapshot = catalog.current();
    return modelWire(modelNamed(snapshot, id));
  };
  return {
    listAnthropicModels: operation({
      summary:
        "Models that `/v1/messages` can reach, newest first, as Anthropic's clients page through them.",
      method: "GET",
      path: "/v1/models",
      access: "key / everyone",
      group: "Catalog",
      dialect: "anthropic",
      query: listQuery,
      output: z.object({
        data: z.array(modelSchema),
        has_more: z.boolean().describe("Whether there is more in the direction of the page."),
        first_id: z.string().nullable(),
        last_id: z.string().nullable(),
      }),
      run: ({ query }) => pageOf(reachable(catalog.current()), query),
    }),
    getAnthropicModel: operation({
      summary: "One model as Anthropic's clients read it.",
      method: "GET",
      path: "/v1/models/{vendor}/{model}",
      access: "key / everyone",
      group: "Catalog",
      dialect: "anthropic",
      params: z.object({ vendor: z.string(), model: z.string() }),
      output: modelSchema,
      errors: ["model_not_found"],
      run: ({ params: { vendor, model } }) => one(`${vendor}/${model}`),
    }),
    getAnthropicModelById: operation({
      summary: "One model by its id as one segment, or by its bare name, as Anthropic's clients read it.",
      method: "GET",
      path: "/v1/models/{id}",
      access: "key / everyone",
      group: "Catalog",
      dialect: "anthropic",
      params: z.object({ id: z.string() }),
      output: modelSchema,
      errors: ["model_not_found"],
      run: ({ params: { id } }) => one(id),
    }),
  };
}

/**
 * Newest first, as Anthropic lists them; models of one day by id. Only models that generate text: Anthropic's clients
 * know no others.
 */
const reachable = (snapshot: CatalogSnapshot): Model[] =>
  [...snapshot.models.values()]
    .filter((model) => model.task === "generate" && activeEndpoints(model).length > 0)
    .sort((a, b) => createdMs(b) - createdMs(a) || (a.id < b.id ? -1 : 1));

function pageOf(models: readonly Model[], query: z.output<typeof listQuery>) {
  const { limit, after_id: after, before_id: before } = query;
  if (after !== undefined && before !== undefined) {
    throw fail("invalid_value", "`after_id` and `before_id` exclude each other.", { param: "/before_id" });
  }
  const end = before === undefined ? models.length : placeOf(models, before, "/before_id");
  const start = after === undefined ? 0 : placeOf(models, after, "/after_id") + 1;
  const from = before === undefined ? start : Math.max(0, end - limit);
  const page = models.slice(from, Math.min(end, from + limit)).map(modelWire);
  return {
    data: page,
    has_more: before === undefined ? from + page.length < models.length : from > 0,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** An error for an unknown model: the first page would make a paging client loop for ever. */
function placeOf(models: readonly Model[], id: string, param: string): number {
  const place = models.findIndex((model) => model.id === id);
  if (place >= 0) return place;
  throw fail("invalid_value", "No model of the list has this id.", { param });
}

const createdMs = ({ released }: Model): number => (released === "" ? 0 : Date.parse(released));

const modelWire = (model: Model): z.input<typeof modelSchema> => ({
  type: "model",
  id: model.id,
  ...aliasesOf(model),
  display_name: model.name,
  created_at: isoTime(createdMs(model)),
  max_input_tokens: model.contextLength,
  max_tokens: model.maxOutput,
  lifecycle: model.status,
  deprecated_at: null,
  retires_at: null,
  line: null,
  capabilities: null,
});
