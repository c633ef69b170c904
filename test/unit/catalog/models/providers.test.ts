/** Providers and models as data: dialects, addresses, credentials, prices of every task; what is refused, with its place. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { CatalogError, type CatalogSnapshot, loadCatalog } from "../../../../src/catalog/models/catalog.ts";
import type { PriceVersions } from "../../../../src/catalog/models/price-versions.ts";

type Entry = Record<string, unknown>;

const PROVIDER: Entry = {
  id: "acme",
  name: "Acme",
  base_url: "https://api.acme.example/v1",
  dialects: ["chat", "messages", "cohere"],
  data_policy: { trains: false, retention_days: 30, zdr: false },
  regions: ["global", "eu"],
};

const MODEL: Entry = {
  id: "acme/rocket",
  name: "Rocket",
  modalities: { in: ["text"], out: ["text"] },
  context: 1000,
  max_output: 100,
  capabilities: [],
};

const ENDPOINT: Entry = {
  provider: "acme",
  upstream_model: "rocket-1",
  region: "global",
  price: { input: 1, output: 2 },
};

/** Every endpoint its first version. */
const versions: PriceVersions = {
  assign: async (endpoints) =>
    new Map(endpoints.map((e) => [e.endpointId, { version: "pv_1", changedMs: undefined }])),
  history: () => [],
};

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "weir-providers-"));
  await mkdir(join(dir, "models"));
});

afterEach(() => rm(dir, { recursive: true }));

interface Given {
  provider?: Entry;
  model?: Entry;
  endpoint?: Entry;
  file?: Entry;
  env?: Record<string, string>;
}

async function load(given: Given = {}) {
  const model = { ...MODEL, ...given.model, endpoints: [{ ...ENDPOINT, ...given.endpoint }] };
  await writeFile(
    join(dir, "providers.yaml"),
    stringify({ providers: [{ ...PROVIDER, ...given.provider }] }),
  );
  await writeFile(
    join(dir, "models/acme.yaml"),
    stringify({ vendor: "acme", ...given.file, models: [model] }),
  );
  return loadCatalog({
    configDir: dir,
    env: given.env ?? {},
    simulatorUrl: undefined,
    priceVersions: versions,
  });
}

const endpointOf = async (given: Given) => {
  const id = `ep_acme_rocket-1_${String(given.endpoint?.region ?? "global")}`;
  return endpointIn(await load(given), id);
};

function endpointIn(catalog: CatalogSnapshot, id: string): Endpoint {
  const all = [...catalog.models.values()].flatMap((model) => [
    ...model.endpoints,
    ...catalog.unreachable(model.id),
  ]);
  const endpoint = all.find((one) => one.id === id);
  if (endpoint === undefined) throw new Error("no such endpoint");
  return endpoint;
}

async function refusal(given: Given): Promise<string[]> {
  try {
    await load(given);
  } catch (error) {
    if (error instanceof CatalogError) return error.problems.map((p) => `${p.pointer}: ${p.message}`);
    throw error;
  }
  throw new Error("the catalog was accepted");
}

const EMBED: Entry = { task: "embed", modalities: { in: ["text"], out: [] }, max_output: undefined };
const RERANK: Entry = { ...EMBED, task: "rerank" };

describe("dialects", () => {
  test("an endpoint has its provider's dialects for its model's task", async () => {
    expect((await endpointOf({})).dialects).toEqual(["chat", "messages"]);
    const embed = await endpointOf({ model: EMBED, endpoint: { price: { input: 1 } } });
    expect(embed).toMatchObject({ task: "embed", dialects: ["cohere"], maxOutput: 0 });
  });

  test("or its own instead, in its own order", async () => {
    const { dialects } = await endpointOf({ endpoint: { dialects: ["messages", "responses"] } });
    expect(dialects).toEqual(["messages", "responses"]);
  });

  test("one that the task is not asked in is refused, and a provider that speaks none", async () => {
    expect(await refusal({ endpoint: { dialects: ["cohere"] } })).toEqual([
      "/models/0/endpoints/0/dialects: nothing is asked to generate in cohere",
    ]);
    const price = { search_unit: 1 };
    expect(await refusal({ provider: { dialects: ["chat"] }, model: RERANK, endpoint: { price } })).toEqual([
      "/models/0/endpoints/0/provider: acme speaks chat: nothing is asked to rerank in these",
    ]);
  });

  test("none, an unknown one and one named twice are refused", async () => {
    expect((await refusal({ provider: { dialects: [] } }))[0]).toContain("name at least one dialect");
    expect((await refusal({ provider: { dialects: ["chat", "chat"] } }))[0]).toContain("stands twice");
    expect((await refusal({ provider: { dialects: ["chad"] } }))[0]).toMatch(
      /^\/providers\/0\/dialects\/0: /,
    );
    const paths = { gemini: { call: "/x" } };
    expect(await refusal({ provider: { paths } })).toEqual([
      "/providers/0/paths/gemini: acme does not speak gemini: add it to dialects",
    ]);
  });
});

