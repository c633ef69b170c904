/** Neutral answers as chat completions, whole and streamed: what OpenAI's clients read, to the chunk. */
import type OpenAI from "openai";
import { ChatCompletionStream } from "openai/lib/ChatCompletionStream";
import { describe, expect, expectTypeOf, test } from "vitest";
import { fail } from "../../../src/base/errors.ts";
import { chatFormat } from "../../../src/wire/chat/format.ts";
import { readChatReply } from "../../../src/wire/chat/read-reply.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { chatReplyBody, writeChatReply } from "../../../src/wire/chat/write-reply.ts";
import { fragmentOf } from "../../../src/wire/neutral/fragment.ts";
import type { NeutralReply, ReplyPart, StopReason, StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import {
  answerOf,
  ID,
  type Json,
  latin1Of,
  MODEL,
  plainChunks,
  plainEvents,
  RECORDED,
  relay,
  SVC,
  usage,
} from "../../support/wire/fixtures.ts";
import { folded, IDENTITY, neutral, readPieces, written } from "./chat.fixtures.ts";

type Chunk = OpenAI.ChatCompletionChunk;

const chunksOf = (events: readonly StreamEvent[], includeUsage = true): Chunk[] =>
  plainChunks(written(events, includeUsage)) as unknown as Chunk[];

/** As the official client puts a stream together. */
async function completed(chunks: readonly Chunk[]): Promise<OpenAI.ChatCompletion> {
  const lines = chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join("");
  return ChatCompletionStream.fromReadableStream(new Blob([lines]).stream()).finalChatCompletion();
}

const reply = (parts: readonly ReplyPart[], reason: StopReason = "stop"): NeutralReply => ({
  choices: [{ parts, stop: { reason } }],
  usage: undefined,
});

const message = (parts: readonly ReplyPart[], reason?: StopReason) =>
  chatReplyBody(reply(parts, reason), IDENTITY, usage(1, 2)).choices[0];

/** The events of parts that come one after another, their text in two pieces. */
function eventsOf(parts: readonly ReplyPart[], reason: StopReason = "stop"): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const [part, value] of parts.entries()) {
    const at = { choice: 0, part };
    if (value.type === "media") {
      events.push({ type: "media", ...at, media: value });
      continue;
    }
    const text = value.type === "tool_call" ? value.arguments : value.text;
    if (value.type === "tool_call") {
      events.push({ type: "begin", ...at, kind: "tool_call", id: value.id, name: value.name });
    } else {
      const flags =
        value.type === "reasoning"
          ? { ...(value.isSummary && { isSummary: true }), ...(value.isRedacted && { isRedacted: true }) }
          : {};
      events.push({ type: "begin", ...at, kind: value.type, ...flags });
    }
    for (const piece of [text.slice(0, 2), text.slice(2)]) {
      if (piece !== "" && text !== "{}") events.push({ type: "delta", ...at, text: fragmentOf(piece) });
    }
    if (value.type === "text") {
      for (const citation of value.citations ?? []) events.push({ type: "citation", ...at, citation });
    }
    if (value.type !== "refusal" && value.seal !== undefined)
      events.push({ type: "seal", ...at, seal: value.seal });
    events.push({ type: "end", ...at });
  }
  return [...events, { type: "stop", choice: 0, stop: { reason } }, { type: "usage", usage: usage(3, 4) }];
}

const EVERYTHING: readonly ReplyPart[] = [
  { type: "reasoning", text: 'Hm "世"', seal: { by: "anthropic", data: "S+/=" } },
  { type: "reasoning", text: "", isRedacted: true, seal: { by: "anthropic", data: "R==" } },
  { type: "reasoning", text: "Sum", isSummary: true, seal: { by: "openai", data: "gAAA" } },
  {
    type: "text",
    text: "Größe 🎉\n",
    citations: [{ type: "url", url: "https://a.example/ü", title: "Ä", start: 1, end: 2, citedText: "q" }],
  },
  { type: "tool_call", id: "c1", name: "f", arguments: '{"a":"ß"}', seal: { by: "google", data: "G/=" } },
  { type: "tool_call", id: "c2", name: "g", arguments: "{}" },
];

