/** Halves of pairs in JSON text, in bytes, and in streams at every cut. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wellFormedBytes, wellFormedJson } from "../../../../src/wire/json/surrogates.ts";
import { fragmentOf, textOf } from "../../../../src/wire/neutral/fragment.ts";
import type { StreamEvent } from "../../../../src/wire/neutral/neutral.ts";
import { MendedEvents } from "../../../../src/wire/relay/mended-events.ts";

describe("JSON text without halves", () => {
  test.each([
    ["\\ud800", "\\ufffd"],
    ["\\uDC00", "\\ufffd"],
    ["a\\uD83D\\uDE00b", "a\\uD83D\\uDE00b"],
    ["\\ud83d\\ud83d\\ude00", "\\ufffd\\ud83d\\ude00"],
    ["\\ude00\\ud83d", "\\ufffd\\ufffd"],
    ["\\\\ud800", "\\\\ud800"],
    ["\\\\\\ud800", "\\\\\\ufffd"],
    ["\\u00e9\\n\\ud7ff\\ue000", "\\u00e9\\n\\ud7ff\\ue000"],
    ["1.0", "1.0"],
  ])("%s", (json, formed) => {
    expect(wellFormedJson(json)).toBe(formed);
    expect(wellFormedBytes(Buffer.from(`ß${json}`)).toString()).toBe(`ß${formed}`);
  });

  test("T50: any text is as JavaScript makes it well-formed", () => {
    const text = fc.string({ unit: "binary" }).chain((s) => fc.constantFrom(s, `${s}\ud83d`, `\ude00\\${s}`));
    fc.assert(
      fc.property(text, (value) => {
        expect(JSON.parse(wellFormedJson(JSON.stringify(value)))).toBe(value.toWellFormed());
      }),
    );
  });
});

const mended = (events: readonly StreamEvent[]): StreamEvent[] => {
  const told: StreamEvent[] = [];
  const stream = new MendedEvents(
    (event) => void told.push(event),
    (tell) => tell(),
  );
  for (const event of events) stream.take(event);
  return told;
};

const part = { choice: 0, part: 0 } as const;
const delta = (text: string): StreamEvent => ({ type: "delta", ...part, text: fragmentOf(text) });
const textBegins: StreamEvent = { type: "begin", ...part, kind: "text" };
const callBegins: StreamEvent = { type: "begin", ...part, kind: "tool_call", id: "c", name: "f" };
const ends: StreamEvent = { type: "end", ...part };

const textsOf = (events: readonly StreamEvent[]): string[] =>
  events.flatMap((event) => (event.type === "delta" ? [textOf(event.text)] : []));

describe("a stream", () => {
  test.each([
    [
      ["a\ud83d", "\ude00b"],
      ["a", "😀b"],
    ],
    [["\ud83d", "\ude00"], ["😀"]],
    [["\ud83d", "x"], ["\ufffdx"]],
    [["\ud83d"], ["\ufffd"]],
    [["\ude00"], ["\ufffd"]],
    [
      ["\ud83d", "\ude00\ud83d", "\ude00"],
      ["😀", "😀"],
    ],
    [
      ["a\\ud83d", "b"],
      ["a\\ud83d", "b"],
    ],
    [["a\ud83db"], ["a\ufffdb"]],
  ])("%j is told as %j", (given, told) => {
    expect(textsOf(mended([textBegins, ...given.map(delta), ends]))).toEqual(told);
  });

  test.each([
    ['{"a":"\\ud83d"}', '{"a":"\\ufffd"}'],
    ['{"a":"\\uDE00b\\uD83D\\uDE00"}', '{"a":"\\ufffdb\\uD83D\\uDE00"}'],
    ['{"a":"\\ud83d\\ud83d\\ude00\\u00e9\\n"}', '{"a":"\\ufffd\\ud83d\\ude00\\u00e9\\n"}'],
    ['{"a":"\\\\ud83d\\\\\\ud83d\\""}', '{"a":"\\\\ud83d\\\\\\ufffd\\""}'],
    ['{"a":"😀\\ud83dé"}', '{"a":"😀\\ufffdé"}'],
    ['{"a":"\\ud83d', '{"a":"\\ufffd'],
    ['{"a":"\\ud8', '{"a":"\\ud8'],
    ['{"a":"\\ud83d\\ude', '{"a":"\\ufffd\\ude'],
  ])("escapes in a call's arguments, at every cut: %s", (args, told) => {
    const chars = [...args];
    for (let first = 0; first <= chars.length; first++) {
      for (const second of [first, first + 1, first + 5, chars.length]) {
        const cuts = [0, first, Math.min(second, chars.length), chars.length];
        const pieces = cuts.slice(1).map((cut, index) => chars.slice(cuts[index], cut).join(""));
        const events = [callBegins, ...pieces.filter((piece) => piece !== "").map(delta), ends];
        expect(textsOf(mended(events)).join("")).toBe(told);
      }
    }
    expect(textsOf(mended([callBegins, ...chars.map(delta), ends])).join("")).toBe(told);
    const asText = textsOf(mended([textBegins, ...chars.map(delta), ends])).join("");
    expect(asText).toBe(args);
  });

  test("escapes of two calls at once do not meet, and one without more is not lost", () => {
    const second = { choice: 0, part: 1 } as const;
    const told = mended([
      callBegins,
      { type: "begin", ...second, kind: "tool_call", id: "d", name: "g" },
      delta('{"a":"\\ud83d'),
      { type: "delta", ...second, text: fragmentOf('{"b":1,') },
      { type: "delta", ...second, text: fragmentOf('"c":"\\') },
      delta('\\ude00"}'),
      ends,
      { type: "end", ...second },
    ]);
    const of = (place: number) =>
      told.flatMap((event) => (event.type === "delta" && event.part === place ? [textOf(event.text)] : []));
    expect([of(0).join(""), of(1).join("")]).toEqual(['{"a":"\\ud83d\\ude00"}', '{"b":1,"c":"\\']);
    expect(textsOf(mended([callBegins, delta("\\"), ends]))).toEqual(["\\"]);
  });

  test("halves of two parts at once do not meet", () => {
    const second = { choice: 1, part: 0 } as const;
    const told = mended([
      textBegins,
      { type: "begin", ...second, kind: "text" },
      delta("\ud83d"),
      { type: "delta", ...second, text: fragmentOf("x\ud83d") },
      delta("\ude00"),
      { type: "delta", ...second, text: fragmentOf("\ude01") },
      ends,
    ]);
    expect(textsOf(told)).toEqual(["x", "😀", "😁"]);
  });

  test("T50: at every cut of any text each event is well-formed, and all add up to it", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "\\", "😀", "\ud83d", "\ude00", "é", "\n") });
    fc.assert(
      fc.property(text, fc.infiniteStream(fc.integer({ min: 1, max: 3 })), (value, sizes) => {
        const pieces: StreamEvent[] = [];
        for (let at = 0; at < value.length; ) {
          const size = sizes.next().value as number;
          pieces.push(delta(value.slice(at, at + size)));
          at += size;
        }
        const told = textsOf(mended([textBegins, ...pieces, ends]));
        for (const piece of told) expect(piece.isWellFormed()).toBe(true);
        expect(told.join("")).toBe(value.toWellFormed());
      }),
    );
  });

  test.each([
    [[], "{}"],
    [[" ", "\n"], "{}"],
    [["null"], "{}"],
    [["nu", "ll", " "], "{}"],
    [["{}"], "{}"],
    [["{}", '{"a":', "1}"], '{"a":1}'],
    [["{", "}"], "{}"],
    [["{", "}", "{", '"a":1}'], '{"a":1}'],
    [["{", "\n}{", '"a":1}'], '{"a":1}'],
    [["null", "x"], "nullx"],
    [['{"a":"cut'], '{"a":"cut'],
    [["", '{"a":1}'], '{"a":1}'],
    [[" ".repeat(100), "{}"], `${" ".repeat(100)}{}`],
  ])("the pieces %j of a call add up to %s", (given, args) => {
    const told = mended([callBegins, ...given.map(delta), ends]);
    expect(textsOf(told).join("")).toBe(args);
    expect(told.at(-1)).toEqual(ends);
  });

  test("a text of white space is no call's, and a custom call is a text", () => {
    expect(textsOf(mended([textBegins, delta(" "), delta("null"), ends]))).toEqual([" ", "null"]);
    expect(textsOf(mended([{ ...callBegins, tool: "custom" }, delta(" "), ends]))).toEqual([" "]);
  });
});
