/**
 * Operations of the catalog: list models, one model, its endpoints. Read-only; answers come from the current snapshot
 * and never wait for I/O.
 */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import type { Endpoint, Model } from "../../base/endpoint.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import { listOf } from "../../base/operation/page.ts";
import type { CatalogSnapshot } from "./catalog.ts";
import {
  activeEndpoints,
  type CatalogStats,
  endpointRecord,
  endpointRecordSchema,
  type LiveHealth,
  type ModelRecord,
  modelPath,
  modelRecord,
  modelRecordSchema,
  NO_STATS,
} from "./records.ts";
import { modelNamed } from "./stats-operations.ts";

const WEEK_MS = 7 * 24 * 3600 * 1000;

const flag = z.literal("1").optional();
const capability = z.enum([
  "tools",
  "json_schema",
  "vision",
  "audio",
  "reasoning",
  "cache",
  "zdr",
  "no_train",
]);

/** Paging parameters of other APIs (`limit`, `after`) are ignored: the list is always complete. */
const listQuery = z.object({
  vendor: z.string().optional().describe("Only models of this vendor."),
  modality: z
    .enum(["text", "image", "audio", "video"])
    .optional()
    .describe("Only models that read or write it."),
  capability: z
    .union([capability.transform((one) => [one]), z.array(capability)])
    .optional()
    .describe("Only models that can do this; several times: all of it."),
  zdr: flag.describe("`1`: only models with an endpoint that keeps nothing."),
  no_train: flag.describe("`1`: only models with an endpoint that does not train on prompts."),
  new: flag.describe("`1`: only models released this week."),
  price_changed: flag.describe("`1`: only models with a price change in the last seven days."),
  status: z.enum(["active", "deprecated"]).optional().describe("Only models of this status."),
  q: z.string().optional().describe("Only what has this text in its id, its name or an alias."),
  sort: z
    .enum(["name", "price", "latency", "popularity", "newest"])
    .default("name")
    .describe("The order of the list."),
});

type ListQuery = z.output<typeof listQuery>;

const wholeId = z.object({ id: field.modelId });

export interface CatalogOperationsDeps {
  readonly catalog: { current(): CatalogSnapshot };
  readonly clock: Clock;
  /** Called once per answer; without it uptime reads 1 and every count 0. */
  readonly stats?: () => CatalogStats;
  /** Without it, or where it returns undefined, an endpoint's state is `unknown`. */
  readonly healthOf?: (endpoint: Endpoint) => LiveHealth | undefined;
}

export function catalogOperations(deps: CatalogOperationsDeps) {
  const stats = () => deps.stats?.() ?? NO_STATS;
  const named = ({ vendor, model }: { vendor: string; model: string }) =>
    modelNamed(deps.catalog.current(), `${vendor}/${model}`);
  return {
    listModels: operation({
      summary:
        "Models that calls can reach, whole and unpaged. Also what OpenAI's clients read as their model list.",
      method: "GET",
      path: "/v1/models",
      access: "key / everyone",
      group: "Catalog",
      query: listQuery,
      output: listOf(modelRecordSchema),
      run: ({ query }) => ({
        object: "list" as const,
        data: listModels(deps.catalog.current(), stats(), query, deps.clock.now()),
      }),
    }),
    getModel: operation({
      summary: "One model; `endpoints` is 0 where this gateway has no credential for any provider of it.",
      method: "GET",
      path: "/v1/models/{vendor}/{model}",
      access: "key / everyone",
      group: "Catalog",
      params: modelPath,
      output: modelRecordSchema,
      errors: ["model_not_found"],
      run: ({ params }) => modelRecord(named(params), deps.catalog.current(), stats()),
    }),
    getModelById: operation({
      summary:
        "One model by its id as one segment (`weir%2Fsim-small`), as OpenAI's clients ask for it, or by its bare name.",
      method: "GET",
      path: "/v1/models/{id}",
      access: "key / everyone",
      group: "Catalog",
      params: wholeId,
      output: modelRecordSchema,
      errors: ["model_not_found"],
      run({ params: { id } }) {
        const snapshot = deps.catalog.current();
        return modelRecord(modelNamed(snapshot, id), snapshot, stats());
      },
    }),
    getModelEndpoints: operation({
      summary:
        "The endpoints that serve a model, with price, data policy, measured latency and present health.",
      method: "GET",
      path: "/v1/models/{vendor}/{model}/endpoints",
      access: "key / everyone",
      group: "Catalog",
      params: modelPath,
      output: z.object({
        object: field.objectOf("list"),
        model: field.modelId,
        data: z.array(endpointRecordSchema).describe("What is listed."),
      }),
      errors: ["model_not_found"],
      run: ({ params }) => endpointsOf(deps, named(params), stats()),
    }),
  };
}

const endpointsOf = ({ healthOf }: CatalogOperationsDeps, model: Model, stats: CatalogStats) => ({
  object: "list" as const,
  model: model.id,
  data: model.endpoints.map((e) => endpointRecord(e, stats, healthOf?.(e))),
});

function listModels(
  snapshot: CatalogSnapshot,
  stats: CatalogStats,
  query: ListQuery,
  nowMs: number,
): ModelRecord[] {
  const wanted = [...(query.capability ?? [])];
  if (query.zdr) wanted.push("zdr");
  if (query.no_train) wanted.push("no_train");
  const text = query.q?.toLowerCase();
  const records: ModelRecord[] = [];
  for (const model of snapshot.models.values()) {
    if (query.vendor !== undefined && model.vendor !== query.vendor) continue;
    if (query.status !== undefined && model.status !== query.status) continue;
    if (text !== undefined && !textOf(model).includes(text)) continue;
    if (query.modality && ![...model.modalitiesIn, ...model.modalitiesOut].includes(query.modality)) continue;
    if (query.new && !isRecent(Date.parse(model.released), nowMs)) continue;
    const active = activeEndpoints(model);
    if (active.length === 0) continue;
    if (query.price_changed && !active.some((e) => isRecent(snapshot.priceChangedMs(e.id), nowMs))) continue;
    const record = modelRecord(model, snapshot, stats);
    if (wanted.every((c) => record.capabilities[c])) records.push(record);
  }
  const before = ORDERS[query.sort];
  return records.sort((a, b) => before(a, b) || compare(a.id, b.id));
}

/** What a search looks at. */
const textOf = ({ id, name, aliases }: Model): string => [id, name, ...aliases].join("\n").toLowerCase();

/** NaN and undefined are never recent. */
const isRecent = (atMs: number | undefined, nowMs: number): boolean =>
  atMs !== undefined && atMs <= nowMs && nowMs - atMs <= WEEK_MS;

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** Three input tokens per output token: the usual ratio of a chat call. */
const blendedPrice = (r: ModelRecord): number => r.pricing_from.input * 0.75 + r.pricing_from.output * 0.25;

/** A model without a measured latency comes last. */
const latency = (r: ModelRecord): number => r.ttft_p50_ms || Number.POSITIVE_INFINITY;

const ORDERS: Record<ListQuery["sort"], (a: ModelRecord, b: ModelRecord) => number> = {
  name: (a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase()),
  price: (a, b) => compare(blendedPrice(a), blendedPrice(b)),
  latency: (a, b) => compare(latency(a), latency(b)),
  popularity: (a, b) => compare(b.requests_7d, a.requests_7d),
  newest: (a, b) => compare(b.created, a.created),
};
