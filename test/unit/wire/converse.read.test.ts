/** Answers of Bedrock's, whole and as binary event streams, read into neutral terms. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../src/base/errors.ts";
import { converseDialect } from "../../../src/wire/converse/dialect.ts";
import { rounds } from "../../support/effort.ts";
import {
  ANSWERS,
  eventFrame,
  exceptionFrame,
  frame,
  latin1Of,
  NAMES,
  type Sent,
  sentOf,
} from "../../support/wire/converse.fixtures.ts";
import { assembled, eventsOf, splitsThatMatter } from "./assembled.ts";

const reader = (maxEventBytes = 1 << 20) => converseDialect.streamReader(maxEventBytes);
const event = (name: string, payload: Sent["payload"]) => eventFrame({ event: name, payload });
const INVALID = expect.objectContaining({ kind: "upstream_invalid_response" });

/** The whole answer that the provider would have given, in its own words. */
const WHOLE: Readonly<Record<string, unknown[]>> = {
  text: [{ text: 'Grüß Gott, 世界 🎉\n"ok" \\' }],
  "thinking-tools": [
    { reasoningContent: { reasoningText: { text: "Two cities.", signature: "EqoBCkgIBxABGAIqQL8/a==" } } },
    { reasoningContent: { redactedContent: "UkVEQUNURUQ=" } },
    { text: "Checking…" },
    {
      toolUse: {
        toolUseId: "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
        name: "get_weather",
        input: { city: "Zürich\n" },
      },
    },
    { toolUse: { toolUseId: "tooluse_b", name: "now", input: {} } },
  ],
  cited: [
    {
      citationsContent: {
        content: [{ text: "The sky " }, { text: "is blue." }],
        citations: [
          {
            title: "sky",
            sourceContent: [{ text: "blue" }],
            location: { documentPage: { documentIndex: 0, start: 3, end: 4 } },
          },
          { title: "web", location: { web: { url: "https://sky.example/" } } },
          { title: "nowhere" },
        ],
      },
    },
  ],
  nova: [{ text: "Hi" }, { text: "" }, { somethingNew: {} }],
  guardrail: [{ text: "Sorry, no." }],
};

const wholeOf = (name: string) => {
  const payloads = sentOf(name).map(({ payload }) => payload);
  const stopReason = payloads.find((payload) => payload.stopReason !== undefined)?.stopReason;
  const usage = payloads.find((payload) => payload.usage !== undefined)?.usage;
  return { output: { message: { role: "assistant", content: WHOLE[name] } }, stopReason, usage };
};