describe("prices", () => {
  test("T32: cache writes for five minutes and for an hour are priced apart", async () => {
    const price = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 };
    const { prices } = await endpointOf({ endpoint: { price, markup_bps: 1000 } });
    expect(prices).toMatchObject({ cacheRead: 330, cacheWrite: 4125, cacheWrite1h: 6600 });
  });

  test("a search unit is listed by the thousand, an image and a call one by one", async () => {
    const rerank = await endpointOf({ model: RERANK, endpoint: { price: { search_unit: 2 } } });
    expect(rerank.prices).toMatchObject({ input: 0, output: 0, searchUnit: 2_000_000 });
    const each = await endpointOf({
      endpoint: { price: { input: 1, output: 2, image: 0.00255, request: 0.005 } },
    });
    expect(each.prices).toMatchObject({ image: 2_550_000, request: 5_000_000 });
  });

  test("T29: what a task bills must have a price, and a zero must say that it is meant", async () => {
    const at = "/models/0/endpoints/0/price";
    expect(await refusal({ endpoint: { price: { input: 1 } } })).toEqual([
      `${at}: a model that is asked to generate needs output`,
    ]);
    expect(await refusal({ model: EMBED, endpoint: { price: { output: 1 } } })).toEqual([
      `${at}: a model that is asked to embed needs input`,
    ]);
    expect((await refusal({ model: RERANK, endpoint: { price: { output: 1 } } }))[0]).toContain(
      "needs search_unit",
    );
    expect(await refusal({ model: RERANK, endpoint: { price: { search_unit: 0 } } })).toEqual([
      `${at}/search_unit: a price of 0 gives search units away; add free: true if that is meant`,
    ]);
    await load({ model: RERANK, endpoint: { price: { search_unit: 0, free: true } } });
    await load({ model: EMBED, endpoint: { price: { input: 1, output: 0 } } });
  });

  test("S3: a tier has each line that is dearer than the tokens it would else count as", async () => {
    const us = { input: 2, output: 4 };
    const cached = { input: 1, output: 2, cache_write: 1.25, cache_write_1h: 2, reasoning: 3 };
    const at = "/models/0/endpoints/0/price/tiers/us: ";
    expect(await refusal({ endpoint: { price: { ...cached, tiers: { us } } } })).toEqual(
      ["cache_write", "cache_write_1h", "reasoning"].map(
        (key) =>
          `${at}the standard price has ${key}, so a tier needs it too: it would be charged as cheaper tokens`,
      ),
    );
    const whole = { ...us, cache_write: 2.5, cache_write_1h: 4, reasoning: 6 };
    await load({ endpoint: { price: { ...cached, tiers: { us: whole } } } });
    // Without a price of their own, tokens read from the cache count as fresh ones.
    await load({ endpoint: { price: { input: 1, output: 2, cache_read: 0.1, tiers: { us } } } });
  });

  test("a model that generates needs its bound and its capabilities; others need neither", async () => {
    expect(await refusal({ model: { max_output: undefined, capabilities: undefined } })).toEqual([
      "/models/0: a model that generates needs max_output",
      "/models/0: a model that generates needs capabilities",
    ]);
    await load({ model: { ...EMBED, capabilities: undefined }, endpoint: { price: { input: 1 } } });
  });
});

test("the tokenizer is the file's unless the model names its own; an image's bound the endpoint's, else the model's", async () => {
  const plain = await load();
  expect(plain.resolve("rocket")?.tokenizer).toBe("");
  expect(endpointIn(plain, "ep_acme_rocket-1_global").imageTokens).toBe(3200);
  const file = { tokenizer: "o200k_base" };
  expect((await load({ file })).resolve("rocket")?.tokenizer).toBe("o200k_base");
  const own = { tokenizer: "cl100k_base", image_tokens: 5000 };
  expect((await load({ file, model: own })).resolve("rocket")?.tokenizer).toBe("cl100k_base");
  expect((await endpointOf({ model: own })).imageTokens).toBe(5000);
  expect((await endpointOf({ model: own, endpoint: { image_tokens: 9000 } })).imageTokens).toBe(9000);
  expect((await refusal({ file: { tokenizer: "mine" } }))[0]).toMatch(/^\/tokenizer: /);
});

