/** Messages requests: read, spliced, in neutral terms and back. */
import { describe, expect, test } from "vitest";
import { messagesNeutral } from "../../../src/wire/messages/neutral-request.ts";
import { readMessagesRequest } from "../../../src/wire/messages/request.ts";
import { isUsualRequest, messagesRequestSchema } from "../../../src/wire/messages/schema.ts";
import { spliceMessagesRequest } from "../../../src/wire/messages/splice.ts";
import { writeMessagesRequest } from "../../../src/wire/messages/write-request.ts";
import { Source } from "../../../src/wire/neutral/source.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { parsedBody } from "../../support/wire/carried.ts";
import { neutralOf, refusal } from "./messages.fixtures.ts";

const HELLO = { model: "v/m", max_tokens: 100, messages: [{ role: "user", content: "Grüße" }] };
const bytes = (body: unknown): Buffer => Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
const factsOf = (more: object) => readMessagesRequest(bytes({ ...HELLO, ...more })).facts;
const user = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });
const ephemeral = { type: "ephemeral" };

const PDF = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
const PLAIN = { type: "text", text: "a" };
const PNG = { type: "base64", media_type: "image/png", data: "QUJD" };

describe("reading", () => {
  test("the facts", () => {
    expect(factsOf({ stream: true })).toMatchObject({
      model: "v/m",
      stream: true,
      choices: 1,
      maxTokens: 100,
    });
    expect(factsOf({ max_tokens: 0 }).maxTokens).toBe(0);
    expect(factsOf({ tools: [{ name: "f", input_schema: {} }] }).hasTools).toBe(true);
    expect(factsOf({ tool_choice: { type: "auto", disable_parallel_tool_use: false } }).parallelTools).toBe(
      true,
    );
    expect(factsOf({ output_config: { format: { type: "json_schema", schema: {} } } }).hasSchema).toBe(true);
    expect(factsOf({ output_format: { type: "json_schema", schema: {} } }).hasSchema).toBe(true);
    expect(factsOf({})).toMatchObject({ hasImages: false, hasUncounted: false, hasSchema: false });
  });

  test("images and documents are found in tool results too", () => {
    const image = { type: "image", source: PNG };
    const nested = {
      type: "tool_result",
      tool_use_id: "a",
      content: [image, { type: "text", text: "x" }, image],
    };
    expect(factsOf(user(image, nested))).toMatchObject({
      imageCount: 3,
      hasImages: true,
      hasUncounted: false,
    });
    const document = { type: "document", source: PDF };
    expect(factsOf(user(document)).hasUncounted).toBe(true);
    expect(factsOf(user({ ...nested, content: [document] })).hasUncounted).toBe(true);
    const text = { type: "document", source: { type: "text", media_type: "text/plain", data: "Hi" } };
    expect(factsOf(user(text)).hasUncounted).toBe(false);
    const blocks = { type: "document", source: { type: "content", content: [image] } };
    expect(factsOf(user(blocks))).toMatchObject({ imageCount: 1, hasUncounted: false });
  });

  test("what looks like media and is none is not counted away", () => {
    const data = "QUJD".repeat(200);
    const call = { type: "tool_use", id: "a", name: "f", input: { deep: [{ data }] } };
    const assistant = (block: object) => ({ messages: [{ role: "assistant", content: [block] }] });
    expect(factsOf(assistant(call)).hasUncounted).toBe(true);
    expect(factsOf(assistant({ ...call, input: { data: "QUJD" } })).hasUncounted).toBe(false);
    expect(factsOf(user({ type: "image", source: { ...PNG, data } })).hasUncounted).toBe(false);
    const text = {
      type: "document",
      source: { type: "text", media_type: "text/plain", data: data.repeat(10) },
    };
    expect(factsOf(user(text)).hasUncounted).toBe(true);
  });

  test.each([
    ["/max_tokens", { max_tokens: undefined }],
    ["/max_tokens", { max_tokens: -1 }],
    ["/messages", { messages: [] }],
    ["/messages/0", { messages: ["Hi"] }],
    ["/messages/0/content", { messages: [{ role: "user", content: 1 }] }],
    ["/tools", { tools: {} }],
    ["/models", { models: ["a"] }],
    ["/svc/x", { svc: { x: 1 } }],
  ])("what is wrong is named: %s", (param, more) => {
    const error = refusal(() => factsOf(more));
    expect([error.status, error.param]).toEqual([400, param]);
  });

  test("a thread is refused in the words that SDKs go on from", () => {
    const error = refusal(() => factsOf({ thread: { type: "create" } }));
    expect(error).toMatchObject({ status: 400, details: { error_code: "thread_unsupported_request" } });
    expect(factsOf({ thread: null }).model).toBe("v/m");
  });

  test("the quick check takes nothing that the schema does not take as it stands", () => {
    const bodies = [
      HELLO,
      { ...HELLO, system: "a", tools: [{}], stop_sequences: ["a"], metadata: {}, stream: false, top_k: 1 },
      { ...HELLO, system: [{ type: "text", text: "a" }], thinking: { type: "adaptive" } },
      { ...HELLO, max_tokens: 1.5 },
      { ...HELLO, tools: 1 },
      { ...HELLO, stream: 1 },
      { ...HELLO, messages: [{ role: "user", content: 1 }] },
      { ...HELLO, messages: [1] },
    ];
    const usual = bodies.filter((body) => isUsualRequest(body));
    expect(usual).toHaveLength(3);
    for (const body of usual) expect(messagesRequestSchema.parse(body)).toEqual(body);
    for (const body of bodies.slice(3)) expect(messagesRequestSchema.safeParse(body).success).toBe(false);
  });
});