describe("a stream", () => {
  test.each(NAMES)("T33, T45, T47: %s is read as what it says, and as its whole answer", (name) => {
    const stream = reader();
    const events = eventsOf(stream, [latin1Of(name)]);
    expect(JSON.stringify(events)).not.toContain("\ufffd");
    expect(assembled(events)).toEqual(ANSWERS[name]);
    expect(converseDialect.readReply(wholeOf(name))).toEqual(ANSWERS[name]);
    expect([stream.done, stream.complete, stream.error, stream.malformed]).toEqual([
      true,
      true,
      undefined,
      0,
    ]);
  });

  test.each(NAMES)("T4, T5: %s is the same at every split position", (name) => {
    expect(splitsThatMatter(latin1Of(name), () => reader())).toEqual([]);
  });

  test("any bytes of any size are framed as AWS's own encoder frames them", () => {
    const frames = fc.array(
      fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: "grapheme", maxLength: 20 })),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(frames, fc.array(fc.nat(40), { minLength: 1 }), (sent, sizes) => {
        const text = sent
          .map(([payload, other]) => frame({ ":message-type": "event", ":event-type": "x", other }, payload))
          .join("");
        const stream = reader();
        for (let at = 0, i = 0; at < text.length; i++) {
          const size = (sizes[i % sizes.length] as number) + 1;
          stream.push(text.slice(at, at + size), () => {});
          at += size;
        }
        stream.end(() => {});
        // None of them is JSON of an object, but for what happens to be one: each is skipped, none is lost.
        const readable = sent.filter(([payload]) => isJsonObject(Buffer.from(payload).toString()));
        expect(stream.malformed).toBe(sent.length - readable.length);
      }),
      { numRuns: 300, seed: 4 },
    );
  });

  test("T46: stops for its calls if it made any, and only then", () => {
    const call = event("contentBlockStart", {
      contentBlockIndex: 0,
      start: { toolUse: { toolUseId: "i", name: "f" } },
    });
    const reason = (...frames: string[]) => assembled(eventsOf(reader(), frames)).choices[0]?.stop.reason;
    expect(reason(call, event("messageStop", { stopReason: "end_turn" }))).toBe("tool_calls");
    expect(reason(event("messageStop", { stopReason: "tool_use" }))).toBe("stop");
    expect(reason(call, event("messageStop", { stopReason: "max_tokens" }))).toBe("length");
    const text = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "x" } });
    expect(reason(text, event("messageStop", { stopReason: "constructor" }))).toBe("other");
  });

  test("parts that are open when the message stops are ended before it", () => {
    const open = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "x" } });
    const { choices } = assembled(
      eventsOf(reader(), [open, event("messageStop", { stopReason: "end_turn" })]),
    );
    expect(choices).toEqual([{ parts: [{ type: "text", text: "x" }], stop: { reason: "stop" } }]);
  });

  test("an exception of a model's stream says what the model's server answered", () => {
    const payload = JSON.stringify({
      message: "The model returned an error.",
      originalStatusCode: 400,
      originalMessage: "prompt is too long: 210000 tokens > 200000 maximum",
    });
    const headers = { ":exception-type": "modelStreamErrorException", ":message-type": "exception" };
    for (const [sent, message] of [
      [payload, "prompt is too long: 210000 tokens > 200000 maximum"],
      ["Plain words.", "Plain words."],
      ["", ""],
    ] as const) {
      const stream = reader();
      eventsOf(stream, [frame(headers, sent)]);
      expect(stream.error).toEqual({ code: "", type: "modelStreamErrorException", message });
    }
  });

  test.each(["throttlingException", "modelStreamErrorException", "validationException"])(
    "%s is an error",
    (type) => {
      const stream = reader();
      const begun = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "x" } });
      const events = eventsOf(stream, [begun, exceptionFrame(type, "Too many."), begun]);
      expect(events).toHaveLength(2);
      expect(stream.error).toEqual({ type, code: "", message: "Too many." });
      expect(stream.complete).toBe(false);
    },
  );

  test("an error frame without a payload is told by its headers", () => {
    const stream = reader();
    eventsOf(stream, [
      frame({ ":message-type": "error", ":error-code": "500", ":error-message": "Broken." }, ""),
    ]);
    expect(stream.error).toEqual({ type: "", code: "500", message: "Broken." });
  });

  test("an exception that tells its message in AWS's older spelling is told too", () => {
    const stream = reader();
    const headers = { ":message-type": "exception", ":exception-type": "serviceUnavailableException" };
    eventsOf(stream, [frame(headers, '{"Message":"Down."}')]);
    expect(stream.error).toEqual({ type: "serviceUnavailableException", code: "", message: "Down." });
  });

  test("nothing is read behind its last word", () => {
    const stream = reader();
    const events = eventsOf(stream, [
      latin1Of("text"),
      exceptionFrame("late", "x"),
      "\u0000 no frame at all",
    ]);
    expect(assembled(events)).toEqual(ANSWERS.text);
    expect([stream.done, stream.error]).toEqual([true, undefined]);
  });

  test("one that is cut says so, and is not complete", () => {
    const stream = reader();
    const text = latin1Of("text");
    eventsOf(stream, [text.slice(0, text.length / 2)]);
    expect([stream.complete, stream.done, stream.malformed]).toEqual([false, false, 1]);
  });

  test("a flipped bit anywhere in a frame ends it", () => {
    const text = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "x" } });
    for (let at = 0; at < text.length; at++) {
      const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << (at % 8)));
      const damaged = text.slice(0, at) + flipped + text.slice(at + 1);
      expect(() => reader().push(damaged, () => {})).toThrow(INVALID);
    }
  });

  test("a frame beyond the bound is refused before it is there", () => {
    const text = event("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "x".repeat(5000) } });
    expect(() => reader(4096).push(text.slice(0, 12), () => {})).toThrow(INVALID);
    expect(() => reader(8192).push(text, () => {})).not.toThrow();
  });
});

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe("a whole answer", () => {
  test("T32, T33: cached tokens are part of the input, and those for an hour told apart", () => {
    const used = (usage: unknown) => converseDialect.readReply({ output: { message: {} }, usage }).usage;
    const usage = { inputTokens: 3, outputTokens: 550, totalTokens: 553, cacheWriteInputTokens: 12304 };
    const expected = {
      inputTokens: 12307,
      outputTokens: 550,
      cacheReadTokens: 0,
      cacheWriteTokens: 12304,
      reasoningTokens: 0,
    };
    expect(used(usage)).toEqual(expected);
    const cacheDetails = [{ ttl: "1h", inputTokens: 12000 }, { ttl: "5m", inputTokens: 304 }, null];
    expect(used({ ...usage, cacheDetails })).toEqual({ ...expected, cacheWrite1hTokens: 12000 });
    expect(used({ inputTokens: 2e9, outputTokens: 1 })).toBeUndefined();
    expect(used([])).toBeUndefined();
  });

  test.each([[null], ["x"], [[]], [{}], [{ output: {} }], [{ output: { message: [] } }]])(
    "%j is no answer",
    (body) => {
      expect(() => converseDialect.readReply(body)).toThrow(INVALID);
    },
  );
});

