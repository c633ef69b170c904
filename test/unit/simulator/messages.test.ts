/**
 * The simulated provider in Anthropic's messages format: through the official client, and its refusals byte by byte.
 */
import Anthropic from "@anthropic-ai/sdk";
import type {
  Message,
  MessageParam,
  RawMessageStreamEvent,
  Tool,
} from "@anthropic-ai/sdk/resources/messages";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;
const client = (instruction: object = {}, apiKey = "sk-test") =>
  new Anthropic({ apiKey, baseURL: simulator.url + withPath(instruction), maxRetries: 0 });
const ask = (content: MessageParam["content"] = "What is a weir?") => ({
  model: "sim-small",
  max_tokens: 1_000,
  messages: [{ role: "user" as const, content }] as MessageParam[],
});
const level: Tool = {
  name: "level",
  input_schema: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
};

const VERSION = { "anthropic-version": "2023-06-01" };
const post = (body: unknown, instruction: object = {}, headers: Record<string, string> = VERSION) =>
  fetch(`${simulator.url}${withPath(instruction)}/v1/messages`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });

/** The events of a stream, names checked against their data. */
async function events(
  body: object,
  instruction: object = {},
): Promise<(RawMessageStreamEvent | { type: "ping" })[]> {
  const text = await (await post({ ...body, stream: true }, instruction)).text();
  return text
    .split("\n\n")
    .filter(Boolean)
    .map((frame) => {
      const [name, data] = frame.split("\n") as [string, string];
      const event = JSON.parse(data.replace(/^data: /, ""));
      expect(name).toBe(`event: ${event.type}`);
      return event;
    });
}

const refusal = async (body: unknown, instruction: object = {}) => {
  const reply = await post(body, instruction);
  expect(reply.status).toBe(400);
  const { type, error } = (await reply.json()) as { type: string; error: { type: string; message: string } };
  expect([type, error.type]).toEqual(["error", "invalid_request_error"]);
  return error.message;
};

const blockTypes = (message: Message) => message.content.map((block) => block.type);

describe("the official client", () => {
  test("completes, streams, and gets the same either way", async () => {
    const instruction = { reasoning: 6, tokens: 9, redacted: 1, tool_calls: 2 };
    const params = { ...ask(), tools: [level] };
    const whole = await client(instruction).messages.create(params);
    const streamed = await client(instruction).messages.stream(params).finalMessage();
    expect(blockTypes(whole)).toEqual(["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
    expect(streamed.content).toMatchObject(whole.content);
    expect(streamed.stop_reason).toBe("tool_use");
    expect(whole.stop_reason).toBe("tool_use");
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(streamed.usage.output_tokens_details).toEqual({ thinking_tokens: 6 });
  });

  test("parses structured output", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const message = await client().messages.create({
      ...ask(),
      output_config: { format: { type: "json_schema", schema } },
    });
    const [block] = message.content;
    expect(block?.type === "text" && JSON.parse(block.text)).toEqual({ city: expect.any(String) });
  });

  test("goes round a tool loop with signed thinking", async () => {
    const first = await client({ reasoning: 5, tool_calls: 2 }).messages.create({ ...ask(), tools: [level] });
    const results = first.content.flatMap((block) =>
      block.type === "tool_use"
        ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "3 m" }]
        : [],
    );
    const messages = [
      ...ask().messages,
      { role: "assistant" as const, content: first.content },
      { role: "user" as const, content: results },
    ];
    const second = await client({ require_thinking: true }).messages.create({
      ...ask(),
      messages,
      tools: [level],
    });
    expect(results).toHaveLength(2);
    expect(second.stop_reason).toBe("end_turn");
  });

  test("counts tokens as the call would", async () => {
    const { input_tokens } = await client().messages.countTokens({ model: "m", messages: ask().messages });
    expect(input_tokens).toBe((await client().messages.create(ask())).usage.input_tokens);
  });

  test.each([
    [{ status: 529 }, Anthropic.InternalServerError, "overloaded_error"],
    [{ status: 429 }, Anthropic.RateLimitError, "rate_limit_error"],
    [{ status: 400 }, Anthropic.BadRequestError, "invalid_request_error"],
  ])("sees the class and type of an error: %j", async (instruction, kind, type) => {
    const thrown = await client(instruction)
      .messages.create(ask())
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(kind);
    expect((thrown as InstanceType<typeof Anthropic.APIError>).error).toMatchObject({ error: { type } });
  });

  test("sees an error inside a stream", async () => {
    const stream = client({ fault: "error_mid", after: 5 }).messages.stream(ask());
    await expect(stream.finalMessage()).rejects.toThrow("Simulated error 500.");
  });

  test("is refused with the key 'invalid'", async () => {
    await expect(client({}, "invalid").messages.create(ask())).rejects.toThrow(Anthropic.AuthenticationError);
    const reply = await post(ask(), {}, { ...VERSION, "x-api-key": "invalid" });
    expect(reply.status).toBe(401);
    expect(await reply.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
  });
});

