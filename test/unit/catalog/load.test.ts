/** The shipped catalog loads; broken ones are refused with the line at fault; the last good one stays. */

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../../src/base/clock.ts";
import { problemText } from "../../../src/base/document/document.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import { CatalogError, loadCatalog, openCatalog } from "../../../src/catalog/models/catalog.ts";
import { type PriceVersions, storedPriceVersions } from "../../../src/catalog/models/price-versions.ts";
import { openStore, type Store } from "../../../src/store/store.ts";

const SHIPPED = join(import.meta.dirname, "../../../config");

const PROVIDERS = `providers:
  - id: sim
    name: Simulator
    base_url: \${SIMULATOR_URL}/v1
    dialects: [chat]
    simulated: true
    data_policy: { trains: false, retention_days: 0, zdr: true }
    regions: [local]
  - id: acme
    name: Acme
    base_url: https://api.acme.example/v1
    dialects: [chat]
    credential_env: [ACME_API_KEY, ACME_KEY]
    data_policy: { trains: false, retention_days: 30, zdr: false }
    regions: [eu, us]
    quirks: { max_tokens_field: max_tokens }
`;

const MODELS = `vendor: weir
models:
  - id: weir/small
    name: Small
    modalities: { in: [text], out: [text] }
    context: 1000
    max_output: 100
    capabilities: [tools]
    markup_bps: 500
    endpoints:
      - provider: sim
        upstream_model: small
        price: { input: 0.15, output: 0.60, cache_read: 0.075 }
      - provider: acme
        upstream_model: org/small_v1
        region: eu
        price: { input: 0.10, output: 0.40 }
`;

let dir: string;
let store: Store;
let nowMs: number;
let versions: PriceVersions;
const clock: Clock = { now: () => nowMs, monotonic: () => nowMs };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "weir-catalog-"));
  await mkdir(join(dir, "config/models"), { recursive: true });
  await write("providers.yaml", PROVIDERS);
  await write("models/weir.yaml", MODELS);
  nowMs = Date.parse("2026-07-02");
  store = openStore(join(dir, "data"));
  versions = storedPriceVersions(store, clock);
});

afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

const write = (file: string, text: string) => writeFile(join(dir, "config", file), text);

const options = (env: Record<string, string> = {}) => ({
  configDir: join(dir, "config"),
  env,
  simulatorUrl: "http://127.0.0.1:9",
  priceVersions: versions,
});

/** The problems as lines, relative to the config folder. */
async function refusal(): Promise<string[]> {
  try {
    await loadCatalog(options());
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return error.problems.map((p) => problemText({ ...p, file: relative(join(dir, "config"), p.file) }));
  }
  throw new Error("the catalog was accepted");
}

/** The line (1-based) on which a text first stands. */
const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split("\n").length;

describe("the shipped catalog", () => {
  const everything = async () => {
    const keyFile = join(dir, "key.json");
    const key = { type: "service_account", client_email: "weir@project.example", private_key: "secret" };
    await writeFile(keyFile, JSON.stringify(key));
    const providers = await readFile(join(SHIPPED, "providers.yaml"), "utf8");
    const named = providers.matchAll(/\b[A-Z][A-Z0-9_]+_(?:API_KEY|BEARER_TOKEN_BEDROCK)\b/g);
    return {
      ...Object.fromEntries([...named].map(([name]) => [name, "secret"])),
      GOOGLE_APPLICATION_CREDENTIALS: keyFile,
      GOOGLE_CLOUD_PROJECT: "project",
      AZURE_OPENAI_ENDPOINT: "https://acme.openai.azure.example",
      VLLM_BASE_URL: "http://127.0.0.1:8000/v1",
      OLLAMA_BASE_URL: "http://127.0.0.1:11434/v1",
    };
  };

  test("has every well-known provider's models, each endpoint priced", async () => {
    const catalog = await loadCatalog({ ...options(await everything()), configDir: SHIPPED });
    expect(catalog.models.size).toBeGreaterThan(80);
    expect([...catalog.providers.values()].filter((p) => p.status !== "active").map((p) => p.id)).toEqual([]);
    for (const model of catalog.models.values()) {
      expect(model.endpoints, model.id).not.toHaveLength(0);
      for (const { prices } of model.endpoints) {
        const charged = model.task === "rerank" ? [prices.input + (prices.searchUnit ?? 0)] : [prices.input];
        if (model.task === "generate") charged.push(prices.output);
        for (const price of charged) expect(Number.isSafeInteger(price) && price > 0, model.id).toBe(true);
        expect(prices.version).toMatch(/^pv_[0-9A-HJKMNP-TV-Z]{26}$/);
      }
    }
  });

  test("knows the names that clients send", async () => {
    const catalog = await loadCatalog({ ...options(), configDir: SHIPPED });
    for (const [name, id] of [
      ["claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"],
      ["claude-sonnet-4-20250514", "anthropic/claude-sonnet-4-0"],
      ["anthropic/claude-opus-4.5", "anthropic/claude-opus-4-5"],
      ["gpt-4o-2024-08-06", "openai/gpt-4o"],
      ["mistral-small-latest", "mistralai/mistral-small-2603"],
      ["codestral-2508", "mistralai/codestral-latest"],
    ])
      expect(catalog.meant(name as string).id).toBe(id);
  });

  test("serves one open-weight model from several providers", async () => {
    const catalog = await loadCatalog({ ...options(await everything()), configDir: SHIPPED });
    const providers = catalog.resolve("gpt-oss-120b")?.endpoints.map((e) => e.provider.id);
    expect(providers?.sort()).toEqual(["fireworks", "groq", "together"]);
    expect(catalog.resolve("gpt-oss-120b")).toBe(catalog.resolve("openai/gpt-oss-120b"));
  });

  test("without any credential has the simulator, and lists the rest as unreachable", async () => {
    const catalog = await loadCatalog({ ...options(), configDir: SHIPPED });
    const reachable = [...catalog.models.values()].filter((m) => m.endpoints.length > 0).map((m) => m.id);
    expect(reachable.filter((id) => !id.startsWith("weir/sim-"))).toEqual([]);
    expect(reachable).toEqual(
      expect.arrayContaining(["weir/sim-small", "weir/sim-embed", "weir/sim-rerank"]),
    );
    expect(catalog.resolve("openai/gpt-4.1")?.endpoints).toEqual([]);
    expect(catalog.unreachable("openai/gpt-4.1").map((e) => e.id)).toEqual(["ep_openai_gpt-4.1_global"]);
  });
});

