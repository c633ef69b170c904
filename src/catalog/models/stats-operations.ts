/**
 * `GET /v1/models/{vendor}/{model}/stats`: how a model's endpoints performed, who uses it, and its changelog.
 * Measurements come through a port and may be missing; the changelog is stored here and is always there.
 */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { Model } from "../../base/endpoint.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import type { CatalogSnapshot } from "./catalog.ts";
import type { Changelog, ChangelogEntry } from "./changelog.ts";
import { CHANGE_KINDS } from "./changes.ts";
import type { PriceVersions } from "./price-versions.ts";
import { modelPath, tierPrices, tokenPricesOf } from "./records.ts";

const seriesItem = z.object({
  endpoint_id: field.endpointId,
  day: z.string().describe("YYYY-MM-DD, UTC."),
  attempts: z.int().describe("Attempts of the day."),
  ok: z.int().describe("Attempts of the day that did not fail at the endpoint."),
  ttft_p50_ms: z.int().describe("0: nothing was measured."),
  ttft_p95_ms: z.int().describe("95 of 100 streams had a first token in so many milliseconds."),
  tpot_p50_ms: z.int().describe("An output token, after the first."),
});

const appItem = z.object({
  app_id: z.string().describe("Slug of an app that its org has published."),
  requests_7d: z.int().describe("Calls of the last seven days."),
  tokens_7d: z.int().describe("Tokens of the last seven days."),
});

const changelogItem = z.object({
  id: z.int().describe("Stays the same, and grows with time."),
  kind: z.enum(CHANGE_KINDS).describe("What changed."),
  summary: z.string().describe("What changed, in a sentence."),
  endpoint_id: z.string().describe("Empty where it concerns the model as a whole."),
  effective_at: z.string().describe("In the future where it is announced for later."),
  created_at: z.string().describe("When it became known here."),
});

const scheduledPrice = z.object({
  endpoint_id: field.endpointId,
  effective_at: z.string().describe("When the price comes into force."),
  price: tierPrices.describe("List prices, USD per million tokens."),
  price_version: z.string().describe("The version that the price will have, as charges name it."),
});

const pastPrice = z.object({
  endpoint_id: field.endpointId,
  effective_at: z.string().describe("Since when it held here, until the endpoint's next one; ISO 8601, UTC."),
  price: tierPrices.describe("List prices, USD per million tokens."),
  markup_bps: z.int().describe("What was added to them when charged, basis points."),
  price_version: z
    .string()
    .describe("As charges name it; prices that return have the version that they had."),
});

/** Prices of one endpoint, and in all. */
const MOST_OF_ENDPOINT = 50;
const MOST_PRICES = 200;

const modelStatsSchema = z.object({
  model: field.modelId,
  series: z.array(seriesItem).describe("Days of the last 30 with an attempt."),
  apps: z.array(appItem).describe("The 20 public apps with most tokens; none where `min_orgs` is above 1."),
  scheduled_prices: z.array(scheduledPrice).describe("Prices that are not in force yet, the earliest first."),
  prices: z
    .array(pastPrice)
    .describe(
      "Prices in force and those of before, newest first: 50 of an endpoint at most, 200 in all; of the endpoints that the model has now.",
    ),
  changelog: z.array(changelogItem).describe("Newest first, at most 100."),
  analytics: z.boolean().describe("False: figures could not be read; what is empty may have some."),
});

/** Measured figures of a model; analytics fills this port. */
export interface MeasuredModel {
  readonly series: readonly z.output<typeof seriesItem>[];
  /** Undefined: they could not be read in time. */
  readonly apps: readonly z.output<typeof appItem>[] | undefined;
}

export interface StatsOperationsDeps {
  readonly catalog: { current(): CatalogSnapshot };
  readonly changelog: Pick<Changelog, "of">;
  /** Prices that an endpoint had, newest first. */
  readonly priceHistory: PriceVersions["history"];
  /** Resolves within a second; undefined while analytics is unreachable. */
  readonly measured: (modelId: string) => Promise<MeasuredModel | undefined>;
}

export function statsOperations({ catalog, changelog, priceHistory, measured }: StatsOperationsDeps) {
  return {
    getModelStats: operation({
      summary: "How a model's endpoints did in the last 30 days, which apps use it, and what changed",
      method: "GET",
      path: "/v1/models/{vendor}/{model}/stats",
      access: "key / everyone",
      group: "Catalog",
      params: modelPath,
      output: modelStatsSchema,
      errors: ["model_not_found"],
      async run({ params }) {
        const snapshot = catalog.current();
        const model = modelNamed(snapshot, `${params.vendor}/${params.model}`);
        const figures = await measured(model.id);
        return {
          model: model.id,
          series: [...(figures?.series ?? [])],
          apps: [...(figures?.apps ?? [])],
          scheduled_prices: scheduledOf(model, snapshot),
          prices: pricesOf(model, snapshot, priceHistory),
          changelog: changelog.of(model.id).map(itemOf),
          analytics: figures?.apps !== undefined,
        };
      },
    }),
  };
}

/** Models that only the simulator serves: test keys can call them, and test calls count as their use. */
export const simulatedModels = (snapshot: CatalogSnapshot): string[] =>
  [...snapshot.models.values()]
    .filter(({ endpoints }) => endpoints.length > 0 && endpoints.every((e) => e.provider.simulated))
    .map(({ id }) => id);

/** The model of a path, by any of its names. @throws WeirError `model_not_found`, naming the nearest */
export const modelNamed = (snapshot: CatalogSnapshot, name: string): Model =>
  snapshot.resolve(name) ?? snapshot.meant(name);

/** Scheduled prices of all endpoints of the model that the files have. */
const scheduledOf = (model: Model, snapshot: CatalogSnapshot): z.output<typeof scheduledPrice>[] =>
  [...model.endpoints, ...snapshot.unreachable(model.id)]
    .flatMap(({ id }) => snapshot.scheduledPrices(id))
    .sort((a, b) => a.fromMs - b.fromMs)
    .map(({ endpointId, fromMs, listPrices, version }) => ({
      endpoint_id: endpointId,
      effective_at: isoTime(fromMs),
      price: tokenPricesOf(listPrices),
      price_version: version,
    }));

/** Those of the endpoints that the files have. */
const pricesOf = (
  model: Model,
  snapshot: CatalogSnapshot,
  history: PriceVersions["history"],
): z.output<typeof pastPrice>[] =>
  [...model.endpoints, ...snapshot.unreachable(model.id)]
    .flatMap(({ id }) => history(id, MOST_OF_ENDPOINT))
    .sort((a, b) => b.fromMs - a.fromMs)
    .slice(0, MOST_PRICES)
    .map(({ endpointId, fromMs, listPrices, markupBps, version }) => ({
      endpoint_id: endpointId,
      effective_at: isoTime(fromMs),
      price: tokenPricesOf(listPrices),
      markup_bps: markupBps,
      price_version: version,
    }));

const itemOf = (entry: ChangelogEntry): z.output<typeof changelogItem> => ({
  id: entry.id,
  kind: entry.kind,
  summary: entry.summary,
  endpoint_id: entry.endpointId,
  effective_at: isoTime(entry.effectiveMs),
  created_at: isoTime(entry.createdMs),
});
