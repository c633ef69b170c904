/**
 * Why an answer ended is recorded in one vocabulary: an upstream's word comes to the same, whichever format the client
 * speaks, whether its answer was spliced or translated, and whether it came whole or as a stream.
 */
import { expect, test } from "vitest";
import type { Dialect } from "../../../src/base/endpoint.ts";
import type { FormatName } from "../../../src/wire/format.ts";
import { FORMATS } from "../../../src/wire/formats.ts";
import type { StopReason } from "../../../src/wire/neutral/neutral.ts";
import { passageTo } from "../../../src/wire/passages.ts";
import { endpoint } from "../../support/routing/fixtures.ts";
import { eventFrame } from "../../support/wire/converse.fixtures.ts";
import type { Json } from "../../support/wire/fixtures.ts";
import { IDENTITY } from "./chat.fixtures.ts";

const messages = [{ role: "user", content: "x" }];
/** What each format's client asks. */
const ASKED: Readonly<Partial<Record<FormatName, Json>>> = {
  chat: { messages },
  completions: { prompt: "x" },
  responses: { input: "x" },
  messages: { messages, max_tokens: 9 },
  generate: { messages },
};

/** One answer: text, or a call, and the upstream's word for its end. */
interface Ended {
  readonly word: string;
  readonly hasCall: boolean;
}

interface Upstream {
  readonly words: readonly (readonly [word: string, expected: StopReason, ...call: "with a call"[]])[];
  whole(ended: Ended): Json;
  stream(ended: Ended): string;
}