describe("a stream", () => {
  test("is as the provider orders it", async () => {
    const all = await events({ ...ask(), tools: [level] }, { reasoning: 2, tokens: 2, tool_calls: 1 });
    const names = all.map((event) => {
      if (event.type === "content_block_start") return `start ${event.content_block.type}`;
      return event.type === "content_block_delta" ? event.delta.type : event.type;
    });
    const folded = names.filter((name, i) => name !== names[i - 1]);
    expect(folded).toEqual([
      "message_start",
      "ping",
      "start thinking",
      "thinking_delta",
      "signature_delta",
      "content_block_stop",
      "start text",
      "text_delta",
      "content_block_stop",
      "start tool_use",
      "input_json_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    const json = all.flatMap((event) =>
      event.type === "content_block_delta" && event.delta.type === "input_json_delta"
        ? [event.delta.partial_json]
        : [],
    );
    expect(json[0]).toBe("");
    expect(JSON.parse(json.join(""))).toEqual({ at: expect.any(String) });
  });

  test("cache reads and writes are apart from the input tokens, at the start and at the end", async () => {
    const counts = {
      prompt_tokens: 12_410,
      cached_tokens: 100,
      cache_write_tokens: 12_300,
      cache_write_1h_tokens: 7,
    };
    const all = await events(ask(), counts);
    const expected = { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 12_307 };
    const start = all[0];
    expect(start?.type === "message_start" && start.message.usage).toMatchObject({
      ...expected,
      cache_creation: { ephemeral_5m_input_tokens: 12_300, ephemeral_1h_input_tokens: 7 },
      output_tokens: 1,
    });
    expect(all.at(-2)).toMatchObject({ type: "message_delta", usage: { ...expected, output_tokens: 16 } });
  });

  test.each([
    ["none", [undefined, undefined]],
    [{ input_tokens: 7 }, [{ input_tokens: 7 }, { input_tokens: 7 }]],
    [
      "with_last",
      [expect.objectContaining({ input_tokens: 0 }), expect.objectContaining({ input_tokens: 4 })],
    ],
  ])("usage %j", async (usage, expected) => {
    const all = await events(ask(), { usage });
    const told = all.flatMap((event) => {
      if (event.type === "message_start") return [event.message.usage];
      return event.type === "message_delta" ? [event.usage] : [];
    });
    expect(told).toEqual(expected);
  });

  test("usage every: cumulative after each token", async () => {
    const deltas = (await events(ask(), { usage: "every", tokens: 3 })).filter(
      (e) => e.type === "message_delta",
    );
    expect(deltas.map((event) => event.usage.output_tokens)).toEqual([1, 2, 3, 3]);
    expect(deltas.map((event) => event.delta.stop_reason)).toEqual([null, null, null, "end_turn"]);
  });

  test("has the bytes it was told to have", async () => {
    const text = await (await post({ ...ask(), stream: true }, { bytes: 400 })).text();
    const lengths = text
      .split("\n\n")
      .filter(Boolean)
      .map((frame) => frame.length + 2);
    expect(new Set(lengths.slice(1))).toEqual(new Set([400]));
    const bulk = await events(ask(), { total_bytes: 20_000, event_bytes: 1_000 });
    const content = bulk.filter((event) => event.type === "content_block_delta");
    expect(content).toHaveLength(20);
    const whole = await (await post(ask(), { bytes: 5_000 })).text();
    expect(Buffer.byteLength(whole)).toBe(5_000);
  });
});

describe("how it ends", () => {
  test.each([
    [{ tokens: 3 }, {}, "end_turn", null],
    [{ tokens: 30 }, { max_tokens: 9 }, "max_tokens", null],
    [{ stop_sequence: "END" }, { stop_sequences: ["STOP", "END"] }, "stop_sequence", "END"],
    [{ refuse: "I cannot." }, {}, "refusal", null],
  ])("%j of %j: %s", async (instruction, params, reason, sequence) => {
    const whole = await client(instruction).messages.create({ ...ask(), ...params });
    const streamed = await client(instruction)
      .messages.stream({ ...ask(), ...params })
      .finalMessage();
    expect([whole.stop_reason, whole.stop_sequence]).toEqual([reason, sequence]);
    expect([streamed.stop_reason, streamed.stop_sequence]).toEqual([reason, sequence]);
  });

  test("a stop sequence that the request lost on the way is a 400", async () => {
    expect(await refusal(ask(), { stop_sequence: "END" })).toContain("no stop sequence");
  });
});

describe("thinking that comes back", () => {
  const turn = async (instruction: object): Promise<Message["content"]> =>
    (await client(instruction).messages.create({ ...ask(), tools: [level] })).content;
  const returned = (content: unknown[]) => ({
    ...ask(),
    messages: [...ask().messages, { role: "assistant", content }, { role: "user", content: "And then?" }],
  });

  test("signatures have the characters that careless encodings spoil", async () => {
    const [block] = await turn({ reasoning: 3 });
    expect(block?.type === "thinking" && block.signature).toMatch(/^\+\+\/\/.*=$/);
  });

  test("several blocks, the last without text but signed, and redacted ones are taken unaltered", async () => {
    const content = await turn({ reasoning: 4, thinking_blocks: 3, redacted: 2 });
    expect(content.map((block) => (block.type === "thinking" ? block.thinking !== "" : block.type))).toEqual([
      true,
      true,
      false,
      "redacted_thinking",
      "redacted_thinking",
      "text",
    ]);
    expect((await post(returned(content))).status).toBe(200);
  });

  test.each(["signature", "thinking", "data"] as const)("an altered %s is refused", async (member) => {
    const content = await turn({ reasoning: 4, redacted: 1 });
    const index = member === "data" ? 1 : 0;
    const altered = content.map((block, i) =>
      i === index ? { ...block, [member]: `${(block as never)[member]}`.replace(/.$/s, "~") } : block,
    );
    const kind = member === "data" ? "`data` in `redacted_thinking`" : "`signature` in `thinking`";
    expect(await refusal(returned(altered))).toBe(`messages.1.content.${index}: Invalid ${kind} block`);
  });

  test("require_thinking: calls of tools without the thinking before them are refused", async () => {
    const content = await turn({ reasoning: 4, tool_calls: 1, tokens: 0 });
    const id = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []))[0];
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "3 m" }] };
    const body = (blocks: unknown[]) => ({
      ...ask(),
      messages: [...ask().messages, { role: "assistant", content: blocks }, result],
    });
    expect((await post(body(content), { require_thinking: true })).status).toBe(200);
    expect(await refusal(body(content.slice(1)), { require_thinking: true })).toContain(
      "messages.1.content.0",
    );
  });
});

