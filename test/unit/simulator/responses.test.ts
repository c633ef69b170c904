/**
 * The simulated provider in OpenAI's responses format: through the official client, and its refusals.
 */
import OpenAI from "openai";
import type {
  FunctionTool,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;
const client = (instruction: object = {}) =>
  new OpenAI({ apiKey: "sk-test", baseURL: `${simulator.url}${withPath(instruction)}/v1`, maxRetries: 0 });
const ask = { model: "sim-small", input: "What is a weir?" };
const sealed = { ...ask, include: ["reasoning.encrypted_content" as const], store: false };
const level: FunctionTool = {
  type: "function",
  name: "level",
  strict: true,
  parameters: {
    type: "object",
    properties: { at: { type: "string" } },
    required: ["at"],
    additionalProperties: false,
  },
};

const post = (body: unknown, instruction: object = {}) =>
  fetch(`${simulator.url}${withPath(instruction)}/v1/responses`, {
    method: "POST",
    body: JSON.stringify(body),
  });

/** The events of a stream, names checked against their data. */
async function events(body: object, instruction: object = {}): Promise<ResponseStreamEvent[]> {
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
  const { error } = (await reply.json()) as { error: { type: string; message: string } };
  expect(error.type).toBe("invalid_request_error");
  return error.message;
};

describe("the official client", () => {
  test("completes, streams, and gets the same either way", async () => {
    const instruction = { reasoning: 6, tokens: 9, tool_calls: 2 };
    const params = { ...sealed, tools: [level], metadata: { a: "b" }, instructions: "Be brief." };
    const whole = await client(instruction).responses.create(params);
    const streamed = await client(instruction).responses.stream(params).finalResponse();
    expect(whole.output.map((item) => item.type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "function_call",
    ]);
    expect(streamed.output).toMatchObject(whole.output);
    expect(streamed.output_text).toBe(whole.output_text);
    expect(streamed.usage).toEqual(whole.usage);
    expect(whole.usage?.output_tokens_details.reasoning_tokens).toBe(6);
    expect(whole).toMatchObject({ status: "completed", metadata: { a: "b" }, instructions: "Be brief." });
  });

  test("parses structured output", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const format = { type: "json_schema" as const, name: "place", schema };
    const reply = await client().responses.create({ ...ask, text: { format } });
    expect(JSON.parse(reply.output_text)).toEqual({ city: expect.any(String) });
    expect(reply.text).toMatchObject({ format: { name: "place" } });
  });

  test("goes round a tool loop with sealed reasoning", async () => {
    const params = { ...sealed, tools: [level] };
    const first = await client({ reasoning: 5, tool_calls: 2 }).responses.create(params);
    const outputs = first.output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "3 m" }]
        : [],
    );
    const input: ResponseInputItem[] = [
      { role: "user", content: ask.input },
      ...(first.output as ResponseInputItem[]),
      ...outputs,
    ];
    const second = await client({ require_thinking: true }).responses.create({ ...params, input });
    expect(outputs).toHaveLength(2);
    expect(second.output_text.split(" ")).toHaveLength(16);
  });

  test("sees the class of an error, and an error inside a stream", async () => {
    await expect(client({ status: 429 }).responses.create(ask)).rejects.toThrow(OpenAI.RateLimitError);
    const stream = client({ fault: "error_mid", after: 4 }).responses.stream(ask);
    await expect(stream.finalResponse()).rejects.toThrow();
  });

  test("sees a response that says it failed", async () => {
    const whole = await client({ fault: "failed" }).responses.create(ask);
    expect(whole).toMatchObject({ status: "failed", error: { code: "server_error" } });
    const all = await events(ask, { fault: "failed", after: 5, error_message: "Out of luck." });
    expect(all.at(-1)).toMatchObject({
      type: "response.failed",
      sequence_number: 5,
      response: { status: "failed", error: { message: "Out of luck." } },
    });
  });
});

test("a dialect whose answers cannot say that they failed refuses to be told so", async () => {
  const messages = [{ role: "user" as const, content: "Hi" }];
  const asked = client({ fault: "failed" }).chat.completions.create({ model: "m", messages });
  await expect(asked).rejects.toThrow(OpenAI.BadRequestError);
});

