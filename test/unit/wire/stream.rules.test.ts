/** What a spliced stream must hold to whatever the upstream does: order, errors, holding back, and no false fit. */
import { describe, expect, test, vi } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import {
  answerOf,
  chatStream,
  type Json,
  plainChunks,
  plainEvents,
  relay,
  SVC,
  usage,
} from "../../support/wire/fixtures.ts";

const chunk = (more: Json = {}): Json => ({
  id: "up",
  object: "chat.completion.chunk",
  created: 5,
  model: "m",
  choices: [{ index: 0, delta: { content: "x" }, finish_reason: null }],
  ...more,
});
const choice = (delta: unknown, more: Json = {}): Json =>
  chunk({ choices: [{ index: 0, delta, finish_reason: null, ...more }] });
const text = (content: string): Json => choice({ content });
const FINISH = choice({}, { finish_reason: "stop" });

/** As an upstream writes it, latin1. */
const sse = (...events: readonly (Json | string)[]): string =>
  events
    .map((e) => `data: ${Buffer.from(typeof e === "string" ? e : JSON.stringify(e)).toString("latin1")}\n\n`)
    .join("");

const contents = (all: string): unknown[] =>
  plainChunks(all).flatMap((c) => (c.choices as { delta: Json }[]).map(({ delta }) => delta.content));

describe("a learned frame", () => {
  test("a burst of tokens is parsed once, not once a token", () => {
    const stream = chatStream();
    const burst = sse(...Array.from({ length: 64 }, (_, i) => text(` t${i}`)));
    const parse = vi.spyOn(JSON, "parse");
    const out = stream.push(burst);
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    expect(calls).toBeLessThan(6);
    expect(plainEvents(out)).toHaveLength(64);
    expect(stream.events).toBe(64);
  });

  test.each([
    ["what looks like its own tail", '"},"finish_reason":null}]}'],
    ["what looks like an end", '"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'],
    ["the end marker", "[DONE]"],
    ["an event", 'data: {"error":{"message":"no"}}'],
    ["a comment", ": keep-alive"],
    ["quotes at the end", 'say "hi"'],
    ["one backslash at the end", "C:\\"],
    ["backslashes and a quote at the end", '\\\\\\"'],
    ["a null character", "a\u0000b"],
    ["line ends and separators", "\r\n\u2028\u2029\u0085"],
    ["characters of one to four bytes", "aé世🎉"],
    ["a lone surrogate", "\ud83d"],
    ["nothing", ""],
  ])("content that holds %s arrives as it was", (_, content) => {
    const all = relay([sse(text("first"), text(content), text(content), FINISH)]).all;
    expect(contents(all)).toEqual(["first", content, content, undefined]);
    expect(answerOf(relay([sse(text(""), text(content), FINISH)]))).toMatchObject([
      { content: content === "" ? [] : [{ type: "text", text: content }], stop: { reason: "stop" } },
    ]);
  });

  test("a very large token passes", () => {
    const huge = 'é"\\'.repeat(60_000);
    expect(contents(relay([sse(text("a"), text(huge), FINISH)]).all)[1]).toBe(huge);
  });

  test.each<[string, Json]>([
    ["another member in the delta", choice({ content: "y", refusal: "no" })],
    [
      "a tool call beside the content",
      choice({ content: "y", tool_calls: [{ index: 0, id: "c", function: { name: "f" } }] }),
    ],
    ["another choice", chunk({ choices: [{ index: 1, delta: { content: "y" }, finish_reason: null }] })],
    [
      "a second choice",
      chunk({ choices: [...(text("y").choices as Json[]), ...(text("z").choices as Json[])] }),
    ],
    ["another time", { ...text("y"), created: 6 }],
    ["a member behind the choices", { ...text("y"), system_fingerprint: "fp" }],
    [
      "another order of members",
      { choices: text("y").choices, id: "up", model: "m", object: "o", created: 5 },
    ],
    ["content of another type", choice({ content: ["y"] })],
    ["its delta in a second member of the same name", choice({ other: { content: "n" }, content: "y" })],
  ])("an event with %s is not taken for one that fits", (_, odd) => {
    const events = [text("a"), text("b"), odd, text("c"), odd, text("d")];
    const chunks = plainChunks(relay([sse(...events)], { choices: 2 }).early);
    expect(chunks.map(({ choices }) => choices)).toEqual(events.map(({ choices }) => choices));
  });

  test.each([
    ["a raw line feed", "a\nb"],
    ["a raw control character", "a\u0001b"],
    ["an escape that JSON does not know", "a\\x41"],
    ["half a unicode escape", "a\\u12"],
  ])("T12: content with %s is no JSON: skipped and counted, never passed on", (_, inside) => {
    const broken = sse(text("@")).replace("@", inside);
    const { all, stream } = relay([sse(text("a"), text("b")) + broken + sse(text("c"), FINISH)]);
    expect(contents(all)).toEqual(["a", "b", "c", undefined]);
    expect(stream.malformed).toBe(1);
  });

  test("padding that holds an escaped quote, or another member behind it, does not end the event early", () => {
    const padded = (content: string, more: Json): Json => ({ ...text(content), usage: null, ...more });
    const events = [
      padded("a", { obfuscation: "abc" }),
      padded("b", { obfuscation: 'q"}' }),
      padded("c", { obfuscation: "abc", late: true }),
      padded("d", { obfuscation: "" }),
    ];
    const chunks = plainChunks(relay([sse(...events)]).early);
    expect(chunks.map(({ choices, obfuscation, late }) => [choices, obfuscation, late])).toEqual(
      events.map((e) => [e.choices, e.obfuscation, "late" in e ? true : undefined]),
    );
  });

  test("estimates count the same bytes whether an event was parsed or not", () => {
    const fast = relay([sse(text("世"), text("世"), text("世"))]).stream.textBytes;
    const slow = relay([sse(text("世")), `\n:\n${sse(text("世"))}`, `:\n${sse(text("世"))}`]).stream
      .textBytes;
    expect(fast).toBe(9);
    expect(slow).toBe(9);
  });
});