describe("recorded streams, read and written again", () => {
  test.each(RECORDED)("$name says what its splice says", ({ name, choices, usage: used, answer }) => {
    const out = written(readPieces([latin1Of(name)]).events);
    const again = relay([out], { choices });
    const spliced = relay([latin1Of(name)], { choices });
    expect(again.stream.malformed).toBe(0);
    expect(again.stream.facts.usage).toEqual(used);
    // The tier that served it is no event, and is not written again.
    expect({ ...spliced.stream.facts, unreportedBytes: 0, report: undefined }).toEqual({
      ...again.stream.facts,
      unreportedBytes: 0,
    });
    expect(answerOf(again)).toEqual(answer);
  });

  test.each(RECORDED)("$name is what OpenAI's own client takes", async ({ name, answer }) => {
    const chunks = chunksOf(readPieces([latin1Of(name)]).events);
    const completion = await completed(chunks);
    expect(completion.choices.map(({ finish_reason }) => finish_reason)).toEqual(
      answer.map(({ stop }) => stop.reason),
    );
    const recordedText = (type: string) => answer[0]?.content.find((part) => part.type === type)?.text;
    const said = completion.choices[0]?.message;
    expect(said?.content || undefined).toBe(recordedText("text"));
    expect(said?.refusal || undefined).toBe(recordedText("refusal"));
    expect(completion).toMatchObject({ id: ID, model: MODEL, object: "chat.completion" });
  });
});