describe("addresses", () => {
  test("a variable that is not set leaves the provider inactive, its models unreachable", async () => {
    const provider = { base_url: `\${ACME_URL}/v1` };
    expect((await load({ provider })).providers.get("acme")?.status).toBe("inactive");
    const env = { ACME_URL: "http://10.0.0.5:8000/" };
    expect((await load({ provider, env })).providers.get("acme")).toMatchObject({
      status: "active",
      baseUrl: "http://10.0.0.5:8000/v1",
    });
  });

  test("a region may have its own URL, which is checked like base_url", async () => {
    const base_url = "https://{region}.acme.example";
    const provider = { base_url, region_urls: { global: `https://acme.example/\${ACME_PROJECT}` } };
    expect((await load({ provider })).providers.get("acme")?.status).toBe("inactive");
    const env = { ACME_PROJECT: "p1" };
    expect((await load({ provider, env })).providers.get("acme")?.regionUrls).toEqual({
      global: "https://acme.example/p1",
    });
    expect(await refusal({ provider: { region_urls: { mars: "https://acme.example" } } })).toEqual([
      "/providers/0/region_urls/mars: is none of acme's regions",
    ]);
    expect(await refusal({ provider: { region_urls: { eu: "https://u:hunter2@acme.example" } } })).toEqual([
      "/providers/0/region_urls/eu: must hold no credential; use credential_env",
    ]);
  });

  test("headers that the gateway writes are not for the file", async () => {
    const headers = { "x-acme-version": "2", authorization: "Bearer hunter2" };
    expect(await refusal({ provider: { headers } })).toEqual([
      "/providers/0/headers/authorization: is written by the gateway itself",
    ]);
  });

  test.each(["keep-alive", "te", "trailer"])(
    "nor is %s, which the connection refuses in each call",
    async (header) => {
      expect(await refusal({ provider: { headers: { [header]: "x" } } })).toEqual([
        `/providers/0/headers/${header}: is written by the gateway itself`,
      ]);
    },
  );
});

test.each(["host", "content-length", "transfer-encoding"])(
  "a credential is not sent as %s, which the gateway writes",
  async (header) => {
    expect(await refusal({ provider: { auth: { header } } })).toEqual([
      "/providers/0/auth/header: is written by the gateway itself",
    ]);
  },
);

