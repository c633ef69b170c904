/**
 * Every responses object and every streamed event that a client gets has each member that the schema of Open Responses requires,
 * whatever the upstream speaks, and each error in OpenAI's shape has its `param`.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sseEvents } from "../../support/conformance/ask.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { sharedGateway } from "../../support/shared-gateway.ts";
import { expectEvent, expectResponse } from "../../support/wire/open-responses.ts";
import { DIALECTS, type Json, modelOf } from "../sdk/fixtures.ts";

const gateway = sharedGateway();

const TOOLS = [
  { type: "function", name: "read_level", parameters: { type: "object", properties: {} } },
  { type: "function", name: "open_gate" },
];
const SCHEMA = { type: "object", properties: { metres: { type: "number" } }, required: ["metres"] };

/** Members of the request, and what must be in the answer. */
const ASKS: Readonly<Record<string, { body: Json; wanted?: Json }>> = {
  "a text": { body: { input: "Hi" }, wanted: { status: "completed" } },
  "members that are null": {
    body: { input: "Hi", tools: null, text: null, reasoning: null, metadata: null, temperature: null },
  },
  "a text that is cut": {
    body: { input: "Count [[sim tokens=50]]", max_output_tokens: 16 },
    wanted: { status: "incomplete", completed_at: null, max_output_tokens: 16 },
  },
  "a refusal": { body: { input: 'Steal [[sim refuse="No."]]' } },
  calls: {
    body: { input: "Levels? [[sim tool_calls=2 tokens=3]]", tools: TOOLS },
    wanted: {
      tools: [
        { name: "read_level", description: null },
        { name: "open_gate", description: null, parameters: null },
      ],
    },
  },
  "a choice among some tools": {
    body: {
      input: "Hi",
      tools: TOOLS,
      tool_choice: { type: "allowed_tools", tools: [{ type: "function", name: "open_gate" }], mode: "auto" },
    },
  },
  "a named tool": {
    body: { input: "Hi", tools: TOOLS, tool_choice: { type: "function", name: "open_gate" } },
    wanted: { tool_choice: { type: "function", name: "open_gate" } },
  },
  reasoning: { body: { input: "Why? [[sim reasoning=5]]", reasoning: { effort: "low", summary: "auto" } } },
  "reasoning without a summary": {
    body: { input: "Why? [[sim reasoning=5]]", reasoning: { effort: "low" } },
  },
  "a schema": {
    body: { input: "As JSON", text: { format: { type: "json_schema", name: "level", schema: SCHEMA } } },
    wanted: { text: { format: { type: "json_schema", description: null, schema: SCHEMA, strict: false } } },
  },
  "sampling and names": {
    body: {
      input: "Hi",
      top_p: 0.9,
      metadata: { a: "b" },
      safety_identifier: "u",
      prompt_cache_key: "k",
    },
    wanted: { top_p: 0.9, safety_identifier: "u", prompt_cache_key: "k" },
  },
  "cached tokens": { body: { input: "Hi [[sim prompt_tokens=100 cached_tokens=40]]" } },
  "no usage": { body: { input: "Hi [[sim usage=none]]" } },
  "log probabilities": { body: { input: "Hi", include: ["message.output_text.logprobs"], top_logprobs: 2 } },
};

const post = (model: string, body: Json) =>
  gateway.call("POST", "/v1/responses", { body: { model, store: true, ...body } });

const eventsIn = (text: string): Json[] => sseEvents(text).map(({ data }) => JSON.parse(data));

describe.each(DIALECTS)("answers of %s", (dialect) => {
  const model = modelOf(dialect);

  test.each(Object.entries(ASKS))("%s: whole, streamed and stored", async (_, { body, wanted = {} }) => {
    const whole = await post(model, body);
    expect(whole.status, whole.text).toBe(200);
    expectResponse(whole.json);
    expect(whole.json).toMatchObject(wanted);
    expectTimes(whole.json);

    const events = eventsIn((await post(model, { ...body, stream: true })).text);
    for (const event of events) expectEvent(event);
    const { response } = events.at(-1);
    expect(response).toMatchObject(wanted);
    expectTimes(response);
    expect(events[0].response.completed_at).toBe(null);

    for (const { id } of [whole.json, response]) {
      const stored = await gateway.call("GET", `/v1/responses/${id}`);
      expect(stored.status, stored.text).toBe(200);
      expectResponse(stored.json);
    }
  });
});