describe("valid catalogs", () => {
  test("prices are integer nano-USD with the markup, rounded half up", async () => {
    const catalog = await loadCatalog(options());
    const [endpoint] = catalog.resolve("small")?.endpoints ?? [];
    expect(endpoint?.listPrices).toMatchObject({ input: 150, output: 600, cacheRead: 75 });
    // 150 × 1.05 = 157.5 and 75 × 1.05 = 78.75.
    expect(endpoint?.prices).toMatchObject({ input: 158, output: 630, cacheRead: 79 });
    expect(endpoint?.provider.baseUrl).toBe("http://127.0.0.1:9/v1");
  });

  test("endpoint ids keep only letters, digits, dots and dashes of each part", async () => {
    const catalog = await loadCatalog(options({ ACME_KEY: "k" }));
    expect(catalog.resolve("weir/small")?.endpoints.map((e) => e.id)).toEqual([
      "ep_sim_small_local",
      "ep_acme_org-small-v1_eu",
    ]);
    expect(catalog.resolve("weir/small")?.endpoints[1]?.upstreamModel).toBe("org/small_v1");
  });

  test("names are case-sensitive, and a bare name that two vendors share is none", async () => {
    const vendor = (id: string, name: string) =>
      MODELS.replaceAll("weir", id)
        .replace("/small", `/${name}`)
        .replaceAll("upstream_model: ", `upstream_model: ${id}-`);
    await write("models/other.yaml", vendor("other", "small2"));
    await write("models/third.yaml", vendor("third", "small"));
    const catalog = await loadCatalog(options());
    expect(catalog.resolve("weir/Small")).toBeUndefined();
    expect(catalog.resolve("small2")?.id).toBe("other/small2");
    expect(catalog.resolve("third/small")?.id).toBe("third/small");
    expect(catalog.resolve("small")).toBeUndefined();
  });

  test("aliases are found, also with a date, and change no price version", async () => {
    const before = (await loadCatalog(options())).resolve("small")?.endpoints[0]?.prices.version;
    await write(
      "models/weir.yaml",
      MODELS.replace("name: Small", "name: Small\n    aliases: [tiny, acme/tiny:v1]"),
    );
    const catalog = await loadCatalog(options());
    for (const name of ["tiny", "weir/tiny", "acme/tiny:v1", "tiny-2026-01-31"])
      expect(catalog.meant(name).id).toBe("weir/small");
    expect(catalog.resolve("small")).toMatchObject({
      aliases: ["tiny", "acme/tiny:v1"],
      endpoints: [{ prices: { version: before } }],
    });
  });

  test("T61: no serialiser or logger shows a provider's credential", async () => {
    const catalog = await loadCatalog(options({ ACME_API_KEY: " sk-very-secret\n" }));
    const acme = catalog.providers.get("acme");
    expect(acme?.keys[0]?.credential).toBe("sk-very-secret");
    for (const shown of [
      JSON.stringify(acme),
      inspect(acme),
      JSON.stringify({ ...acme }),
      inspect(catalog, { depth: 9 }),
    ]) {
      expect(shown).not.toContain("sk-very-secret");
    }
  });

  test("the first credential variable that is set and not blank wins", async () => {
    const both = await loadCatalog(options({ ACME_API_KEY: "  ", ACME_KEY: "second" }));
    expect(both.providers.get("acme")).toMatchObject({ status: "active", keys: [{ credential: "second" }] });
    const none = await loadCatalog(options({ ACME_API_KEY: "" }));
    expect(none.providers.get("acme")).toMatchObject({ status: "inactive", keys: [] });
  });
});