describe("anything else", () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true, 0, -1, 1.5, 1e300, "", "end_turn", "é🎉"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          "contentBlockIndex",
          "delta",
          "start",
          "toolUse",
          "toolUseId",
          "name",
          "input",
          "text",
          "citation",

          "reasoningContent",
          "signature",
          "redactedContent",
          "reasoningText",
          "citationsContent",
          "location",

          "stopReason",
          "usage",
          "inputTokens",
          "message",
          "content",
          "output",
          "documentPage",
          "__proto__",
        ),
        tie("value"),
        { maxKeys: 4 },
      ),
    ),
  })).value;
  const NAMES_OF_EVENTS = ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop"];
  const payload = fc.oneof(
    value,
    fc.record({ contentBlockIndex: fc.nat(2), delta: value, start: fc.record({ toolUse: value }) }),
  );

  test("of any shape is read without a fault", () => {
    const name = fc.constantFrom(...NAMES_OF_EVENTS, "messageStop", "metadata", "other");
    const events = fc.array(fc.tuple(name, payload), { maxLength: 8 });
    fc.assert(
      fc.property(events, value, (sent, content) => {
        const frames = sent.map(([type, body]) =>
          frame({ ":message-type": "event", ":event-type": type }, JSON.stringify(body)),
        );
        assembled(eventsOf(reader(), frames));
        converseDialect.readReply({ output: { message: { content: [content] } }, usage: content });
      }),
      { numRuns: rounds(2000), seed: 4 },
    );
  });

  test("a damaged stream ends, in one way or the other", () => {
    const damage = fc.tuple(
      fc.constantFrom(...NAMES),
      fc.nat(),
      fc.nat(40),
      fc.uint8Array({ maxLength: 20 }),
      fc.nat(),
    );
    fc.assert(
      fc.property(damage, ([name, at, length, put, cut]) => {
        const text = latin1Of(name);
        const from = at % text.length;
        const damaged = text.slice(0, from) + Buffer.from(put).toString("latin1") + text.slice(from + length);
        const split = cut % (damaged.length + 1);
        try {
          assembled(eventsOf(reader(), [damaged.slice(0, split), damaged.slice(split)]));
        } catch (error) {
          expect(error).toBeInstanceOf(WeirError);
        }
      }),
      { numRuns: rounds(2000), seed: 4 },
    );
  });
});