const sse = (...events: readonly (Json | string)[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

const CHAT_CALL = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const chatSaid = (hasCall: boolean): Json =>
  hasCall ? { tool_calls: [{ index: 0, ...CHAT_CALL }] } : { content: "a" };
const messagesBlock = (hasCall: boolean): Json =>
  hasCall ? { type: "tool_use", id: "c", name: "f", input: {} } : { type: "text", text: "a" };
const responseOf = ({ word, hasCall }: Ended): Json => ({
  id: "r",
  object: "response",
  status: word === "completed" ? "completed" : "incomplete",
  ...(word !== "completed" && { incomplete_details: { reason: word } }),
  output: [
    hasCall
      ? { type: "function_call", id: "i", call_id: "c", name: "f", arguments: "{}", status: "completed" }
      : { type: "message", id: "i", role: "assistant", content: [{ type: "output_text", text: "a" }] },
  ],
});
const geminiAnswer = ({ word, hasCall }: Ended): Json => {
  const parts = [hasCall ? { functionCall: { name: "f", args: {} } } : { text: "a" }];
  return { candidates: [{ index: 0, content: { role: "model", parts }, finishReason: word }] };
};

const UPSTREAMS: Readonly<Partial<Record<Dialect, Upstream>>> = {
  chat: {
    words: [
      ["stop", "stop"],
      ["eos", "stop"],
      ["length", "length"],
      ["model_length", "length"],
      ["content_filter", "content_filter"],
      ["tool_calls", "tool_calls", "with a call"],
      ["function_call", "tool_calls", "with a call"],
      ["stop", "tool_calls", "with a call"],
      ["tool_calls", "stop"],
      ["its own word", "other"],
      ["", "other"],
    ],
    whole: ({ word, hasCall }) => ({
      choices: [
        { index: 0, message: { role: "assistant", ...chatSaid(hasCall) }, finish_reason: word || null },
      ],
    }),
    stream: ({ word, hasCall }) =>
      sse(
        { choices: [{ index: 0, delta: chatSaid(hasCall), finish_reason: null }] },
        { choices: [{ index: 0, delta: {}, finish_reason: word || null }] },
        "[DONE]",
      ),
  },
  messages: {
    words: [
      ["end_turn", "stop"],
      ["stop_sequence", "stop_sequence"],
      ["max_tokens", "length"],
      ["model_context_window_exceeded", "length"],
      ["refusal", "refusal"],
      ["pause_turn", "pause"],
      ["tool_use", "tool_calls", "with a call"],
      ["its own word", "other"],
    ],
    whole: ({ word, hasCall }) => ({
      type: "message",
      role: "assistant",
      content: [messagesBlock(hasCall)],
      stop_reason: word,
    }),
    stream: ({ word, hasCall }) =>
      sse(
        { type: "message_start", message: { type: "message", role: "assistant", content: [] } },
        { type: "content_block_start", index: 0, content_block: messagesBlock(hasCall) },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: word }, usage: {} },
        { type: "message_stop" },
      ),
  },
  responses: {
    words: [
      ["completed", "stop"],
      ["completed", "tool_calls", "with a call"],
      ["max_output_tokens", "length"],
      ["content_filter", "content_filter"],
      ["its own word", "other"],
    ],
    whole: responseOf,
    stream: (ended) => {
      const response = responseOf(ended);
      const [item] = response.output as Json[];
      const type = response.status === "completed" ? "response.completed" : "response.incomplete";
      return sse(
        { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
        { type: "response.output_item.added", output_index: 0, item },
        { type: "response.output_item.done", output_index: 0, item },
        { type, response },
      );
    },
  },
  gemini: {
    words: [
      ["STOP", "stop"],
      ["STOP", "tool_calls", "with a call"],
      ["MAX_TOKENS", "length"],
      ["SAFETY", "content_filter"],
      ["ITS_OWN_WORD", "other"],
    ],
    whole: geminiAnswer,
    stream: (ended) => sse(geminiAnswer(ended)),
  },
  converse: {
    words: [
      ["end_turn", "stop"],
      ["stop_sequence", "stop_sequence"],
      ["max_tokens", "length"],
      ["guardrail_intervened", "content_filter"],
      ["tool_use", "tool_calls", "with a call"],
      ["its own word", "other"],
    ],
    whole: ({ word, hasCall }) => {
      const block = hasCall ? { toolUse: { toolUseId: "c", name: "f", input: {} } } : { text: "a" };
      return { output: { message: { role: "assistant", content: [block] } }, stopReason: word };
    },
    stream: ({ word, hasCall }) => {
      const at = { contentBlockIndex: 0 };
      const begun = hasCall ? [{ ...at, start: { toolUse: { toolUseId: "c", name: "f" } } }] : [];
      const delta = hasCall ? { toolUse: { input: "{}" } } : { text: "a" };
      return [
        { event: "messageStart", payload: { role: "assistant" } },
        ...begun.map((payload) => ({ event: "contentBlockStart", payload })),
        { event: "contentBlockDelta", payload: { ...at, delta } },
        { event: "contentBlockStop", payload: at },
        { event: "messageStop", payload: { stopReason: word } },
        { event: "metadata", payload: { usage: { inputTokens: 1, outputTokens: 1 } } },
      ]
        .map(eventFrame)
        .join("");
    },
  },
};

const CASES = Object.entries(UPSTREAMS).flatMap(([dialect, upstream]) =>
  upstream.words.map(([word, expected, call]) => ({
    dialect: dialect as Dialect,
    upstream,
    word,
    expected,
    call: call ?? "",
  })),
);

test.each(CASES)(
  '$dialect: "$word" is recorded as $expected $call',
  ({ dialect, upstream, word, expected, call }) => {
    const ended = { word, hasCall: call !== "" };
    const recorded = Object.entries(ASKED).flatMap(([client, body]) => {
      const format = FORMATS[client as FormatName];
      const passage = passageTo(format, endpoint("e", { dialects: [dialect] }))?.passage;
      if (passage === undefined) throw new Error(`no way from ${client} to ${dialect}`);
      const asked = format.read(Buffer.from(JSON.stringify({ model: "v/m", stream: true, ...body })));
      const stream = passage.stream(asked, IDENTITY);
      stream.push(upstream.stream(ended));
      stream.end();
      const kept = JSON.parse(String(stream.kept())) as { candidates: { stop: unknown }[] };
      expect(kept.candidates[0]?.stop).toEqual({ reason: stream.facts.stopReason });
      const whole = passage.whole(Buffer.from(JSON.stringify(upstream.whole(ended))), asked, IDENTITY);
      return [whole.facts.stopReason, stream.facts.stopReason];
    });
    expect(recorded).toEqual(recorded.map(() => expected));
  },
);
