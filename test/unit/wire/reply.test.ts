/** A whole answer: what it tells, what is patched in it, and what is no answer. Usage and error bodies of providers. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { errorEnvelope, fail, WeirError } from "../../../src/base/errors.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { chatSplice } from "../../../src/wire/chat/splice.ts";
import { readChatUsage, writeChatUsage } from "../../../src/wire/chat/usage.ts";
import {
  countedTokenBound,
  estimateOutputTokens,
  estimatePromptTokens,
  promptTokenBound,
} from "../../../src/wire/estimate.ts";
import { readErrorBody } from "../../../src/wire/neutral/upstream-error.ts";
import { anyCharacter } from "../../support/characters.ts";
import { ID, type Json, MODEL, SVC, usage } from "../../support/wire/fixtures.ts";
import { IDENTITY } from "./chat.fixtures.ts";

const REPLY =
  '{"id":"chatcmpl-B9","object":"chat.completion","created":1741569952,"model":"gpt-5-mini-2025","choices":[{"index":0,' +
  '"message":{"role":"assistant","content":"Grüß \\"dich\\" 🎉\\n","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],' +
  '"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"x":1.0},"service_tier":"default","seed":12345678901234567890}';

const REQUEST = readChatRequest(Buffer.from('{"model":"v/m","messages":[{"role":"user","content":"x"}]}'));
const read = (body: string | Json) =>
  chatSplice.whole(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), REQUEST, IDENTITY);
const write = (body: string | Json, used = usage(3, 4)) => read(body).write(used, SVC).toString();

const saying = (message: Json, more: Json = {}): Json => ({
  choices: [{ index: 0, message, finish_reason: "stop" }],
  ...more,
});

describe("a whole answer", () => {
  test("tells its usage, stop reason and tool calls", () => {
    expect(read(REPLY).facts).toMatchObject({ usage: usage(19, 10), stopReason: "stop", toolCalls: 0 });
    const tools = read({
      choices: [
        { message: { tool_calls: [{}, {}] }, finish_reason: "tool_calls" },
        { message: { tool_calls: [{}] } },
      ],
    });
    expect(tools.facts).toMatchObject({ stopReason: "tool_calls", toolCalls: 3 });
  });

  test("T53: only id, model and svc differ; every other byte is the upstream's", () => {
    const out = write(REPLY);
    const svc = out.slice(out.indexOf(',"svc":'));
    expect(out.replace(svc, "}").replace(ID, "chatcmpl-B9").replace(MODEL, "gpt-5-mini-2025")).toBe(REPLY);
    expect((JSON.parse(out) as Json).svc).toEqual(SVC);
  });

  test("what is missing is added: id, model, usage", () => {
    for (const given of [undefined, null, {}, { total_tokens: 3 }, "x"]) {
      const out = JSON.parse(
        write(
          saying({ content: "a" }, { usage: given }),
          usage(5, 6, { cacheReadTokens: 2, reasoningTokens: 1 }),
        ),
      ) as Json;
      expect(out).toMatchObject({
        id: ID,
        model: MODEL,
        svc: SVC,
        usage: {
          prompt_tokens: 5,
          completion_tokens: 6,
          total_tokens: 11,
          prompt_tokens_details: { cached_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      });
    }
  });

  test("a svc of the upstream's does not pass for ours", () => {
    expect((JSON.parse(write(saying({ content: "a" }, { svc: { cost: 0 } }))) as Json).svc).toEqual(SVC);
  });

  test("where usage is missing, the bytes of generated text are counted, and nothing around them", () => {
    const bytes = (message: Json) => read(saying(message)).facts.outputBytes;
    expect(bytes({ role: "assistant", content: "four", refusal: null, annotations: [] })).toBe(4);
    expect(bytes({ content: "世", reasoning_content: "ab" })).toBe(5);
    expect(
      bytes({ content: null, tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{}" } }] }),
    ).toBe(2);
    expect(bytes({ content: "x".repeat(1_000_000) })).toBe(1_000_000);
  });

  test.each([
    [[]],
    [[null]],
    [[1, "x"]],
    [[{}]],
    [[{ message: null }]],
    [[{ message: "m", finish_reason: 3 }]],
    [[{ delta: { content: "a chunk" }, finish_reason: "stop" }]],
  ])("choices without messages are no answer: %j", (choices) => {
    expect(() => read({ ...saying({ content: "a" }), choices })).toThrow("not a chat completion");
  });

  test("nothing in a message is no answer, unless a known reason says why", () => {
    const errorOf = (message: Json, reason: unknown) =>
      read({ ...saying(message), choices: [{ message, finish_reason: reason }] }).error?.code;
    expect(errorOf({ tool_calls: "x" }, null)).toBe("no_finish_reason");
    expect(errorOf({ content: "" }, "made_up")).toBe("made_up");
    expect(errorOf({ content: "a".repeat(9000) }, null)).toBeUndefined();
    expect(errorOf({ content: null }, "stop")).toBeUndefined();
  });

  test("any JSON beside the choices passes as it came", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), (rest) => {
        const body = { ...rest, choices: [{ message: { content: "a" } }] };
        const {
          id: _,
          model: __,
          svc: ___,
          usage: ____,
          error: _____,
          object: ______,
          ...others
        } = body as Json;
        expect(JSON.parse(write({ ...others }))).toEqual({
          ...others,
          id: ID,
          model: MODEL,
          svc: SVC,
          usage: writeChatUsage(usage(3, 4)),
        });
      }),
      { seed: 51, numRuns: 200 },
    );
  });

  test("a body of 20 MB is passed on in one piece", () => {
    const content = `${"Ein längerer Satz. ".repeat(50_000)}"`.repeat(20);
    const out = JSON.parse(
      write(saying({ content }, { usage: { prompt_tokens: 1, completion_tokens: 2 } })),
    ) as { choices: { message: Json }[] };
    expect(out.choices[0]?.message.content === content).toBe(true);
  });

  test.each([
    ["nothing", ""],
    ["a page", "<html>502</html>"],
    ["half a body", REPLY.slice(0, 200)],
    ["a list", "[]"],
    ["a string", '"ok"'],
    ["null", "null"],
    ["no choices", '{"id":"x"}'],
    ["choices that are no list", '{"choices":{}}'],
    ["a member twice", '{"choices":[],"choices":[]}'],
    [
      "bad JSON inside a long string, usage missing",
      `{"choices":[{"message":{"content":"\\q${"x".repeat(9000)}"}}]}`,
    ],
  ])("%s is no answer: upstream_invalid_response", (_, body) => {
    expect(() => read(body)).toThrow(WeirError);
    expect(() => read(body)).toThrow(
      expect.objectContaining({ kind: "upstream_invalid_response", status: 502 }),
    );
  });

  test.each<[string, Json, object]>([
    [
      "OpenAI's",
      { error: { message: "größer", type: "server_error", code: "overloaded" } },
      { message: "größer", type: "server_error", code: "overloaded" },
    ],
    [
      "beside empty choices",
      { choices: [], error: { message: "m", code: 429 } },
      { message: "m", code: "429" },
    ],
    ["a bare string", { error: "no" }, { message: "no" }],
    [
      "vLLM's",
      { object: "error", message: "no", type: "T", code: 500 },
      { message: "no", type: "T", code: "500" },
    ],
  ])("T14: an error with status 200 (%s) is an error, not an answer", (_, body, told) => {
    expect(read(body).error).toMatchObject(told);
  });

  test.each([null, "", false])("an error member that says %j is none", (error) => {
    expect(read(saying({ content: "a" }, { error })).error).toBeUndefined();
  });
});

describe("usage", () => {
  test.each<[string, Json, ReturnType<typeof usage> | undefined]>([
    [
      "OpenAI",
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        total_tokens: 13,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
      usage(9, 4, { cacheReadTokens: 2, reasoningTokens: 3 }),
    ],
    [
      "T33: cached tokens are part of the prompt (DeepSeek)",
      { prompt_tokens: 9, completion_tokens: 4, prompt_cache_hit_tokens: 5, prompt_cache_miss_tokens: 4 },
      usage(9, 4, { cacheReadTokens: 5 }),
    ],
    [
      "Moonshot, Together",
      { prompt_tokens: 9, completion_tokens: 4, cached_tokens: 6 },
      usage(9, 4, { cacheReadTokens: 6 }),
    ],
    [
      "xAI: reasoning beside the completion",
      {
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 135,
        completion_tokens_details: { reasoning_tokens: 94 },
      },
      usage(32, 103, { reasoningTokens: 94 }),
    ],
    [
      "Gemini: reasoning in the total alone",
      { prompt_tokens: 10, completion_tokens: 1, total_tokens: 112 },
      usage(10, 102, { reasoningTokens: 101 }),
    ],
    [
      "a total that fits nothing",
      {
        prompt_tokens: 10,
        completion_tokens: 9,
        total_tokens: 50,
        completion_tokens_details: { reasoning_tokens: 4 },
      },
      usage(10, 9, { reasoningTokens: 4 }),
    ],
    ["a total too small", { prompt_tokens: 10, completion_tokens: 9, total_tokens: 3 }, usage(10, 9)],
    [
      "details that are null",
      {
        prompt_tokens: 1,
        completion_tokens: 2,
        prompt_tokens_details: null,
        completion_tokens_details: null,
      },
      usage(1, 2),
    ],
    [
      "counts that are none",
      { prompt_tokens: -1, completion_tokens: 1.5, prompt_tokens_details: { cached_tokens: "3" } },
      usage(0, 0),
    ],
    ["one count alone", { completion_tokens: 2 }, usage(0, 2)],
    ["no counts", { total_tokens: 9 }, undefined],
  ])("%s", (_, value, expected) => {
    expect(readChatUsage(value)).toEqual(expected);
  });

  test.each([null, undefined, "x", 3, [], true])("%j is no report", (value) => {
    expect(readChatUsage(value)).toBeUndefined();
  });

  test("what is written reads as what it was", () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, count, (input, output, part) => {
        const given = usage(input, output, {
          cacheReadTokens: Math.min(part, input),
          reasoningTokens: Math.min(part, output),
        });
        expect(readChatUsage(writeChatUsage(given))).toEqual(given);
      }),
    );
  });
});

describe("errors", () => {
  test.each<[string, string, object]>([
    [
      "OpenAI",
      '{"error":{"message":"m","type":"t","code":"c","param":null}}',
      { message: "m", type: "t", code: "c" },
    ],
    [
      "Gemini's list",
      '[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]',
      { message: "m", code: "400", type: "INVALID_ARGUMENT" },
    ],
    [
      "vLLM",
      '{"object":"error","message":"m","type":"t","code":404}',
      { message: "m", type: "t", code: "404" },
    ],
    ["FastAPI", '{"detail":"m"}', { message: "m" }],
    ["an error that is a string", '{"error":"m"}', { message: "m" }],
    ["a page", "<html>", { message: "" }],
    ["half a body", '{"error":{"mess', { message: "" }],
    ["nothing", "", { message: "" }],
    ["null", "null", { message: "" }],
    ["an empty list", "[]", { message: "" }],
    ["a number", "3", { message: "" }],
  ])("an upstream's error body is read: %s", (_, body, told) => {
    expect(readErrorBody(Buffer.from(body))).toMatchObject({ type: "", code: "", ...told });
  });

  test("a long message of an upstream is cut", () => {
    expect(
      readErrorBody(Buffer.from(JSON.stringify({ error: { message: "x".repeat(9999) } }))).message,
    ).toHaveLength(2000);
  });

  test("ours go out with what helps, and of what is absent with `param` alone, null", () => {
    expect(JSON.parse(errorEnvelope(fail("rpm", "Slow down.", { retryAfterMs: 120 }), "R1"))).toEqual({
      error: {
        type: "rate_limited",
        code: "rpm",
        message: "Slow down.",
        param: null,
        request_id: "R1",
        retry_after_ms: 120,
      },
    });
    expect(JSON.parse(errorEnvelope(fail("invalid_value", "No.", { param: "/a" }), "R2"))).toEqual({
      error: {
        type: "invalid_request",
        code: "invalid_value",
        message: "No.",
        request_id: "R2",
        param: "/a",
      },
    });
  });
});

describe("estimates", () => {
  test("T22: no delivered byte is free, and bounds are never below the estimate", () => {
    expect(estimateOutputTokens(0)).toBe(0);
    expect(estimateOutputTokens(1)).toBe(1);
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(50), (bytes, images) => {
        const estimate = estimatePromptTokens(bytes, images);
        expect(promptTokenBound(estimate)).toBeGreaterThan(estimate);
        expect(countedTokenBound(estimate)).toBeGreaterThan(estimate);
        expect(estimate).toBeGreaterThanOrEqual(bytes / 4);
      }),
    );
  });
});
