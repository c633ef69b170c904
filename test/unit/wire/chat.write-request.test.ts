/** Neutral requests as chat bodies: what an endpoint is told, and what is named as dropped. */
import type OpenAI from "openai";
import { describe, expect, expectTypeOf, test } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { WeirError } from "../../../src/base/errors.ts";
import type { ChatMessage, ChatPart } from "../../../src/wire/chat/write-messages.ts";
import { writeChatRequest } from "../../../src/wire/chat/write-request.ts";
import type {
  NeutralMessage,
  NeutralOptions,
  NeutralRequest,
  Part,
} from "../../../src/wire/neutral/neutral.ts";
import { rounds } from "../../support/effort.ts";
import { endpoint, type Given, provider } from "../../support/routing/fixtures.ts";
import { parsedBody } from "../../support/wire/carried.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { CALL, mutated, neutral, PNG } from "./chat.fixtures.ts";

/** A schema that strict mode takes as it is. */
const CLOSED = { type: "object", properties: {}, required: [], additionalProperties: false };

const message = (role: NeutralMessage["role"], ...parts: Part[]): NeutralMessage => ({
  role,
  parts,
  at: "/m/0",
});
const request = (
  messages: readonly NeutralMessage[],
  more: Partial<NeutralRequest> = {},
): NeutralRequest => ({
  stream: false,
  messages,
  tools: [],
  options: {},
  dropped: [],
  ...more,
});
const write = (given: NeutralRequest, at: Given = {}) => {
  const { body, dropped } = writeChatRequest(given, endpoint("e", { upstreamModel: "up", ...at }));
  return { body: parsedBody(body), dropped };
};
const writtenMessages = (messages: readonly NeutralMessage[], at: Given = {}) => {
  const { body, dropped } = write(request(messages), at);
  return { messages: body.messages as Json[], dropped };
};
const text = (said: string): Part => ({ type: "text", text: said });
const image: Part = {
  type: "image",
  source: { kind: "data", mediaType: "image/png", data: "QQ==" },
  at: "/image",
};
const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,QQ==" } };
const result = (id: string, ...parts: (typeof image | Part)[]): Part =>
  ({ type: "tool_result", id, name: "f", parts, isError: false }) as Part;
const call = (id: string): Part => ({ type: "tool_call", id, name: "f", arguments: "{}" });