describe("order and endings", () => {
  test("O22: the finish reason waits for the settlement, text behind it does not", () => {
    const stream = chatStream();
    const out = stream.push(
      sse(
        text("a"),
        FINISH,
        text("late"),
        chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }),
        "[DONE]",
      ),
    );
    expect(contents(out)).toEqual(["a", "late"]);
    expect(out).not.toContain('"stop"');
    expect(stream.done).toBe(true);
    const last = stream.close(usage(1, 2), SVC);
    expect(contents(last)).toEqual([undefined]);
    expect(last).toContain('"finish_reason":"stop"');
  });

  test("nothing counts after [DONE]", () => {
    const { early, stream } = relay([sse(text("a"), text("b"), "[DONE]", text("c"), text("d"), "{")]);
    expect(contents(early)).toEqual(["a", "b"]);
    expect(stream.malformed).toBe(0);
  });

  test("T3: usage in the last bytes before [DONE], in reads of their own, is found; the last report stands", () => {
    const report = (completion_tokens: number) => ({
      prompt_tokens: 3,
      completion_tokens,
      total_tokens: 3 + completion_tokens,
    });
    const events = [
      text("a"),
      { ...text("b"), usage: report(1) },
      { ...FINISH, usage: report(2) },
      chunk({ choices: [], usage: report(4) }),
      "[DONE]",
    ];
    const { all, stream } = relay(events.map((e) => sse(e)));
    expect(stream.facts.usage).toEqual(usage(3, 4));
    expect(plainChunks(all).filter((c) => c.usage !== null)).toEqual([
      expect.objectContaining({ choices: [], usage: report(4), svc: SVC }),
    ]);
  });

  test("T1, T2: without any report the last chunk carries what the settlement says", () => {
    const stream = chatStream();
    stream.push(sse(text("a"), FINISH, "[DONE]"));
    expect(stream.facts.usage).toBeUndefined();
    expect(plainChunks(stream.close(usage(9, 3, { cacheReadTokens: 2 }), SVC)).at(-1)).toMatchObject({
      created: 5,
      choices: [],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 3,
        total_tokens: 12,
        prompt_tokens_details: { cached_tokens: 2 },
      },
      svc: SVC,
    });
  });

  test("a usage member that reports nothing is replaced; details that only this upstream has are kept", () => {
    const empty = chatStream();
    empty.push(sse(text("a"), FINISH, chunk({ choices: [], usage: {} })));
    expect(plainChunks(empty.close(usage(2, 1), SVC)).at(-1)?.usage).toMatchObject({ prompt_tokens: 2 });
    const report = { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5, cost: 0.25, is_byok: false };
    const kept = relay([sse(text("a"), { ...FINISH, usage: report })]);
    expect(plainChunks(kept.all).at(-1)?.usage).toEqual(report);
  });

  test("a usage event without a choices member becomes a chunk that has one", () => {
    const { choices: _, ...bare } = chunk({ usage: { prompt_tokens: 1, completion_tokens: 1 } });
    expect(plainChunks(relay([sse(text("a"), FINISH, bare)]).all).at(-1)?.choices).toEqual([]);
  });

  test("events that are no chunks do not reach the client", () => {
    const { all, stream } = relay([sse({ type: "ping" }, {}, { usage: null }, text("a"), FINISH)], {
      includeUsage: false,
    });
    expect(contents(all)).toEqual(["a", undefined]);
    expect(stream.events).toBe(2);
  });

  test("complete without [DONE] once the answer has its finish reason, not before", () => {
    expect(relay([sse(text("a"))]).stream.complete).toBe(false);
    expect(relay([sse(text("a"), FINISH)]).stream.complete).toBe(true);
    expect(relay([""]).stream.complete).toBe(false);
  });
});

