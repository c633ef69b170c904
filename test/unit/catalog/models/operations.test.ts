/** The model list with every filter and sort, and the exact shapes of models and endpoints. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { type Catalog, openCatalog } from "../../../../src/catalog/models/catalog.ts";
import { catalogOperations } from "../../../../src/catalog/models/operations.ts";
import { storedPriceVersions } from "../../../../src/catalog/models/price-versions.ts";
import type { CatalogStats, LiveHealth } from "../../../../src/catalog/models/records.ts";
import { openStore, type Store } from "../../../../src/store/store.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";
import { ORIGIN } from "../../../support/trail.fixtures.ts";

const PROVIDERS = `providers:
  - id: near
    name: Near Inc.
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [eu]
  - id: far
    name: Far Ltd.
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    data_policy: { trains: true, retention_days: 30, zdr: false }
    regions: [us]
  - id: locked
    name: Locked
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    credential_env: [LOCKED_KEY]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [us]
`;

const vendorA = (alphaInput: string) => `vendor: a
models:
  - id: a/alpha
    name: Zebra
    released: 2026-06-30
    modalities: { in: [text, image], out: [text] }
    context: 1000
    max_output: 100
    capabilities: [tools, parallel_tools, cache]
    endpoints:
      - provider: near
        upstream_model: alpha
        price: { input: ${alphaInput}, output: 4, cache_read: 0.5 }
      - provider: far
        upstream_model: alpha
        capabilities: [json_schema]
        modalities_in: [text]
        price: { input: 1.5, output: 3 }
  - id: a/old
    name: mango
    status: deprecated
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: []
    endpoints:
      - provider: far
        upstream_model: old
        price: { input: 0.1, output: 0.2 }
`;

const VENDOR_B = `vendor: b
models:
  - id: b/beta
    name: Apple
    released: 2026-01-01
    modalities: { in: [text, image], out: [text] }
    context: 1000
    max_output: 100
    capabilities: [reasoning]
    endpoints:
      - { provider: far, upstream_model: beta, price: { input: 9, output: 9 } }
  - id: b/shut
    name: Shut
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: [tools]
    endpoints:
      - { provider: locked, upstream_model: shut, price: { input: 7, output: 8 } }
`;

const caller: Caller = {
  requestId: "",
  orgId: "org_1",
  projectId: "prj_1",
  actor: { kind: "key", id: "key_1" },
  origin: ORIGIN,
  environment: "live",
  scopes: new Set(),
};

const NOW = "2026-07-02T12:00:00Z";
let nowMs = Date.parse(NOW);
const clock: Clock = { now: () => nowMs, monotonic: () => nowMs };
const UNMEASURED: CatalogStats = { endpoint: () => undefined, requests7d: () => 0, ttftP50Ms: () => 0 };
let stats = UNMEASURED;
let dir: string;
let store: Store;
let catalog: Catalog;
let operations: ReturnType<typeof catalogOperations>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "weir-catalog-"));
  await mkdir(join(dir, "models"));
  await writeFile(join(dir, "providers.yaml"), PROVIDERS);
  await writeFile(join(dir, "models/a.yaml"), vendorA("2"));
  await writeFile(join(dir, "models/b.yaml"), VENDOR_B);
  store = openStore(join(dir, "data"));
  catalog = await openCatalog({
    configDir: dir,
    env: {},
    simulatorUrl: undefined,
    priceVersions: storedPriceVersions(store, clock),
  });
  operations = catalogOperations({ catalog, clock, stats: () => stats });
});

afterAll(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

function parseQuery(query: unknown) {
  const schema = operations.listModels.query;
  if (schema === undefined) throw new Error("listModels takes no query");
  return schema.safeParse(query);
}

/** As the edge does: strings in, parsed by the schema, run, checked against the output schema. */
async function list(query: Record<string, string | string[]> = {}): Promise<string[]> {
  const op = operations.listModels;
  const parsed = parseQuery(query);
  if (!parsed.success) throw parsed.error;
  const answer = await op.run({ params: undefined, query: parsed.data, body: undefined }, caller, NO_HEAD);
  return op.output.parse(answer).data.map((m) => m.id);
}

