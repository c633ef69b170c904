/**
 * `GET /v1/models/{vendor}/{model}/stats`: how a model's endpoints performed, who uses it, and its changelog.
 * Measurements come through a port and may be missing; the changelog comes from the stored price versions and is always
 * there.
 */
import { z } from "zod";
import { isoTime } from "../clock.ts";
import { didYouMean, nearest } from "../document/nearest.ts";
import type { Endpoint, Model } from "../endpoint.ts";
import { fail } from "../errors.ts";
import { operation } from "../operation.ts";
import type { CatalogSnapshot } from "./catalog.ts";
import type { PriceVersion, PriceVersions } from "./price-versions.ts";
import { priceChange } from "./price-words.ts";

const seriesItem = z.object({
  endpoint_id: z.string(),
  day: z.string().describe("YYYY-MM-DD, UTC."),
  attempts: z.int(),
  ok: z.int(),
  ttft_p50_ms: z.int().describe("0: nothing was measured."),
  ttft_p95_ms: z.int(),
  tpot_p50_ms: z.int().describe("An output token, after the first."),
});

const appItem = z.object({
  app_id: z.string().describe("Slug of an app that its org has published."),
  requests_7d: z.int(),
  tokens_7d: z.int(),
});

const changelogItem = z.object({
  id: z.int().describe("Stays the same, and grows with time."),
  kind: z.enum([
    "model_added",
    "endpoint_added",
    "endpoint_removed",
    "price_change",
    "deprecated",
    "limits_change",
  ]),
  summary: z.string(),
  endpoint_id: z.string(),
  effective_at: z.string(),
  created_at: z.string(),
});

const scheduledPrice = z.object({
  endpoint_id: z.string(),
  effective_at: z.string(),
  price: z.object({ input: z.number(), output: z.number(), cache_read: z.number() }),
  price_version: z.string(),
});

const modelStatsSchema = z.object({
  model: z.string(),
  series: z.array(seriesItem).describe("Days of the last 30 with an attempt."),
  apps: z.array(appItem).describe("The 20 public apps with most tokens; none where `min_orgs` is above 1."),
  scheduled_prices: z.array(scheduledPrice).describe("Prices change when the catalog's files do: none."),
  changelog: z.array(changelogItem).describe("Newest first, at most 100."),
  analytics: z.boolean().describe("False: figures could not be read; what is empty may have some."),
});

type ChangelogItem = z.output<typeof changelogItem>;

/** Measured figures of a model; analytics fills this port. */
export interface MeasuredModel {
  readonly series: readonly z.output<typeof seriesItem>[];
  /** Undefined: they could not be read in time. */
  readonly apps: readonly z.output<typeof appItem>[] | undefined;
}

export interface StatsOperationsDeps {
  readonly catalog: { current(): CatalogSnapshot };
  readonly priceVersions: Pick<PriceVersions, "history">;
  /** Resolves within a second; undefined while analytics is unreachable. */
  readonly measured: (modelId: string) => Promise<MeasuredModel | undefined>;
}

const CHANGELOG_ITEMS = 100;

export function statsOperations({ catalog, priceVersions, measured }: StatsOperationsDeps) {
  return {
    getModelStats: operation({
      name: "getModelStats",
      summary: "How a model's endpoints did in the last 30 days, which apps use it, and what changed",
      path: z.object({ vendor: z.string(), model: z.string() }),
      output: modelStatsSchema,
      errors: ["model_not_found"],
      async run({ path }) {
        const snapshot = catalog.current();
        const model = modelNamed(snapshot, `${path.vendor}/${path.model}`);
        const figures = await measured(model.id);
        return {
          model: model.id,
          series: [...(figures?.series ?? [])],
          apps: [...(figures?.apps ?? [])],
          scheduled_prices: [],
          changelog: changelogOf(model, snapshot, priceVersions),
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

/** @throws WeirError `model_not_found`, naming the nearest. */
export function modelNamed(snapshot: CatalogSnapshot, id: string): Model {
  const model = snapshot.models.get(id);
  if (model !== undefined) return model;
  const near = nearest(id, [...snapshot.models.keys()]);
  throw fail("model_not_found", `No model ${id.slice(0, 200)}${didYouMean(near)}`);
}

/**
 * Changelog from the price versions of the model's endpoints: an endpoint's first version says since when this gateway
 * has known it, each later one how its price changed. Prices become current when the catalog that contains them does.
 */
function changelogOf(
  model: Model,
  snapshot: CatalogSnapshot,
  { history }: Pick<PriceVersions, "history">,
): ChangelogItem[] {
  return [...model.endpoints, ...snapshot.unreachable(model.id)]
    .flatMap((endpoint) => {
      const versions = history(endpoint.id);
      return versions.map((version, at) => changeOf(endpoint, version, versions[at + 1]));
    })
    .sort((a, b) => b.id - a.id)
    .slice(0, CHANGELOG_ITEMS);
}

function changeOf(
  endpoint: Endpoint,
  version: PriceVersion,
  before: PriceVersion | undefined,
): ChangelogItem {
  const place = `${endpoint.provider.name}, ${endpoint.region}`;
  const atTime = isoTime(version.fromMs);
  return {
    id: idOf(version),
    ...(before === undefined
      ? { kind: "endpoint_added" as const, summary: `Served by ${place}` }
      : { kind: "price_change" as const, summary: `${place}: ${priceChange(before, version)}` }),
    endpoint_id: endpoint.id,
    effective_at: atTime,
    created_at: atTime,
  };
}

/**
 * A unique integer per version: its millisecond, then ten bits that count within that millisecond. Exact until the year
 * 2248, and independent of the rest of the catalog.
 */
const idOf = ({ fromMs, serial }: PriceVersion): number => fromMs * 1024 + (serial % 1024);
