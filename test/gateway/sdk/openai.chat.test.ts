/**
 * The official `openai` client's chat completions, through the gateway to every upstream dialect: what `test/gateway/chat/sdk.test.ts`
 * shows of its own dialect holds of all others.
 */
import type OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedGateway } from "../../support/shared-gateway.ts";
import { clientsOf, collect, DIALECTS, Level, modelOf, seenUpstream } from "./fixtures.ts";

const gateway = sharedGateway();
let client: OpenAI;
beforeAll(() => {
  client = clientsOf(gateway).openai;
});

const says = (content: string): OpenAI.ChatCompletionMessageParam[] => [{ role: "user", content }];
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "read_level",
      parameters: { type: "object", properties: { gauge: { type: "string" } }, required: ["gauge"] },
    },
  },
  { type: "function", function: { name: "open_gate", parameters: { type: "object", properties: {} } } },
];

describe.each(DIALECTS)("to %s", (dialect) => {
  const model = modelOf(dialect);

  test("a completion, with the id its client can quote, and usage that adds up", async () => {
    const { data, request_id } = await client.chat.completions
      .create({ model, messages: [{ role: "system", content: "Be brief." }, ...says("What is a weir?")] })
      .withResponse();
    expect(data).toMatchObject({
      id: `chatcmpl-${request_id}`,
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant", refusal: null }, finish_reason: "stop" }],
      usage: { completion_tokens: 16 },
      svc: { request_id },
    });
    const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = data.usage ?? {};
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  });

  test("T51, T46: the stream helper ends with the whole answer; the first delta has the role", async () => {
    const request = { model, messages: says("Twice the same [[sim tokens=9 unicode]]") };
    const whole = await client.chat.completions.create(request);
    const runner = client.chat.completions.stream(request);
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    runner.on("chunk", (chunk) => chunks.push(chunk));
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: whole.choices[0]?.message.content },
    });
    expect(final.choices[0]?.message.content).not.toContain("\ufffd");
    expect(await runner.totalUsage()).toMatchObject({
      prompt_tokens: whole.usage?.prompt_tokens,
      completion_tokens: whole.usage?.completion_tokens,
      total_tokens: whole.usage?.total_tokens,
    });
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.slice(1).some(({ choices }) => choices[0]?.delta.role !== undefined)).toBe(false);
    const reasons = chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason));
    expect(reasons.at(-1)).toBe("stop");
    expect(reasons.slice(0, -1).every((reason) => reason === null)).toBe(true);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test("T1: usage stands in one last chunk without choices, cached tokens within", async () => {
    const messages = says("Count [[sim prompt_tokens=100 cached_tokens=40 tokens=7]]");
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 7,
      total_tokens: 107,
      prompt_tokens_details: { cached_tokens: 40 },
    };
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
    for (const chunk of chunks.slice(0, -1)) expect(chunk).toMatchObject({ usage: null, choices: [{}] });
    expect((await client.chat.completions.create({ model, messages })).usage).toMatchObject(usage);
  });

  test("T44, T45, T46: streamed calls are numbered from 0 behind text, and are the whole answer's", async () => {
    const request = { model, messages: says("Levels? [[sim tool_calls=2 tokens=3]]"), tools };
    const whole = await client.chat.completions.create(request);
    const runner = client.chat.completions.stream(request);
    const indexes: number[] = [];
    runner.on("chunk", ({ choices }) => {
      for (const { index } of choices[0]?.delta.tool_calls ?? []) indexes.push(index);
    });
    const final = await runner.finalChatCompletion();
    for (const { choices } of [whole, final]) {
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      expect(choices[0]?.message.tool_calls?.map(nameOf)).toEqual(["read_level", "open_gate"]);
    }
    expect([...new Set(indexes)]).toEqual([0, 1]);
    expect(final.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    expect(final.choices[0]?.message.tool_calls?.map(argumentsOf)).toEqual(
      whole.choices[0]?.message.tool_calls?.map(argumentsOf),
    );
  });

  test("structured output and typed tool arguments are parsed, whole and streamed", async () => {
    const response_format = zodResponseFormat(Level, "level");
    const request = { model, messages: says("As JSON, please"), response_format };
    const parsed = await client.chat.completions.parse(request);
    expect(Level.safeParse(parsed.choices[0]?.message.parsed).success).toBe(true);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(parsed.choices[0]?.message.parsed);

    const called = await client.chat.completions.parse({
      model,
      messages: says("Which gauge?"),
      tools: [zodFunction({ name: "read_level", parameters: Level })],
      tool_choice: { type: "function", function: { name: "read_level" } },
    });
    const call = called.choices[0]?.message.tool_calls?.[0];
    const given = call?.type === "function" ? call.function.parsed_arguments : undefined;
    expect(Level.safeParse(given).success).toBe(true);
  });

  test("a refusal, the length bound, and reasoning", async () => {
    const refusal = { model, messages: says('No [[sim refuse="I would rather not."]]') };
    const refused = await client.chat.completions.create(refusal);
    const streamed = await client.chat.completions.stream(refusal).finalChatCompletion();
    for (const { choices } of [refused, streamed]) {
      const { message, finish_reason } = choices[0] ?? expect.fail("no choice");
      // OpenAI says what it refuses in a member of its own; the others in text or not at all. All but chat end so.
      const isSaid = dialect === "chat" || dialect === "responses";
      expect(message.refusal ?? null, JSON.stringify(choices)).toBe(isSaid ? "I would rather not." : null);
      expect(finish_reason).toBe(dialect === "chat" ? "stop" : "content_filter");
    }
    const cut = { model, messages: says("Go on [[sim tokens=400]]"), max_completion_tokens: 16 };
    const whole = await client.chat.completions.create(cut);
    expect(whole).toMatchObject({ choices: [{ finish_reason: "length" }], usage: { completion_tokens: 16 } });
    // As OpenRouter's clients ask to be shown it, which Google's models do not do unasked.
    const reasoning = { effort: "low", exclude: false };
    const ask = { model, messages: says("Think [[sim reasoning=6 tokens=4]]"), reasoning };
    const thought = await client.chat.completions.create(ask);
    // Bedrock does not tell how many of its tokens were reasoning.
    const reasoning_tokens = dialect === "converse" ? 0 : 6;
    expect(thought.usage).toMatchObject({ completion_tokens: 10 });
    expect(thought.usage?.completion_tokens_details?.reasoning_tokens ?? 0).toBe(reasoning_tokens);
    expect(thought.choices[0]?.message).toHaveProperty("reasoning_content", expect.stringMatching(/\w/));
  });

  test("an image by data URL and a document reach the model", async () => {
    const data = "JVBERi0xLjQKJSVFT0YK";
    await client.chat.completions.create({
      model,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: PIXEL } },
            {
              type: "file",
              file: { file_data: `data:application/pdf;base64,${data}`, filename: "gauge.pdf" },
            },
          ],
        },
      ],
    });
    const seen = JSON.stringify(seenUpstream(gateway));
    for (const part of ["What is this?", PIXEL.split(",")[1] ?? "", data]) expect(seen).toContain(part);
  });

  test("T53: what the client said and nothing else reaches the model", async () => {
    await client.chat.completions.create({ model, messages: says("Untouched") });
    const seen = Object.keys(seenUpstream(gateway)).sort();
    expect(seen).toEqual(PLAIN[dialect]);
  });
});

/** The members of the plainest request: what each dialect requires, and `max_tokens` where it must be said. */
const PLAIN: Readonly<Record<(typeof DIALECTS)[number], readonly string[]>> = {
  chat: ["messages", "model"],
  responses: ["include", "input", "model", "store"],
  messages: ["max_tokens", "messages", "model"],
  gemini: ["contents"],
  converse: ["messages"],
};

type Call = NonNullable<OpenAI.ChatCompletionMessage["tool_calls"]>[number];
const nameOf = (call: Call) => (call.type === "function" ? call.function.name : call.type);
const argumentsOf = (call: Call) =>
  call.type === "function" ? JSON.parse(call.function.arguments) : call.type;