describe.each(DIALECTS.filter((dialect) => dialect !== "responses"))("penalties at %s", (dialect) => {
  const hasPenalties = dialect === "chat" || dialect === "gemini";
  test("are repeated, and sent or warned about", async () => {
    const penalties = { frequency_penalty: 0.5, presence_penalty: 0.25 };
    const { json } = await post(modelOf(dialect), { input: "Hi", ...penalties });
    expectResponse(json);
    expect(json).toMatchObject(penalties);
    const dropped = ["dropped: /frequency_penalty", "dropped: /presence_penalty"];
    expect(json.svc.warnings).toEqual(hasPenalties ? [] : dropped);
  });
});

describe("errors", () => {
  const messages = [{ role: "user", content: "Hi" }];
  const REFUSED: readonly [path: string, body: Json, param: string | null][] = [
    ["/v1/responses", { model: "weir/sim-chat", input: 7 }, "/input"],
    ["/v1/responses", { model: "weir/none", input: "Hi" }, "/model"],
    ["/v1/responses", { model: "weir/sim-chat", input: "Hi [[sim status=400]]" }, null],
    ["/v1/responses", { model: "weir/sim-responses", input: "Hi [[sim status=400]]" }, null],
    ["/v1/chat/completions", { model: "weir/sim-chat", messages: 7 }, "/messages"],
    ["/v1/chat/completions", { model: "weir/sim-chat", messages, simulator: { status: 400 } }, null],
    ["/v1/completions", { model: "weir/sim-chat", prompt: "Hi [[sim status=400]]" }, null],
    ["/v1/embeddings", { model: "weir/sim-chat" }, "/input"],
    ["/v1/svc/generate", { model: "weir/sim-chat", messages: 7 }, "/messages"],
    ["/v1/keys", { name: 7 }, "/name"],
    ["/v1/nowhere", {}, null],
  ];
  test.each(REFUSED)("%s %j has param %j", async (path, body, param) => {
    const { json, status } = await gateway.call("POST", path, { body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(json.error).toMatchObject({ param });
  });

  test("Anthropic's have no `param` that is null", async () => {
    const body = {
      model: "weir/sim-messages",
      max_tokens: 9,
      messages: [{ role: "user", content: "[[sim status=400]]" }],
    };
    const { json } = await gateway.call("POST", "/v1/messages", { body });
    expect(json.error.type).toBe("invalid_request_error");
    expect(json.error).not.toHaveProperty("param");
  });

  describe("in streams that end early", () => {
    let faulty: TestGateway;
    beforeAll(async () => {
      const endpoints = DIALECTS.map((dialect) => ({
        provider: dialect,
        instruction: { fault: "error_mid", after: 5, tokens: 20 },
        entry: { dialects: [dialect] },
      }));
      faulty = await testGateway({ endpoints });
    });
    afterAll(() => faulty.stop());

    const ask = (path: string, body: Json) =>
      faulty.call("POST", path, { body: { model: "test/model", stream: true, ...body } });
    const only = (dialect: string) => ({ route: { providers: { only: [dialect] } } });

    test.each(DIALECTS)("the events of %s, up to the error", async (dialect) => {
      const events = eventsIn((await ask("/v1/responses", { input: "Hi", svc: only(dialect) })).text);
      for (const event of events) expectEvent(event);
      expect(events.at(-1)).toMatchObject({ type: "error", param: null, error: { param: null } });
    });

    test.each([
      ["/v1/chat/completions", { messages, svc: only("chat") }],
      ["/v1/completions", { prompt: "Hi", svc: only("chat") }],
      ["/v1/svc/generate", { messages, ...only("chat") }],
    ])("%s: the error has its param", async (path, body) => {
      const { text } = await ask(path, body);
      const last = sseEvents(text)
        .map(({ data }) => data)
        .filter((data) => data.includes('"error"'))
        .at(-1);
      expect(JSON.parse(last ?? "{}").error).toMatchObject({ param: null });
    });
  });
});

/** `completed_at` is a time exactly where the response is complete. */
function expectTimes({ status, created_at, completed_at }: Json): void {
  if (status !== "completed") expect(completed_at).toBe(null);
  else expect(completed_at).toBeGreaterThanOrEqual(created_at);
}
