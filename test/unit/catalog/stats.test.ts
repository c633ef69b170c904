/** `GET /v1/models/{vendor}/{model}/stats`: what stands in it with and without figures, and the changelog of prices. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DAY_MS } from "../../../src/base/time.ts";
import { type Catalog, openCatalog } from "../../../src/catalog/models/catalog.ts";
import { type Changelog, storedChangelog } from "../../../src/catalog/models/changelog.ts";
import { type PriceVersions, storedPriceVersions } from "../../../src/catalog/models/price-versions.ts";
import { priceChange } from "../../../src/catalog/models/price-words.ts";
import {
  type MeasuredModel,
  simulatedModels,
  statsOperations,
} from "../../../src/catalog/models/stats-operations.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { caller } from "../../support/analytics/records.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";

const MODEL = "real/model";
const EU = "ep_near_m-1_eu";

const PROVIDERS = `providers:
  - id: near
    name: Near Inc.
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [eu, us]
  - id: toys
    name: Toys
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    simulated: true
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [local]
`;

const modelFile = (vendor: string, endpoints: readonly string[]) => `vendor: ${vendor}
models:
  - id: ${vendor}/model
    name: Model
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: []
    endpoints:
${endpoints.map((endpoint) => `      - { ${endpoint} }\n`).join("")}`;

const near = (region: string, input: number, more = "") =>
  `provider: near, upstream_model: m-1, region: ${region}, price: { input: ${input}, output: 4${more} }`;
const TOYS = "provider: toys, upstream_model: m-1, region: local, price: { input: 1, output: 1 }";

const START = Date.parse("2026-07-01T10:00:00Z");
let nowMs = START;
let dir: string;
let store: Store;
let changelog: Changelog;
let priceHistory: PriceVersions["history"];
let catalog: Catalog;

const writeModels = (vendor: string, endpoints: readonly string[]) =>
  writeFile(join(dir, `models/${vendor}.yaml`), modelFile(vendor, endpoints));

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "weir-stats-"));
  await mkdir(join(dir, "models"));
  await writeFile(join(dir, "providers.yaml"), PROVIDERS);
  await writeModels("toy", [TOYS]);
  await writeModels("mixed", [TOYS.replace("m-1", "m-2"), near("us", 1).replace("m-1", "m-2")]);
  await writeModels("real", [near("eu", 2), near("us", 3)]);
  store = openStore(join(dir, "data"));
  const clock = { now: () => nowMs, monotonic: () => 0 };
  const priceVersions = storedPriceVersions(store, clock);
  priceHistory = priceVersions.history;
  changelog = storedChangelog(store, clock, priceVersions);
  catalog = await openCatalog({
    configDir: dir,
    env: {},
    simulatorUrl: undefined,
    clock,
    priceVersions,
    changelog,
  });
});
afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

type Measured = (modelId: string) => Promise<MeasuredModel | undefined>;

const ask = async (model: string, measured: Measured) => {
  const { getModelStats } = statsOperations({ catalog, changelog, priceHistory, measured });
  const path = { vendor: "real", model };
  const input = { params: path, query: undefined, body: undefined };
  return getModelStats.output.parse(await getModelStats.run(input, caller(), NO_HEAD));
};
const series = [
  {
    endpoint_id: EU,
    day: "2026-07-01",
    attempts: 2,
    ok: 1,
    ttft_p50_ms: 90,
    ttft_p95_ms: 95,
    tpot_p50_ms: 12,
  },
];
const apps = [{ app_id: "app-1", requests_7d: 2, tokens_7d: 40 }];

it("measured figures, and the changelog from the stored price versions, newest first", async () => {
  const before = await ask("model", async () => ({ series, apps }));
  nowMs = START + DAY_MS;
  await writeModels("real", [near("eu", 2.5, ", cache_read: 0.25"), near("us", 3)]);
  expect(await catalog.reload()).toEqual({ ok: true });
  const answer = await ask("model", async () => ({ series, apps }));
  expect(answer).toEqual({
    model: MODEL,
    series,
    apps,
    scheduled_prices: [],
    prices: [
      {
        endpoint_id: EU,
        effective_at: "2026-07-02T10:00:00.000Z",
        price: { input: 2.5, output: 4, cache_read: 0.25 },
        markup_bps: 0,
        price_version: expect.stringMatching(/^pv_/),
      },
      ...before.prices,
    ],
    changelog: [
      {
        id: expect.any(Number),
        kind: "price_change",
        summary: "Near Inc., eu: input $2 → $2.5 per 1M tokens, cache read none → $0.25 per 1M tokens",
        endpoint_id: EU,
        effective_at: "2026-07-02T10:00:00.000Z",
        created_at: "2026-07-02T10:00:00.000Z",
      },
      ...before.changelog,
    ],
    analytics: true,
  });
  const first = {
    id: expect.any(Number),
    effective_at: "2026-07-01T10:00:00.000Z",
    created_at: "2026-07-01T10:00:00.000Z",
  };
  expect(before.changelog).toEqual([
    ...["us", "eu"].map((region) => ({
      ...first,
      kind: "endpoint_added",
      summary: `Served by Near Inc., ${region}`,
      endpoint_id: `ep_near_m-1_${region}`,
    })),
    { ...first, kind: "model_added", summary: "Model was added", endpoint_id: "" },
  ]);
  expect(before.prices).toHaveLength(2);
  for (const { effective_at, price } of before.prices) {
    expect(effective_at).toBe("2026-07-01T10:00:00.000Z");
    expect([2, 3]).toContain(price.input);
  }
  const ids = answer.changelog.map(({ id }) => id);
  expect(ids.every(Number.isSafeInteger)).toBe(true);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  // Entries stay when an endpoint leaves.
  await writeModels("real", [near("eu", 2.5, ", cache_read: 0.25")]);
  await catalog.reload();
  const fewer = await ask("model", async () => undefined);
  const [left, ...others] = fewer.changelog;
  expect([left?.kind, left?.summary]).toEqual(["endpoint_removed", "No longer served by Near Inc., us"]);
  expect(others).toEqual(answer.changelog);
});

it("prices that are announced, with the version that they will have", async () => {
  const scheduled = ", scheduled: [{ from: 2027-01-01T00:00:00Z, price: { input: 9, output: 8 } }]";
  await writeModels("real", [`${near("eu", 2.5, ", cache_read: 0.25")}${scheduled}`]);
  expect(await catalog.reload()).toEqual({ ok: true });
  const answer = await ask("model", async () => undefined);
  expect(answer.scheduled_prices).toEqual([
    {
      endpoint_id: EU,
      effective_at: "2027-01-01T00:00:00.000Z",
      price: { input: 9, output: 8, cache_read: 9 },
      price_version: expect.stringMatching(/^pv_[0-9A-Z]{26}$/),
    },
  ]);
  expect(answer.changelog[0]).toMatchObject({
    kind: "price_change",
    endpoint_id: EU,
    effective_at: "2027-01-01T00:00:00.000Z",
    created_at: "2026-07-02T10:00:00.000Z",
  });
});

it("prices of before: 50 of an endpoint at most, those that return with their version", async () => {
  const versions = new Map<number, string>();
  for (let change = 0; change < 60; change++) {
    nowMs += 1000;
    await writeModels("real", [near("eu", 10 + (change % 2))]);
    expect(await catalog.reload()).toEqual({ ok: true });
    const [newest] = (await ask("model", async () => undefined)).prices;
    expect(newest).toMatchObject({
      effective_at: new Date(nowMs).toISOString(),
      price: { input: 10 + (change % 2) },
    });
    const known = versions.get(change % 2) ?? newest?.price_version;
    expect(newest?.price_version).toBe(known);
    versions.set(change % 2, known as string);
  }
  expect((await ask("model", async () => undefined)).prices).toHaveLength(50);
});

it("without analytics: 200, no figures, and it says so", async () => {
  const answer = await ask("model", async () => undefined);
  expect(answer).toMatchObject({ model: MODEL, series: [], apps: [], analytics: false });
  expect(answer.changelog.length).toBeGreaterThan(0);
});

it("an unknown model is 404 and names the nearest", async () => {
  await expect(ask("modle", async () => undefined)).rejects.toMatchObject({
    code: "model_not_found",
    message: 'No model real/modle; did you mean "real/model"?',
  });
});

it("says price changes in the unit in which each price is printed", () => {
  const priced = (listPrices: object, markupBps = 0) => {
    const table = { input: 2000, output: 4000, ...listPrices };
    return { endpointId: EU, prices: table, listPrices: table, markupBps };
  };
  const change = priceChange(
    priced({ input: 1, request: 5_000_000, cacheRead: 100 }),
    priced({ request: 10_000_000, searchUnit: 2_000_000 }, 250),
  );
  expect(change).toBe(
    "input $0.001 → $2 per 1M tokens, cache read $0.1 → none per 1M tokens, request $0.005 → $0.01 per request, " +
      "search none → $2 per 1K units, markup 0 → 2.5 %",
  );
  expect(priceChange(priced({}), priced({}))).toBe("the price as charged changed");
});

it("the simulator's models are those that nothing else serves", () => {
  expect(simulatedModels(catalog.current())).toEqual(["toy/model"]);
});