describe("refused catalogs, with file, line, column and pointer", () => {
  test("T29: an endpoint without a price", async () => {
    const broken = MODELS.replace("        price: { input: 0.10, output: 0.40 }\n", "");
    await write("models/weir.yaml", broken);
    const line = lineOf(broken, "- provider: acme");
    expect(await refusal()).toEqual([
      `models/weir.yaml:${line}:9 /models/0/endpoints/1/price: an endpoint needs a price in USD per million tokens, such as price: { input: 0.15, output: 0.60 }`,
    ]);
  });

  test("T29: a price of zero that does not say it is meant", async () => {
    await write("models/weir.yaml", MODELS.replace("input: 0.10", "input: 0"));
    const [problem] = await refusal();
    expect(problem).toMatch(
      /^models\/weir\.yaml:17:\d+ \/models\/0\/endpoints\/1\/price\/input: a price of 0 gives input tokens away/,
    );
    await write("models/weir.yaml", MODELS.replace("input: 0.10", "free: true, input: 0"));
    await loadCatalog(options());
  });

  test("a mistyped key, with the nearest known one", async () => {
    const broken = MODELS.replace("max_output", "max_ouput");
    await write("models/weir.yaml", broken);
    expect(await refusal()).toContain(
      `models/weir.yaml:${lineOf(broken, "max_ouput")}:5 /models/0/max_ouput: unknown key "max_ouput"; did you mean "max_output"?`,
    );
  });

  test("a mistyped key deep inside an endpoint", async () => {
    await write("models/weir.yaml", MODELS.replace("cache_read", "cached_read"));
    expect(await refusal()).toEqual([
      'models/weir.yaml:13:45 /models/0/endpoints/0/price/cached_read: unknown key "cached_read"; did you mean "cache_read"?',
    ]);
  });

  test("a wrong type", async () => {
    await write("models/weir.yaml", MODELS.replace("context: 1000", "context: lots"));
    expect(await refusal()).toEqual([
      expect.stringMatching(/^models\/weir\.yaml:6:\d+ \/models\/0\/context: .*expected (int|number)/),
    ]);
  });

  test("a repeated endpoint id, also across files, naming the first position", async () => {
    await write(
      "models/again.yaml",
      MODELS.replaceAll("weir", "again").replace("again/small", "again/other"),
    );
    expect(await refusal()).toEqual([
      expect.stringMatching(
        /^models\/weir\.yaml:12:25 \/models\/0\/endpoints\/0\/upstream_model: endpoint ep_sim_small_local stands already at .*again\.yaml:12$/,
      ),
      expect.stringContaining("endpoint ep_acme_org-small-v1_eu stands already at"),
    ]);
  });

  test("an unknown provider and an unknown region, with the nearest ones", async () => {
    await write(
      "models/weir.yaml",
      MODELS.replace("provider: acme", "provider: acne").replace("local", "lokal"),
    );
    expect(await refusal()).toEqual([
      'models/weir.yaml:14:19 /models/0/endpoints/1/provider: no provider "acne"; did you mean "acme"?',
    ]);
    await write("models/weir.yaml", MODELS.replace("region: eu", "region: eu1"));
    expect(await refusal()).toEqual([
      'models/weir.yaml:16:17 /models/0/endpoints/1/region: acme has no region "eu1"; did you mean "eu"?',
    ]);
    await write("models/weir.yaml", MODELS.replace("        region: eu\n", ""));
    expect((await refusal())[0]).toMatch(/^models\/weir\.yaml:14:9 .*needs a region: acme has eu, us$/);
  });

  test("limits that contradict each other, and a vendor that is not the file's", async () => {
    await write(
      "models/weir.yaml",
      MODELS.replace("max_output: 100", "max_output: 2000").replace("weir/small", "wear/small"),
    );
    const problems = await refusal();
    expect(problems).toContain(
      "models/weir.yaml:3:9 /models/0/id: this file's vendor is weir: expected weir/<model>",
    );
    expect(problems).toContain("models/weir.yaml:7:17 /models/0/max_output: exceeds the context of 1000");
  });

  test("a base URL with a credential, a slash at its end, or no URL at all; its text is not repeated", async () => {
    for (const url of ["https://user:hunter2@acme.example/v1", "https://acme.example/v1/", "acme hunter2"]) {
      await write("providers.yaml", PROVIDERS.replace("https://api.acme.example/v1", url));
      const [problem] = await refusal();
      expect(problem).toMatch(/^providers\.yaml:11:15 \/providers\/1\/base_url: /);
      expect(problem).not.toContain("hunter2");
    }
  });

  test("broken YAML, a missing file and an empty folder", async () => {
    await write("models/weir.yaml", `${MODELS}  - id: [\n`);
    expect((await refusal())[0]).toMatch(/^models\/weir\.yaml:\d+:\d+ /);
    await rm(join(dir, "config/models/weir.yaml"));
    await rm(join(dir, "config/providers.yaml"));
    expect(await refusal()).toEqual([
      "providers.yaml:1:1 cannot be read (ENOENT)",
      "models:1:1 no model file (*.yaml) in this folder",
    ]);
  });
});

