/**
 * Counts by a provider's own endpoint: what it is asked and what becomes of its answer, over a real socket. A client of its own
 * format is spliced, so that what only the provider knows is counted too; its failures are errors, never a number.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { countAnswer, countQuestion } from "../../../src/wire/count.ts";
import { NO_ORG_KEY } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { closedPort, type TestGateway, testGateway } from "../../support/gateway.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";

let first: TestProvider;
let second: TestProvider;
let gateway: TestGateway;
beforeAll(async () => {
  [first, second] = await Promise.all([startProvider(), startProvider()]);
  process.env.COUNTER_KEY = "sk-counter-1";
  const messages = { dialects: ["messages"], credentialEnv: "COUNTER_KEY" };
  gateway = await testGateway({
    endpoints: [
      { provider: "first", baseUrl: `${first.url}/v1`, price: { input: 1, output: 1 }, ...messages },
      { provider: "second", baseUrl: `${second.url}/v1`, price: { input: 2, output: 2 }, ...messages },
      { provider: "gone", baseUrl: `http://127.0.0.1:${await closedPort()}/v1`, ...messages },
      { provider: "talker", dialects: ["chat"] },
    ],
  });
});
afterAll(async () => {
  delete process.env.COUNTER_KEY;
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
});
beforeEach(() => {
  for (const provider of [first, second]) {
    provider.asked.length = 0;
    provider.answer = (_, response) => response.end('{"input_tokens":4711}');
  }
});

const at = (...only: string[]) => ({ route: { providers: { order: only, only } } });
/** What only the provider's own endpoint can count. */
const AGENT = {
  model: "test/model",
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  messages: [
    { role: "user", content: "Look it up." },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm", signature: "EqQB+/==" },
        {
          type: "server_tool_use",
          id: "srvtoolu_1",
          name: "tool_search_tool_regex",
          input: { pattern: "w" },
        },
        {
          type: "tool_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: {
            type: "tool_search_tool_search_result",
            tool_references: [{ type: "tool_reference", tool_name: "weather" }],
          },
        },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Köln" } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: "No such city" }],
    },
  ],
  tools: [
    { type: "web_search_20260209", name: "web_search", max_uses: 3 },
    { type: "memory_20250818", name: "memory" },
    { name: "weather", input_schema: { type: "object", properties: { city: {} } }, defer_loading: true },
  ],
  tool_choice: { type: "tool", name: "weather" },
  thinking: { type: "enabled", budget_tokens: 2000 },
  mcp_servers: [{ type: "url", url: "https://example.com/sse", name: "m" }],
  context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
};

const count = (body: object, headers: object = {}) =>
  gateway.call("POST", "/v1/messages/count_tokens", { body, headers });

