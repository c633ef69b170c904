/** What one tenant's prompts make a provider answer takes no key from anybody: the gateway asks the provider itself. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { type Asked, startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";
import { until } from "../../support/wait.ts";

/** A provider for each test, so that none finds what another left. */
const POOLS = [
  "p403",
  "p401",
  "p402",
  "p400",
  "p429",
  "stream",
  "held",
  "revoked",
  "forbidden",
  "told",
  "pair",
  "away",
  "texts",
] as const;
type Pool = (typeof POOLS)[number];
const variableOf = (pool: string): string => `PROBES_TEST_${pool.toUpperCase()}`;
/** A second key of its pool. */
const SECOND = `${variableOf("pair")}_2`;
const UNPAID = { message: "Insufficient balance.", type: "insufficient_quota", code: "insufficient_quota" };
const COMPLETION = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
};

let provider: TestProvider;
let gateway: TestGateway;
/** What the provider does to each call; undefined: 200. */
let refusal: (asked: Asked) => { status: number; error: object } | undefined;
/** The provider's answers to the gateway's own questions wait for it. */
let held: Promise<void>;

const isPoison = ({ body }: Asked): boolean => body.includes("POISON");
const isClean = ({ body }: Asked): boolean => body.includes("clean");
const probes = (): Asked[] => provider.asked.filter((asked) => !isPoison(asked) && !isClean(asked));

beforeAll(async () => {
  for (const pool of POOLS) process.env[variableOf(pool)] = `sk-${pool}-0001`;
  process.env[SECOND] = "sk-pair-0002";
  provider = await startProvider();
  provider.answer = async (asked, response) => {
    if (!isPoison(asked) && !isClean(asked)) await held;
    const refused = refusal(asked);
    response.writeHead(refused?.status ?? 200, { "content-type": "application/json" });
    response.end(JSON.stringify(refused === undefined ? COMPLETION : { error: refused.error }));
  };
  gateway = await testGateway({
    endpoints: POOLS.map((pool) => ({
      provider: pool,
      baseUrl: `${provider.url}/v1`,
      credentialEnv: variableOf(pool),
      isReal: true,
      dialects: [pool === "texts" ? "completions" : "chat"],
    })),
  });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
  for (const pool of POOLS) delete process.env[variableOf(pool)];
  delete process.env[SECOND];
});
beforeEach(() => {
  refusal = () => undefined;
  held = Promise.resolve();
  provider.asked.length = 0;
});

const chat = async (pool: Pool, content: string): Promise<number> => {
  const svc = { route: { providers: { only: [pool] } } };
  return (await gateway.chat({ model: "test/model", messages: [{ role: "user", content }], svc })).status;
};

describe("S5: a refusal that one prompt causes", () => {
  test.each([
    ["p403", 403, { message: "This content is not allowed.", type: "permission_error" }],
    ["p401", 401, { message: "No.", type: "authentication_error" }],
    ["p402", 402, { message: "Fewer max_tokens, please.", type: "payment" }],
    ["p400", 400, { message: "No.", code: "API_KEY_INVALID" }],
    ["p429", 429, { message: "You exceeded your quota.", code: "insufficient_quota" }],
  ] as const)(
    "%s leaves the key to others at once, and after the gateway has asked",
    async (pool, status, error) => {
      refusal = (asked) => (isPoison(asked) ? { status, error } : undefined);
      for (let i = 0; i < 6; i++) {
        expect(await chat(pool, "POISON")).not.toBe(200);
        expect(await chat(pool, "clean")).toBe(200);
      }
      for (let i = 0; i < 6; i++) await chat(pool, "POISON");
      expect(await chat(pool, "clean")).toBe(200);
      await until("the gateway has asked", () => probes().length > 0);
      expect(await chat(pool, "clean")).toBe(200);
      // The provider cleared the key: it is not asked again for each such prompt.
      for (let i = 0; i < 6; i++) await chat(pool, "POISON");
      expect([await chat(pool, "clean"), probes().length]).toEqual([200, 1]);
    },
  );
});