describe("chunks", () => {
  test("T1: one chunk without choices has usage and svc, directly before [DONE]; all others say null", () => {
    const out = written(eventsOf([{ type: "text", text: "Hi there" }]));
    const events = plainEvents(out);
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = plainChunks(out);
    expect(chunks.at(-1)).toEqual({
      id: ID,
      object: "chat.completion.chunk",
      created: IDENTITY.createdS,
      model: MODEL,
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      svc: SVC,
    });
    for (const chunk of chunks.slice(0, -1)) expect(chunk.usage).toBe(null);
    expect(chunks[1]).toEqual({
      id: ID,
      object: "chat.completion.chunk",
      created: IDENTITY.createdS,
      model: MODEL,
      choices: [{ index: 0, delta: { content: "Hi" }, logprobs: null, finish_reason: null }],
      usage: null,
    });
  });

  test("without include_usage there is neither usage nor the last chunk", () => {
    const chunks = chunksOf(eventsOf([{ type: "text", text: "Hi" }]), false);
    expect(chunks.some((chunk) => "usage" in chunk || "svc" in chunk)).toBe(false);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  });

  test("T51, T46: the first delta has the role, of every choice; finish reasons are null before the end", () => {
    const chunks = chunksOf(readPieces([latin1Of("openai-two-choices")]).events);
    const seen = new Set<number>();
    for (const { choices } of chunks) {
      const [choice] = choices;
      if (choice === undefined) continue;
      expect(choice.delta.role).toBe(seen.has(choice.index) ? undefined : "assistant");
      seen.add(choice.index);
    }
    const reasons = chunks.flatMap(({ choices }) => choices).map(({ finish_reason }) => finish_reason);
    expect(reasons.slice(0, -2).every((reason) => reason === null)).toBe(true);
    expect(reasons.slice(-2)).toEqual(["stop", "length"]);
  });

  test("T44, T45: calls are numbered from 0 though text comes first; empty arguments are an empty object", () => {
    const chunks = chunksOf(eventsOf(EVERYTHING, "tool_calls"));
    const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(calls.filter(({ id }) => id).map(({ index, id, function: fn }) => [index, id, fn?.name])).toEqual([
      [0, "c1", "f"],
      [1, "c2", "g"],
    ]);
    const args = (at: number) =>
      calls.filter(({ index }) => index === at).map(({ function: fn }) => fn?.arguments ?? "");
    expect(args(0).join("")).toBe('{"a":"ß"}');
    expect(args(1).join("")).toBe("{}");
  });

  test("T46: finish reasons, for every way to stop", () => {
    const finish = (reason: StopReason, parts: readonly ReplyPart[] = []) =>
      chunksOf(eventsOf(parts, reason)).flatMap(({ choices }) => choices[0]?.finish_reason ?? []);
    const call: ReplyPart = { type: "tool_call", id: "i", name: "f", arguments: "{}" };
    expect(finish("stop")).toEqual(["stop"]);
    expect(finish("stop_sequence")).toEqual(["stop"]);
    expect(finish("length")).toEqual(["length"]);
    expect(finish("refusal")).toEqual(["content_filter"]);
    expect(finish("content_filter")).toEqual(["content_filter"]);
    expect(finish("pause")).toEqual(["stop"]);
    expect(finish("other")).toEqual(["stop"]);
    expect(finish("tool_calls")).toEqual(["stop"]);
    expect(finish("tool_calls", [call])).toEqual(["tool_calls"]);
    expect(finish("stop", [call])).toEqual(["tool_calls"]);
    expect(finish("length", [call])).toEqual(["length"]);
  });

  test("logprobs stand beside their token", () => {
    const chunks = chunksOf(readPieces([latin1Of("openai-logprobs")]).events);
    const tokens = chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []);
    expect(tokens.map(({ token }) => token)).toEqual(["Ja", "!"]);
    const logprobs = [{ token: "nö", logprob: -1, bytes: null, top_logprobs: [] }];
    const refused = chunksOf([
      { type: "begin", choice: 0, part: 0, kind: "refusal" },
      { type: "delta", choice: 0, part: 0, text: fragmentOf("nö"), logprobs },
    ])[1]?.choices[0];
    expect(refused).toMatchObject({
      delta: { refusal: "nö" },
      logprobs: { content: null, refusal: logprobs },
    });
  });

  test("T47, T48: a stream read again has every seal, byte for byte", () => {
    const out = written(eventsOf(EVERYTHING, "tool_calls"));
    expect(folded(readPieces([out]).events)).toEqual([
      {
        parts: EVERYTHING,
        stop: { reason: "tool_calls" },
      },
    ]);
  });

  test("T48: Google's signature stands in a call's first delta, where clients look for it", () => {
    const begin = { type: "begin", choice: 0, part: 0, kind: "tool_call", id: "i", name: "f" } as const;
    const seal = { type: "seal", choice: 0, part: 0, seal: { by: "google", data: "S/=" } } as const;
    const delta = { type: "delta", choice: 0, part: 0, text: fragmentOf("{}") } as const;
    const other = { ...begin, part: 1, id: "j" };
    const called = { index: 0, id: "i", type: "function", function: { name: "f", arguments: "" } };
    const calls = (events: readonly StreamEvent[]) =>
      chunksOf(events).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    const signed = { ...called, extra_content: { google: { thought_signature: "S/=" } } };
    expect(calls([begin, seal, delta])).toEqual([signed, { index: 0, function: { arguments: "{}" } }]);
    expect(calls([begin])).toEqual([called]);
    expect(calls([begin, other, { ...seal, part: 1 }]).map(({ id }) => id)).toEqual(["i", "j"]);
    expect(calls([begin, { ...seal, seal: { by: "anthropic", data: "A" } }])).toEqual([called]);
  });

  test("a choice that only ends has its role all the same", () => {
    const chunks = chunksOf([{ type: "stop", choice: 0, stop: { reason: "content_filter" } }]);
    expect(chunks.map(({ choices }) => choices[0]?.delta.role ?? choices[0]?.finish_reason)).toEqual([
      "assistant",
      "content_filter",
      undefined,
    ]);
  });
});

