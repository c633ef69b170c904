/** The end of a stream: text that comes with a finish reason leaves at once, the reason waits for the settlement. */
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../src/base/endpoint.ts";
import type { AnswerStream, FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import { passageTo } from "../../../src/wire/passages.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import {
  chatStream,
  type Json,
  latin1Of,
  plainChunks,
  RECORDED,
  relay,
  SVC,
  usage,
} from "../../support/wire/fixtures.ts";
import { IDENTITY } from "./chat.fixtures.ts";

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const LOGPROBS = {
  content: [{ token: "Hi", logprob: -0.1, bytes: [72, 105], top_logprobs: [] }],
  refusal: null,
};

const choiceOf = (delta: unknown, more: Json = {}): Json => ({
  index: 0,
  delta,
  finish_reason: "stop",
  ...more,
});
const chunk = (choices: unknown, more: Json = {}): Json => ({
  id: "up-1",
  object: "chat.completion.chunk",
  created: 5,
  model: "up",
  choices,
  ...more,
});
const sse = (...events: unknown[]): string =>
  events.map((e) => `data: ${typeof e === "string" ? e : JSON.stringify(e)}\n\n`).join("");
const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
const OPENING = chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]);
const TEXT = chunk([{ index: 0, delta: { content: "a" }, finish_reason: null }]);

/** What leaves before the settlement and behind it, chunk by chunk. */
function passed(event: unknown, before: readonly unknown[] = [OPENING, TEXT], given = {}) {
  const stream = chatStream(given);
  let opening = "";
  for (const e of before) opening += stream.push(sse(e));
  const early = stream.push(latin1(sse(event)));
  const last = stream.push(sse("[DONE]")) + stream.close(stream.facts.usage ?? usage(1, 1), SVC);
  return { opening, early: plainChunks(early), last: plainChunks(last), text: early, stream };
}