const get = (vendor: string, name: string) =>
  operations.getModel.run(
    { params: { vendor, model: name }, query: undefined, body: undefined },
    caller,
    NO_HEAD,
  );

describe("GET /v1/models", () => {
  test("is sorted by name, without models that no credential reaches", async () => {
    expect(await list()).toEqual(["b/beta", "a/old", "a/alpha"]);
  });

  test.each<[Record<string, string | string[]>, string[]]>([
    [{ vendor: "a" }, ["a/old", "a/alpha"]],
    [{ vendor: "nobody" }, []],
    [{ modality: "image" }, ["b/beta", "a/alpha"]],
    [{ modality: "video" }, []],
    [{ capability: "reasoning" }, ["b/beta"]],
    [{ capability: ["tools", "json_schema"] }, ["a/alpha"]],
    [{ capability: ["tools", "reasoning"] }, []],
    [{ zdr: "1" }, ["a/alpha"]],
    [{ no_train: "1" }, ["a/alpha"]],
    [{ new: "1" }, ["a/alpha"]],
    [{ status: "deprecated" }, ["a/old"]],
    [{ q: "MANGO" }, ["a/old"]],
    [{ q: "b/" }, ["b/beta"]],
    [{ sort: "price" }, ["a/old", "a/alpha", "b/beta"]],
    [{ sort: "newest" }, ["a/alpha", "b/beta", "a/old"]],
    [{ vendor: "a", sort: "newest", limit: "1" }, ["a/alpha", "a/old"]],
  ])("with %j", async (query, ids) => {
    expect(await list(query)).toEqual(ids);
  });

  test.each([
    [{ sort: "best" }],
    [{ capability: "flight" }],
    [{ modality: "smell" }],
    [{ zdr: "yes" }],
    [{ status: "gone" }],
  ])("refuses %j", (query) => {
    expect(parseQuery(query).success).toBe(false);
  });

  test("price_changed shows a change for seven days, and not the first price", async () => {
    expect(await list({ price_changed: "1" })).toEqual([]);
    await writeFile(join(dir, "models/a.yaml"), vendorA("2.5"));
    expect(await catalog.reload()).toEqual({ ok: true });
    expect(await list({ price_changed: "1" })).toEqual(["a/alpha"]);
    nowMs += 7 * 86_400_000 + 1;
    expect(await list({ price_changed: "1" })).toEqual([]);
    nowMs = Date.parse(NOW);
    await writeFile(join(dir, "models/a.yaml"), vendorA("2"));
    await catalog.reload();
  });

  test("sorts by measured latency (unmeasured last) and popularity", async () => {
    stats = {
      endpoint: (id) =>
        id === "ep_near_alpha_eu"
          ? { uptime30d: 0.5, ttftP50Ms: 300, ttftP95Ms: 900, attempts30d: 30 }
          : id === "ep_far_alpha_us"
            ? { uptime30d: 0.9, ttftP50Ms: 100, ttftP95Ms: 400, attempts30d: 10 }
            : id === "ep_far_old_us"
              ? { uptime30d: 1, ttftP50Ms: 200, ttftP95Ms: 400, attempts30d: 1 }
              : undefined,
      requests7d: (id) => ({ "b/beta": 5, "a/alpha": 7 })[id] ?? 0,
      ttftP50Ms: (id) => ({ "a/alpha": 250, "a/old": 200 })[id] ?? 0,
    };
    expect(await list({ sort: "latency" })).toEqual(["a/old", "a/alpha", "b/beta"]);
    expect(await list({ sort: "popularity" })).toEqual(["a/alpha", "b/beta", "a/old"]);
    // Weighted by attempts: (0.5 × 30 + 0.9 × 10) / 40.
    expect(await get("a", "alpha")).toMatchObject({ uptime_30d: 0.6, ttft_p50_ms: 250, requests_7d: 7 });
    stats = UNMEASURED;
  });
});

