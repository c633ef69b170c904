/** Answers of Google's models, whole and streamed, read into neutral terms. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WeirError } from "../../../../src/base/errors.ts";
import { geminiDialect } from "../../../../src/wire/gemini/dialect.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../../../../src/wire/neutral/reader.ts";
import { rounds } from "../../../support/effort.ts";
import { plainChunks } from "../../../support/wire/fixtures.ts";
import { assembled, eventsOf, splitsThatMatter } from "../assembled.ts";
import { ANSWERS, latin1Of, NAMES } from "../gemini.fixtures.ts";

const MAX_EVENT_BYTES = 1 << 20;
const reader = () => geminiDialect.streamReader(MAX_EVENT_BYTES);

/** The whole answer that the provider would have given for a stream: its parts strung together, its last words kept. */
function wholeOf(name: string): JsonObject {
  const candidates: Record<string, unknown>[] = [];
  let whole: JsonObject = {};
  for (const event of plainChunks(latin1Of(name))) {
    whole = { ...whole, ...event };
    for (const candidate of listOf(event.candidates).filter(isObject)) {
      const index = Number(candidate.index ?? 0);
      const before = candidates[index] ?? {};
      const parts = [...listOf(objectOf(before.content).parts), ...listOf(objectOf(candidate.content).parts)];
      const logprobsResult = both(before.logprobsResult, candidate.logprobsResult);
      candidates[index] = { ...before, ...candidate, content: { parts, role: "model" }, logprobsResult };
    }
  }
  return candidates.length === 0 ? whole : { ...whole, candidates };
}

const both = (a: unknown, b: unknown) => ({
  chosenCandidates: [...listOf(objectOf(a).chosenCandidates), ...listOf(objectOf(b).chosenCandidates)],
  topCandidates: [...listOf(objectOf(a).topCandidates), ...listOf(objectOf(b).topCandidates)],
});

/** A copy in which the JSON of arguments has no white space. */
const compacted = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
    key === "arguments" ? JSON.stringify(JSON.parse(String(value))) : value,
  );