describe("a stream", () => {
  test("is as the provider orders it, numbered without gaps, without [DONE]", async () => {
    const all = await events({ ...sealed, tools: [level] }, { reasoning: 2, tokens: 2, tool_calls: 1 });
    expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, i) => i));
    const names = all.map((event) => event.type.replace("response.", ""));
    expect(names.filter((name, i) => name !== names[i - 1])).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "completed",
    ]);
  });

  test("refuses in pieces", async () => {
    const all = await events(ask, { refuse: "I cannot do that." });
    const deltas = all.flatMap((event) => (event.type === "response.refusal.delta" ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe("I cannot do that.");
    const end = all.at(-1);
    expect(end?.type === "response.completed" && end.response.output).toMatchObject([
      { type: "message", content: [{ type: "refusal", refusal: "I cannot do that." }] },
    ]);
  });

  test("ends incomplete at the bound", async () => {
    const all = await events({ ...ask, max_output_tokens: 3 });
    expect(all.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: {
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output: [{ status: "incomplete" }],
        usage: { output_tokens: 3 },
      },
    });
  });

  test.each([
    ["none", undefined],
    [{ input_tokens: 7 }, { input_tokens: 7 }],
    ["with_last", expect.objectContaining({ input_tokens: 4, output_tokens: 16 })],
  ])("usage %j", async (usage, expected) => {
    const all = await events(ask, { usage });
    const end = all.at(-1);
    expect(end?.type === "response.completed" && end.response.usage).toEqual(expected);
  });

  test("logprobs for each token when asked for", async () => {
    const all = await events({ ...ask, include: ["message.output_text.logprobs"] }, { tokens: 3 });
    const deltas = all.filter((event) => event.type === "response.output_text.delta");
    expect(deltas.map((event) => event.logprobs.map(({ token }) => token))).toEqual(
      deltas.map((event) => [event.delta]),
    );
  });

  test("has the bytes it was told to have", async () => {
    const text = await (await post({ ...ask, stream: true }, { bytes: 4_000 })).text();
    const lengths = text
      .split("\n\n")
      .filter(Boolean)
      .map((frame) => frame.length + 2);
    expect(new Set(lengths)).toEqual(new Set([4_000]));
    const bulk = await (
      await post({ ...ask, stream: true }, { total_bytes: 20_000, event_bytes: 1_000 })
    ).text();
    const deltas = bulk
      .split("\n\n")
      .filter((frame) => frame.startsWith("event: response.output_text.delta"));
    expect(deltas.map((frame) => frame.length + 2)).toEqual(Array.from({ length: 20 }, () => 1_000));
    expect((await (await post(ask, { bytes: 5_000 })).text()).length).toBe(5_000);
  });
});

describe("reasoning that comes back", () => {
  const output = async (instruction: object): Promise<ResponseOutputItem[]> =>
    (await client(instruction).responses.create(sealed)).output;
  const returned = (items: unknown[]) => ({
    ...sealed,
    input: [{ role: "user", content: ask.input }, ...items, { role: "user", content: "And then?" }],
  });

  test("encrypted content only where it is asked for", async () => {
    const [item] = (await client({ reasoning: 2 }).responses.create(ask)).output;
    expect(item).not.toHaveProperty("encrypted_content");
    const [included] = await output({ reasoning: 2 });
    expect(included?.type === "reasoning" && included.encrypted_content).toMatch(/^\+\+\/\/.*==$/);
  });

  test("several items, those without text too, are taken unaltered", async () => {
    const items = await output({ reasoning: 4, thinking_blocks: 3, redacted: 1 });
    const summaries = items.flatMap((item) => (item.type === "reasoning" ? [item.summary.length] : []));
    expect(summaries).toEqual([1, 1, 0, 0]);
    expect((await post(returned(items))).status).toBe(200);
  });

  test("encrypted content without its summary is taken", async () => {
    const [first, ...rest] = await output({ reasoning: 4 });
    expect((await post(returned([{ ...first, summary: [] }, ...rest]))).status).toBe(200);
  });

  test.each([
    ["altered content", { encrypted_content: "++//AAAA==" }, "could not be verified"],
    ["another summary", { summary: [{ type: "summary_text", text: "No" }] }, "could not be verified"],
    ["no content at all", { encrypted_content: null }, "not found"],
    ["another kind's id", { id: "msg_1" }, "begins with 'rs'"],
  ])("%s is refused", async (_name, change, message) => {
    const [first, ...rest] = await output({ reasoning: 4 });
    expect(await refusal(returned([{ ...first, ...change }, ...rest]))).toContain(message);
  });

  test("reasoning without what it led to is refused", async () => {
    const [first] = await output({ reasoning: 4 });
    expect(await refusal(returned([first]))).toContain("without its required following item");
  });

  test("require_thinking: calls of tools without the reasoning before them are refused", async () => {
    const params = { ...sealed, tools: [level] };
    const items = (await client({ reasoning: 4, tool_calls: 1, tokens: 0 }).responses.create(params)).output;
    const call = items.find((item) => item.type === "function_call");
    const result = { type: "function_call_output", call_id: call?.call_id, output: "3 m" };
    const body = (some: unknown[]) => ({
      ...sealed,
      input: [{ role: "user", content: "Hi" }, ...some, result],
    });
    expect((await post(body(items), { require_thinking: true })).status).toBe(200);
    expect(await refusal(body([call]), { require_thinking: true })).toContain("input[1]");
  });
});

