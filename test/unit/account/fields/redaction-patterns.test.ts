/** An org's own redaction patterns: RE2, taking characters, cheap to compile and to run. */
import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import {
  compileCost,
  MAX_COMPILE_COST,
  MAX_INSTRUCTIONS,
  patternsFault,
  redactionPatternsField,
} from "../../../../src/account/fields/redaction-patterns.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";
import { faults, reads } from "../field-faults.ts";

const TOO_LARGE =
  "with this pattern the patterns are too large together: repeat less often, or name fewer characters";

/** Patterns that people have use for. */
const USUAL = [
  "EMP-[0-9]{6}",
  String.raw`\b[A-Z]{2}\d{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}\b`,
  String.raw`(?i)(?:project|projekt) (?:falcon|größe)\b`,
  "(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}",
  "[A-Z]{5}[0-9]{4}[A-Z]",
  String.raw`(?:\d[ -]?){13,19}`,
  String.raw`\p{Devanagari}{2,40} \p{Lu}`,
  "-----BEGIN [A-Z ]{1,40}-----[^-]{1,200}",
];

describe("patterns", () => {
  test("that people use are accepted together, each once, in their order", () => {
    expect(reads(redactionPatternsField, [...USUAL, USUAL[0]])).toEqual(USUAL);
  });

  test.each(["a*", "a?", "a|", "(?:)", "^", "$", "\\b", "\\B", "(?m)^", "(?m)$", "\\A", "\\z", "\\bx?"])(
    "that match where there is no character are refused: %s",
    (pattern) => {
      expect(faults(redactionPatternsField, ["x", pattern])).toEqual([
        "/1: this pattern also matches where there is no character: let it take at least one",
      ]);
    },
  );

  test.each(["(", "[a", "a**", "(?=a)", "(?<!a)b", "(a)\\1", "a{1001}", "\\p{Klingon}", "a{2}{3}"])(
    "that are no RE2 expression are refused: %s",
    (pattern) => {
      expect(faults(redactionPatternsField, [pattern])).toEqual([
        expect.stringMatching(/^\/0: this is no RE2 expression .+: error parsing regexp: /),
      ]);
    },
  );

  test("are bounded in length and number", () => {
    expect(faults(redactionPatternsField, [""])).toEqual(["/0: a pattern has at least one character"]);
    expect(faults(redactionPatternsField, ["x".repeat(501)])).toEqual([
      "/0: a pattern has at most 500 characters",
    ]);
    expect(reads(redactionPatternsField, ["x".repeat(500)])).toHaveLength(1);
    expect(
      faults(
        redactionPatternsField,
        Array.from({ length: 21 }, (_, at) => `x${at}`),
      ),
    ).toEqual([": at most 20 patterns"]);
  });

  const long = "B-\u{1E942}";
  test.each([
    ["a long group repeated", `(?:${"a".repeat(488)}){1000}`],
    ["a group repeated behind an empty quotation", `(?:${"a".repeat(480)})\\Q\\E{1000}`],
    ["groups repeated in groups", `(?:(?:${"a".repeat(480)}){30}){33}`],
    ["many characters repeated", "a{1000}".repeat(71)],
    ["many optional repeats", "(.{0,1000}?)".repeat(41)],
    ["long ranges whose case is ignored", `(?i)[${long.repeat(120)}]`],
    ["the same in a group", `(?si:[${"\\x{42}-\\x{1e942}".repeat(28)}])`],
    ["one long repeat", "[ab]{0,1000}[cd]"],
  ])("that would block the event loop or a worker are refused at once: %s", (_, pattern) => {
    const patterns = Array.from({ length: 20 }, () => pattern.slice(0, 500));
    expect(leastProcessorMs(() => patternsFault(patterns))).toBeLessThan(250);
    expect(patternsFault(patterns)?.message).toBe(TOO_LARGE);
  });

  test("S9: are refused before they take 50 ms to compile, though few ranges fold their case", () => {
    const ranges = (count: number) => `(?i)[${"\u0100-\u{10FFFF}".repeat(count)}]a`;
    expect(patternsFault([ranges(4), ranges(4)])?.message).toBe(TOO_LARGE);
    expect(patternsFault([ranges(3), ranges(4)])).toBeUndefined();
  });

  test("of all kinds together stay below the number of instructions", () => {
    const one = "x{900}y";
    expect(RE2JS.compile(one).programSize()).toBeGreaterThan(MAX_INSTRUCTIONS / 3);
    expect(patternsFault([one, `${one}z`])).toBeUndefined();
    expect(patternsFault([one, `${one}z`, `${one}w`])).toEqual({ at: 2, message: TOO_LARGE });
  });

  test.each(["a{0,900}", "(?:a{0,9}){0,30}", "(?:ab?){900}", "((a|b)?c{2,}){40}"])(
    "have no larger program than their cost says: %s",
    (pattern) => expect(RE2JS.compile(pattern).programSize()).toBeLessThan(compileCost(pattern)),
  );

  test("of any form have no larger program than their cost says", () => {
    const atom = fc.constantFrom(
      "a",
      ".",
      "\\d",
      "[^k]",
      "\\pL",
      "[a-z]",
      "\\b",
      "\\Q+\\E",
      "\\Q\\E",
      "\\)",
      "k|",
      "(?i)",
      "é",
      "$",
    );
    const repeat = fc.constantFrom(
      "",
      "",
      "*",
      "+",
      "?",
      "??",
      "{3}",
      "{0,7}",
      "{5,}",
      "{2,4}?",
      "{12}",
      "\\Q\\E{6}",
    );
    const group = fc.constantFrom("(?:", "(", "(?i:", "(?s-i:");
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        fc.tuple(atom, repeat).map((parts) => parts.join("")),
        fc.tuple(group, tie("pattern"), repeat).map(([open, inner, times]) => `${open}${inner})${times}`),
        fc.tuple(tie("pattern"), tie("pattern")).map((parts) => parts.join("")),
      ),
    }));
    let compiled = 0;
    fc.assert(
      fc.property(pattern, (text) => {
        if (text.length > 500 || compileCost(text) > MAX_COMPILE_COST) return;
        let size = 0;
        try {
          size = RE2JS.compile(text).programSize();
        } catch {
          return;
        }
        compiled++;
        // A program of one character has three instructions: fail, the character, match.
        expect(size).toBeLessThanOrEqual(compileCost(text) + 2);
      }),
      { numRuns: 3_000 },
    );
    expect(compiled).toBeGreaterThan(1_000);
  });
});