describe("a whole answer", () => {
  test("type-checks as the official client's, and has what the stream has", async () => {
    expectTypeOf<ReturnType<typeof chatReplyBody>>().toExtend<OpenAI.ChatCompletion>();
    const whole = chatReplyBody(reply(EVERYTHING, "tool_calls"), IDENTITY, usage(3, 4));
    const streamed = await completed(chunksOf(eventsOf(EVERYTHING, "tool_calls")));
    const calls = (from: OpenAI.ChatCompletion) =>
      from.choices[0]?.message.tool_calls?.map((call) =>
        call.type === "function" ? call.function : undefined,
      );
    expect(calls(streamed)?.map((fn) => fn?.arguments)).toEqual(calls(whole)?.map((fn) => fn?.arguments));
    expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content);
    expect(streamed.choices[0]?.finish_reason).toBe(whole.choices[0]?.finish_reason);
  });

  test("T47, T48: it is read as it was written", () => {
    const text = writeChatReply(reply(EVERYTHING, "tool_calls"), IDENTITY, usage(3, 4), SVC);
    expect(readChatReply(JSON.parse(text)).choices).toEqual([
      {
        parts: EVERYTHING.map((part) =>
          part.type === "reasoning" && part.isSummary === true ? { ...part, isRedacted: true } : part,
        ),
        stop: { reason: "tool_calls" },
      },
    ]);
    expect((JSON.parse(text) as Json).svc).toEqual(SVC);
  });

  test("content is null where only calls or a refusal are", () => {
    expect(message([{ type: "tool_call", id: "i", name: "f", arguments: "" }])?.message).toEqual({
      role: "assistant",
      content: null,
      refusal: null,
      tool_calls: [{ id: "i", type: "function", function: { name: "f", arguments: "{}" } }],
    });
    expect(message([{ type: "refusal", text: "no" }])?.message).toMatchObject({
      content: null,
      refusal: "no",
    });
    expect(message([])?.message).toMatchObject({ content: "", refusal: null });
  });

  test("T33, T52: cached tokens are part of the prompt, written ones are told", () => {
    const used = usage(30, 9, { cacheReadTokens: 10, cacheWriteTokens: 5, reasoningTokens: 4 });
    expect(chatReplyBody(reply([]), IDENTITY, used).usage).toEqual({
      prompt_tokens: 30,
      completion_tokens: 9,
      total_tokens: 39,
      prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 4 },
    });
  });
});

describe("the format", () => {
  const bytes = Buffer.from('{"model":"v/m","messages":[{"role":"user","content":"x"}],"stream":true,"n":1}');
  const request = readChatRequest(bytes);
  const passage = chatFormat.splice?.passage;

  test("splices to its own dialect: the client's bytes, the upstream's bytes", () => {
    const sent = passage?.write(request, endpoint("e", { upstreamModel: "up" }));
    expect(sent?.dropped).toEqual([]);
    expect(JSON.parse(Buffer.concat(sent?.parts ?? []).toString())).toEqual({
      stream_options: { include_usage: true },
      model: "up",
      messages: [{ role: "user", content: "x" }],
      stream: true,
      n: 1,
    });
    const stream = passage?.stream(request, IDENTITY);
    const text = latin1Of("openai");
    const out = `${stream?.push(text)}${stream?.end()}${stream?.close(usage(1, 1), SVC)}`;
    expect(out).toBe(relay([text]).all);
    expect(stream?.textBytes).toBe(relay([text]).stream.textBytes);
    expect(stream?.kept()).toEqual(relay([text]).stream.kept());
    const whole = passage?.whole(
      Buffer.from('{"choices":[{"message":{"content":"x"}}],"usage":null}'),
      request,
      IDENTITY,
    );
    expect(JSON.parse(String(whole?.write(usage(1, 2), SVC)))).toMatchObject({
      id: ID,
      usage: { total_tokens: 3 },
    });
  });

  test("T13: errors are OpenAI's envelope, in a stream as data", () => {
    const error = fail("rpm", "Too many.");
    const body = chatFormat.errorBody(error, "R");
    expect(JSON.parse(body)).toMatchObject({ error: { code: "rpm", message: "Too many.", request_id: "R" } });
    expect(chatFormat.errorEvent(error, "R")).toBe(`data: ${body}\n\n`);
  });

  test("a request is translated with its own wish for usage", () => {
    expect(neutral({ stream: true }).stream).toBe(true);
    const quiet = { ...request, includeUsage: false };
    expect(chatFormat.generation?.streamWriter(quiet, IDENTITY).close(usage(1, 1), SVC)).toBe(
      "data: [DONE]\n\n",
    );
  });
});