describe("what the provider refuses", () => {
  const use = (id: string) => ({ type: "tool_use", id, name: "level", input: {} });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "3 m" });
  const talk = (...contents: unknown[]) => ({
    ...ask(),
    messages: contents.map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content })),
  });
  const { max_tokens: _, ...unbounded } = ask();

  test.each([
    ["no max_tokens", unbounded, "max_tokens: Field required"],
    ["a field of another format", { ...ask(), n: 1 }, "n: Extra inputs are not permitted"],
    ["no messages", { ...ask(), messages: [] }, "messages: at least one message is required"],
    [
      "an assistant first",
      { ...ask(), messages: [{ role: "assistant", content: "Hi" }] },
      "first message must use",
    ],
    [
      "a system role",
      { ...ask(), messages: [{ role: "system", content: "Be brief" }] },
      'Unexpected role "system"',
    ],
    ["an empty message", talk(""), "messages.0: all messages must have non-empty content"],
    ["an empty text", talk([{ type: "text", text: "" }]), "text content blocks must be non-empty"],
    [
      "an unknown block",
      talk([{ type: "input_text", text: "Hi" }]),
      "messages.0.content.0: Input tag 'input_text'",
    ],
    [
      "an image of no type",
      talk([{ type: "image", source: { type: "base64", data: "AA==" } }]),
      "media_type",
    ],
    ["a result of no call", talk("Hi", "Ho", [result("toolu_9")]), "unexpected `tool_use_id` found"],
    ["a call without result", talk("Hi", [use("a"), use("b")], [result("a")]), "immediately after: b"],
    [
      "a result after text",
      talk("Hi", [use("a")], [{ type: "text", text: "So" }, result("a")]),
      "immediately after: a",
    ],
    ["a call with a string", talk("Hi", [{ ...use("a"), input: "{}" }], [result("a")]), "tool_use.input"],
    [
      "ids that repeat",
      talk("Hi", [use("a")], [result("a")], [use("a")], [result("a")]),
      "ids must be unique",
    ],
    [
      "a hot temperature",
      { ...ask(), temperature: 1.5 },
      "temperature: Input should be less than or equal to 1",
    ],
    [
      "a tool of OpenAI's",
      { ...ask(), tools: [{ name: "f", parameters: {} }] },
      "input_schema: Field required",
    ],
    ["a choice among no tools", { ...ask(), tool_choice: { type: "any" } }, "while providing tools"],
    [
      "a budget over the bound",
      { ...ask(), thinking: { type: "enabled", budget_tokens: 1_024 } },
      "must be greater",
    ],
    ["an end in white space", talk("Hi", "Ho "), "trailing whitespace"],
  ])("%s", async (_name, body, message) => {
    expect(await refusal(body)).toContain(message);
  });

  test("no anthropic-version, and sampling parameters in a version that has none", async () => {
    const without = await post(ask(), {}, {});
    expect(without.status).toBe(400);
    expect(await without.json()).toMatchObject({
      error: { message: "anthropic-version: header is required" },
    });
    const body = { ...ask(), temperature: 0.5 };
    expect((await post(body)).status).toBe(200);
    expect((await post(body, {}, { "anthropic-version": "2026-10-21" })).status).toBe(400);
  });

  test("instructions from the body and from the text work here too", async () => {
    const told = await post({ ...ask("Hi [[sim tokens=2]]"), simulator: { tokens: 3, refuse: "No." } });
    expect(await told.json()).toMatchObject({ stop_reason: "refusal", content: [{ text: "No." }] });
    const usage = await (await post(ask("Hi [[sim tokens=2]]"))).json();
    expect(usage).toMatchObject({ usage: { output_tokens: 2 } });
  });
});
