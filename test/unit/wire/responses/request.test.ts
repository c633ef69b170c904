/** What a chat-completions body tells the gateway, what is refused and where, and how long reading may take. */
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../../src/base/errors.ts";
import { promptTexts, readChatRequest } from "../../../../src/wire/chat/request.ts";
import { NO_OPTIONS } from "../../../../src/wire/neutral/contract.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";

type Json = Record<string, unknown>;

const MESSAGES = [{ role: "user", content: "Hello" }];
const read = (body: unknown) =>
  readChatRequest(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
const facts = (more: Json = {}) => read({ model: "v/m", messages: MESSAGES, ...more }).facts;
const parts = (...content: Json[]) => ({ messages: [{ role: "user", content }] });

function refusal(body: unknown): WeirError {
  try {
    read(body);
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

describe("facts", () => {
  test("of a plain request", () => {
    const request = read({ model: "v/m", messages: MESSAGES });
    expect(request.facts).toEqual({
      model: "v/m",
      stream: false,
      choices: 1,
      maxTokens: undefined,
      promptTokens: Math.ceil(JSON.stringify(MESSAGES).length / 4),
      hasTools: false,
      parallelTools: false,
      hasImages: false,
      hasAudio: false,
      hasSchema: false,
      imageCount: 0,
      hasUncounted: false,
      searchUnits: 0,
    });
    expect(request.svc).toBe(NO_OPTIONS);
    expect(request.includeUsage).toBeUndefined();
    expect(request.hasOpaque).toBe(false);
  });

  test.each<[string, Json, Json]>([
    ["stream", { stream: true }, { stream: true }],
    ["stream null", { stream: null }, { stream: false }],
    ["n", { n: 3 }, { choices: 3 }],
    ["max_tokens", { max_tokens: 7 }, { maxTokens: 7 }],
    ["max_completion_tokens", { max_completion_tokens: 9 }, { maxTokens: 9 }],
    [
      "both bounds: the larger, whichever the upstream obeys",
      { max_tokens: 70, max_completion_tokens: 9 },
      { maxTokens: 70 },
    ],
    ["both bounds, the other way", { max_tokens: 7, max_completion_tokens: 90 }, { maxTokens: 90 }],
    ["a bound that is null", { max_tokens: 7, max_completion_tokens: null }, { maxTokens: 7 }],
    ["no bound", { max_tokens: null }, { maxTokens: undefined }],
    ["tools", { tools: [{ type: "function", function: { name: "f" } }] }, { hasTools: true }],
    ["no tools", { tools: [] }, { hasTools: false }],
    ["parallel tools", { parallel_tool_calls: true }, { parallelTools: true }],
    ["a schema", { response_format: { type: "json_schema", json_schema: {} } }, { hasSchema: true }],
    ["JSON mode is no schema", { response_format: { type: "json_object" } }, { hasSchema: false }],
    [
      "images",
      parts(
        { type: "image_url", image_url: { url: "https://x/y" } },
        { type: "image_url", image_url: { url: "z" } },
      ),
      { hasImages: true, imageCount: 2 },
    ],
    [
      "audio",
      parts({ type: "input_audio", input_audio: { data: "UklG", format: "wav" } }),
      { hasAudio: true, hasImages: false },
    ],
    ["a model with other characters", { model: "v/größe-世" }, { model: "v/größe-世" }],
    [
      "every role and kind of content",
      {
        messages: [
          { role: "developer", content: "a" },
          { role: "assistant", content: null, tool_calls: [] },
          { role: "assistant" },
          { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "b" }] },
        ],
      },
      { choices: 1 },
    ],
  ])("%s", (_, body, expected) => {
    expect(facts(body)).toMatchObject(expected);
  });

  test("the members may stand in any order, with any white space and escapes", () => {
    const { facts: f } = read(
      '\n{ "messages" : [ {"content":"a\\"b","role":"user"} ] ,\t"m\\u006fdel": "v\\/m" }\n',
    );
    expect(f.model).toBe("v/m");
  });

  test("include_usage is told apart from nothing said", () => {
    const include = (stream_options: unknown) =>
      read({ model: "m", messages: MESSAGES, stream: true, stream_options }).includeUsage;
    expect([
      include({ include_usage: true }),
      include({ include_usage: false }),
      include({}),
      include(null),
    ]).toEqual([true, false, undefined, undefined]);
  });

  test("svc is read whole", () => {
    const { svc } = read({
      model: "m",
      stream: true,
      messages: MESSAGES,
      svc: {
        route: {
          providers: { order: ["a"], only: ["b"], ignore: ["c"] },
          fallbacks: false,
          sort: "price",
          require: { zdr: true, max_price: { input: 0.5 }, regions: ["eu"] },
          max_attempts: 3,
          timeout_ms: 9000,
          affinity: "user",
        },
        metadata: { app: "größe", user_id: "世", session_id: "s", tags: { k: "v" } },
        compat: { strict: true },
        on_disconnect: "drain",
        hold: "fit",
        hold_wait_ms: 2000,
      },
    });
    expect(svc).toEqual({
      route: {
        order: ["a"],
        only: ["b"],
        ignore: ["c"],
        fallbacks: false,
        sort: "price",
        require: { zdr: true, max_price: { input: 0.5 }, regions: ["eu"] },
        max_attempts: 3,
        timeout_ms: 9000,
        affinity: "user",
      },
      app: "größe",
      userId: "世",
      sessionId: "s",
      tags: { k: "v" },
      strict: true,
      onDisconnect: "drain",
      hold: "fit",
      holdWaitMs: 2000,
      providerOptions: {},
    });
  });

  test("bounds of svc count characters, not bytes, and hold for any length", () => {
    const app = (text: string) => ({ model: "m", messages: MESSAGES, svc: { metadata: { app: text } } });
    expect(read(app("世".repeat(128))).svc.app).toBe("世".repeat(128));
    expect(refusal(app("x".repeat(129))).param).toBe("/svc/metadata/app");
    expect(refusal(app("x".repeat(5000))).param).toBe("/svc/metadata/app");
    const tags = { ["k".repeat(5000)]: "v" };
    expect(refusal({ model: "m", messages: MESSAGES, svc: { metadata: { tags } } }).param).toMatch(
      /^\/svc\/metadata\/tags/,
    );
  });
});

describe("the prompt's estimate", () => {
  const prose = "data: these are words that any model reads ".repeat(2000);

  test.each<[string, Json]>([
    ["text that begins like a data URL", { messages: [{ role: "user", content: prose }] }],
    ["text that begins like base64", { messages: [{ role: "user", content: "QUJD".repeat(64) + prose }] }],
    [
      "base64 in members that are no prompt",
      {
        messages: [{ role: "user", content: prose }],
        metadata: { url: `data:x;base64,${"QUJD".repeat(4000)}` },
      },
    ],
    [
      "a data URL in a tool's schema",
      { tools: [{ type: "function", function: { parameters: { url: prose } } }] },
    ],
    ["functions of the format's first days", { functions: [{ name: "f", description: prose }] }],
    ["members we do not know", { documents: [{ text: prose }] }],
    [
      "a tool's arguments",
      { messages: [{ role: "assistant", tool_calls: [{ function: { arguments: prose } }] }] },
    ],
  ])("is not made small by %s", (_, body) => {
    expect(facts(body).promptTokens).toBeGreaterThanOrEqual(prose.length / 4);
  });

  test("is not made larger by what no model reads", () => {
    const before = facts().promptTokens;
    expect(
      facts({
        metadata: { note: prose.slice(0, 16_000) },
        svc: { metadata: { app: "x".repeat(99) } },
        user: "x".repeat(999),
      }).promptTokens,
    ).toBe(before);
  });

  test("is made larger by what is meant for a provider alone: it may take that for prompt", () => {
    const before = facts().promptTokens;
    const note = prose.slice(0, 16_000);
    const svc = { provider_options: { some: { note } } };
    expect(facts({ svc }).promptTokens).toBeGreaterThan(before + note.length / 5);
  });

  test("T57: base64 images count as images, not as prose", () => {
    const url = `data:image/jpeg;base64,${"/9j/4AAQSkZJRgABAQEA".repeat(50_000)}`;
    const request = read({
      model: "m",
      ...parts({ type: "text", text: "what?" }, { type: "image_url", image_url: { url } }),
    });
    expect(request.facts.promptTokens).toBeLessThan(2000);
    expect(request.facts.promptTokens).toBeGreaterThan(1600);
    expect(request.hasOpaque).toBe(true);
  });

  test("what looks like media where there should be none is uncounted, and held for as such", () => {
    const data = "/9j/4AAQSkZJRgABAQEA".repeat(500);
    const uncounted = (message: object) =>
      read({ model: "m", messages: [{ role: "user", content: "x", ...message }] }).facts.hasUncounted;
    expect(uncounted({ content: [{ type: "unknown", data }] })).toBe(true);
    expect(uncounted({ reasoning_details: [{ type: "reasoning.encrypted", data }] })).toBe(true);
    const url = `data:image/png;base64,${data}`;
    expect(uncounted({ content: [{ type: "image_url", image_url: { url } }] })).toBe(false);
    expect(uncounted({ content: [{ type: "text", text: data }] })).toBe(false);
  });

  test("what a tokenizer reads is the text of the prompt's members in its own characters", () => {
    const texts = promptTexts(
      read({
        model: "m",
        messages: [{ role: "user", content: "Größe 世" }],
        tools: [{ type: "x" }],
        user: "u",
        svc: {},
      }),
    );
    expect(texts).toEqual(['[{"role":"user","content":"Größe 世"}]', '[{"type":"x"}]']);
  });
});

const ok = { model: "m", messages: MESSAGES };
const deep = (depth: number) =>
  `{"model":"m","messages":[{"role":"user","content":"x"}],"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;

describe("refusals", () => {
  test.each<[string, unknown, string]>([
    ["no model", { messages: MESSAGES }, "/model"],
    ["a model that is a number", { ...ok, model: 3 }, "/model"],
    ["an empty model", { ...ok, model: "" }, "/model"],
    ["no messages", { model: "m" }, "/messages"],
    ["empty messages", { ...ok, messages: [] }, "/messages"],
    ["messages that are a string", { ...ok, messages: "hi" }, "/messages"],
    ["a message that is a string", { ...ok, messages: ["hi"] }, "/messages/0"],
    ["content that is a number", { ...ok, messages: [{ role: "user", content: 1 }] }, "/messages/0/content"],
    ["stream that is a string", { ...ok, stream: "true" }, "/stream"],
    [
      "include_usage that is a number",
      { ...ok, stream_options: { include_usage: 1 } },
      "/stream_options/include_usage",
    ],
    ["stream_options that is a list", { ...ok, stream_options: [] }, "/stream_options"],
    ["max_tokens negative", { ...ok, max_tokens: -5 }, "/max_tokens"],
    ["max_tokens not whole", { ...ok, max_tokens: 1.5 }, "/max_tokens"],
    ["max_tokens beyond exact numbers", { ...ok, max_tokens: 1e300 }, "/max_tokens"],
    ["max_tokens a string", { ...ok, max_tokens: "9" }, "/max_tokens"],
    ["max_completion_tokens a string", { ...ok, max_completion_tokens: "9" }, "/max_completion_tokens"],
    ["n zero", { ...ok, n: 0 }, "/n"],
    ["n too large", { ...ok, n: 129 }, "/n"],
    ["tools an object", { ...ok, tools: {} }, "/tools"],
    ["response_format a string", { ...ok, response_format: "json" }, "/response_format"],
    ["svc a string", { ...ok, svc: "x" }, "/svc"],
    ["svc null", { ...ok, svc: null }, "/svc"],
    ["an unknown option of svc", { ...ok, svc: { rout: {} } }, "/svc/rout"],
    [
      "an unknown option deep in svc, with other characters",
      { ...ok, svc: { route: { "größe/~": 1 } } },
      "/svc/route/größe~1~0",
    ],
    ["an unknown sort", { ...ok, svc: { route: { sort: "cheap" } } }, "/svc/route/sort"],
    [
      "providers that are a string",
      { ...ok, svc: { route: { providers: { only: "a" } } } },
      "/svc/route/providers/only",
    ],
    [
      "a price below zero",
      { ...ok, svc: { route: { require: { max_price: { input: -1 } } } } },
      "/svc/route/require/max_price/input",
    ],
    ["a tag that is a number", { ...ok, svc: { metadata: { tags: { a: 1 } } } }, "/svc/metadata/tags/a"],
    ["a member that stands twice", '{"model":"a","model":"b","messages":[{"role":"user"}]}', "/model"],
    [
      "options that stand twice",
      '{"model":"a","messages":[{"role":"user"}],"stream":true,"stream_options":{"a":1,"a":2}}',
      "/stream_options/a",
    ],
  ])("%s: invalid_value at the field", (_, body, pointer) => {
    const error = refusal(body);
    expect([error.kind, error.status, error.param]).toEqual(["invalid_value", 400, pointer]);
  });

  test("a list of models is no option of this gateway", () => {
    expect(refusal({ ...ok, models: ["a", "b"] })).toMatchObject({
      kind: "unsupported_option",
      param: "/models",
    });
  });

  test.each([
    ["nothing", ""],
    ["no object", "[1]"],
    ["a cut body", '{"model":"m","messages":[{"role":"us'],
    ["a trailing comma", '{"model":"m","messages":[],}'],
    ["single quotes", "{'model':'m'}"],
    ["a bad escape", '{"model":"\\q","messages":[]}'],
    [
      "a bad escape in svc's long string",
      `{"model":"m","messages":[{"role":"user"}],"svc":{"metadata":{"app":"\\q${"x".repeat(5000)}"}}}`,
    ],
    ["brackets of two kinds", '{"model":"m","messages":[}}'],
    ["text behind the body", `${JSON.stringify(ok)} x`],
    ["NaN", '{"model":"m","messages":[],"temperature":NaN}'],
  ])("%s is invalid_json", (_, body) => {
    expect(refusal(body)).toMatchObject({ kind: "invalid_json", status: 400 });
  });

  test("invalid UTF-8 is invalid_json, in every kind of damage", () => {
    const [head, tail] = ['{"model":"m","messages":[{"role":"user","content":"', '"}]}'];
    for (const bytes of [
      [0xff],
      [0xc3],
      [0xe4, 0xb8],
      [0xed, 0xa0, 0x80],
      [0xc0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
    ]) {
      const body = Buffer.concat([
        Buffer.from(head as string),
        Buffer.from(bytes),
        Buffer.from(tail as string),
      ]);
      expect(() => readChatRequest(body)).toThrow(expect.objectContaining({ kind: "invalid_json" }));
    }
  });

  test("nesting 10,000 deep is refused, 200 deep passes", () => {
    expect(refusal(deep(10_000)).kind).toBe("invalid_value");
    expect(read(deep(200)).facts.model).toBe("m");
  });
});

describe("T54: time on the event loop", () => {
  const bestMs = (body: Buffer, tries = 6) => leastProcessorMs(() => readChatRequest(body), tries);
  const saying = (content: string) =>
    Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }] }));

  test("a prompt of a million tokens is read within 10 ms", () => {
    expect(bestMs(saying("The quick brown fox jumps over it.\n".repeat(117_000)))).toBeLessThan(10);
    expect(bestMs(saying("多くの人が読む文章です。".repeat(115_000)))).toBeLessThan(10);
  });

  test("T57: a base64 image takes less than 10 ms a MB", () => {
    const url = `data:image/png;base64,${"iVBORw0KGgoAAAANSUhEUgAA".repeat(350_000)}`;
    const body = Buffer.from(
      JSON.stringify({ model: "m", ...parts({ type: "image_url", image_url: { url } }) }),
    );
    expect(bestMs(body)).toBeLessThan((10 * body.length) / 1e6);
  });

  test("what is worst to read stays within the order of a parse", () => {
    const many = Array.from({ length: 100_000 }, (_, i) => ({ role: "user", content: `m ${i}` }));
    expect(bestMs(Buffer.from(JSON.stringify({ model: "m", messages: many })), 2)).toBeLessThan(500);
    expect(bestMs(saying('"'.repeat(2_000_000)), 2)).toBeLessThan(300);
  });
});
