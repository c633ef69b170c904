/** `GET /v1/operator/providers`: what is told of credentials, keys, endpoints and refusals, and how much of it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { platformKey } from "../../../../src/base/provider-key.ts";
import {
  type KeyRest,
  type OperatorHealth,
  type OperatorProviderDeps,
  operatorProviderOperations,
  type ProviderRefusal,
} from "../../../../src/catalog/operator/provider-operations.ts";
import { refusalsOf } from "../../../../src/host/gateway/operator-providers.ts";
import { caller } from "../../../support/analytics/records.ts";
import { CatalogWorld, modelFile, near } from "../../../support/catalog/world.fixtures.ts";
import { NO_HEAD } from "../../../support/http-head.fixtures.ts";

const EU = "ep_near_m_eu";
const US = "ep_near_m_us";
const WELL: OperatorHealth = {
  state: "healthy",
  errorRate: 0,
  outForMs: 0,
  lastFailure: "",
  ttftMs: 120.4,
  tokensPerSecond: 33.333,
};

let world: CatalogWorld;
let health: Map<string, OperatorHealth>;
let rests: Map<string, KeyRest>;
let ports: Partial<OperatorProviderDeps>;
beforeEach(async () => {
  world = new CatalogWorld();
  world.write(modelFile([near("eu", 1), near("us", 2)]));
  await world.open();
  [health, rests, ports] = [new Map(), new Map(), {}];
});
afterEach(() => world.end());

const operations = () =>
  operatorProviderOperations({
    catalog: world.catalog,
    clock: world.time,
    healthOf: ({ id }) => health.get(id),
    downSinceMs: () => undefined,
    restOf: ({ id }, key) => rests.get(`${id} ${key.id}`),
    orgKeysOf: () => 3,
    refusals: async () => [],
    cell: "cell_a",
    ...ports,
  });

async function list() {
  const { operatorListProviders: op } = operations();
  const input = { params: undefined, query: undefined, body: undefined };
  return op.output.parse(await op.run(input, caller(), NO_HEAD));
}

async function read(id = "near") {
  const { operatorGetProvider: op } = operations();
  return op.output.parse(
    await op.run({ params: { id }, query: undefined, body: undefined }, caller(), NO_HEAD),
  );
}

const iso = (afterMs: number) => new Date(world.time.now() + afterMs).toISOString();

describe("a provider", () => {
  test("of which nothing is known yet is told with what the catalog says", async () => {
    const { data, cell, analytics } = await list();
    expect([cell, analytics]).toEqual(["cell_a", true]);
    expect(data).toEqual([
      {
        id: "near",
        name: "Near Inc.",
        status: "active",
        switched_off: false,
        simulated: false,
        dialects: ["chat"],
        regions: ["eu", "us"],
        missing: [],
        variables: [],
        keys: [{ id: "near/1", status: "ready", resting_at: 0, until: null, why: null }],
        org_keys: 3,
        models: 1,
        endpoints: 2,
        configured_endpoints: 2,
        states: { healthy: 0, degraded: 0, failing: 0, saturated: 0, unknown: 2 },
        troubled: [],
        refusals: [],
      },
    ]);
  });

  test("has its endpoints in trouble, the worst first, with the reason; alone, all of them", async () => {
    const failing = { ...WELL, state: "failing" as const, errorRate: 0.95432, lastFailure: "timeout" };
    health = new Map<string, OperatorHealth>([
      [EU, failing],
      [US, { ...WELL, state: "saturated", outForMs: 1500.2, lastFailure: "capacity" }],
    ]);
    ports = { downSinceMs: ({ id }: Endpoint) => (id === EU ? world.time.monotonic() - 5000 : undefined) };
    rests = new Map([[`${US} near/1`, { why: "capacity", forMs: 1500.2 }]]);
    const [near] = (await list()).data;
    expect(near?.troubled).toEqual([
      {
        id: US,
        model: "real/model",
        region: "us",
        status: "active",
        state: "saturated",
        error_rate: 0,
        out_until: iso(1501),
        last_failure: "capacity",
        down_since: null,
        ttft_ms: 120,
        tokens_per_second: 33.3,
        resting_keys: [{ key_id: "near/1", until: iso(1501), why: "capacity" }],
      },
      expect.objectContaining({
        id: EU,
        error_rate: 0.9543,
        out_until: null,
        last_failure: "timeout",
        down_since: iso(-5000),
        resting_keys: [],
      }),
    ]);
    expect(near?.keys).toEqual([
      { id: "near/1", status: "resting", resting_at: 1, until: iso(1501), why: "capacity" },
    ]);
    expect(near?.states).toEqual({ healthy: 0, degraded: 0, failing: 1, saturated: 1, unknown: 0 });
    health.set(US, WELL);
    expect((await list()).data[0]?.troubled.map(({ id }) => id)).toEqual([EU]);
    expect((await read()).all_endpoints.map(({ id }) => id)).toEqual([EU, US]);
  });

  test("whose key it does not accept anywhere says so, though other reasons hold at some endpoints", async () => {
    rests = new Map([
      [`${EU} near/1`, { why: "forbidden", forMs: 90_000 }],
      [`${US} near/1`, { why: "refused", forMs: 60_000 }],
    ]);
    expect((await read()).keys).toEqual([
      { id: "near/1", status: "refused", resting_at: 2, until: iso(90_000), why: "refused" },
    ]);
  });

  test("is told in short in the list: ten endpoints, 20 refusals; alone, 500 endpoints", async () => {
    world.write(
      `vendor: big\nmodels:\n${Array.from({ length: 600 }, (_, i) =>
        modelFile([near("eu", 1)])
          .split("\n")
          .slice(2)
          .join("\n")
          .replaceAll("real/model", `big/m${i}`)
          .replace("upstream_model: m,", `upstream_model: m${i},`),
      ).join("")}`,
      "big",
    );
    await world.restart();
    ports = {
      healthOf: () => ({ ...WELL, state: "degraded", errorRate: 0.5 }),
      refusals: async () =>
        Array.from({ length: 40 }, (_, i) => ({ ...refused, httpStatus: 400 + i, attempts: 40 - i })),
    };
    const [near_] = (await list()).data;
    expect([near_?.troubled.length, near_?.refusals.length, near_?.endpoints]).toEqual([10, 20, 602]);
    const alone = await read();
    expect([alone.all_endpoints.length, alone.configured_endpoints, alone.models]).toEqual([500, 602, 601]);
  });

  test("without figures has health, and the answer says that refusals are missing", async () => {
    health.set(EU, WELL);
    ports = { refusals: async () => undefined };
    const { data, analytics } = await list();
    expect([analytics, data[0]?.states.healthy, data[0]?.refusals]).toEqual([false, 1, []]);
    expect((await read()).analytics).toBe(false);
  });

  test("that there is not is not found", async () => {
    await expect(read("nobody")).rejects.toMatchObject({ kind: "not_found" });
  });
});

const refused: ProviderRefusal = {
  provider: "near",
  meaning: "rate_limit",
  row: "openai.rate_limit",
  httpStatus: 429,
  errorClass: "capacity",
  attempts: 1,
  ownKey: 0,
  lastMs: 1000,
  lastCode: "rate_limit_exceeded",
};

describe("refusals", () => {
  const row = {
    provider: "near",
    refusal: "",
    outcome: "http_error" as const,
    httpStatus: 400,
    errorClass: "client" as const,
    upstreamCode: "odd",
    attempts: 2,
    ownKey: 1,
    lastMs: 1000,
  };

  test("are one for each meaning and status, with the code of the newest", () => {
    const limited = {
      ...row,
      refusal: "http.too_many_requests",
      outcome: "rate_limited",
      httpStatus: 429,
    } as const;
    const capacity = { ...limited, errorClass: "capacity", upstreamCode: "" } as const;
    const found = refusalsOf([
      row,
      { ...row, upstreamCode: "odder", lastMs: 2000, ownKey: 0 },
      { ...row, outcome: "http_error", httpStatus: 503, errorClass: "server", upstreamCode: "" },
      { ...capacity, attempts: 9 },
      { ...row, provider: "far" },
    ]);
    expect(
      found.map((one) => [one.provider, one.meaning, one.httpStatus, one.attempts, one.ownKey, one.lastCode]),
    ).toEqual([
      ["near", "rate_limit", 429, 9, 1, ""],
      ["near", "unmatched", 400, 4, 1, "odder"],
      ["near", "fault", 503, 2, 1, ""],
      ["far", "unmatched", 400, 2, 1, "odd"],
    ]);
  });

  test("of a row of the table have its meaning", () => {
    const [quota] = refusalsOf([{ ...row, refusal: "openai.quota", httpStatus: 429 }]);
    expect(quota).toMatchObject({ meaning: "quota", row: "openai.quota" });
    // A row of another release.
    expect(refusalsOf([{ ...row, refusal: "openai.gone" }])[0]?.meaning).toBe("unmatched");
  });
});

test("no credential is in an answer", async () => {
  const snapshot = world.catalog.current();
  const key = platformKey("near", 1, "sk-a-very-secret-credential");
  const provider = { ...snapshot.providers.get("near"), keys: [key] };
  const providers = new Map([["near", provider]]);
  ports = { catalog: { current: () => ({ ...snapshot, providers }) as unknown as typeof snapshot } };
  const text = JSON.stringify([await list(), await read()]);
  expect(text).not.toMatch(/secret|tial/);
  expect(text).toContain("near/1");
});