describe("GET /v1/models/{vendor}/{model}", () => {
  test("has the specification's fields and those of OpenAI's clients", async () => {
    const record = operations.getModel.output.strict().parse(await get("a", "alpha"));
    expect(record).toEqual({
      id: "a/alpha",
      object: "model",
      created: Date.parse("2026-06-30") / 1000,
      owned_by: "a",
      vendor: "a",
      task: "generate",
      name: "Zebra",
      modalities: { in: ["text", "image"], out: ["text"] },
      context_length: 1000,
      max_output: 100,
      pricing_from: { input: 1.5, output: 3, cache_read: 0.5 },
      endpoints: 2,
      status: "active",
      markup_bps: 0,
      capabilities: {
        tools: true,
        json_schema: true,
        vision: true,
        audio: false,
        reasoning: false,
        cache: true,
        zdr: true,
        no_train: true,
      },
      uptime_30d: 1,
      ttft_p50_ms: 0,
      requests_7d: 0,
    });
  });

  test("a model whose providers lack their credentials is there, with no endpoint", async () => {
    expect(await get("b", "shut")).toMatchObject({
      endpoints: 0,
      pricing_from: { input: 7, output: 8, cache_read: 7 },
    });
  });

  test("an unknown model is 404 and names the nearest", () => {
    let thrown: unknown;
    try {
      get("a", "alpah");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(WeirError);
    expect(thrown).toMatchObject({
      status: 404,
      code: "model_not_found",
      message: 'No model a/alpah; did you mean "a/alpha"?',
    });
  });
});

test("GET /v1/models/{vendor}/{model}/endpoints", async () => {
  const op = operations.getModelEndpoints;
  const answer = await op.run(
    { params: { vendor: "a", model: "alpha" }, query: undefined, body: undefined },
    caller,
    NO_HEAD,
  );
  const { data, ...envelope } = op.output.strict().parse(answer);
  expect(envelope).toEqual({ object: "list", model: "a/alpha" });
  expect(data.map((e) => e.id)).toEqual(["ep_near_alpha_eu", "ep_far_alpha_us"]);
  expect(data[0]).toEqual({
    id: "ep_near_alpha_eu",
    provider: "near",
    provider_name: "Near Inc.",
    upstream_model: "alpha",
    region: "eu",
    status: "active",
    quantization: "",
    context_length: 1000,
    max_output: 100,
    capabilities: {
      tools: { function: true, parallel: true },
      json_schema: false,
      vision: true,
      audio: false,
      reasoning: false,
      cache: true,
    },
    price: { input: 2, output: 4, cache_read: 0.5 },
    markup_bps: 0,
    data_policy: { trains: false, retention_days: 0, zdr: true },
    health: { state: "unknown", error_rate: 0, ttft_ms: null, tokens_per_second: null, out_for_ms: 0 },
    uptime_30d: 1,
    latency: { ttft_p50_ms: 0, ttft_p95_ms: 0 },
    attempts_30d: 0,
  });
  expect(data[1]?.price.cache_read).toBe(1.5);
});

test("each endpoint is shown with its health of the moment", async () => {
  const live: LiveHealth = {
    state: "saturated",
    errorRate: 0.123456,
    ttftMs: 321.6,
    tokensPerSecond: 48.27,
    outForMs: 1500.2,
  };
  const healthOf = ({ id }: Endpoint) => (id === "ep_far_alpha_us" ? live : undefined);
  const op = catalogOperations({ catalog, clock, healthOf }).getModelEndpoints;
  const path = { vendor: "a", model: "alpha" };
  const answer = await op.run({ params: path, query: undefined, body: undefined }, caller, NO_HEAD);
  expect(
    op.output
      .strict()
      .parse(answer)
      .data.map((e) => e.health),
  ).toEqual([
    { state: "unknown", error_rate: 0, ttft_ms: null, tokens_per_second: null, out_for_ms: 0 },
    { state: "saturated", error_rate: 0.1235, ttft_ms: 322, tokens_per_second: 48.3, out_for_ms: 1501 },
  ]);
});
