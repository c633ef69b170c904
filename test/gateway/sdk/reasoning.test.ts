/**
 * Reasoning that comes back: over several turns with tools, through every client format, to upstreams that sign it. The
 * simulator refuses reasoning altered by a byte, and a turn that called tools and comes back without it.
 */
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import {
  BEDROCK_CLAUDE,
  bodiesSince,
  clientsOf,
  collect,
  type Json,
  seenUpstream,
  thrownBy,
} from "./fixtures.ts";

let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  gateway = await testGateway({ endpoints: [BEDROCK_CLAUDE] });
  ({ openai, anthropic } = clientsOf(gateway));
});
afterAll(() => gateway?.stop());

const MODELS = {
  messages: "weir/sim-messages",
  converse: "test/model",
  gemini: "weir/sim-gemini",
  responses: "weir/sim-responses",
  // Signs nothing: its reasoning is text, which is no part of the prompt of the next turn.
  chat: "weir/sim-chat",
} as const;
type Dialect = keyof typeof MODELS;

/** Each model with whole and streamed answers. */
const PAIRS = (Object.keys(MODELS) as Dialect[]).flatMap((dialect): [Dialect, boolean][] => [
  [dialect, false],
  [dialect, true],
]);

/** Three blocks for two tokens: the third is a signature without text. The fourth cannot be read. */
const THINK = "reasoning=2 thinking_blocks=3 redacted=1 unicode";
const ASK = `Think, then look. [[sim tool_calls=1 tokens=2 require_thinking ${THINK}]]`;
const PARAMETERS = { type: "object" as const, properties: { gauge: { type: "string" as const } } };
const TURNS = 3;

type Blocks = readonly Readonly<Record<string, unknown>>[];

/** Lists in which reasoning stands, in a provider's reply and in a request: what a model said in its first turn. */
interface Place {
  reply(body: Json): Blocks;
  request(body: Json): Blocks;
  /** What of a block is the model's reasoning or seals it; undefined where it is neither. */
  sealed(block: Blocks[number]): unknown;
}

const PLACES: Readonly<Record<Exclude<Dialect, "chat">, Place>> = {
  messages: {
    reply: ({ content }) => content,
    request: ({ messages }) => messages[1].content,
    sealed: (block) => (block.type === "thinking" || block.type === "redacted_thinking" ? block : undefined),
  },
  converse: {
    reply: ({ output }) => output.message.content,
    request: ({ messages }) => messages[1].content,
    sealed: ({ reasoningContent }) => reasoningContent,
  },
  gemini: {
    reply: ({ candidates }) => candidates[0].content.parts,
    request: ({ contents }) => contents[1].parts,
    sealed: (part) => (part.thoughtSignature === undefined ? undefined : part),
  },
  responses: {
    reply: ({ output }) => output,
    request: ({ input }) =>
      input.slice(
        1,
        input.findIndex(({ type }: Json) => type === "function_call_output"),
      ),
    sealed: ({ type, id, summary, encrypted_content }) =>
      type === "reasoning" ? { id, summary, encrypted_content } : undefined,
  },
};

const sealedOf = (dialect: keyof typeof PLACES, blocks: Blocks): unknown[] =>
  blocks.map(PLACES[dialect].sealed).filter((block) => block !== undefined);

/**
 * The reasoning of the first answer stands in the last request as the provider gave it. What it gave is asked of the
 * simulator itself once more: equal requests get equal answers.
 */
async function expectGivenBack(dialect: Dialect, from: number): Promise<void> {
  if (dialect === "chat") return;
  const { path, body, headers } = gateway.simulator.calls[from] ?? expect.fail("there was no call");
  const { stream: _, ...request } = JSON.parse(body.toString());
  const whole = path
    .replace("/converse-stream", "/converse")
    .replace(":streamGenerateContent", ":generateContent");
  const { "content-length": __, host: ___, connection: ____, ...same } = headers;
  const url = `${gateway.simulator.url}${whole.replace(/[?&]alt=sse/, "")}`;
  const answer = await fetch(url, { method: "POST", headers: same, body: JSON.stringify(request) });
  const given = sealedOf(dialect, PLACES[dialect].reply(await answer.json()));
  const last = gateway.simulator.calls[from + TURNS] ?? expect.fail("there was no last call");
  const back = sealedOf(dialect, PLACES[dialect].request(JSON.parse(last.body.toString())));
  expect(given.length).toBeGreaterThan(0);
  expect(back).toEqual(given);
  if (dialect === "messages" || dialect === "converse") expect(given).toHaveLength(4);
}

