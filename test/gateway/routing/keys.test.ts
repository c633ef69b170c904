/** A pool of keys through the whole gateway: which key each call carries, what records say of it, and nothing of it leaks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { recordOf, requestIdOf } from "../../support/observations.ts";
import { type Asked, startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";
import { until } from "../../support/wait.ts";

/** A provider for each test, so that none finds what another left: name → how many keys it has. */
const POOLS = { turns: 2, revoked: 2, limited: 2, out: 2, alone: 1, forbidden: 1 };
type Pool = keyof typeof POOLS;

const variableOf = (pool: string): string => `KEYS_TEST_${pool.toUpperCase()}`;
const keyOf = (pool: string, place: number): string => `sk-${pool}-test-000${place}`;
const ENV = Object.fromEntries(
  Object.entries(POOLS).flatMap(([pool, count]) =>
    Array.from({ length: count }, (_, at) => [
      at === 0 ? variableOf(pool) : `${variableOf(pool)}_${at + 1}`,
      keyOf(pool, at + 1),
    ]),
  ),
);
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
const log: string[] = [];
/** What the provider does to calls with a key; 200 otherwise. */
let refusals: Record<string, { status: number; headers?: Record<string, string> }>;

/** It quotes what it refuses, as some do. */
const errorOf = (asked: Asked) => ({
  error: { message: `Bad key ${keyIn(asked)}`, type: "x", code: keyIn(asked) },
});

const keyIn = ({ headers }: Asked): string => (headers.authorization ?? "").replace("Bearer ", "");

beforeAll(async () => {
  Object.assign(process.env, ENV);
  provider = await startProvider();
  provider.answer = (asked, response) => {
    const { status, headers } = refusals[keyIn(asked)] ?? { status: 200 };
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(status === 200 ? COMPLETION : errorOf(asked)));
  };
  const baseUrl = `${provider.url}/v1`;
  gateway = await testGateway({
    log,
    endpoints: Object.keys(POOLS).map((pool) => {
      return { provider: pool, baseUrl, credentialEnv: variableOf(pool), isReal: true };
    }),
  });
});

afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
  for (const name of Object.keys(ENV)) delete process.env[name];
});

beforeEach(() => {
  refusals = {};
  provider.asked.length = 0;
});

const chat = (pool: Pool) =>
  gateway.chat({
    model: "test/model",
    messages: [{ role: "user", content: "A caller's" }],
    svc: { route: { providers: { only: [pool] } } },
  });

async function statuses(pool: Pool, count: number): Promise<number[]> {
  const all = [];
  for (let i = 0; i < count; i++) all.push((await chat(pool)).status);
  return all;
}

/** The gateway's own question about a key, in place of a caller's prompt. */
const isProbe = ({ body }: Asked): boolean => body.includes('"content":"Hi"');
/** How often callers reached the provider with a key. */
const askedWith = (key: string): number =>
  provider.asked.filter((asked) => keyIn(asked) === key && !isProbe(asked)).length;

/** Status, pool and hint of each attempt of a call's record. */
async function attempts(answer: Awaited<ReturnType<typeof chat>>): Promise<string[]> {
  const record = await recordOf(gateway, requestIdOf(answer));
  return record.attempt_rows.map((a: { http_status: number; pool_id: string; key_hint: string }) =>
    [a.http_status, a.pool_id, a.key_hint].join(" "),
  );
}

const TEN_FINE = Array.from({ length: 10 }, () => 200);
const LIMITED = { status: 429, headers: { "retry-after": "60" } };

describe("a pool of two keys", () => {
  test("uses both in rotation, and records name the key", async () => {
    const answer = await chat("turns");
    expect(await statuses("turns", 3)).toEqual([200, 200, 200]);
    const [first = "", second = "", ...again] = provider.asked.map(keyIn);
    expect([first, second].sort()).toEqual([keyOf("turns", 1), keyOf("turns", 2)]);
    expect(again).toEqual([first, second]);
    expect(await attempts(answer)).toEqual([`200 pool_turns ${first.slice(-4)}`]);
  });

  test("of which one is revoked fails no call, and that key is no longer used", async () => {
    refusals[keyOf("revoked", 1)] = { status: 401 };
    expect(await statuses("revoked", 10)).toEqual(TEN_FINE);
    await until("the provider was asked", () => provider.asked.some(isProbe));
    // The gateway has the answer a moment after the provider gave it.
    await until("its calls go elsewhere", async () => {
      const before = askedWith(keyOf("revoked", 1));
      expect(await statuses("revoked", 4)).toEqual([200, 200, 200, 200]);
      return askedWith(keyOf("revoked", 1)) === before;
    });
    expect(provider.asked.filter(isProbe)).toHaveLength(1);
  });

  test("of which one is rate-limited likewise, for as long as it asked; both attempts are recorded", async () => {
    refusals[keyOf("limited", 1)] = LIMITED;
    const answers = [];
    for (let i = 0; i < 10; i++) answers.push(await chat("limited"));
    expect(answers.map(({ status }) => status)).toEqual(TEN_FINE);
    expect(askedWith(keyOf("limited", 1))).toBe(1);
    const at = provider.asked.findIndex((asked) => keyIn(asked) === keyOf("limited", 1));
    const answer = answers[at] as (typeof answers)[number];
    expect(await attempts(answer)).toEqual(["429 pool_limited 0001", "200 pool_limited 0002"]);
  });

  test("of which both are out: 503 without a call upstream", async () => {
    for (const place of [1, 2]) refusals[keyOf("out", place)] = LIMITED;
    expect(await statuses("out", 2)).toEqual([429, 503]);
    expect(provider.asked).toHaveLength(2);
  });
});

test("the only key, revoked, is left alone for a minute: the calls behind it fail at once; T61: nobody is told it", async () => {
  refusals[keyOf("alone", 1)] = { status: 401 };
  const first = await chat("alone");
  expect(first.status).toBe(502);
  const record = await recordOf(gateway, requestIdOf(first));
  expect(await attempts(first)).toEqual(["401 pool_alone 0001"]);
  expect(`${first.text} ${JSON.stringify(record)} ${log.join(" ")}`).not.toContain(keyOf("alone", 1));
  await until("the key is left alone", async () => (await chat("alone")).status === 503);
  const before = provider.asked.length;
  const next = await chat("alone");
  expect(next.status).toBe(503);
  expect(next.json.error.retry_after_ms).toBeGreaterThan(50_000);
  expect(provider.asked).toHaveLength(before);
});

test("403s to one caller's prompts do not take the key from the others", async () => {
  refusals[keyOf("forbidden", 1)] = { status: 403 };
  expect(await statuses("forbidden", 2)).toEqual([502, 502]);
  refusals = {};
  expect(await statuses("forbidden", 1)).toEqual([200]);
});