describe("the splice", () => {
  test("T53: only the model's name and our extension change", () => {
    const text =
      '{ "model" : "v/m","x":[1.0, 2],"svc":{"route":{"sort":"price"}},"max_tokens":5 ,"messages":[{"role":"user","content":"é"}]}';
    const { parts, dropped } = spliceMessagesRequest(readMessagesRequest(bytes(text)), endpoint("up"));
    expect(Buffer.concat(parts).toString()).toBe(
      '{ "model" : "up","x":[1.0, 2],"max_tokens":5 ,"messages":[{"role":"user","content":"é"}]}',
    );
    expect(dropped).toEqual([]);
  });
});

const CONVERSATION = {
  ...HELLO,
  system: [{ type: "text", text: "Sei nett.", cache_control: { type: "ephemeral", ttl: "1h" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Look", cache_control: ephemeral },
        { type: "image", source: PNG, cache_control: ephemeral },
        { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
        { type: "image", source: { type: "file", file_id: "file_1" } },
        {
          type: "document",
          source: PDF,
          title: "T",
          context: "C",
          citations: { enabled: true },
          cache_control: { type: "ephemeral", ttl: "5m" },
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "Plain" } },
        { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm — ", signature: "EqQB+/==" },
        { type: "redacted_thinking", data: "Emw=" },
        { type: "thinking", thinking: "", signature: "c2ln" },
        {
          type: "text",
          text: "Grass",
          citations: [
            {
              type: "page_location",
              cited_text: "c",
              document_index: 0,
              document_title: "T",
              start_page_number: 1,
              end_page_number: 2,
            },
          ],
        },
        { type: "tool_use", id: "a", name: "f", input: { x: [1, "é"] }, cache_control: ephemeral },
        { type: "tool_use", id: "b", name: "g", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "a",
          content: [
            { type: "text", text: "Result", cache_control: ephemeral },
            { type: "image", source: PNG },
            { type: "document", source: PDF },
          ],
          cache_control: ephemeral,
        },
        { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "No" }], is_error: true },
        { type: "text", text: "Go on" },
      ],
    },
  ],
  tools: [
    {
      name: "f",
      description: "D",
      input_schema: { type: "object", properties: { x: {} }, additionalProperties: false },
      strict: true,
      cache_control: ephemeral,
    },
  ],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  thinking: { type: "enabled", budget_tokens: 2000, display: "summarized" },
  output_config: { format: { type: "json_schema", schema: { type: "object", additionalProperties: false } } },
  metadata: { user_id: "u" },
  service_tier: "standard_only",
  stop_sequences: ["END"],
  max_tokens: 4000,
  stream: true,
};