describe("the messages format", () => {
  const tools: Anthropic.Tool[] = [{ name: "read_level", input_schema: PARAMETERS }];

  const resultsOf = (content: readonly Anthropic.ContentBlock[]): Anthropic.ToolResultBlockParam[] =>
    content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result", tool_use_id: block.id, content: "1.4" }] : [],
    );

  test.each(PAIRS)(
    "T47, T48: to %s: every block, in order, byte for byte, streamed: %s",
    async (to, stream) => {
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: ASK }];
      const from = gateway.simulator.totalCalls;
      for (let turn = 0; turn <= TURNS; turn++) {
        const request = { model: MODELS[to], max_tokens: 300, messages, tools };
        const { content, stop_reason } = stream
          ? await anthropic.messages.stream(request).finalMessage()
          : await anthropic.messages.create(request);
        expect(stop_reason).toBe("tool_use");
        messages.push({ role: "assistant", content }, { role: "user", content: resultsOf(content) });
      }
      await expectGivenBack(to, from);
    },
  );

  test("T49: a conversation that changes models gives each one's reasoning back to it alone", async () => {
    const ask = ASK.replace(" require_thinking", "");
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: ask }];
    const seals = new Map<Dialect, string[]>();
    const order: Dialect[] = ["messages", "responses", "gemini", "chat", "converse", "messages", "responses"];
    for (const dialect of [...order, "gemini"] as const) {
      const request = { model: MODELS[dialect], max_tokens: 300, messages, tools };
      const { content } = await anthropic.messages.create(request);
      const seen = seenText();
      // A server of chat completions gets all of it: some pass it on to whoever made it.
      for (const [maker, made] of dialect === "chat" ? [] : seals) {
        // Anthropic's models read each other's, wherever they run.
        const isOwn = maker === dialect || (isClaude(maker) && isClaude(dialect));
        for (const seal of made) expect(seen.includes(seal), `${maker} to ${dialect}`).toBe(isOwn);
      }
      const made = content.flatMap((block) => {
        if (block.type === "thinking") return [bare(block.signature)];
        return block.type === "redacted_thinking" ? [bare(block.data)] : [];
      });
      if (dialect === "chat") expect(made).toEqual(["weir.none."]);
      else seals.set(dialect, [...(seals.get(dialect) ?? []), ...made]);
      messages.push({ role: "assistant", content }, { role: "user", content: resultsOf(content) });
    }
    for (const dialect of ["messages", "converse", "responses", "gemini"] as const)
      expect(seals.get(dialect)?.length, dialect).toBeGreaterThan(0);
  });

  test("reasoning altered by a byte is refused by the provider, and the client is told", async () => {
    const model = MODELS.messages;
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Think [[sim reasoning=3]]" }];
    const { content } = await anthropic.messages.create({ model, max_tokens: 100, messages });
    const altered = content.map((block) =>
      block.type === "thinking" ? { ...block, thinking: `${block.thinking}.` } : block,
    );
    messages.push({ role: "assistant", content: altered }, { role: "user", content: "Go on" });
    const error = await thrownBy(anthropic.messages.create({ model, max_tokens: 100, messages }));
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining("Invalid `signature`") });
  });
});

const isClaude = (dialect: Dialect): boolean => dialect === "messages" || dialect === "converse";

/** A seal as its maker knows it. */
const bare = (seal: string): string => /[\w+/]{20,}=*$/.exec(seal)?.[0] ?? seal;

/** The last request with the conversation's text; a seal in it has no escapes. */
const seenText = (): string => JSON.stringify(seenUpstream(gateway));