describe("a chat body", () => {
  test("type-checks as the official client's", () => {
    expectTypeOf<ChatPart>().toExtend<OpenAI.ChatCompletionContentPart>();
    expectTypeOf<Exclude<ChatMessage, { role: "user" }>>().toExtend<OpenAI.ChatCompletionMessageParam>();
  });

  test("what is translated from chat to chat is what the client sent", () => {
    const body = {
      messages: [
        { role: "system", content: "s" },
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: PNG, detail: "low" } },
          ],
        },
        { role: "assistant", content: null, tool_calls: [CALL] },
        { role: "tool", tool_call_id: "c1", content: "r" },
        { role: "assistant", content: "t", reasoning_content: "h" },
        { role: "user", content: "b" },
      ],
      stream: true,
      temperature: 1,
      top_p: 0.5,
      stop: ["x"],
      seed: 1,
      frequency_penalty: 0.1,
      presence_penalty: 0.1,
      logit_bias: { "1": 2 },
      logprobs: true,
      top_logprobs: 2,
      n: 2,
      max_tokens: 9,
      tools: [
        {
          type: "function",
          function: { name: "f", description: "d", parameters: CLOSED, strict: true },
        },
      ],
      tool_choice: "required",
      parallel_tool_calls: false,
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", schema: CLOSED, strict: true },
      },
      reasoning_effort: "low",
      verbosity: "low",
      user: "u",
      prompt_cache_key: "k",
      service_tier: "flex",
    };
    const { body: sent, dropped } = write(neutral(body));
    expect(sent).toEqual({ ...body, model: "up", stream_options: { include_usage: true } });
    expect(dropped).toEqual([]);
  });

  test("the provider's quirks: the bound's name, no usage switch", () => {
    const quirks = {
      streamUsage: false,
      maxTokensField: "max_completion_tokens",
      billsAfterDisconnect: false,
    } as const;
    const options = { maxTokens: { value: 5, at: "/x" } };
    const sent = write(request([], { stream: true, options }), { provider: { ...provider("p"), quirks } });
    expect(sent.body).toEqual({ model: "up", messages: [], stream: true, max_completion_tokens: 5 });
  });

  test("T50: results stand directly behind their call; their images follow in a user message", () => {
    const { messages, dropped } = writtenMessages([
      message("assistant", text("t"), call("a"), call("b")),
      message("user", result("a", text("one"), image), text("go on")),
      message("user", result("b", text("x"), text("y"))),
    ]);
    expect(messages.slice(1)).toEqual([
      { role: "tool", tool_call_id: "a", content: "one" },
      {
        role: "tool",
        tool_call_id: "b",
        content: [
          { type: "text", text: "x" },
          { type: "text", text: "y" },
        ],
      },
      { role: "user", content: [IMAGE, { type: "text", text: "go on" }] },
    ]);
    expect(dropped).toEqual([]);
  });

  test("reasoning goes only where the model reasons, and then with its seals", () => {
    const seal = { by: "anthropic", data: "S" } as const;
    const said = [message("assistant", { type: "reasoning", text: "h", seal }, text("t"))];
    expect(writtenMessages(said).messages).toEqual([
      {
        role: "assistant",
        content: "t",
        reasoning_content: "h",
        reasoning_details: [
          { type: "reasoning.text", text: "h", signature: "S", format: "anthropic-claude-v1", index: 0 },
        ],
      },
    ]);
    const quirks = provider("p").quirks;
    const unsupported = ["reasoning_content", "reasoning_details"];
    const bodies = { chat: { rename: {}, unsupported, omit: [], set: {} } };
    const strict = { ...provider("p"), quirks: { ...quirks, bodies } };
    expect(writtenMessages(said, { provider: strict }).messages).toEqual([
      { role: "assistant", content: "t" },
    ]);
    const plain = writtenMessages(said, { capabilities: { reasoning: false } });
    expect(plain).toEqual({ messages: [{ role: "assistant", content: "t" }], dropped: [] });
  });

  /** The part that a request is refused for. */
  const refusedAt = (...messages: NeutralMessage[]): unknown => {
    try {
      writtenMessages(messages);
    } catch (error) {
      return error instanceof WeirError && error.kind === "capability_not_supported" && error.param;
    }
    return undefined;
  };

  test("documents: data as a file, text as text, an address is refused", () => {
    const document = (source: Extract<Part, { type: "document" }>["source"], more = {}): Part => ({
      type: "document",
      source,
      at: "/document",
      ...more,
    });
    const { messages, dropped } = writtenMessages([
      message(
        "user",
        document({ kind: "data", mediaType: "application/pdf", data: "JVBE" }, { name: "a.pdf" }),
        document({ kind: "data", mediaType: "application/pdf", data: "JVBE" }, { context: "c" }),
        document({ kind: "file", id: "file-1" }),
        document({ kind: "text", text: "plain" }),
      ),
    ]);
    const file_data = "data:application/pdf;base64,JVBE";
    expect(messages[0]?.content).toEqual([
      { type: "file", file: { filename: "a.pdf", file_data } },
      { type: "file", file: { filename: "document.pdf", file_data } },
      { type: "file", file: { file_id: "file-1" } },
      { type: "text", text: "plain" },
    ]);
    expect(dropped).toEqual(["/m/0/content/1/context"]);
    expect(refusedAt(message("user", document({ kind: "url", url: "https://a.example/a.pdf" })))).toBe(
      "/document",
    );
  });

  test("sound and video as far as the format and the model take them", () => {
    const sound = (mediaType: string): Part => ({
      type: "audio",
      source: { kind: "data", mediaType, data: "QQ==" },
      at: "/sound",
    });
    const video: Part = { type: "video", source: { kind: "url", url: "https://a.example/v" }, at: "/video" };
    const audio = { type: "input_audio", input_audio: { data: "QQ==", format: "mp3" } };
    expect(writtenMessages([message("user", sound("audio/mpeg"))])).toEqual({
      messages: [{ role: "user", content: [audio] }],
      dropped: [],
    });
    expect(refusedAt(message("user", sound("audio/ogg")))).toBe("/sound");
    expect(refusedAt(message("user", video))).toBe("/video");
    const said = [message("user", video)];
    expect(writtenMessages(said, { modalitiesIn: ["text", "video"] }).messages[0]?.content).toEqual([
      { type: "video_url", video_url: { url: "https://a.example/v" } },
    ]);
  });

  test("what has no place is named: errors of tools, cache marks, a budget; pictures are refused", () => {
    expect(refusedAt(message("system", image))).toBe("/image");
    expect(refusedAt(message("assistant", image))).toBe("/image");
    const failed = { ...result("a", text("x")), isError: true } as Part;
    const marked: Part = { type: "text", text: "t", cache: {} };
    expect(
      writtenMessages([message("system", marked), message("assistant", call("a")), message("user", failed)])
        .dropped,
    ).toEqual(["/m/0/content/0/cache_control", "/m/0/content/0/is_error"]);
    const dropped = (options: NeutralOptions, at: Given = {}) => write(request([], { options }), at).dropped;
    const reasoning = { value: { budgetTokens: 8000 }, at: "/thinking" };
    expect(dropped({ reasoning })).toEqual(["/thinking"]);
    expect(write(request([], { options: { reasoning } })).body.reasoning_effort).toBe("medium");
    expect(
      dropped({ reasoning: { value: { effort: "low" }, at: "/r" } }, { capabilities: { reasoning: false } }),
    ).toEqual(["/r"]);
    expect(dropped({ serviceTier: { value: "standard_only", at: "/service_tier" } })).toEqual([
      "/service_tier",
    ]);
    expect(dropped({ metadata: { value: { a: "b" }, at: "/metadata" } })).toEqual(["/metadata"]);
    expect(dropped({ toolChoice: { value: "required", at: "/tool_choice" } })).toEqual(["/tool_choice"]);
    expect(dropped({ toolChoice: { value: "auto", at: "/tool_choice" } })).toEqual([]);
  });

  test("an assistant's refusal", () => {
    expect(writtenMessages([message("assistant", { type: "refusal", text: "no" })]).messages).toEqual([
      { role: "assistant", content: null, refusal: "no" },
    ]);
  });
});

