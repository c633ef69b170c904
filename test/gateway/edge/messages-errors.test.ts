/** Whatever goes wrong under /v1/messages is told as Anthropic tells it; anywhere else as OpenAI does. */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ settings: { limits: { max_body_bytes: 300_000 } } });
});
afterAll(() => gateway.stop());

const BODY = { model: "weir/sim-small", max_tokens: 5, messages: [{ role: "user", content: "Hello" }] };
const LARGE = { ...BODY, messages: [{ role: "user", content: "x".repeat(400_000) }] };

const WRONGS: readonly (readonly [
  string,
  { method?: string; key?: null; body?: unknown; headers?: object },
  number,
  string,
])[] = [
  ["no key", { key: null, body: BODY }, 401, "authentication_error"],
  ["an unknown model", { body: { ...BODY, model: "weir/none" } }, 404, "not_found_error"],
  ["another method", { method: "GET" }, 405, "invalid_request_error"],
  ["a body too large", { body: LARGE }, 413, "request_too_large"],
  [
    "an encoding unknown",
    { body: BODY, headers: { "content-encoding": "compress" } },
    415,
    "invalid_request_error",
  ],
  ["no JSON", { body: [] }, 400, "invalid_request_error"],
  ["a wrong version", { body: BODY, headers: { "svc-version": "1999-01-01" } }, 400, "invalid_request_error"],
];

describe("an error", () => {
  test.each(WRONGS)("of %s", async (_, { method = "POST", ...call }, status, type) => {
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const answer = await gateway.call(method, path, call);
      expect([path, answer.status, answer.json.type, answer.json.error.type]).toEqual([
        path,
        status,
        "error",
        type,
      ]);
      expect(answer.json.request_id).toBe(answer.headers.get("request-id"));
    }
    const other = await gateway.call(method, "/v1/chat/completions", call);
    expect([other.status, other.json.type]).toEqual([status, undefined]);
    expect(other.json.error.code).toBeTypeOf("string");
  });

  test("of a path that is not offered", async () => {
    for (const path of ["/v1/messages/batches", "/v1/messages/batches/msgbatch_1/results"]) {
      const { status, json } = await gateway.call("POST", path, { body: {} });
      expect([status, json.type, json.error.type]).toEqual([404, "error", "not_found_error"]);
    }
    const other = await gateway.call("POST", "/v1/messagesque", { body: {} });
    expect([other.status, other.json.error.type]).toEqual([404, "not_found"]);
  });

  test("of an Idempotency-Key that is none", async () => {
    const headers = { "idempotency-key": "x".repeat(129) };
    const { status, json } = await gateway.call("POST", "/v1/messages", { body: BODY, headers });
    expect([status, json.error.type]).toEqual([400, "invalid_request_error"]);
  });

  test("to a HEAD has no body", async () => {
    const status = await new Promise((resolve) =>
      request(`${gateway.url}/v1/messages`, { method: "HEAD" }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      }).end(),
    );
    expect(status).toBe(405);
  });
});

describe("credentials", () => {
  const ask = async (headers: object, path = "/v1/messages") =>
    (await gateway.call("POST", path, { key: null, body: BODY, headers })).status;

  test("an x-api-key is taken under /v1/messages and nowhere else; a bearer goes before it", async () => {
    const good = gateway.liveKey;
    expect(await ask({ "x-api-key": good })).toBe(200);
    expect(await ask({ "x-api-key": good }, "/v1/messages/count_tokens")).toBe(200);
    expect(await ask({ "x-api-key": good }, "/v1/chat/completions")).toBe(401);
    expect(await ask({ "x-api-key": "none", authorization: `Bearer ${good}` })).toBe(200);
    expect(await ask({ "x-api-key": good, authorization: "Bearer none" })).toBe(401);
  });
});

test("a large prompt is counted by the rules of a count, which asks for no max_tokens", async () => {
  const content = "water ".repeat(48_000);
  const body = { model: "weir/sim-small", messages: [{ role: "user", content }] };
  const { status, json } = await gateway.call("POST", "/v1/messages/count_tokens", { body });
  expect([status, json]).toEqual([200, { input_tokens: expect.any(Number) }]);
});
