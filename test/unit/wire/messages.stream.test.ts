/** Messages streams: read into neutral events, spliced as bytes, written from neutral events. */
import type Anthropic from "@anthropic-ai/sdk";
import { MessageStream } from "@anthropic-ai/sdk/lib/MessageStream";
import type {
  RawContentBlockDeltaEvent,
  RawContentBlockStartEvent,
  RawMessageDeltaEvent,
  RawMessageStartEvent,
} from "@anthropic-ai/sdk/resources/messages/messages";
import { describe, expect, expectTypeOf, test } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { NO_USAGE } from "../../../src/base/usage.ts";
import { MessagesStreamReader } from "../../../src/wire/messages/reader.ts";
import { MessagesSpliceStream } from "../../../src/wire/messages/splice-stream.ts";
import {
  type blockDelta,
  type blockStart,
  type emptyBlock,
  MessagesStreamWriter,
  type messageDelta,
  type messageStart,
} from "../../../src/wire/messages/writer.ts";
import { fragmentOf } from "../../../src/wire/neutral/fragment.ts";
import type { StreamEvent } from "../../../src/wire/neutral/neutral.ts";
import { CUT_STEP } from "../../support/effort.ts";
import { usage } from "../../support/wire/fixtures.ts";
import {
  clientEvents,
  eventsOf,
  gathered,
  IDENTITY,
  RECORDED_MESSAGES,
  SVC,
  streamText,
} from "./messages.fixtures.ts";

const NAMES = RECORDED_MESSAGES.map((recorded) => [recorded.name, recorded] as const);

/** Neighbouring pieces of one part as one, for streams that differ only in how they were cut. */
const read = (...reads: string[]) => ({ ...gathered(eventsOf(...reads)) });

function spliced(...reads: string[]) {
  const stream = new MessagesSpliceStream(IDENTITY);
  let out = "";
  for (const text of reads) out += stream.push(text);
  out += stream.end();
  return { stream, out, all: out + stream.close(stream.facts.usage ?? NO_USAGE, SVC) };
}

const written = (events: readonly StreamEvent[], used = NO_USAGE): string => {
  const writer = new MessagesStreamWriter(IDENTITY);
  return events.map((event) => writer.write(event)).join("") + writer.close(used, SVC);
};

/** What the official SDK makes of a stream. */
async function bySdk(latin1: string): Promise<Anthropic.Message> {
  const lines = clientEvents(latin1).map((event) => `${JSON.stringify(event)}\n`);
  const body = new ReadableStream({
    start(controller) {
      for (const line of lines) controller.enqueue(new TextEncoder().encode(line));
      controller.close();
    },
  });
  return await MessageStream.fromReadableStream(body).finalMessage();
}