describe("faults", () => {
  test.each<[string, Json | string]>([
    ["half a chunk", '{"id":"up","choices":[{"ind'],
    ["no JSON", "<html>"],
    ["a bare string", '"x"'],
    ["a list", "[]"],
    ["nesting beyond the bound", `{"a":${"[".repeat(300)}${"]".repeat(300)}}`],
    ["a member twice", '{"id":"a","id":"b","choices":[]}'],
  ])("T12: %s in mid-stream is skipped and counted; the stream goes on", (_, bad) => {
    const { all, stream } = relay([sse(text("a"), text("b"), bad, text("c"), FINISH, "[DONE]")]);
    expect(contents(all)).toEqual(["a", "b", "c", undefined]);
    expect(stream.malformed).toBe(1);
    expect(stream.complete).toBe(true);
  });

  test.each<[string, Json, object]>([
    [
      "OpenAI's",
      { error: { message: "busy", type: "server_error", code: "overloaded" } },
      { message: "busy", type: "server_error", code: "overloaded" },
    ],
    ["a bare string", { error: "busy", error_type: "overloaded" }, { message: "busy" }],
    ["a number as code", { error: { message: "busy", code: 503 } }, { code: "503" }],
    [
      "vLLM's",
      { object: "error", message: "busy", type: "Internal", code: 500 },
      { message: "busy", code: "500" },
    ],
    [
      "OpenRouter's, on a chunk",
      { ...choice({ content: "" }, { finish_reason: "error" }), error: { code: 502, message: "busy" } },
      { message: "busy" },
    ],
  ])(
    "T14: an error as the first event (%s) is an error, and nothing reaches the client",
    (_, event, told) => {
      const { early, stream } = relay([sse(event, text("a"), text("b"))]);
      expect(early).toBe("");
      expect(stream.error).toMatchObject(told);
      expect(stream.events).toBe(0);
    },
  );

  test("an error in mid-stream: what came before is passed on, what follows is not read", () => {
    const { early, stream } = relay([
      sse(text("a"), text("b"), { error: { message: "gone" } }, text("c"), text("d")),
    ]);
    expect(contents(early)).toEqual(["a", "b"]);
    expect(stream.error?.message).toBe("gone");
  });

  test.each([null, false, "", 0])("an error member that says %j is none", (error) => {
    expect(contents(relay([sse({ ...text("a"), error }, FINISH)]).early)).toEqual(["a"]);
  });

  test.each<[string, unknown]>([
    ["no index", [{ delta: { content: "a" } }]],
    [
      "an index that is no place",
      [{ index: "0", delta: { content: "a" } }, { index: 1.5 }, { index: -1 }, { index: 1e9 }],
    ],
    ["null choices", [null, 3, "x", []]],
    [
      "a delta that is none",
      [
        { index: 0, delta: "text" },
        { index: 0, delta: null },
        { index: 0, delta: [1] },
      ],
    ],
    [
      "tool calls that are none",
      [
        {
          index: 0,
          delta: { tool_calls: [null, 1, { index: 1.5 }, { index: -2, function: 3 }, { function: null }] },
        },
      ],
    ],
    [
      "tool calls far out",
      [{ index: 0, delta: { tool_calls: [{ index: 1e9, id: "c", function: { arguments: "{}" } }] } }],
    ],
  ])("choices with %s neither break the stream nor are lost", (_, choices) => {
    const { early, stream } = relay([sse(chunk({ choices }), text("b"))], { choices: 2 });
    expect(plainChunks(early).map((c) => c.choices)).toEqual([choices, text("b").choices]);
    expect(() => JSON.parse(String(stream.kept()))).not.toThrow();
  });

  test("T9: an event beyond the bound ends the stream with a typed error", () => {
    const stream = chatStream({ maxEventBytes: 1000 });
    stream.push(sse(text("a")));
    const endless = () => {
      for (let i = 0; i < 100; i++) stream.push("x".repeat(100));
    };
    expect(endless).toThrow(WeirError);
    expect(endless).toThrow(expect.objectContaining({ kind: "upstream_invalid_response" }));
  });
});