describe("the splice", () => {
  test("O21: the provider gets the client's bytes but for the model's name and svc", async () => {
    const text = JSON.stringify(AGENT).replace("{", '{ "x_new" : 1.0, ');
    const body = text.replace(/\}$/, `, "svc":${JSON.stringify(at("first"))} }`);
    const answer = await gateway.call("POST", "/v1/messages/count_tokens", { body });
    expect([answer.status, answer.text]).toEqual([200, '{"input_tokens":4711}']);
    const [asked] = first.asked;
    expect(asked?.path).toBe("/v1/messages/count_tokens");
    expect(asked?.body.replace(/\s*\}$/, "}")).toBe(text.replace("test/model", "sim-test"));
  });

  test("O21: what says how to answer is left out, in a body of any size: the provider refuses it in a count", async () => {
    const call = {
      max_tokens: 9,
      stream: true,
      temperature: 1,
      stop_sequences: ["x"],
      metadata: { user_id: "u" },
    };
    for (const words of [1, 60_000]) {
      const messages = [...AGENT.messages, { role: "user", content: "Wörter ".repeat(words) }];
      first.asked.length = 0;
      expect((await count({ ...call, ...AGENT, messages, svc: at("first") })).status).toBe(200);
      expect(JSON.parse(first.asked[0]?.body ?? "")).toEqual({ ...AGENT, messages, model: "sim-test" });
    }
  });

  test("O21: with betas, version and credential, and nothing else of the client's", async () => {
    const betas = "context-management-2025-06-27,mcp-client-2025-11-20";
    await count(
      { ...AGENT, svc: at("first") },
      { "anthropic-beta": betas, "anthropic-version": "2023-06-01", "x-mine": "1", cookie: "a=b" },
    );
    const headers = first.asked[0]?.headers;
    expect(headers).toMatchObject({
      "anthropic-beta": betas,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    });
    expect(JSON.stringify(headers)).toContain("sk-counter-1");
    expect(JSON.stringify(headers)).not.toContain(gateway.liveKey);
    expect(headers).not.toHaveProperty("x-mine");
    expect(headers).not.toHaveProperty("cookie");
  });

  test("O21: what the provider says beside the number comes back", async () => {
    const said = '{"input_tokens":12,"context_management":{"original_input_tokens":70}}';
    first.answer = (_, response) => response.end(said);
    expect((await count({ ...AGENT, svc: at("first") })).text).toBe(said);
  });

  test("O21: of a large prompt too", async () => {
    const messages = [{ role: "user", content: "Wörter ".repeat(60_000) }];
    const answer = await count({ ...AGENT, messages, svc: at("first") });
    expect(answer.json).toEqual({ input_tokens: 4711 });
    expect(JSON.parse(first.asked[0]?.body ?? "")).toEqual({ ...AGENT, messages, model: "sim-test" });
  });

  test("O21: thinking that another maker sealed stays out, as in a call", async () => {
    const foreign = { type: "thinking", thinking: "", signature: "weir.google.QUJD" };
    const [user, ...rest] = AGENT.messages;
    const messages = [user, { role: "assistant", content: [foreign, { type: "text", text: "x" }] }, user];
    await count({ ...AGENT, messages, svc: at("first") });
    expect(first.asked[0]?.body).not.toContain("weir.google");
    expect(rest).toHaveLength(2);
  });

  test("O21: the native route tells it in the provider's words and says who counted", async () => {
    const body = {
      model: "test/model",
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ name: "f", parameters: { type: "object" } }],
      ...at("first"),
    };
    const { json } = await gateway.call("POST", "/v1/svc/count_tokens", {
      body,
      headers: { "anthropic-beta": "x" },
    });
    expect(json).toEqual({ input_tokens: 4711, source: "provider", tokenizer: "first count" });
    expect(JSON.parse(first.asked[0]?.body ?? "")).toMatchObject({
      model: "sim-test",
      tools: [{ name: "f" }],
    });
    expect(first.asked[0]?.headers).not.toHaveProperty("anthropic-beta");
  });
});

const refusal = (status: number, type: string, message: string, headers: Record<string, string> = {}) =>
  ((_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type, message } }));
  }) satisfies TestProvider["answer"];

const ROUTES = [
  ["/v1/messages/count_tokens", (only: object) => ({ ...AGENT, svc: only })],
  [
    "/v1/svc/count_tokens",
    (only: object) => ({ model: "test/model", messages: [{ role: "user", content: "Hi" }], ...only }),
  ],
] as const;