describe("neutral and back", () => {
  test("T47, T50: what a messages client says, a messages upstream is told", () => {
    const { body, dropped } = writeMessagesRequest(neutralOf(CONVERSATION), endpoint("claude-sonnet-4-5"));
    expect(parsedBody(body)).toEqual({ ...CONVERSATION, model: "claude-sonnet-4-5" });
    expect(dropped).toEqual([]);
  });

  test("T57: long strings stay where they are, and come out whole", () => {
    const data = "QUJD".repeat(3000);
    const prose = "Wörter ".repeat(2000);
    const input = { long: `é"${"x".repeat(5000)}`, data };
    const content = [
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
      { type: "text", text: prose },
    ];
    const conversation = {
      ...HELLO,
      messages: [
        { role: "user", content },
        { role: "assistant", content: [{ type: "thinking", thinking: prose, signature: data }] },
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input }] },
      ],
    };
    const request = readMessagesRequest(bytes(conversation));
    const source = new Source(request.bytes, request.elided);
    const { body } = writeMessagesRequest(messagesNeutral(request, source), endpoint("up"));
    const out = source.piecesOf(body);
    const text = out
      .map((piece) =>
        typeof piece === "string" ? piece : request.bytes.toString("utf8", piece.start, piece.end),
      )
      .join("");
    const [first, second, third] = conversation.messages;
    const merged = { role: "assistant", content: [...(second?.content ?? []), ...(third?.content ?? [])] };
    expect(JSON.parse(text).messages).toEqual([first, merged]);
  });

  test("what has no neutral form is dropped by name", () => {
    const { dropped } = neutralOf({
      ...HELLO,
      messages: [
        {
          role: "user",
          content: [
            { type: "container_upload", file_id: "f" },
            { type: "tool_result", tool_use_id: "x", content: [{ type: "browser_state" }] },
            { type: "image", source: PNG, transformations: {} },
          ],
        },
      ],
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "f", input_schema: { type: "object" }, defer_loading: true, eager_input_streaming: false },
      ],
      mcp_servers: [{ name: "m" }],
      container: "c",
      context_management: { edits: [] },
      "a/b": 1,
      speed: null,
      thinking: { type: "between_tools" },
      tool_choice: { type: "new" },
      metadata: { user_id: "u", other: 1 },
      output_config: { effort: "huge", task_budget: {} },
    });
    expect([...dropped].sort()).toEqual(
      [
        "/a~1b",
        "/container",
        "/context_management",
        "/mcp_servers",
        "/messages/0/content/0",
        "/messages/0/content/1/content/0",
        "/messages/0/content/2/transformations",
        "/metadata/other",
        "/output_config/effort",
        "/output_config/task_budget",
        "/thinking",
        "/tool_choice",
        "/tools/0",
        "/tools/1/defer_loading",
      ].sort(),
    );
  });

  test.each([
    ["/messages/0/role", { messages: [{ role: "tool", content: "a" }] }],
    ["/messages/0/content/0/text", user({ type: "text" })],
    ["/messages/0/content/0/source", user({ type: "image", source: {} })],
    ["/messages/0/content/0/id", user({ type: "tool_use", name: "f", input: {} })],
    ["/messages/0/content/0/tool_use_id", user({ type: "tool_result" })],
    ["/messages/0/content/0/content", user({ type: "tool_result", tool_use_id: "a", content: 5 })],
    ["/messages/0/content/0/content/1", user({ type: "tool_result", tool_use_id: "a", content: [PLAIN, 5] })],
    ["/tools/0/name", { tools: [{ input_schema: {} }] }],
    ["/tools/0/input_schema", { tools: [{ name: "f" }] }],
  ])("what is structurally wrong is named: %s", (param, more) => {
    expect(refusal(() => neutralOf({ ...HELLO, ...more })).param).toBe(param);
  });

  test("seals of other makers are unpacked; Google's go back to the call or text they signed", () => {
    const google = (data: string) => ({ type: "thinking", thinking: "", signature: `weir.google.${data}` });
    const content = [
      { type: "thinking", thinking: "Sum", signature: "weir.openai.gAA=" },
      { type: "redacted_thinking", data: "weir.openai.gBB=" },
      { type: "text", text: "Hi" },
      google("text"),
      { type: "text", text: "there" },
      google("call"),
      { type: "tool_use", id: "a", name: "f", input: {} },
    ];
    const { messages } = neutralOf({ ...HELLO, messages: [{ role: "assistant", content }] });
    expect(messages[0]?.parts).toEqual([
      {
        type: "reasoning",
        text: "Sum",
        isSummary: true,
        isRedacted: true,
        seal: { by: "openai", data: "gAA=" },
      },
      { type: "reasoning", text: "", isRedacted: true, seal: { by: "openai", data: "gBB=" } },
      { type: "text", text: "Hi", seal: { by: "google", data: "text" } },
      { type: "text", text: "there" },
      { type: "tool_call", id: "a", name: "f", arguments: "{}", seal: { by: "google", data: "call" } },
    ]);
  });

  test("the body's own cache mark stands on its last block", () => {
    const { messages, dropped } = neutralOf({ ...HELLO, cache_control: { type: "ephemeral", ttl: "1h" } });
    expect(messages[0]?.parts).toEqual([{ type: "text", text: "Grüße", cache: { ttl: "1h" } }]);
    expect(dropped).toEqual([]);
  });

  test("documents of blocks and search results become what others have", () => {
    const { messages } = neutralOf({
      ...HELLO,
      ...user(
        {
          type: "document",
          source: {
            type: "content",
            content: [
              { type: "text", text: "a" },
              { type: "image", source: PNG },
            ],
          },
        },
        { type: "search_result", title: "T", source: "https://e", content: [{ type: "text", text: "b" }] },
      ),
    });
    expect(messages[0]?.parts).toEqual([
      { type: "document", source: { kind: "text", text: "a" }, at: "/messages/0/content/0" },
      {
        type: "image",
        source: { kind: "data", mediaType: "image/png", data: "QUJD" },
        at: "/messages/0/content/0/source/content/1",
      },
      { type: "text", text: "T\nhttps://e\nb" },
    ]);
  });
});
