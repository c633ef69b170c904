/**
 * Bad input: each piece gets a clear error with the envelope and headers of every answer, the gateway lives on and
 * nothing is charged. What is wrong with the HTTP itself is in test/gateway/edge/http.test.ts.
 */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type KeyRow, newKey } from "../../../src/account/key.ts";
import { hashSecret, newSecret } from "../../../src/account/secret.ts";
import { REQUEST_ID } from "../../../src/base/ids.ts";
import { type Answer, seededFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest } from "../../support/observations.ts";

let gateway: TestGateway;
/** The live key's ledger and balance before any of it. */
let before: string;
/** Lifetimes are whole hours: this one began long ago. */
const expiredSecret = newSecret("live");
let folder: string;
beforeAll(async () => {
  folder = await seededFolder((accounts, { liveSecret }) => {
    const live = accounts.keyByHash(hashSecret(liveSecret)) as KeyRow;
    accounts.addKey(
      newKey({ ...live, name: "expired", lifetimeMs: 3_600_000 }, expiredSecret, Date.UTC(2026, 0)),
    );
  });
  gateway = await testGateway({ folder });
  before = await money();
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function money(): Promise<string> {
  const { text } = await gateway.call("GET", "/v1/credits/ledger");
  const balance = await gateway.balance();
  return `${text} ${JSON.stringify(balance)}`;
}

const CHAT = "/v1/chat/completions";
const good = { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 };
const json = JSON.stringify;

/** Envelope and headers as every error has them. */
function expectError(answer: Answer, status: number, code: string, param?: string) {
  expect({ status: answer.status, ...answer.json.error }).toMatchObject({
    status,
    code,
    type: expect.any(String),
    message: expect.stringMatching(/\S/),
    ...(param !== undefined && { param }),
  });
  const id = answer.json.error.request_id;
  expect(id).toMatch(REQUEST_ID);
  for (const name of ["x-svc-request-id", "x-request-id", "request-id"]) {
    expect(answer.headers.get(name)).toBe(id);
  }
  expect(answer.headers.get("x-should-retry")).toBe("false");
  expect(answer.headers.get("content-type")).toBe("application/json");
}

const post = (body: string, options: { key?: string | null; headers?: object } = {}) =>
  gateway.call("POST", CHAT, { body, ...options });

describe("bodies that are no chat request", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const withField = (name: string, value: unknown) => json({ ...good, [name]: value });
  const withRaw = (raw: string) => json(good).replace("{", `{${raw},`);

  test.each<[string, string, string, string?]>([
    ["nothing", "", "invalid_json"],
    ["not JSON", "hello", "invalid_json"],
    ["cut JSON", json(good).slice(0, -1), "invalid_json"],
    ["more after the end", `${json(good)}x`, "invalid_json"],
    ["a trailing comma", json(good).replace(/}$/, ",}"), "invalid_json"],
    ["a raw line break in a string", json(good).replace("Hi", "H\ni"), "invalid_json"],
    ["null", "null", "invalid_json"],
    ["a list", "[]", "invalid_json"],
    ["a number", "1", "invalid_json"],
    ["a string", '"model"', "invalid_json"],
    ["10,000 levels", nested(10_000), "invalid_json"],
    ["10,000 levels in a field", withRaw(`"x":${nested(10_000)}`), "invalid_value"],
    ["no model", json({ messages: good.messages }), "invalid_value", "/model"],
    ["an empty model", withField("model", ""), "invalid_value", "/model"],
    ["a model that is a number", withField("model", 7), "invalid_value", "/model"],
    ["no messages", json({ model: good.model }), "invalid_value", "/messages"],
    ["empty messages", withField("messages", []), "invalid_value", "/messages"],
    ["messages that are text", withField("messages", "Hi"), "invalid_value", "/messages"],
    ["a message that is text", withField("messages", ["Hi"]), "invalid_value", "/messages/0"],
    [
      "content that is a number",
      withField("messages", [{ role: "user", content: 5 }]),
      "invalid_value",
      "/messages/0/content",
    ],
    ["stream that is text", withField("stream", "yes"), "invalid_value", "/stream"],
    [
      "stream_options that are text",
      withField("stream_options", { include_usage: "yes" }),
      "invalid_value",
      "/stream_options/include_usage",
    ],
    ["max_tokens below 0", withField("max_tokens", -1), "invalid_value", "/max_tokens"],
    ["max_tokens with a fraction", withField("max_tokens", 1.5), "invalid_value", "/max_tokens"],
    ["max_tokens beyond numbers", json(good).replace("2", "1e999"), "invalid_value", "/max_tokens"],
    ["n of 0", withField("n", 0), "invalid_value", "/n"],
    ["n of 129", withField("n", 129), "invalid_value", "/n"],
    ["tools that are no list", withField("tools", {}), "invalid_value", "/tools"],
    [
      "response_format that is text",
      withField("response_format", "json"),
      "invalid_value",
      "/response_format",
    ],
    ["an unknown svc option", withField("svc", { rout: {} }), "invalid_value", "/svc/rout"],
    ["an unknown sort", withField("svc", { route: { sort: "luck" } }), "invalid_value", "/svc/route/sort"],
    ["a list of models", withField("models", ["a/b", "c/d"]), "unsupported_option", "/models"],
    ["a member that stands twice", withRaw('"model":"a/b"'), "invalid_value", "/model"],
  ])("%s", async (_, body, code, param) => {
    expectError(await post(body), 400, code, param);
  });

  test("invalid UTF-8", async () => {
    const body = Buffer.from(json(good).replace("Hi", "H\u00ff"), "latin1");
    const response = await fetch(`${gateway.url}${CHAT}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "invalid_json", message: expect.stringContaining("UTF-8") },
    });
  });

  test("control-plane bodies: the same, and an unknown field names its nearest kin", async () => {
    const create = (body: string) => gateway.call("POST", "/v1/keys", { body });
    expectError(await create(nested(10_000)), 400, "invalid_value");
    expectError(await create('{"name":'), 400, "invalid_json");
    expectError(await create(""), 400, "invalid_json");
    expectError(await create(json({ name: 5 })), 400, "invalid_value", "/name");
    expectError(await create(json({ name: "x", limits: { rpm: 0 } })), 400, "invalid_value", "/limits/rpm");
    const typo = await create(json({ name: "x", scope: ["inference"] }));
    expectError(typo, 400, "invalid_value", "/scope");
    expect(typo.json.error.message).toContain('"scopes"');
    expectError(await create(json({ name: "x", ["y".repeat(100_000)]: 1 })), 400, "invalid_value");
    expectError(await create(json({ name: "x".repeat(300_000) })), 413, "payload_too_large");
    const text = await gateway.call("POST", "/v1/keys", {
      body: '{"name":"x"}',
      headers: { "content-type": "text/plain" },
    });
    expectError(text, 415, "unsupported_media_type");
  });

  test("an absurd number of messages, tools and unknown fields is only a long request", async () => {
    const many = {
      ...good,
      messages: Array.from({ length: 1000 }, () => ({ role: "user", content: "x" })),
      tools: Array.from({ length: 300 }, (_, i) => ({ type: "function", function: { name: `f${i}` } })),
      ...Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-${i}`, i])),
    };
    const { status } = await gateway.chat(many, { key: gateway.testKey });
    expect(status).toBe(200);
  });
});