describe.each(ROUTES)("what fails, %s", (path, bodyOf) => {
  const ask = (...only: string[]) => gateway.call("POST", path, { body: bodyOf(at(...only)) });
  const codeOf = (error: { code?: string; details?: object }) => error.code;

  test.each([
    [400, "invalid_request_error", 400, "upstream_rejected"],
    [404, "not_found_error", 404, "upstream_rejected"],
    [413, "request_too_large", 413, "upstream_rejected"],
    [401, "authentication_error", 502, "upstream_error"],
    [403, "permission_error", 502, "upstream_error"],
    [429, "rate_limit_error", 429, "upstream_capacity"],
    [500, "api_error", 502, "upstream_error"],
    [529, "overloaded_error", 429, "upstream_capacity"],
  ])("O21: a %i is an error, as on the other routes", async (status, type, expected, code) => {
    first.answer = refusal(status, type, "tools.0: too odd");
    const answer = await ask("first");
    expect([answer.status, codeOf(answer.json.error)]).toEqual([expected, code]);
    // The request's own fault, and a refusal for want of room: the caller needs the words.
    if (status === 429 || code === "upstream_rejected")
      expect(answer.json.error.message).toBe("tools.0: too odd");
    else expect(answer.text).not.toContain("too odd");
  });

  test("O21: the wait that a provider asks for is told", async () => {
    first.answer = refusal(429, "rate_limit_error", "slow down", { "retry-after": "7" });
    const answer = await ask("first");
    expect(answer.headers.get("retry-after")).toBe("7");
  });

  test("O21: where nothing answers, or no count", async () => {
    const gone = await ask("gone");
    expect([gone.status, codeOf(gone.json.error)]).toEqual([502, "upstream_error"]);
    first.answer = (_, response) => response.end("<html>");
    const html = await ask("first");
    expect([html.status, codeOf(html.json.error)]).toEqual([502, "upstream_invalid_response"]);
  });

  test.each([
    ["full", refusal(529, "overloaded_error", "x")],
    ["broken", refusal(500, "api_error", "x")],
    ["out of keys", refusal(401, "authentication_error", "x")],
    [
      "without such a route, as OpenAI says it",
      refusal(404, "invalid_request_error", "Invalid URL (POST /v1/x)"),
    ],
    [
      "without such a route, as Groq says it",
      refusal(404, "invalid_request_error", "Unknown request URL: POST /x"),
    ],
    ["without such a route, as Anthropic says it", refusal(404, "not_found_error", "Not Found")],
    ["without such a route, as AWS says it", refusal(404, "UnknownOperationException", "")],
    [
      "unable to count for this model",
      refusal(400, "ValidationException", "The provided model doesn't support counting tokens."),
    ],
    [
      "without such a route",
      (_: unknown, response: Parameters<TestProvider["answer"]>[1]) => {
        response.writeHead(404).end('{"detail":"Not Found"}');
      },
    ],
  ])("O21: where the first is %s, the next one counts", async (_, answer) => {
    first.answer = answer as TestProvider["answer"];
    const told = await ask("first", "second");
    expect([told.status, told.json.input_tokens]).toEqual([200, 4711]);
    expect([first.asked.length, second.asked.length]).toEqual([1, 1]);
  });

  test("O21: a refused request is not asked again elsewhere", async () => {
    first.answer = refusal(400, "invalid_request_error", "x");
    expect((await ask("first", "second")).status).toBe(400);
    expect(second.asked).toEqual([]);
  });

  test("O21: only where nobody can count there is an estimate, which says so", async () => {
    first.answer = (_, response) => response.writeHead(405).end();
    for (const only of [["talker"], ["first"], ["first", "talker"]]) {
      const { status, json } = await gateway.call("POST", path, {
        body: { ...bodyOf(at(...only)), tools: undefined, tool_choice: undefined },
      });
      expect([status, json.source]).toEqual([200, "estimated"]);
      expect(json.input_tokens).toBeGreaterThan(0);
    }
    first.answer = refusal(500, "api_error", "x");
    expect((await ask("first", "talker")).status).toBe(502);
  });

  test("O21: it is free, and takes one request of the limits", async () => {
    const before = await gateway.balance();
    const { headers } = await ask("first");
    expect(headers.get("x-svc-request-id")).toMatch(/^[0-9A-Z]{26}$/);
    expect(await gateway.balance()).toEqual(before);
  });
});

test("O21: an upstream that speaks responses is asked what it has a word for", () => {
  const messages = [{ role: "user", content: [{ type: "image", url: "https://example.com/a.png" }] }];
  const tools = [{ name: "f", parameters: { type: "object" } }];
  const body = { model: "v/m", messages, tools, generation: { max_tokens: 9, temperature: 1 } };
  const request = FORMATS.generate.read(Buffer.from(JSON.stringify(body)));
  const up = endpoint("e", { upstreamModel: "up", dialects: ["responses"] });
  const parts = countQuestion(FORMATS.generate, "responses", request, up, NO_ORG_KEY) ?? [];
  const asked = JSON.parse(Buffer.concat(parts).toString());
  expect(Object.keys(asked).sort()).toEqual(["input", "model", "tools"]);
  expect(asked).toMatchObject({ model: "up", tools: [{ type: "function", name: "f" }] });
  expect(countAnswer("responses", Buffer.from('{"object":"response.input_tokens","input_tokens":11}'))).toBe(
    11,
  );
});