describe("capture", () => {
  test("keeps no more than its bound, and goes on counting", () => {
    const events = Array.from({ length: 200 }, () => text("0123456789"));
    const { stream } = relay([sse(...events)], { maxCaptureBytes: 500 });
    expect(stream.kept()).toBeUndefined();
    expect(stream.textBytes).toBe(2000);
  });

  test("T22: text in places of other times and providers counts as delivered", () => {
    const legacy = relay([
      sse(
        choice({ function_call: { name: "f", arguments: '{"a"' } }),
        choice({ function_call: { arguments: ":1}" } }),
      ),
    ]);
    expect(answerOf(legacy)).toMatchObject([
      { content: [{ type: "tool_call", name: "f", arguments: '{"a":1}' }] },
    ]);
    expect(legacy.stream.facts.outputBytes).toBeGreaterThan(6);
    const parts = relay([
      sse(
        choice({
          content: [{ type: "text", text: "ab" }, null, { type: "thinking", thinking: [{ text: "cd" }, 1] }],
        }),
      ),
    ]);
    expect(parts.stream.facts.outputBytes).toBe(4);
  });

  test("T45: arguments without an index belong to the call that began last", () => {
    const part = (more: Json) => choice({ tool_calls: [more] });
    const { stream } = relay([
      sse(
        part({ id: "a", function: { name: "f", arguments: "{" } }),
        part({ function: { arguments: "}" } }),
        part({ id: "b", function: { name: "g", arguments: "[" } }),
        part({ id: "", function: { arguments: "]" } }),
      ),
    ]);
    expect(stream.facts.toolCalls).toBe(2);
    expect(answerOf({ stream })).toMatchObject([
      {
        content: [
          { type: "tool_call", id: "a", arguments: "{}" },
          { type: "tool_call", id: "b", arguments: "[]" },
        ],
      },
    ]);
  });
});
