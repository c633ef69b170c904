/** The text of a custom tool in the arguments of a function, and out of them again, however the arguments are cut. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fragmentOf, textOf } from "../../../../src/wire/neutral/fragment.ts";
import { argumentsOfInput, inputOf, Unwrapping, Wrapping } from "../../../../src/wire/tool-kinds/input.ts";
import { rounds } from "../../../support/effort.ts";

/** What comes of pieces of arguments: pieces that are each valid inside of a JSON string. */
function unwrapped(pieces: readonly string[]): string {
  const unwrapping = new Unwrapping();
  const out = [...pieces.map((piece) => unwrapping.push(fragmentOf(piece))), unwrapping.end()];
  return out.map((piece) => JSON.parse(`"${Buffer.from(piece, "latin1").toString()}"`) as string).join("");
}

/** The pieces of a text, cut between characters at places that are shares of its length: halves of one are put together before. */
function cutAt(text: string, shares: readonly number[]): string[] {
  const characters = [...text];
  const { length } = characters;
  const places = [...shares.map((share) => Math.floor(share * length)), length].sort((a, b) => a - b);
  return places.map((place, index) => characters.slice(places[index - 1] ?? 0, place).join(""));
}

const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('"', "\\", "\n", "é", "😀", "{", "}", "input", "/", "\u0001"),
    maxLength: 20,
  }),
);
/** JSON of a string: as it is mostly written, or with an escape for each unit. */
const written = (text: string, isEscaped: boolean): string =>
  isEscaped
    ? `"${[...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")}"`
    : JSON.stringify(text);
const shares = fc.array(
  fc.nat(999).map((thousandths) => thousandths / 1000),
  { maxLength: 12 },
);
const others = fc.dictionary(
  fc.constantFrom("a", "in", "inputs", 'in"put'),
  fc.oneof(texts, fc.constant({ input: "no", list: ["}", { input: "no" }] }), fc.constant(null)),
);

describe("out of arguments", () => {
  test("the text is whole at every cut, whatever stands beside it", () => {
    fc.assert(
      fc.property(texts, fc.boolean(), others, others, shares, (text, isEscaped, before, behind, cuts) => {
        const members = [
          ...Object.entries(before).map(
            ([name, value]) => `${JSON.stringify(name)} : ${JSON.stringify(value)}`,
          ),
          `"input" :\t${written(text, isEscaped)}`,
          ...Object.entries(behind).map(
            ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
          ),
        ];
        expect(unwrapped(cutAt(` {${members.join(" , ")}}`, cuts))).toBe(text);
      }),
      { numRuns: rounds(2000) },
    );
  });

  test.each([
    ["plain text of a model that does not mind the schema", "*** Begin Patch\n*** End Patch"],
    ["an object without the member", '{"patch":"x"}'],
    ["a list", '["x"]'],
    ["a member that is no text", '{"input":{"a":1}}'],
    ["nothing", ""],
  ])("%s is the text itself", (_, given) => {
    expect(inputOf(given)).toBe(given);
    expect(unwrapped([...given])).toBe(given);
  });

  test.each([
    ["raw line breaks", '{"input":"a\nb\tc"}', "a\nb\tc"],
    ["escapes that JSON does not know", '{"input":"\\d+\\u00g\\."}', "\\d+\\u00g\\."],
    ["no end of the object", '{"input":"abc"', "abc"],
    ["no end of the text", '{"input":"abc', "abc"],
    ["an escape that is cut", '{"input":"abc\\u00', "abc\ufffd"],
    ["half of a pair", '{"input":"a\\ud83db"}', "a\ufffdb"],
    ["half of a pair at the end", '{"input":"a\\uD83D"}', "a\ufffd"],
    ["the second half of a pair alone", '{"input":"a\\udE00b"}', "a\ufffdb"],
    ["half of a pair before a whole one", '{"input":"\\ud83d\\ud83d\\ude00"}', "\ufffd😀"],
    ["half of a pair before an escape that is none", '{"input":"a\\ud83d\\uzzzz"}', "a\ufffd\\uzzzz"],
    ["half of a pair before an escape that is cut", '{"input":"a\\ud83d\\u12"}', "a\ufffd\\u12"],
    ["half of a pair before another character's escape", '{"input":"a\\ud83d\\u0041"}', "a\ufffdA"],
    ["an object with nothing", " { } ", ""],
    ["a name with escapes", '{"in\\u0070ut":"abc"}', "abc"],
    ["the text twice", '{"input":"a","input":"b"}', "a"],
  ])("%s", (_, given, text) => {
    expect(unwrapped([given])).toBe(text);
    expect(unwrapped([...given])).toBe(text);
  });
});

test("half of a pair goes into arguments as U+FFFD", () => {
  expect(argumentsOfInput("a\ud83d")).toBe('{"input":"a\ufffd"}');
});

test("into arguments and out again, at every cut", () => {
  fc.assert(
    fc.property(texts, shares, (text, cuts) => {
      const wrapping = new Wrapping();
      const wrapped = [
        ...cutAt(text, cuts).map((piece) => wrapping.push(fragmentOf(piece))),
        wrapping.end(),
      ].join("");
      expect(inputOf(textOf(wrapped))).toBe(text.toWellFormed());
      expect(inputOf(argumentsOfInput(text))).toBe(text.toWellFormed());
    }),
    { numRuns: rounds(500) },
  );
});