describe("credentials", () => {
  test("AWS: a bearer token, else its standard variables; half a pair is ignored", async () => {
    const provider = { auth: "aws_sigv4", credential_env: ["AWS_BEARER_TOKEN_BEDROCK"] };
    const acme = async (env: Record<string, string>) => (await load({ provider, env })).providers.get("acme");
    expect((await acme({}))?.status).toBe("inactive");
    expect((await acme({ AWS_ACCESS_KEY_ID: "AKIA1" }))?.status).toBe("inactive");
    const keys = {
      AWS_ACCESS_KEY_ID: "AKIA1",
      AWS_SECRET_ACCESS_KEY: "hunter2",
      AWS_SESSION_TOKEN: "session",
    };
    expect(await acme({ ...keys, AWS_REGION: "eu-west-1" })).toMatchObject({
      status: "active",
      auth: { scheme: "aws_sigv4", region: "eu-west-1" },
      keys: [{ credential: { accessKeyId: "AKIA1", secretAccessKey: "hunter2", sessionToken: "session" } }],
    });
    const bearer = await acme({ ...keys, AWS_BEARER_TOKEN_BEDROCK: "token" });
    expect(bearer?.keys.map((key) => key.credential)).toEqual(["token"]);
  });

  test("Google: the variable names a key file; its faults are reported, its content is not", async () => {
    const keyFile = join(dir, "key.json");
    const provider = { auth: "google_oauth", credential_env: ["ACME_KEY_FILE"] };
    const env = { ACME_KEY_FILE: keyFile };
    const at = "/providers/0/credential_env: the file that ACME_KEY_FILE names";
    expect((await load({ provider })).providers.get("acme")?.status).toBe("inactive");
    expect(await refusal({ provider, env })).toEqual([`${at} cannot be read`]);
    const cases: [string, string][] = [
      ["hunter2", "is no JSON"],
      [
        '{"type":"authorized_user","private_key":"hunter2"}',
        'is no service account\'s key (its "type" says otherwise)',
      ],
      ['{"type":"service_account","private_key":"hunter2"}', "lacks client_email or private_key"],
      [
        '{"type":"service_account","client_email":"a","private_key":"hunter2","token_uri":"http://acme.example"}',
        "has a token_uri that is no https URL",
      ],
    ];
    for (const [text, message] of cases) {
      await writeFile(keyFile, text);
      expect(await refusal({ provider, env })).toEqual([`${at} ${message}`]);
    }
    // Its address waits for a variable: the provider is not in use, and its key file is nobody's concern.
    await load({ provider: { ...provider, base_url: `\${ACME_URL}` }, env });
    await writeFile(keyFile, '{"type":"service_account","client_email":"a@b","private_key":"hunter2"}');
    const [key] = (await load({ provider, env })).providers.get("acme")?.keys ?? [];
    expect(key?.credential).toMatchObject({ kind: "service_account", clientEmail: "a@b" });
  });

  test("NAME_2 to NAME_16 form a pool with NAME; gaps and repetitions are none, and each keeps its number", async () => {
    const provider = { credential_env: ["ACME_KEY", "ACME_OTHER"] };
    const keysOf = async (env: Record<string, string>) =>
      (await load({ provider, env })).providers.get("acme")?.keys.map((key) => [key.id, key.credential]);
    const env = { ACME_KEY: "first", ACME_KEY_2: " ", ACME_KEY_3: "third", ACME_KEY_4: "first" };
    expect(await keysOf({ ...env, ACME_KEY_16: "last", ACME_KEY_17: "beyond", ACME_KEY_03: "no" })).toEqual([
      ["acme/1", "first"],
      ["acme/3", "third"],
      ["acme/16", "last"],
    ]);
    // The pool is of one name: the other's are left alone.
    expect(await keysOf({ ACME_KEY_2: "second", ACME_OTHER: "other" })).toEqual([["acme/2", "second"]]);
    expect(await keysOf({ ACME_OTHER: "other", ACME_OTHER_2: "more" })).toEqual([
      ["acme/1", "other"],
      ["acme/2", "more"],
    ]);
  });

  test("a variable that another provider names never joins a pool: its key would go to the wrong place", async () => {
    const env = { ACME_KEY: "mine", ACME_KEY_2: "theirs" };
    const provider = { credential_env: ["ACME_KEY"] };
    const alone = await load({ provider, env });
    expect(alone.providers.get("acme")?.keys).toHaveLength(2);
    const own = { credential_env: ["ACME_KEY", "ACME_KEY_2"] };
    const chosen = await load({ provider: own, env });
    expect(chosen.providers.get("acme")?.keys.map((key) => key.credential)).toEqual(["mine"]);
  });

  test("pairs of AWS and key files of Google form pools likewise; each broken file is reported with its variable", async () => {
    const env = {
      AWS_ACCESS_KEY_ID: "AKIA1111",
      AWS_SECRET_ACCESS_KEY: "s1",
      AWS_ACCESS_KEY_ID_2: "AKIA2222",
      AWS_SECRET_ACCESS_KEY_2: "s2",
      AWS_SESSION_TOKEN_2: "t2",
      AWS_ACCESS_KEY_ID_3: "AKIA3333",
    };
    const aws = (await load({ provider: { auth: "aws_sigv4" }, env })).providers.get("acme");
    expect(aws?.keys).toMatchObject([
      { id: "acme/1", poolId: "pool_acme", hint: "1111", isByok: false },
      { id: "acme/2", hint: "2222", credential: { sessionToken: "t2" } },
    ]);
    const keyFile = join(dir, "pool.json");
    await writeFile(keyFile, '{"type":"service_account","client_email":"a@b","private_key":"hunter2"}');
    const google = { auth: "google_oauth", credential_env: ["ACME_KEY_FILE"] };
    const files = { ACME_KEY_FILE: keyFile, ACME_KEY_FILE_2: join(dir, "none.json") };
    expect(await refusal({ provider: google, env: files })).toEqual([
      "/providers/0/credential_env: the file that ACME_KEY_FILE_2 names cannot be read",
    ]);
  });

  test("T61: one of several parts is shown by no serialiser or logger either", async () => {
    const provider = { auth: "aws_sigv4" };
    const env = { AWS_ACCESS_KEY_ID: "AKIA1", AWS_SECRET_ACCESS_KEY: "hunter2" };
    const catalog = await load({ provider, env });
    const acme = catalog.providers.get("acme");
    for (const shown of [
      JSON.stringify(acme),
      inspect(acme),
      JSON.stringify({ ...acme }),
      inspect(catalog, { depth: 9 }),
    ]) {
      expect(shown).not.toMatch(/hunter2|AKIA1/);
    }
  });

  test("your own server may have a key or none", async () => {
    const provider = { credential_env: ["ACME_KEY"], credential_optional: true };
    const without = (await load({ provider })).providers.get("acme");
    expect(without).toMatchObject({ status: "active", keys: [{ id: "acme/1", hint: "" }] });
    expect(without?.keys[0]?.credential).toBeUndefined();
    const env = { ACME_KEY: "k" };
    expect((await load({ provider, env })).providers.get("acme")?.keys[0]?.credential).toBe("k");
  });
});