describe("the reader", () => {
  test.each(NAMES)("T3, T31: %s amounts to what it says", (name, { parts, stop, usage: used }) => {
    expect(read(streamText(name))).toEqual({ name: "", parts, stop, usage: used });
  });

  test.each(NAMES)("T4, T5: %s gives the same events wherever it is cut, LF or CRLF", (name) => {
    const text = streamText(name);
    const whole = eventsOf(text);
    expect(JSON.stringify(whole)).not.toContain("\ufffd");
    const crlf = text.replace(/\r?\n/g, "\r\n");
    for (let cut = 0; cut <= text.length; cut += CUT_STEP) {
      expect(eventsOf(text.slice(0, cut), text.slice(cut))).toEqual(whole);
    }
    for (let cut = 0; cut <= crlf.length; cut += CUT_STEP) {
      expect(eventsOf(crlf.slice(0, cut), crlf.slice(cut))).toEqual(whole);
    }
    expect(eventsOf(...text)).toEqual(whole);
  });

  test("pieces taken as they stand are those that parsing gives", () => {
    const text = streamText("text");
    const parsed = text.replaceAll('{"type":"content_block_delta",', '{ "type":"content_block_delta",');
    expect(eventsOf(parsed)).toEqual(eventsOf(text));
  });

  test.each(['"\\x41"', '"a', '"\u0001"', '"a"b"', '"\\u12"'])(
    "T12: a piece that is no JSON string (%s) is skipped",
    (piece) => {
      const bad = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${piece}}}\n\n`;
      const text = streamText("text");
      const at = text.indexOf("event: content_block_delta");
      const reader = new MessagesStreamReader(1 << 20);
      const events: StreamEvent[] = [];
      reader.push(text.slice(0, at) + bad + text.slice(at), (event) => events.push(event));
      expect(reader.malformed).toBe(1);
      expect(events).toEqual(eventsOf(text));
    },
  );

  test("T14: an error event is told, and nothing after it is read", () => {
    const reader = new MessagesStreamReader(1 << 20);
    const events: StreamEvent[] = [];
    reader.push(streamText("overloaded") + streamText("text"), (event) => events.push(event));
    expect(reader.error).toEqual({ code: "", type: "overloaded_error", message: "Overloaded" });
    expect(events.map((event) => event.type)).toEqual(["usage"]);
    expect(reader.complete).toBe(false);
  });

  test("T9: an event beyond the bound is refused", () => {
    const reader = new MessagesStreamReader(1000);
    expect(() => reader.push(`data: ${"x".repeat(2000)}`, () => {})).toThrow(WeirError);
  });

  test("an answer is whole once its stop reason came, and done at its last event", () => {
    const text = streamText("text");
    const reader = new MessagesStreamReader(1 << 20);
    const stop = text.indexOf("event: message_stop");
    reader.push(text.slice(0, text.indexOf("event: message_delta")), () => {});
    expect([reader.complete, reader.done]).toEqual([false, false]);
    reader.push(text.slice(text.indexOf("event: message_delta"), stop), () => {});
    expect([reader.complete, reader.done]).toEqual([true, false]);
    reader.push(text.slice(stop), () => {});
    expect([reader.complete, reader.done]).toEqual([true, true]);
  });
});

describe("the splice", () => {
  test.each(NAMES.filter(([name]) => name !== "spaced-crlf" && name !== "other-maker"))(
    "%s passes as bytes but for id, model and svc",
    (name) => {
      const text = streamText(name);
      const expected = text
        .replace(/"model":"[^"]*"/, `"model":"${IDENTITY.model}"`)
        .replace(/"id":"msg_[^"]*"/, `"id":"${IDENTITY.id}"`)
        .replace(/(\{"type":"message_stop") *\}/, "$1,SVC}");
      const { all } = spliced(text);
      expect(all.replace(/,"svc":\{.*\}(?= *\}\n\n$)/, ",SVC").replace(/,SVC *\}/, ",SVC}")).toBe(expected);
      expect(clientEvents(all).at(-1)).toMatchObject({ type: "message_stop", svc: SVC });
    },
  );

  test.each(NAMES)("T4, T5: %s gives the same bytes and facts wherever it is cut", (name, recorded) => {
    const text = streamText(name);
    const { all, stream } = spliced(text);
    expect(stream.facts.usage).toEqual(recorded.usage);
    expect(stream.facts.stopReason).toBe(recorded.stop.reason);
    expect(stream.facts.toolCalls).toBe(recorded.parts.filter((part) => part.type === "tool_call").length);
    for (let cut = 0; cut <= text.length; cut += CUT_STEP) {
      const again = spliced(text.slice(0, cut), text.slice(cut));
      expect(again.all).toBe(all);
      expect(again.stream.facts).toEqual(stream.facts);
      expect(again.stream.kept()).toEqual(stream.kept());
    }
    expect(() => clientEvents(all)).not.toThrow();
  });

  test("T14: nothing leaves before content, so that an error until then can be cured elsewhere", () => {
    const { out, stream } = spliced(streamText("overloaded"));
    expect(out).toBe("");
    expect(stream.error?.type).toBe("overloaded_error");
  });

  test("what ends the answer waits for the settlement", () => {
    const { out } = spliced(streamText("text"));
    expect(clientEvents(out).map((event) => event.type)).toEqual([
      "message_start",
      "content_block_start",
      "ping",
      "content_block_delta",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
    ]);
  });

  test("usage that the upstream did not report is told as it was metered", () => {
    const text = streamText("text")
      .replace(/"usage":\{.*?\}(?=\})/g, '"usage":{}')
      .replace(/,"usage":\{\}\}\n\nevent: message_stop/, "}\n\nevent: message_stop");
    const stream = new MessagesSpliceStream(IDENTITY);
    const out = stream.push(text) + stream.close(usage(7, 9), SVC);
    expect(stream.facts.usage).toBeUndefined();
    const delta = clientEvents(out).find((event) => event.type === "message_delta");
    expect(delta?.usage).toMatchObject({ input_tokens: 7, output_tokens: 9 });
  });

  test("a stream without its last words still ends in order", () => {
    const text = streamText("text");
    const { all, stream } = spliced(text.slice(0, text.indexOf("event: message_stop")));
    expect([stream.complete, stream.done]).toEqual([true, false]);
    expect(
      clientEvents(all)
        .slice(-2)
        .map((event) => event.type),
    ).toEqual(["message_delta", "message_stop"]);
  });

  test("T23: text after the last report is known", () => {
    const text = streamText("text");
    const { stream } = spliced(text.slice(0, text.indexOf("event: message_delta")));
    const { facts } = stream;
    expect(facts.usage).toMatchObject({ inputTokens: 12_327, outputTokens: 1 });
    expect(facts.unreportedBytes).toBe(facts.outputBytes);
    expect(facts.outputBytes).toBe(stream.textBytes);
    expect(facts.outputBytes).toBeGreaterThan(20);
  });
});

describe("the writer", () => {
  test.each(NAMES)("T44, T47, T51: %s read, written and read again is the same", (name) => {
    const events = eventsOf(streamText(name));
    const used = gathered(events).usage;
    const out = written(events, used);
    expect(gathered(eventsOf(out))).toEqual(gathered(events));
    const told = clientEvents(out);
    expect(told.filter((event) => event.type === "message_start")).toHaveLength(1);
    const started = told.filter((event) => event.type === "content_block_start").map((event) => event.index);
    expect(started).toEqual(started.map((_, index) => index));
    for (const event of told) {
      if (event.type.startsWith("content_block")) expect(event).toHaveProperty("index");
    }
  });

  test.each(NAMES)("%s is the same message to the official SDK, spliced or written", async (name) => {
    const text = streamText(name);
    const events = eventsOf(text);
    const direct = await bySdk(spliced(text).all);
    const translated = await bySdk(written(events, gathered(events).usage));
    const known = ["text", "thinking", "redacted_thinking", "tool_use"];
    const plain = ({ content }: Anthropic.Message) =>
      content
        .filter((block) => known.includes(block.type))
        .map((block) => (block.type === "tool_use" ? { ...block, caller: undefined } : block))
        .map((block) => (block.type === "text" ? { type: block.type, text: block.text } : block));
    // A server that sends the whole input in the first event is read by ours, not by the SDK.
    if (name !== "other-maker") expect(plain(translated)).toEqual(plain(direct));
    expect(translated.stop_reason).toBe(direct.stop_reason);
    expect(translated.stop_sequence).toBe(direct.stop_sequence);
    expect(translated.id).toBe(IDENTITY.id);
    expect(translated.usage.output_tokens).toBe(direct.usage.output_tokens);
    expect(translated.usage.input_tokens).toBe(direct.usage.input_tokens);
  });

  const begin = (part: number, id: string): StreamEvent => ({
    type: "begin",
    choice: 0,
    part,
    kind: "tool_call",
    id,
    name: `f${part}`,
  });
  const begins = (part: number, kind: "text" | "reasoning" | "refusal", isRedacted = false): StreamEvent => ({
    type: "begin",
    choice: 0,
    part,
    kind,
    ...(isRedacted && { isRedacted }),
  });
  const delta = (part: number, text: string): StreamEvent => ({
    type: "delta",
    choice: 0,
    part,
    text: fragmentOf(text),
  });
  const end = (part: number): StreamEvent => ({ type: "end", choice: 0, part });
  const stop = (reason: "stop" | "tool_calls"): StreamEvent => ({
    type: "stop",
    choice: 0,
    stop: { reason },
  });

  test("T44, T45: interleaved calls leave one after the other, whole", async () => {
    const events = [
      begins(0, "text"),
      delta(0, "Ja"),
      begin(1, "a"),
      delta(1, '{"x"'),
      begin(2, "b"),
      delta(2, '{"y":'),
      delta(1, ":1}"),
      end(0),
      delta(2, "2}"),
      end(2),
      end(1),
      stop("tool_calls"),
    ];
    const out = written(events);
    const order = clientEvents(out).map((event) =>
      "index" in event ? `${event.type} ${event.index}` : event.type,
    );
    expect(order.filter((line) => line.includes("block_st"))).toEqual(
      [0, 1, 2].flatMap((index) => [`content_block_start ${index}`, `content_block_stop ${index}`]),
    );
    const message = await bySdk(out);
    expect(message.content).toMatchObject([
      { type: "text", text: "Ja" },
      { type: "tool_use", id: "a", input: { x: 1 } },
      { type: "tool_use", id: "b", input: { y: 2 } },
    ]);
    expect(message.stop_reason).toBe("tool_use");
  });

  test("T45: parts without content leave no block; a call without arguments does", async () => {
    const events = [
      begins(0, "text"),
      end(0),
      begins(1, "reasoning"),
      end(1),
      begin(2, "a"),
      end(2),
      stop("stop"),
    ];
    const message = await bySdk(written(events));
    expect(message.content).toMatchObject([{ type: "tool_use", id: "a", input: {} }]);
    expect(message.stop_reason).toBe("tool_use");
  });

  test.each(["before", "behind"])(
    "T48: Google's signature %s a call's arguments stands before the call",
    (place) => {
      const seal: StreamEvent = { type: "seal", choice: 0, part: 0, seal: { by: "google", data: "Cg==" } };
      const middle = place === "before" ? [seal, delta(0, "{}")] : [delta(0, "{}"), seal];
      const events = [begin(0, "a"), ...middle, end(0), stop("tool_calls")];
      const { parts } = gathered(eventsOf(written(events, usage(1, 1))));
      expect(parts).toEqual([
        { type: "reasoning", text: "", seal: { by: "google", data: "Cg==" } },
        { type: "tool_call", id: "a", name: "f0", arguments: "{}" },
      ]);
    },
  );

  test("another maker's encrypted reasoning is redacted thinking, with a summary it is signed thinking", async () => {
    const seal = (part: number): StreamEvent => ({
      type: "seal",
      choice: 0,
      part,
      seal: { by: "openai", data: "gAA=" },
    });
    const events = [
      begins(0, "reasoning", true),
      seal(0),
      end(0),
      begins(1, "reasoning", true),
      delta(1, "Sum"),
      seal(1),
      end(1),
      stop("stop"),
    ];
    const { content } = await bySdk(written(events));
    expect(content).toEqual([
      { type: "redacted_thinking", data: "weir.openai.gAA=" },
      { type: "thinking", thinking: "Sum", signature: "weir.openai.gAA=" },
    ]);
  });

  test("T52: usage that comes last is told whole at the end", () => {
    const used = usage(100, 9, { cacheReadTokens: 60, cacheWriteTokens: 10, reasoningTokens: 3 });
    const told = clientEvents(written([begins(0, "text"), delta(0, "a"), end(0), stop("stop")], used));
    expect(told[0]).toMatchObject({ message: { usage: { input_tokens: 0, output_tokens: 0 } } });
    expect(told.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: {
        input_tokens: 30,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 10,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 3 },
      },
    });
    expect(told.at(-1)).toMatchObject({ type: "message_stop", svc: SVC });
  });

  test("an answer without content is a message still; a refusal says so", () => {
    expect(clientEvents(written([stop("stop")])).map((event) => event.type)).toEqual([
      "message_start",
      "message_delta",
      "message_stop",
    ]);
    const refused = [begins(0, "refusal"), delta(0, "No."), end(0), stop("stop")];
    expect(clientEvents(written(refused)).at(-2)).toMatchObject({ delta: { stop_reason: "refusal" } });
  });

  test("emitted events are the SDK's", () => {
    expectTypeOf<ReturnType<typeof messageStart>>().toExtend<RawMessageStartEvent>();
    expectTypeOf<ReturnType<typeof messageDelta>>().toExtend<RawMessageDeltaEvent>();
    expectTypeOf<
      ReturnType<typeof blockStart<ReturnType<typeof emptyBlock>>>
    >().toExtend<RawContentBlockStartEvent>();
    expectTypeOf<
      ReturnType<typeof blockDelta<{ type: "signature_delta"; signature: string }>>
    >().toExtend<RawContentBlockDeltaEvent>();
  });
});