describe("a spliced chunk with a finish reason", () => {
  const deltas: readonly (readonly [string, Json])[] = [
    ["text", { content: "Grüße 🎉" }],
    ["text beside a role", { role: "assistant", content: "b" }],
    ["reasoning", { reasoning_content: "hm" }],
    ["reasoning in details", { reasoning_details: [{ type: "reasoning.text", text: "hm", index: 0 }] }],
    [
      "a whole call",
      { tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
    ],
    ["the rest of its arguments", { tool_calls: [{ index: 0, function: { arguments: '"}' } }] }],
    ["a call of the first days", { function_call: { name: "f", arguments: "{}" } }],
    ["a refusal", { refusal: "No." }],
    ["parts", { content: [{ type: "text", text: "b" }] }],
    ["sound", { audio: { id: "a", data: "AAAA" } }],
  ];

  test.each(deltas)("O22: %s leaves at once, the reason later", (_, delta) => {
    // Read in full as the first event of a stream, and by the envelope that was learned from another.
    for (const before of [[], [OPENING, TEXT]]) {
      const { early, last, stream } = passed(chunk([choiceOf(delta, { logprobs: null })]), before);
      expect(early).toMatchObject([{ choices: [{ index: 0, delta, finish_reason: null }], usage: null }]);
      expect(last[0]?.choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }]);
      expect(last).toHaveLength(2);
      const hasCall = "tool_calls" in delta || "function_call" in delta;
      expect(stream.facts.stopReason).toBe(hasCall ? "tool_calls" : "stop");
    }
  });

  test.each([
    ["nothing", {}],
    ["null", null],
    ["empty text", { content: "" }],
    ["a role and no text", { role: "assistant", content: null, tool_calls: [] }],
    ["empty arguments", { tool_calls: [{ index: 0, type: "function", function: { arguments: "" } }] }],
  ])("O22: with %s in its delta it is not cut: nothing leaves early, and every byte stays", (_, delta) => {
    const event = chunk([choiceOf(delta, { stop_reason: 5 })], { x_other: { "1": [1.0] }, usage: null });
    const { early, last } = passed(event);
    expect(early).toEqual([]);
    expect(last[0]).toEqual({ ...event, id: last[0]?.id, model: last[0]?.model });
  });

  test("O22: log probabilities leave with their token, without text too", () => {
    for (const delta of [{ content: "Hi" }, { content: "" }]) {
      const { early, last } = passed(chunk([choiceOf(delta, { logprobs: LOGPROBS })]));
      expect(early[0]?.choices).toEqual([{ index: 0, delta, logprobs: LOGPROBS, finish_reason: null }]);
      expect(last[0]?.choices).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }]);
    }
  });

  test("O22: usage in it is told once, in the last chunk; what only the end has stays there", () => {
    const more = { usage: USAGE, x_groq: { id: "r", usage: USAGE }, system_fingerprint: "fp" };
    const event = chunk(
      [choiceOf({ content: "b" }, { content_filter_results: { hate: 1 }, stop_reason: 2 })],
      more,
    );
    for (const before of [[], [OPENING, TEXT]]) {
      const { early, last, stream } = passed(event, before);
      expect(Object.keys(early[0] ?? {}).sort()).toEqual(
        ["choices", "created", "id", "model", "object", "system_fingerprint", "usage"].sort(),
      );
      expect(early[0]?.usage).toBeNull();
      expect(early[0]?.choices).toEqual([{ index: 0, delta: { content: "b" }, finish_reason: null }]);
      expect(last[0]?.choices).toEqual([
        { ...choiceOf({}), content_filter_results: { hate: 1 }, stop_reason: 2 },
      ]);
      expect(last[1]).toMatchObject({ choices: [], usage: USAGE });
      expect(stream.facts).toMatchObject({ usage: { inputTokens: 3, outputTokens: 2 }, unreportedBytes: 0 });
    }
    const none = passed(event, [], { includeUsage: false });
    expect([...none.early, ...none.last].some((c) => "usage" in c)).toBe(false);
  });

  test("O22: what follows the reason leaves at once where it is text, and waits where it is not", () => {
    const late = [{ index: 0, delta: { content: "late" }, finish_reason: null, x: 1 }];
    const filter = [{ index: 0, delta: {}, finish_reason: null, content_filter_results: {} }];
    const { early, last } = passed(chunk(late, { x_more: 1 }), [TEXT, chunk([choiceOf({})]), chunk(filter)]);
    expect(early).toMatchObject([{ choices: late, x_more: 1 }]);
    expect(last.map(({ choices }) => choices)).toEqual([[choiceOf({})], filter, []]);
  });

  test("O22: with more answers than one nothing is held, nor cut", () => {
    const event = chunk([choiceOf({ content: "b" })]);
    const { early } = passed(event, [OPENING, TEXT], { choices: 2 });
    expect(early).toMatchObject([{ choices: event.choices }]);
  });

  test("O22: several choices in one chunk where one was asked for, a member twice, padding: each is told once", () => {
    const two = [choiceOf({ content: "b" }), { index: 1, delta: {}, finish_reason: "stop" }];
    const several = passed(chunk(two));
    expect(several.early[0]?.choices).toEqual([{ ...two[0], finish_reason: null }]);
    expect(several.last[0]?.choices).toEqual([choiceOf({}), two[1]]);
    const padded = passed(chunk([choiceOf({ content: "b" })], { obfuscation: "xyz" }));
    expect(padded.early).toMatchObject([{ choices: [{ delta: { content: "b" } }], obfuscation: "xyz" }]);
    const twice = `{"id":"u","choices":[{"index":0,"delta":{"content":"x"},"delta":{"content":"b"},"finish_reason":"stop"}]}`;
    const stream = chatStream();
    const all = stream.push(sse(twice, "[DONE]")) + stream.close(usage(1, 1), SVC);
    expect(all.match(/"content"/g)).toHaveLength(1);
  });

  test("O22: a stream that breaks behind it has delivered its text, and what it reported counts", () => {
    const { stream, early } = relay([sse(OPENING, chunk([choiceOf({ content: "b" })]))]);
    expect(early).toContain('"content":"b"');
    expect(stream.facts).toMatchObject({ usage: undefined, outputBytes: 1, unreportedBytes: 1 });
  });
});