describe("damaged requests", () => {
  const BODY: Json = {
    messages: [
      { role: "system", content: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }] },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: PNG, detail: "low" } },
          { type: "file", file: { file_data: "data:text/plain;base64,QQ==", filename: "a.txt" } },
          { type: "input_audio", input_audio: { data: "QQ==", format: "wav" } },
        ],
      },
      {
        role: "assistant",
        content: "t",
        tool_calls: [CALL],
        function_call: { name: "f", arguments: "{}" },
        reasoning_details: [{ type: "reasoning.text", text: "a", signature: "s", index: 0 }],
        annotations: [{ url_citation: { url: "u" } }],
      },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "r" }] },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: {} } }],
    tool_choice: { type: "function", function: { name: "f" } },
    response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } },
    reasoning: { effort: "low", max_tokens: 5 },
    logit_bias: { "1": 1 },
    metadata: { a: "b" },
    stop: ["x"],
  };
  test("are refused by name, or written as a body", () => {
    const random = seededRandom(11);
    const all = rounds(4000);
    let accepted = 0;
    for (let i = 0; i < all; i++) {
      const body = mutated(mutated(BODY, random), random) as Json;
      let written: ReturnType<typeof write>;
      try {
        written = write(neutral(body));
      } catch (error) {
        expect(error).toBeInstanceOf(WeirError);
        expect((error as WeirError).status).toBe(400);
        continue;
      }
      accepted++;
      const { body: sent, dropped } = written;
      expect(sent).toMatchObject({ model: "up" });
      expect(dropped.every((at) => at.startsWith("/"))).toBe(true);
    }
    expect(accepted).toBeGreaterThan(all / 8);
  });
});
