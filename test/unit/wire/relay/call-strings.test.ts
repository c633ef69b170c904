/** Arguments in pieces have the same escapes as the whole of them, wherever they are cut. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { withEscapedControls } from "../../../../src/wire/json/cut-object.ts";
import { fragmentOf } from "../../../../src/wire/neutral/fragment.ts";
import { CallStrings } from "../../../../src/wire/relay/call-strings.ts";

const inPieces = (pieces: readonly string[]): string => {
  const strings = new CallStrings();
  return pieces.map((piece) => strings.take(fragmentOf(piece))).join("");
};

const SIGNS = ['"', "\\", "\n", "\t", "\u0001", "/", "u", "{", "}", ":", " ", "a", "é", "\u2028"];

test("wherever they are cut", () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom(...SIGNS), maxLength: 6 }), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, fc.constantFrom("", " \n", "{", '\n{"a":"'), (cut, head) => {
      const all = [head, ...cut].filter((piece) => piece !== "");
      expect(inPieces(all)).toBe(fragmentOf(withEscapedControls(all.join(""))));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  [['{"a":"1', '\n2"', ',\n"b":1}'], '{"a":"1\\n2",\n"b":1}'],
  [['{"a":"\\', '"\n', '"}'], '{"a":"\\"\\n"}'],
  [['{"a":"\\\\', '"\n}'], '{"a":"\\\\"\n}'],
  [["ls ", '"\n"'], 'ls "\n"'],
  [["\n", "[", '"\n"]'], '\n["\n"]'],
])("%j", (pieces, whole) => {
  expect(inPieces(pieces)).toBe(fragmentOf(whole));
});

test("a backslash before a line break stays one", () => {
  const text = JSON.parse(`"${inPieces(['{"a":"b \\', '\n c"}'])}"`);
  expect(JSON.parse(text)).toEqual({ a: "b \\\n c" });
});