describe("what the provider refuses", () => {
  const say = (...input: unknown[]) => ({ model: "m", input });
  const call = { type: "function_call", call_id: "call_1", name: "level", arguments: "{}" };
  const result = { type: "function_call_output", call_id: "call_1", output: "3 m" };
  const nested = { type: "function", function: { name: "f" } };

  test.each([
    ["no model", { input: "Hi" }, "Missing required parameter: 'model'"],
    ["no input", { model: "m" }, "Missing required parameter: 'input'"],
    ["a field of another format", { ...ask, messages: [] }, "Unknown parameter: 'messages'"],
    ["chat's bound", { ...ask, max_tokens: 5 }, "Unknown parameter: 'max_tokens'"],
    [
      "a part of chat's",
      say({ role: "user", content: [{ type: "text", text: "Hi" }] }),
      "Invalid value: 'text'",
    ],
    [
      "an input part said by the assistant",
      say({ role: "assistant", content: [{ type: "input_text", text: "Hi" }] }),
      "'output_text', 'refusal'",
    ],
    ["a role of chat's", say({ role: "tool", content: "Hi" }), "Invalid value: 'tool'"],
    ["an output of no call", say(result), "No tool call found for function call output with call_id call_1"],
    [
      "a call without output",
      say({ role: "user", content: "Hi" }, call),
      "No tool output found for function call call_1",
    ],
    ["an output before its call", say(result, call), "No tool call found"],
    ["a long call id", say({ ...call, call_id: "c".repeat(65) }), "maximum length 64"],
    ["another kind's id", say({ ...call, id: "call_1" }, result), "begins with 'fc'"],
    ["a tool of chat's", { ...ask, tools: [nested] }, "Missing required parameter: 'tools[0].name'"],
    ["a choice of chat's", { ...ask, tools: [level], tool_choice: nested }, "'tool_choice.name'"],
    [
      "a schema without name",
      { ...ask, text: { format: { type: "json_schema", schema: {} } } },
      "'text.format.name'",
    ],
    ["an earlier response", { ...ask, previous_response_id: "resp_1" }, "'resp_1' not found"],
    ["a hot temperature", { ...ask, temperature: 2.5 }, "above maximum value"],
  ])("%s", async (_name, body, message) => {
    expect(await refusal(body)).toContain(message);
  });

  test("instructions from the body and from the text work here too", async () => {
    const told = await post({
      model: "m",
      input: "Hi [[sim tokens=2]]",
      simulator: { tokens: 3, refuse: "No." },
    });
    expect(await told.json()).toMatchObject({ output: [{ content: [{ type: "refusal", refusal: "No." }] }] });
    const usage = await (await post({ model: "m", input: "Hi [[sim tokens=2]]" })).json();
    expect(usage).toMatchObject({ usage: { output_tokens: 2 } });
  });
});