describe("whom and what", () => {
  const mistyped = () => `${gateway.liveKey.slice(0, -1)}${gateway.liveKey.endsWith("x") ? "y" : "x"}`;

  test.each<[string, () => string | null, string]>([
    ["no key", () => null, "missing_key"],
    ["a mistyped key", mistyped, "invalid_key"],
    ["a foreign key", () => "sk-proj-123", "invalid_key"],
    ["a key of 30,000 characters", () => "k".repeat(30_000), "invalid_key"],
  ])("%s is 401, whatever the body", async (_, key, code) => {
    expectError(await post(json(good), { key: key() }), 401, code);
    expectError(await post("{", { key: key() }), 401, code);
  });

  test("a key that is revoked, and one whose time is over", async () => {
    const create = async (body: object) => (await gateway.call("POST", "/v1/keys", { body })).json;
    const revoked = await create({ name: "revoked" });
    await gateway.call("DELETE", `/v1/keys/${revoked.id}`);
    expectError(await post(json(good), { key: revoked.secret }), 401, "revoked_key");
    expectError(await post(json(good), { key: expiredSecret }), 401, "expired_key");
  });

  test("the scheme in any case; another scheme is no key", async () => {
    const as = (authorization: string) => post(json(good), { key: null, headers: { authorization } });
    expect((await as(`bearer ${gateway.testKey}`)).status).toBe(200);
    expect((await as(`BEARER   ${gateway.testKey}  `)).status).toBe(200);
    expectError(await as(`Basic ${gateway.testKey}`), 401, "missing_key");
    expectError(await as("Bearer "), 401, "missing_key");
  });

  test("an unknown model, and one whose endpoints cannot be reached", async () => {
    expectError(await post(json({ ...good, model: "weir/nope" })), 404, "model_not_found", "/model");
    expectError(await post(json({ ...good, model: "n".repeat(60_000) })), 400, "invalid_value", "/model");
    const svc = { route: { providers: { only: ["elsewhere"] } } };
    const none = await post(json({ ...good, svc }));
    expectError(none, 404, "no_endpoint");
    expect(none.json.error.details.excluded).toHaveLength(1);
  });

  test("a wrong method is 405 with what the path takes, an unknown path 404", async () => {
    for (const [method, path, allow] of [
      ["GET", CHAT, "POST"],
      ["PUT", "/v1/keys", "GET, HEAD, POST"],
      ["DELETE", "/healthz", "GET, HEAD"],
    ] as const) {
      const answer = await gateway.call(method, path);
      expectError(answer, 405, "method_not_allowed");
      expect(answer.headers.get("allow")).toBe(allow);
    }
    for (const path of ["/v1", "/v1/chat/completions/", "/v1/chat//completions", "/v2/keys", "/%00"]) {
      expectError(await gateway.call("POST", path, { body: good }), 404, "not_found");
    }
  });

  test("HEAD says what GET would, without a body", async () => {
    for (const path of ["/healthz", "/v1/models", "/nowhere", "/v1/chat/completions"]) {
      const head = await gateway.call("HEAD", path);
      const get = await gateway.call("GET", path);
      expect([path, head.status, head.text]).toEqual([path, get.status, ""]);
    }
  });

  test("an unknown API version", async () => {
    const answer = await post(json(good), { headers: { "svc-version": "1999-01-01" } });
    expectError(answer, 400, "unsupported_version", "svc-version");
  });
});

test("after all of it: alive, nothing held, nothing charged", async () => {
  await atRest(gateway);
  expect(await money()).toBe(before);
  expect((await gateway.chat({}, { key: gateway.testKey })).status).toBe(200);
});