describe.each(RECORDED)("$name", ({ name, choices }) => {
  test("O22: no text waits for the end", () => {
    const { early, all } = relay([latin1Of(name)], { choices });
    expect(saidIn(early)).toBe(saidIn(all));
    expect(saidIn(all)).not.toBe("");
  });
});

/** The strings of all deltas, one behind the other. */
function saidIn(stream: string): string {
  const strings: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === "string") strings.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collect);
  };
  for (const { choices } of plainChunks(stream)) {
    for (const { delta } of choices as Json[]) collect({ ...(delta as Json), role: null, token_id: null });
  }
  return strings.join("");
}

/** A stream of another dialect, in the client's format. */
function translated(client: FormatName, dialect: Dialect): AnswerStream {
  const format = FORMATS[client];
  const request = format.read(Buffer.from(JSON.stringify({ model: "m", stream: true, ...SAID[client] })));
  const passage = passageTo(format, endpoint("up", { dialects: [dialect] }))?.passage;
  if (passage === undefined) throw new Error(`no way from ${client} to ${dialect}`);
  return passage.stream(request, IDENTITY);
}

const messages = [{ role: "user", content: "x" }];
const SAID: Partial<Record<FormatName, Json>> = {
  chat: { messages },
  completions: { prompt: "x" },
  messages: { messages, max_tokens: 9 },
  responses: { input: "x" },
  generate: { messages },
};
const CLIENTS = ["chat", "completions", "messages", "responses", "generate"] as const;
const geminiEvent = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }] }, index: 0, ...(finishReason && { finishReason }) }],
  usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2 },
});
const ENDS: readonly (readonly [Dialect, string])[] = [
  ["chat", sse(chunk([choiceOf({ content: "words" })]))],
  ["gemini", sse(geminiEvent("words", "STOP"))],
];

describe.each(CLIENTS)("a client of %s", (client) => {
  test.each(ENDS)(
    "O22: gets the text in the last chunk of %s at once, and the reason later",
    (dialect, end) => {
      if (client === "chat" && dialect === "chat") return;
      const stream = translated(client, dialect);
      expect(stream.push(end)).toContain("words");
      const last = stream.end() + stream.close(usage(1, 1), SVC);
      expect(last).not.toContain('delta":"words');
      expect(last.length).toBeGreaterThan(0);
    },
  );

  test("O22: gets a call in the last chunk at once", () => {
    if (client === "completions") return;
    const call = {
      index: 0,
      id: "c1",
      type: "function",
      function: { name: "look_up", arguments: '{"q":"words"}' },
    };
    const stream = translated(client, "chat");
    expect(
      stream.push(sse(chunk([choiceOf({ tool_calls: [call] }, { finish_reason: "tool_calls" })]))),
    ).toContain('{\\"q\\":\\"words\\"}');
  });

  test("O22: loses no text of a model that says its finish reason in every event", () => {
    const stream = translated(client, "gemini");
    let out = "";
    for (const text of ["one ", "two ", "three"]) out += stream.push(sse(geminiEvent(text, "STOP")));
    for (const text of ["one ", "two ", "three"]) expect(out).toContain(`"${text}"`);
    out += stream.end() + stream.close(usage(1, 1), SVC);
    expect(stream.complete).toBe(true);
    expect(stream.facts.stopReason).toBe("stop");
  });
});

describe("O22: what waits is bounded", () => {
  const many = (event: unknown) =>
    Array.from({ length: 9 }, () => sse({ ...Object(event), pad: "x".repeat(1 << 20) }));

  test("behind a finish reason", () => {
    const stream = chatStream();
    stream.push(sse(OPENING, TEXT));
    const [first, ...rest] = many(chunk([choiceOf({})]));
    expect(stream.push(first ?? "")).toBe("");
    expect(() => rest.map((text) => stream.push(text))).toThrow(/than the gateway takes/);
  });

  test("in front of the first content of a stream that passes as it comes", () => {
    const stream = translated("messages", "messages");
    expect(() => many({ type: "ping" }).map((text) => stream.push(text))).toThrow(/than the gateway takes/);
  });
});
