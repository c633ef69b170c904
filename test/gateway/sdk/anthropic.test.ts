/**
 * The official `@anthropic-ai/sdk`, unchanged but for base URL and key, through the gateway to every upstream dialect:
 * typed messages, the stream helper and its events, structured output, token counts.
 */
import type Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { beforeAll, describe, expect, test } from "vitest";
import { REQUEST_ID } from "../../../src/base/ids.ts";
import { sharedGateway } from "../../support/shared-gateway.ts";
import { clientsOf, collect, DIALECTS, Level, modelOf, seenUpstream } from "./fixtures.ts";

const gateway = sharedGateway();
let client: Anthropic;
beforeAll(() => {
  client = clientsOf(gateway).anthropic;
});

const says = (content: string): Anthropic.MessageParam[] => [{ role: "user", content }];
const tools: Anthropic.Tool[] = [
  {
    name: "read_level",
    description: "Water level at a gauge",
    input_schema: { type: "object", properties: { gauge: { type: "string" } }, required: ["gauge"] },
  },
  { name: "open_gate", input_schema: { type: "object", properties: { degrees: { type: "integer" } } } },
];

describe.each(DIALECTS)("to %s", (dialect) => {
  const model = modelOf(dialect);

  test("a message, with the id its client can quote", async () => {
    const { data, response, request_id } = await client.messages
      .create({ model, max_tokens: 50, system: "Be brief.", messages: says("What is a weir?") })
      .withResponse();
    expect(data).toMatchObject({
      id: `msg_${request_id}`,
      type: "message",
      role: "assistant",
      model,
      content: [{ type: "text" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { output_tokens: 16 },
      svc: { request_id },
    });
    expect(data.usage.input_tokens).toBeGreaterThan(3);
    expect(request_id).toMatch(REQUEST_ID);
    expect(response.headers.get("request-id")).toBe(request_id);
    expect(response.headers.get("anthropic-ratelimit-requests-remaining")).toMatch(/^\d+$/);
  });

  test("T51: the stream helper: events in order, and the final message is the whole answer", async () => {
    const request = { model, max_tokens: 50, messages: says("Twice the same [[sim tokens=9 unicode]]") };
    const whole = await client.messages.create(request);
    const stream = client.messages.stream(request);
    const seen: string[] = [];
    let text = "";
    stream.on("streamEvent", ({ type }) => seen.push(type));
    stream.on("text", (delta) => {
      text += delta;
    });
    const final = await stream.finalMessage();
    expect(final.content).toMatchObject([{ type: "text", text }]);
    expect(whole.content).toMatchObject([{ type: "text", text }]);
    expect(text).not.toContain("\ufffd");
    expect(final).toMatchObject({ model, stop_reason: "end_turn", stop_sequence: null });
    expect(countsOf(final)).toEqual(countsOf(whole));
    expect(final.id).toMatch(/^msg_/);
    expect(stream.request_id).toBe(final.id.slice("msg_".length));
    expect(new Set(seen.slice(2, -3))).toEqual(new Set(["content_block_delta"]));
    expect([...seen.slice(0, 2), ...seen.slice(-3)]).toEqual([
      "message_start",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("T51, T52: one message_start with usage; the end has input and cache tokens that are not zero", async () => {
    const ask = "Count [[sim prompt_tokens=100 cached_tokens=40 tokens=7]]";
    const request = { model, max_tokens: 50, messages: says(ask) };
    const events = await collect(await client.messages.create({ ...request, stream: true }));
    const starts = events.flatMap((event) => (event.type === "message_start" ? [event.message] : []));
    expect(starts).toHaveLength(1);
    expect(starts[0]).toMatchObject({ content: [], stop_reason: null });
    expect(starts[0]?.usage).toMatchObject({ input_tokens: expect.any(Number) });
    const ends = events.flatMap((event) => (event.type === "message_delta" ? [event.usage] : []));
    expect(ends).toHaveLength(1);
    const counts = { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 7 };
    expect((await client.messages.stream(request).finalMessage()).usage).toMatchObject(counts);
    expect((await client.messages.create(request)).usage).toMatchObject(counts);
  });

  test("T44, T45, T46: tool calls, streamed and whole: numbered blocks, whole arguments, stopped for tools", async () => {
    const ask = "Levels? [[sim tool_calls=2 tokens=3]]";
    const request = { model, max_tokens: 100, messages: says(ask), tools };
    const whole = await client.messages.create(request);
    expect(whole.stop_reason).toBe("tool_use");
    // Google signs the first call: the signature stands before it, in a block without text.
    const sealed = dialect === "gemini" ? ["thinking"] : [];
    expect(whole.content.map(({ type }) => type)).toEqual(["text", ...sealed, "tool_use", "tool_use"]);
    expect(callsOf(whole).map(({ name }) => name)).toEqual(["read_level", "open_gate"]);

    const stream = client.messages.stream(request);
    const events = collect(stream);
    const final = await stream.finalMessage();
    expect(final.stop_reason).toBe("tool_use");
    expect(callsOf(final).map(withoutId)).toEqual(callsOf(whole).map(withoutId));
    expect(final.content[0]).toMatchObject(textOf(whole));
    let open = -1;
    for (const event of await events) {
      if (event.type === "content_block_start") expect(event.index).toBe(++open);
      if (event.type === "content_block_delta" || event.type === "content_block_stop")
        expect(event.index).toBe(open);
    }
    expect(open).toBe(whole.content.length - 1);
    expect(final.content.map(({ type }) => type)).toEqual(whole.content.map(({ type }) => type));
    for (const { id } of [...callsOf(whole), ...callsOf(final)]) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });

  test("a forced tool, without parallel calls", async () => {
    const reply = await client.messages.create({
      model,
      max_tokens: 100,
      messages: says("Which?"),
      tools,
      tool_choice: { type: "tool", name: "open_gate", disable_parallel_tool_use: true },
    });
    expect(callsOf(reply).map(({ name }) => name)).toEqual(["open_gate"]);
  });

  test("structured output is parsed, whole and streamed", async () => {
    const request = {
      model,
      max_tokens: 100,
      messages: says("As JSON"),
      output_config: { format: zodOutputFormat(Level) },
    };
    const parsed = await client.messages.parse(request);
    expect(Level.safeParse(parsed.parsed_output).success).toBe(true);
    const streamed = await client.messages.stream(request).finalMessage();
    expect(streamed.parsed_output).toEqual(parsed.parsed_output);
  });

  test("stop sequences and the length bound", async () => {
    // OpenAI's responses know no stop sequences: what is lost is told.
    const isKnown = dialect !== "responses";
    const stopped = await client.messages.create({
      model,
      max_tokens: 50,
      stop_sequences: ["END"],
      messages: says(isKnown ? 'Stop [[sim stop_sequence="END"]]' : "Stop"),
    });
    // OpenAI and Google do not tell a stop sequence from an end.
    const told = dialect === "messages" || dialect === "converse" ? "stop_sequence" : "end_turn";
    expect(stopped.stop_reason).toBe(told);
    // Bedrock does not tell which one it was.
    if (dialect === "messages") expect(stopped.stop_sequence).toBe("END");
    if (!isKnown)
      expect(stopped).toMatchObject({ svc: { warnings: [expect.stringContaining("/stop_sequences")] } });
    const cut = await client.messages
      .stream({ model, max_tokens: 16, messages: says("Go on [[sim tokens=400]]") })
      .finalMessage();
    expect(cut).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: 16 } });
  });

  test("a refusal is told as one", async () => {
    const request = { model, max_tokens: 50, messages: says('No [[sim refuse="I would rather not."]]') };
    const whole = await client.messages.create(request);
    expect(whole.stop_reason).toBe("refusal");
    expect((await client.messages.stream(request).finalMessage()).stop_reason).toBe("refusal");
  });

  test("token counts", async () => {
    const { input_tokens } = await client.messages.countTokens({
      model,
      system: "Be brief.",
      messages: says("How many tokens does this have? ".repeat(20)),
      tools,
    });
    expect(input_tokens).toBeGreaterThan(50);
    expect(input_tokens).toBeLessThan(1000);
  });

  test("T50: text, images, documents in a tool's result, and cache marks on every block", async () => {
    const PIXEL =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const ephemeral = { cache_control: { type: "ephemeral" as const } };
    const image: Anthropic.ImageBlockParam = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: PIXEL },
    };
    const document: Anthropic.DocumentBlockParam = {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQKJSVFT0YK" },
      title: "gauge.pdf",
    };
    const ask = says("Look [[sim tool_calls=1]]");
    const called = await client.messages.create({ model, max_tokens: 100, messages: ask, tools });
    const [call] = callsOf(called);
    await client.messages.create({
      model,
      max_tokens: 100,
      system: [{ type: "text", text: "Be exact.", ...ephemeral }],
      tools: tools.map((tool, at) => (at === 1 ? { ...tool, ...ephemeral } : tool)),
      messages: [
        ...ask,
        { role: "assistant", content: called.content },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: call?.id ?? "",
              content: [{ type: "text", text: "1.4 metres at gauge seven" }, image, document],
              ...ephemeral,
            },
            { type: "text", text: "What do you see?", ...ephemeral },
          ],
        },
      ],
    });
    const seen = JSON.stringify(seenUpstream(gateway));
    for (const said of [
      "1.4 metres at gauge seven",
      PIXEL,
      "JVBERi0xLjQKJSVFT0YK",
      "What do you see?",
      "Be exact.",
    ])
      expect(seen).toContain(said);
    const marks = seen.split('"cache_control"').length - 1 + seen.split('"cachePoint"').length - 1;
    if (dialect === "messages" || dialect === "converse") expect(marks).toBe(4);
  });
});

test("T53: to messages every byte passes, what nobody here knows included", async () => {
  const request = {
    model: modelOf("messages"),
    max_tokens: 50,
    messages: says("Untouched"),
    metadata: { user_id: "u-1" },
    service_tier: "auto" as const,
    inference_geo: "global",
  };
  await client.messages.create(request);
  expect(seenUpstream(gateway)).toEqual({ ...request, model: "sim-messages" });
});

const countsOf = ({ usage }: Anthropic.Message) => [
  usage.input_tokens,
  usage.output_tokens,
  usage.cache_read_input_tokens ?? 0,
];
const callsOf = ({ content }: Anthropic.Message): Anthropic.ToolUseBlock[] =>
  content.filter((block) => block.type === "tool_use");
const textOf = ({ content }: Anthropic.Message) => {
  const block = content.find(({ type }) => type === "text");
  return block?.type === "text" ? { type: "text", text: block.text } : {};
};
const withoutId = ({ name, input }: Anthropic.ToolUseBlock) => ({ name, input });
