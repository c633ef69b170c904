/** Answers of upstreams in which JSON is only carried: read as JSON is, and no upstream's string is taken for carried text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { opaquePaths } from "../../../../src/wire/json/opaque.ts";
import { carriedIn, parseCarrying } from "../../../../src/wire/neutral/carried.ts";
import { rounds } from "../../../support/effort.ts";
import { labelled } from "../json/documents.ts";

const PATHS = opaquePaths([["content", "*", "input"]]);
/** With more than one path, texts are found in another way. */
const MORE_PATHS = opaquePaths([
  ["content", "*", "input"],
  ["content", "*", "x", "input"],
]);

interface Answer {
  readonly content: readonly { readonly input: unknown }[];
}

const inputOf = (text: string) => (parseCarrying(text, PATHS) as Answer).content[0]?.input;

test("objects and lists at the paths keep their text, and all else is a value", () => {
  expect(carriedIn(inputOf('{"content":[{"input": { "a":1.0,"a":2 } }]}'))).toBe('{ "a":1.0,"a":2 }');
  expect(carriedIn(inputOf('{"content":[{"input":[1E2]}]}'))).toBe("[1E2]");
  // A name may be written with escapes (RFC 8259, section 7), in either case of their digits.
  for (const name of [
    "inp\\u0075t",
    "\\u0069nput",
    "\\u0069\\u006e\\u0070\\u0075\\u0074",
    "\\u0069\\u006E\\u0070ut",
  ]) {
    expect(carriedIn(inputOf(`{"content":[{"${name}" : {"a":1.0}}]}`)), name).toBe('{"a":1.0}');
  }
  for (const value of ["{}", "", null, 1.5, true]) {
    const input = inputOf(JSON.stringify({ content: [{ input: value }, { input: {} }] }));
    expect([input, carriedIn(input)]).toEqual([value, undefined]);
  }
  expect(parseCarrying('{"input":{"a":1}}', PATHS)).toEqual({ input: { a: 1 } });
});

test("of equal names, the last has its own text", () => {
  const text =
    '{"content":[{"input":{"a":1.0}}],"content":[{"input":{"a":2.0},"input":{"a":3.0}},{"input":{},"input":null}]}';
  const { content } = parseCarrying(text, PATHS) as Answer;
  expect(content.map(({ input }) => carriedIn(input) ?? input)).toEqual(['{"a":3.0}', null]);
});

test("an object of the same name elsewhere is none of them", () => {
  const text = '{"input":{"a":1.0},"content":[{"x":{"input":[1.0]},"input":{"input":{"a":2.0}}}]}';
  expect(carriedIn((parseCarrying(text, PATHS) as Answer).content[0]?.input)).toBe('{"input":{"a":2.0}}');
});

test("a string of an upstream's is a string, whatever it looks like", () => {
  const seen = inputOf('{"content":[{"input":{}}]}') as string;
  const sign = seen.slice(0, seen.indexOf("{"));
  // A sign is of so many random bits that trying is in vain, and of this process alone.
  expect(sign).toMatch(/^<weir-carried:[0-9a-f]{24}>$/);
  const guess = sign.replace(/[0-9a-f]{24}/, "0".repeat(24));
  for (const text of [guess, `${guess}{}`, `<weir-carried:>{}`, `x${sign}{}`, sign.slice(0, -1)]) {
    const answer = JSON.stringify({ content: [{ input: text }, { input: { a: text } }] });
    const { content } = parseCarrying(answer, PATHS) as Answer;
    expect(content[0]?.input).toBe(text);
    expect(carriedIn(content[0]?.input)).toBeUndefined();
    expect(carriedIn(content[1]?.input)).toBe(JSON.stringify({ a: text }));
  }
});

describe("T12: what is no JSON is refused, also within what is carried", () => {
  test.each([
    '{"content":[{"input":{"a":tru}}]}',
    '{"content":[{"input":{"a":1]}}]}',
    '{"content":[{"input":{a:1}}]}',
    '{"content":[{"input":[1,]}]}',
    '{"content":[{"input":{"a":"\\x"}}]}',
    '{"content":[{"input":{"a":"\n"}}]}',
    '{"content":[{"input":{"a":"}]}',
    '{"content":[{"input" {"a":1}}]}',
    '{"content":[{"input",{"a":1}}]}',
    '{"content":[{"input":{}{}}]}',
    '{"content":[{"input":{}},]}',
    '{"content":[{"input":{}}]}}',
    `{"content":[{"input":${"[".repeat(100_000)}`,
  ])("%.60s", (text) => {
    expect(() => parseCarrying(text, PATHS)).toThrow();
  });

  test.each([
    ["one path", PATHS],
    ["two paths", MORE_PATHS],
  ])("damaged text is refused exactly where JSON refuses it, and else is the same value: %s", (_, paths) => {
    const pieces = fc.constantFrom("{", "}", "[", "]", ":", ",", '"', "\\", " ", "1", '"input":', "\u0000");
    const damage = fc.record({ at: fc.nat(1000), cut: fc.nat(3), piece: pieces });
    fc.assert(
      fc.property(labelled("a"), labelled("b"), fc.array(damage, { maxLength: 2 }), (a, b, damages) => {
        let text = `{"content": [{"input":${a},"x":1}, {"input" :${b}}]}`;
        for (const { at, cut, piece } of damages) {
          const from = at % text.length;
          // What was cut within a pair of surrogates is no text that UTF-8 can have.
          text = (text.slice(0, from) + piece + text.slice(from + cut)).toWellFormed();
        }
        expect(outcome(() => restored(parseCarrying(text, paths)))).toEqual(outcome(() => JSON.parse(text)));
      }),
      { numRuns: rounds(2000) },
    );
  });
});

function outcome(act: () => unknown): unknown {
  try {
    return { value: act() };
  } catch {
    return "refused";
  }
}

/** The value with what is carried as values. */
function restored(value: unknown): unknown {
  const text = carriedIn(value);
  if (text !== undefined) return JSON.parse(text);
  if (Array.isArray(value)) return value.map(restored);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, restored(member)]));
}