describe("S5: the gateway's own question", () => {
  test("is one at a time, short, and holds nothing of a tenant's", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    refusal = (asked) =>
      isPoison(asked) ? { status: 401, error: { message: "No.", type: "authentication_error" } } : undefined;
    await Promise.all(Array.from({ length: 20 }, () => chat("held", "POISON")));
    await until("it is asked", () => probes().length > 0);
    await Promise.all(Array.from({ length: 20 }, () => chat("held", "POISON")));
    expect(await chat("held", "clean")).toBe(200);
    expect(probes()).toHaveLength(1);
    const [asked] = probes();
    expect(JSON.parse(asked?.body ?? "")).toEqual({
      model: "sim-test",
      max_tokens: 1,
      messages: [{ role: "user", content: "Hi" }],
    });
    resolve();
  });

  test("is a text to be continued where nothing else is spoken", async () => {
    refusal = (asked) =>
      isPoison(asked) ? { status: 401, error: { message: "No.", type: "authentication_error" } } : undefined;
    const svc = { route: { providers: { only: ["texts"] } } };
    const body = { model: "test/model", prompt: "POISON", svc };
    expect((await gateway.call("POST", "/v1/completions", { body })).status).toBe(502);
    const [asked] = await until("it is asked", probes, ({ length }) => length > 0);
    expect(asked?.path).toBe("/v1/completions");
    expect(JSON.parse(asked?.body ?? "")).toEqual({ model: "sim-test", prompt: "Hi", max_tokens: 1 });
  });

  test("rests a key that is refused for good, for all, until it is accepted", async () => {
    refusal = () => ({ status: 401, error: { message: "Revoked.", type: "authentication_error" } });
    expect(await chat("revoked", "clean")).toBe(502);
    await until("the key rests", async () => (await chat("revoked", "clean")) === 503);
    const before = provider.asked.length;
    expect(await chat("revoked", "clean")).toBe(503);
    expect(provider.asked).toHaveLength(before);
  });

  test("rests a key whose refusal comes with status 200, too", async () => {
    refusal = () => ({ status: 200, error: UNPAID });
    expect(await chat("told", "clean")).not.toBe(200);
    await until("the key rests", async () => (await chat("told", "clean")) === 503);
  });

  test("rests one key of a pool: another answers meanwhile, and then at once", async () => {
    const isFirst = ({ headers }: Asked) => headers.authorization === "Bearer sk-pair-0001";
    refusal = (asked) => (isFirst(asked) ? { status: 200, error: UNPAID } : undefined);
    await until("the first key was asked and rests", async () => {
      const before = provider.asked.length;
      expect(await chat("pair", "clean")).toBe(200);
      const asked = provider.asked.slice(before).filter(isClean);
      return probes().some(isFirst) && !asked.some(isFirst);
    });
    provider.asked.length = 0;
    for (let i = 0; i < 4; i++) expect(await chat("pair", "clean")).toBe(200);
    expect(provider.asked.filter(isFirst)).toEqual([]);
  });

  test("rests it at the one endpoint where it is forbidden", async () => {
    refusal = () => ({ status: 403, error: { message: "No access.", type: "permission_error" } });
    for (let i = 0; i < 3; i++) expect(await chat("forbidden", "clean")).toBe(502);
    await until("the key rests there", async () => (await chat("forbidden", "clean")) === 503);
  });

  test("proves nothing while the provider fails otherwise", async () => {
    refusal = (asked) =>
      isPoison(asked)
        ? { status: 401, error: { message: "No." } }
        : isClean(asked)
          ? undefined
          : { status: 500, error: { message: "Broken." } };
    for (let i = 0; i < 3; i++) await chat("away", "POISON");
    await until("the gateway has asked", () => probes().length === 1);
    expect(await chat("away", "clean")).toBe(200);
  });
});

test("S5: questions are counted for the operator by what they found, and are no tenant's calls", async () => {
  const read = async () => {
    const { text } = await gateway.call("GET", "/metrics", { key: null });
    const counts = [...text.matchAll(/^weir_key_probes_total\{verdict="(\w+)"\} (\d+)$/gm)];
    return Object.fromEntries(counts.map(([, verdict = "", count]) => [verdict, Number(count)]));
  };
  // The last one was asked, and is counted once the gateway has its answer.
  const byVerdict = await until("the last is counted", read, ({ unknown = 0 }) => unknown > 0);
  expect(byVerdict).toMatchObject({ accepted: expect.any(Number), refused: 4, unknown: 1 });
});
