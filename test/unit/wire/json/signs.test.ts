/** Short bodies are scanned for their signs, longer ones searched: what is read of a body does not depend on its length. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { WeirError } from "../../../../src/base/errors.ts";
import { skim } from "../../../../src/wire/json/json.ts";
import { REQUEST_BOUNDS } from "../../../../src/wire/json/json-bounds.ts";

const PIECES = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  '\\"',
  "\\\\",
  " ",
  "1",
  "é",
  "\u0001",
  '"a":',
  '"b":{',
  '"c":[',
  '"content":"',
  '"text" : "',
  '"url":"data:',
  '"data":"',
  "word ".repeat(40),
  "A".repeat(300),
  "y".repeat(5_000),
  '"whole":"string"',
];
const body = fc
  .tuple(fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }), fc.constantFrom("", "}", '"}', "]}"))
  .map(([pieces, end]) => `{${pieces.join("")}${end}`);
const SPACES = " ".repeat(17_000);

/** What is read, or where it is said to be no JSON. @param end where the body's text ends without spaces behind it */
function reading(text: string, end: number) {
  try {
    const { members, elided, media } = skim(text, "", REQUEST_BOUNDS, Buffer.from(text, "latin1"));
    return { members, elided, media };
  } catch (error) {
    if (!(error instanceof WeirError)) throw error;
    const at = /at byte (\d+)/.exec(error.message)?.[1];
    return at === undefined ? error.message : `${error.code} at ${Number(at) >= end ? "the end" : at}`;
  }
}

it("a body is read alike, scanned and searched, also one that is no JSON", () => {
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(body, (text) => {
      const scanned = reading(text, text.length);
      seen[typeof scanned === "string" ? "refused" : "read"]++;
      expect(reading(text + SPACES, text.length)).toEqual(scanned);
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(30);
});