describe("reload", () => {
  test("T30: a broken file keeps the last good catalog and reports; a mended one takes over", async () => {
    const catalog = await openCatalog(options());
    const good = catalog.current();
    await write("models/weir.yaml", MODELS.replace("        price: { input: 0.10, output: 0.40 }\n", ""));
    const result = await catalog.reload();
    expect(result.ok ? [] : result.problems.map((p) => p.pointer)).toEqual(["/models/0/endpoints/1/price"]);
    expect(catalog.current()).toBe(good);
    await write("models/weir.yaml", MODELS.replace("input: 0.15", "input: 0.25"));
    expect(await catalog.reload()).toEqual({ ok: true });
    expect(catalog.current().resolve("small")?.endpoints[0]?.listPrices.input).toBe(250);
  });

  test("of several simultaneous reloads the last one wins", async () => {
    const catalog = await openCatalog(options());
    const reloads = [catalog.reload(), catalog.reload()];
    await write("models/weir.yaml", MODELS.replace("input: 0.15", "input: 0.35"));
    await Promise.all([...reloads, catalog.reload()]);
    expect(catalog.current().resolve("small")?.endpoints[0]?.listPrices.input).toBe(350);
  });

  test("T30: versions are stable while prices are, over restarts too; a changed price gets a new one", async () => {
    const versionOf = async () =>
      (await loadCatalog(options())).resolve("small")?.endpoints[0]?.prices.version;
    const first = await versionOf();
    nowMs += DAY_MS;
    await store.close();
    store = openStore(join(dir, "data"));
    versions = storedPriceVersions(store, clock);
    expect(await versionOf()).toBe(first);

    await write("models/weir.yaml", MODELS.replace("input: 0.15", "input: 0.25"));
    const second = await versionOf();
    expect(second).not.toBe(first);
    // Back to the old price: another span of time, so another version.
    nowMs += DAY_MS;
    await write("models/weir.yaml", MODELS);
    const third = await versionOf();
    expect(
      versions.history("ep_sim_small_local").map((v) => [v.version, v.listPrices.input, v.fromMs]),
    ).toEqual([
      [third, 150, nowMs],
      [second, 250, nowMs - DAY_MS],
      [first, 150, nowMs - 2 * DAY_MS],
    ]);
    expect((await loadCatalog(options())).priceChangedMs("ep_sim_small_local")).toBe(nowMs);
    expect((await loadCatalog(options())).priceChangedMs("ep_acme_org-small-v1_eu")).toBeUndefined();
  });

  test("the price history outlives an endpoint that loses its credential", async () => {
    const before = (await loadCatalog(options({ ACME_KEY: "k" }))).resolve("small")?.endpoints[1];
    const [without] = (await loadCatalog(options())).unreachable("weir/small");
    expect([before?.id, without?.id]).toEqual(["ep_acme_org-small-v1_eu", "ep_acme_org-small-v1_eu"]);
    expect(without?.prices.version).toBe(before?.prices.version);
    expect(without?.provider.status).toBe("inactive");
  });
});

test("the shipped files survive a copy into another folder (no path is built in)", async () => {
  await cp(SHIPPED, join(dir, "copy"), { recursive: true });
  const catalog = await loadCatalog({ ...options(), configDir: join(dir, "copy") });
  expect(catalog.models.has("weir/sim-small")).toBe(true);
  expect(await readFile(join(dir, "copy/models/openai.yaml"), "utf8")).toContain("2026-07-02");
});