describe("a stream", () => {
  test("every fixture is told what it amounts to", () => {
    expect([...NAMES].sort()).toEqual(Object.keys(ANSWERS).sort());
  });

  test.each(NAMES)("%s is read as what it says, and as its whole answer", (name) => {
    const stream = reader();
    const answer = assembled(eventsOf(stream, [latin1Of(name)]));
    expect(answer).toEqual(ANSWERS[name]);
    const { report, ...whole } = geminiDialect.readReply(wholeOf(name));
    // It is put together from the values of the stream, so its arguments have no white space.
    expect(compacted(whole)).toEqual(compacted(ANSWERS[name]));
    expect(stream.report).toEqual(report);
    expect([stream.complete, stream.error, stream.malformed]).toEqual([true, undefined, 0]);
  });

  test.each(NAMES)("T4, T5: %s is the same at every split position, with LF, CRLF and CR", (name) => {
    const whole = eventsOf(reader(), [latin1Of(name)]);
    expect(JSON.stringify(whole)).not.toContain("\ufffd");
    for (const lines of ["\n", "\r\n", "\r"]) {
      const text = latin1Of(name).replace(/\r\n|\n/g, lines);
      expect(eventsOf(reader(), [text])).toEqual(whole);
      expect(splitsThatMatter(text, reader)).toEqual([]);
    }
  });

  test("T46: stops for its calls if it made any, and only then", () => {
    const stop = (parts: unknown[], finishReason: string) => {
      const event = { candidates: [{ content: { parts }, finishReason }], responseId: "r" };
      const [streamed] = assembled(eventsOf(reader(), [`data: ${JSON.stringify(event)}\n\n`])).choices;
      const [whole] = geminiDialect.readReply(event).choices;
      expect(streamed).toEqual(whole);
      return whole?.stop.reason;
    };
    const call = { functionCall: { name: "f" } };
    expect(stop([call], "STOP")).toBe("tool_calls");
    expect(stop([{ text: "x" }], "STOP")).toBe("stop");
    expect(stop([{ text: "x" }], "MAX_TOKENS")).toBe("length");
    expect(stop([], "RECITATION")).toBe("content_filter");
    expect(stop([{ text: "x" }], "OTHER")).toBe("other");
    expect(stop([{ text: "x" }], "toString")).toBe("other");
  });

  test("an answer that says it is none is an error in the provider's word, which no table of errors reads", () => {
    const candidate = { content: {}, finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "print(" };
    expect(geminiDialect.readReply({ candidates: [candidate] })).toMatchObject({
      choices: [],
      error: { code: "MALFORMED_FUNCTION_CALL", message: "print(", isUnusable: true },
    });
  });

  test("T45: calls have whole arguments, and the ids that the provider gives", () => {
    const calls = () => {
      const parts = [
        { functionCall: { name: "f" } },
        { functionCall: { name: "f", args: { a: '"' } } },
        { functionCall: { id: "given", name: "g", args: {} } },
      ];
      const event = { candidates: [{ content: { parts } }] };
      const [choice] = assembled(eventsOf(reader(), [`data: ${JSON.stringify(event)}\n\n`])).choices;
      return (choice?.parts ?? []).map((part) =>
        part.type === "tool_call" ? [part.id, part.arguments] : [],
      );
    };
    expect(calls()).toEqual([
      ["", "{}"],
      ["", '{"a":"\\""}'],
      ["given", "{}"],
    ]);
  });

  test("a text after a signed one is a part of its own, so that the signature stays where it was", () => {
    const parts = [{ text: "a" }, { text: "b", thoughtSignature: "S" }, { text: "c" }];
    const event = { candidates: [{ content: { parts }, finishReason: "STOP" }] };
    const expected = [
      { type: "text", text: "ab", seal: { by: "google", data: "S" } },
      { type: "text", text: "c" },
    ];
    expect(assembled(eventsOf(reader(), [`data: ${JSON.stringify(event)}\n\n`])).choices[0]?.parts).toEqual(
      expected,
    );
    expect(geminiDialect.readReply(event).choices[0]?.parts).toEqual(expected);
  });

  test("a report that knows the prompt only is none of the answer that has begun", () => {
    const event = (more: object) =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "x" }] }, ...more }], usageMetadata: { promptTokenCount: 7 } })}\n\n`;
    // It is told before the text: what follows it is estimated where the stream breaks off.
    expect(eventsOf(reader(), [event({})]).map(({ type }) => type)).toEqual(["usage", "begin", "delta"]);
    expect(eventsOf(reader(), [event({}), event({})]).filter(({ type }) => type === "usage")).toHaveLength(1);
    expect(
      assembled(eventsOf(reader(), [event({}), event({ finishReason: "STOP" })])).usage?.inputTokens,
    ).toBe(7);
  });

  test("an error event ends it", () => {
    const stream = reader();
    const error = { error: { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" } };
    const events = eventsOf(stream, [`data: ${JSON.stringify(error)}\n\n${latin1Of("text")}`]);
    expect(events).toEqual([]);
    expect(stream.error).toEqual({ code: "503", type: "UNAVAILABLE", message: "The model is overloaded." });
  });

  test("an event beyond the bound is refused", () => {
    const stream = geminiDialect.streamReader(100);
    expect(() => stream.push(`data: ${"x".repeat(200)}`, () => {})).toThrow(WeirError);
  });
});

describe("a whole answer", () => {
  test("T33: counts thoughts as output, cached tokens as input, and what tools gave as input", () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 80,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 30,
      totalTokenCount: 157,
    };
    const answer = { candidates: [{ content: {}, finishReason: "STOP" }], usageMetadata };
    expect(geminiDialect.readReply(answer).usage).toEqual({
      inputTokens: 107,
      outputTokens: 50,
      cacheReadTokens: 80,
      cacheWriteTokens: 0,
      reasoningTokens: 30,
    });
  });

  test("usage that cannot be true is none", () => {
    for (const usageMetadata of [{}, [], "x", { promptTokenCount: 2e9 }, { totalTokenCount: 5 }]) {
      expect(geminiDialect.readReply({ candidates: [{}], usageMetadata }).usage).toBeUndefined();
    }
  });

  test.each([[null], ["text"], [[]], [{}], [{ candidates: [] }], [{ candidates: "x" }]])(
    "%j is no answer",
    (body) => {
      expect(() => geminiDialect.readReply(body)).toThrow(
        expect.objectContaining({ kind: "upstream_invalid_response" }),
      );
    },
  );

  test("an error that came with status 200 is told", () => {
    const { error } = geminiDialect.readReply({
      error: { code: 400, message: "no", status: "INVALID_ARGUMENT" },
    });
    expect(error).toEqual({ code: "400", type: "INVALID_ARGUMENT", message: "no" });
  });
});

describe("anything else", () => {
  const shape = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(null, true, 0, -1, 1.5, 1e300, "", "STOP", "x\u0000é🎉"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          "candidates",
          "content",
          "parts",
          "text",
          "thought",
          "thoughtSignature",
          "functionCall",
          "name",
          "args",

          "finishReason",
          "index",
          "usageMetadata",
          "promptTokenCount",
          "promptFeedback",
          "blockReason",
          "error",

          "groundingMetadata",
          "groundingSupports",
          "groundingChunkIndices",
          "logprobsResult",
          "__proto__",
        ),
        tie("value"),
        { maxKeys: 4 },
      ),
    ),
  })).value;

  test("of any shape is read without a fault", () => {
    const answer = fc.oneof(
      shape,
      fc.record({
        candidates: fc.array(
          fc.record(
            {
              content: fc.record({ parts: fc.array(shape) }),
              finishReason: shape,
              index: shape,
              groundingMetadata: shape,
              logprobsResult: shape,
            },
            { requiredKeys: [] },
          ),
        ),
        usageMetadata: shape,
        responseId: shape,
      }),
    );
    fc.assert(
      fc.property(answer, (value) => {
        try {
          geminiDialect.readReply(value);
        } catch (error) {
          expect(error).toBeInstanceOf(WeirError);
        }
        const json = Buffer.from(JSON.stringify(value)).toString("latin1");
        assembled(eventsOf(reader(), [`data: ${json}\n\n`]));
      }),
      { numRuns: rounds(2000), seed: 4 },
    );
  });

  test("a damaged stream is read without a fault", () => {
    const damage = fc.tuple(
      fc.constantFrom(...NAMES),
      fc.nat(),
      fc.nat(40),
      fc.string({ maxLength: 20 }),
      fc.nat(),
    );
    fc.assert(
      fc.property(damage, ([name, at, length, put, cut]) => {
        const text = latin1Of(name);
        const from = at % text.length;
        const damaged = text.slice(0, from) + Buffer.from(put).toString("latin1") + text.slice(from + length);
        const split = cut % (damaged.length + 1);
        assembled(eventsOf(reader(), [damaged.slice(0, split), damaged.slice(split)]));
      }),
      { numRuns: rounds(2000), seed: 4 },
    );
  });
});
