/** `GET /v1/providers`: what the catalog's file says of each, and a digest that changes with the content and with nothing else. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadCatalog } from "../../../src/catalog/models/catalog.ts";
import { storedPriceVersions } from "../../../src/catalog/models/price-versions.ts";
import { providerOperations } from "../../../src/catalog/models/provider-operations.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { caller } from "../../support/analytics/records.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";

let folder: string;
const stores: Store[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-providers-"));
  mkdirSync(join(folder, "models"));
});
afterAll(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

const PROVIDERS = (more: string) => `providers:
  - id: near
    name: Near Inc.
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    data_policy: { trains: false, retention_days: 30, zdr: false }
    regions: [eu, us]
${more}
  - id: far
    name: Far Inc.
    base_url: http://127.0.0.1:9/v1
    dialects: [chat]
    credential_env: [FAR_KEY]
    data_policy: { trains: true, retention_days: 0, zdr: false }
    regions: [eu]
`;
const MODEL = (price: number) => `vendor: v
models:
  - id: v/m
    name: M
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: []
    endpoints:
      - { provider: near, upstream_model: m, region: eu, price: { input: ${price}, output: 4 } }
      - { provider: near, upstream_model: m, region: us, price: { input: 1, output: 4 } }
      - { provider: far, upstream_model: m, price: { input: 1, output: 4 } }
`;

/** As a gateway with a store of its own lists them. */
async function listed(more = "", price = 1, env: Record<string, string> = {}) {
  writeFileSync(join(folder, "providers.yaml"), PROVIDERS(more));
  writeFileSync(join(folder, "models/v.yaml"), MODEL(price));
  const store = openStore(mkdtempSync(join(folder, "data-")));
  stores.push(store);
  const priceVersions = storedPriceVersions(store, { now: () => Date.now(), monotonic: () => 0 });
  const snapshot = await loadCatalog({ configDir: folder, env, simulatorUrl: undefined, priceVersions });
  const { listProviders } = providerOperations({ catalog: { current: () => snapshot } });
  const input = { params: undefined, query: undefined, body: undefined };
  const answer = await listProviders.run(input, caller(), NO_HEAD);
  return JSON.parse((answer as { content: { bytes: { body: string } } }).content.bytes.body);
}

test("each has its data policy, regions, terms, and how many endpoints can be reached", async () => {
  const terms = "    terms_url: https://near.example/terms\n    verified_at: 2026-03-01";
  expect(await listed(terms)).toEqual({
    object: "list",
    data: [
      {
        id: "near",
        name: "Near Inc.",
        trains: false,
        retention_days: 30,
        zdr: false,
        regions: ["eu", "us"],
        status: "active",
        terms_url: "https://near.example/terms",
        endpoints: 2,
        verified_at: "2026-03-01",
      },
      {
        id: "far",
        name: "Far Inc.",
        trains: true,
        retention_days: 0,
        zdr: false,
        regions: ["eu"],
        status: "inactive",
        terms_url: "",
        endpoints: 0,
        verified_at: null,
      },
    ],
    snapshot: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test("the digest is the same for the same content, and another for another", async () => {
  const digests = [
    await listed(),
    await listed(),
    await listed("", 2),
    await listed("    verified_at: 2026-03-01"),
    await listed("", 1, { FAR_KEY: "a secret" }),
  ].map(({ snapshot }) => snapshot);
  expect(digests[1]).toBe(digests[0]);
  expect(new Set(digests).size).toBe(4);
});

test.each(["2026-13-01", "yesterday", "2026-3-1", "12"])("verified_at: %s is refused", async (day) => {
  await expect(listed(`    verified_at: "${day}"`)).rejects.toThrow("verified_at");
});