describe("the chat format", () => {
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: "function", function: { name: "read_level", parameters: PARAMETERS } },
  ];

  test.each(PAIRS)("T47, T48: to %s: reasoning_details, byte for byte, streamed: %s", async (to, stream) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: ASK }];
    const from = gateway.simulator.totalCalls;
    for (let turn = 0; turn <= TURNS; turn++) {
      const request = { model: MODELS[to], messages, tools };
      const message = stream
        ? added(await collect(await openai.chat.completions.create({ ...request, stream })))
        : (await openai.chat.completions.create(request)).choices[0]?.message;
      if (message === undefined) return expect.fail("no message");
      expect(message.tool_calls).toHaveLength(1);
      // Google shows no thoughts unasked.
      if (to !== "gemini") expect(message).toHaveProperty("reasoning_content", expect.stringMatching(/\w/));
      messages.push(message);
      for (const { id } of message.tool_calls ?? [])
        messages.push({ role: "tool", tool_call_id: id, content: "1.4" });
    }
    await expectGivenBack(to, from);
  });
});

/**
 * The message that a stream's deltas add up to, as clients put it together: `reasoning_details` are one list, as they come,
 * and what a call has beside name and arguments stands in its first delta (T48).
 */
function added(chunks: readonly OpenAI.ChatCompletionChunk[]): OpenAI.ChatCompletionMessage {
  const message = { role: "assistant" as const, content: "", refusal: null, reasoning_content: "" };
  const details: unknown[] = [];
  const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
  for (const { choices } of chunks) {
    const delta: OpenAI.ChatCompletionChunk.Choice.Delta & {
      reasoning_content?: string;
      reasoning_details?: unknown[];
    } = choices[0]?.delta ?? {};
    message.content += delta.content ?? "";
    message.reasoning_content += delta.reasoning_content ?? "";
    details.push(...(delta.reasoning_details ?? []));
    for (const { index, id = "", function: called, ...more } of delta.tool_calls ?? []) {
      const name = called?.name ?? "";
      const call = calls[index] ?? { ...more, id, type: "function", function: { name, arguments: "" } };
      call.function.arguments += called?.arguments ?? "";
      calls[index] = call;
    }
  }
  return Object.assign(message, {
    tool_calls: calls,
    ...(details.length > 0 && { reasoning_details: details }),
  });
}

describe("the responses format", () => {
  const tools: OpenAI.Responses.FunctionTool[] = [
    { type: "function", name: "read_level", parameters: PARAMETERS, strict: false },
  ];
  const include: OpenAI.Responses.ResponseIncludable[] = ["reasoning.encrypted_content"];

  const resultsOf = (output: readonly OpenAI.Responses.ResponseOutputItem[]) =>
    output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "1.4" }]
        : [],
    );

  async function answered(
    request: OpenAI.Responses.ResponseCreateParamsNonStreaming & { stream?: undefined },
    stream: boolean,
  ): Promise<OpenAI.Responses.Response> {
    const response = stream
      ? await openai.responses.stream(request).finalResponse()
      : await openai.responses.create(request);
    expect(response.status).toBe("completed");
    expect(resultsOf(response.output)).toHaveLength(1);
    return response;
  }

  test.each(PAIRS)("T47, T48: to %s: reasoning items, byte for byte, streamed: %s", async (to, stream) => {
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: ASK }];
    const from = gateway.simulator.totalCalls;
    for (let turn = 0; turn <= TURNS; turn++) {
      const request = { model: MODELS[to], input: [...input], tools, include, store: false };
      const { output } = await answered(request, stream);
      expect(output.some(({ type }) => type === "reasoning")).toBe(true);
      input.push(...toResponseInputItems(output), ...resultsOf(output));
    }
    await expectGivenBack(to, from);
  });

  test.each(PAIRS)(
    "T49: to %s: the same by previous_response_id, which no upstream sees, streamed: %s",
    async (to, stream) => {
      const first = { model: MODELS[to], tools, include };
      const from = gateway.simulator.totalCalls;
      let response = await answered({ ...first, input: ASK }, stream);
      for (let turn = 1; turn <= TURNS; turn++) {
        const previous_response_id = response.id;
        response = await answered(
          { ...first, previous_response_id, input: resultsOf(response.output) },
          stream,
        );
        expect(response.previous_response_id).toBe(previous_response_id);
      }
      for (const body of bodiesSince(gateway, from)) expect(body).not.toHaveProperty("previous_response_id");
      await expectGivenBack(to, from);
    },
  );
});
