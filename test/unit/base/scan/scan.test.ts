import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { assembled, SOURCES } from "../../../../scripts/wasm.ts";
import * as scan from "../../../../src/base/scan/scan.ts";

/** Latin-1. Blocks are sixteen bytes: texts end within them, and what matters stands at their edges. */
const textOf = (...parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 90 }).map((text) => text.join(""));

const JSON_TEXT = textOf(
  '"',
  '"',
  '\\"',
  "\\",
  "\\\\",
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "a",
  "    ",
  "\n",
  "é",
  '"key":"',
);
const MARKED_TEXT = textOf(
  "-",
  "_",
  "A",
  "B",
  "J",
  "P",
  "S",
  "1",
  "23456789012",
  " ",
  "\\",
  "u",
  "@",
  "é",
  "abcdefgh",
);

const found = (count: number): number[] => Array.from(scan.positions.subarray(0, count));
const flagsOf = (flags: Readonly<Record<number, boolean>>): number =>
  Object.entries(flags).reduce((sum, [flag, isSet]) => sum + (isSet ? Number(flag) : 0), 0);

/** The same byte by byte. Behind the end of a text are zeros, which are control characters of an open string. */
function signsIn(text: string) {
  const signs: number[] = [];
  let [isInside, isEscaped, hasEscape, hasControl, hasLoose] = [false, false, false, false, false];
  for (const [at, c] of [...text].entries()) {
    if (isInside && c < " ") hasControl = true;
    if (!isEscaped && c === '"') {
      signs.push(at);
      isInside = !isInside;
    } else if (!isInside && "{}[],".includes(c)) signs.push(at);
    hasEscape ||= c === "\\";
    hasLoose ||= c === "\\" && !isInside && !isEscaped;
    isEscaped = !isEscaped && c === "\\";
  }
  const flags = {
    [scan.ESCAPE]: hasEscape,
    [scan.OPEN_STRING]: isInside,
    [scan.LOOSE_BACKSLASH]: hasLoose,
    [scan.BYTE_BEYOND_ASCII]: /[\x80-\xff]/.test(text),
  };
  return { signs, flags: flagsOf({ ...flags, [scan.CONTROL_IN_STRING]: hasControl }) };
}

it("finds the signs of JSON as a look at each byte does", () => {
  fc.assert(
    fc.property(JSON_TEXT, (text) => {
      const expected = signsIn(text);
      expect(found(scan.scanSigns(Buffer.from(text, "latin1")))).toEqual(expected.signs);
      const isOpen = (expected.flags & scan.OPEN_STRING) !== 0;
      const counted = isOpen ? ~scan.CONTROL_IN_STRING : -1;
      expect(scan.lastFlags() & counted).toBe(expected.flags & counted);
    }),
    { numRuns: 3_000 },
  );
});

/** Each mark is in a pair then. */
const allPairs = () => scan.markPairs.fill(15);

it("finds the marks of secrets as expressions do", () => {
  allPairs();
  fc.assert(
    fc.property(MARKED_TEXT, (text) => {
      const marks = Array.from(text.matchAll(/[-_ABJPS]/g), ({ index }) => index);
      expect(found(scan.scanMarks(Buffer.from(text, "latin1")))).toEqual(marks);
      expect(scan.lastFlags()).toBe(
        flagsOf({
          [scan.BEYOND_ASCII]: /[\x80-\xff]/.test(text),
          [scan.BACKSLASH]: text.includes("\\"),
          [scan.LONG_NUMERIC]: /[\d -]{12}/.test(text),
          [scan.AT_SIGN]: text.includes("@"),
        }),
      );
    }),
    { numRuns: 3_000 },
  );
});

it("finds the marks that stand in pairs as a look at each does", () => {
  const PAIRS = ["ab", "aJ", "bA", "SA", "-a", "P_"] as const;
  const bits = fc.array(fc.tuple(fc.constantFrom(...PAIRS), fc.constantFrom(1, 2, 4, 8)), { maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom(..."abAJSP-_".split("")), maxLength: 60 });
  fc.assert(
    fc.property(bits, text, (known, of) => {
      scan.markPairs.fill(0);
      for (const [pair, bit] of known) {
        const at = (pair.charCodeAt(0) << 7) | pair.charCodeAt(1);
        scan.markPairs[at] = (scan.markPairs[at] as number) | bit;
      }
      const has = (pair: string, bit: number) => known.some(([one, is]) => one === pair && is === bit);
      const marks = Array.from(of.matchAll(/[-_ABJPS]/g), ({ index }) => index);
      const expected = marks.filter((at) => {
        const [mark, before] = [of[at] as string, of.slice(Math.max(0, at - 2), at)];
        if (has(of.slice(Math.max(0, at - 1), at + 1), 4) || has(of.slice(at, at + 2), 8)) return true;
        return (mark === "-" && has(before, 1)) || (mark === "_" && has(before, 2));
      });
      expect(found(scan.scanMarks(Buffer.from(of)))).toEqual(expected);
      expect(scan.lastCount()).toBe(marks.length);
    }),
    { numRuns: 2_000 },
  );
});

const STRING_TEXT = textOf(
  "a",
  "    ",
  "é",
  "abcdefghijklmnop",
  "\\n",
  '\\"',
  "\\\\",
  "\\/",
  "\\u00e9",
  "\\uABcd",
  "abcdefghijklmnopabcdefghijklmnop",
  "\\uF00",
  "\\",
  "\n",
);
/** Latin-1. */
const STRING = /^(?:[ -[\]-\xff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/;

it("finds where a string ceases to be JSON as an expression does", () => {
  const expectFound = (text: string) => {
    const valid = scan.scanString(Buffer.from(text, "latin1"));
    expect([text, valid]).toEqual([text, STRING.exec(text)?.[0].length]);
  };
  fc.assert(fc.property(STRING_TEXT, expectFound), { numRuns: 3_000 });
  for (let code = 0; code < 256; code++) {
    const c = String.fromCharCode(code);
    for (const before of ["", "x".repeat(15), "x".repeat(31)]) {
      for (const text of [c, `\\${c}`, `\\u${c}000`, `\\u00${c}0`, `\\u000${c}`]) expectFound(before + text);
    }
  }
});

it("takes a text of the most bytes, and none", () => {
  allPairs();
  const text = Buffer.from(`{${'"a":"b",'.repeat(scan.MOST_SCANNED / 8)}`).subarray(0, scan.MOST_SCANNED);
  expect(found(scan.scanSigns(text))).toEqual(signsIn(text.toString()).signs);
  expect(scan.scanMarks(Buffer.alloc(scan.MOST_SCANNED, "-"))).toBe(scan.MOST_SCANNED);
  expect(scan.scanString(Buffer.alloc(scan.MOST_SCANNED, "\\"))).toBe(scan.MOST_SCANNED);
  const none = Buffer.alloc(0);
  expect([scan.scanSigns(none), scan.scanMarks(none), scan.scanString(none)]).toEqual([0, 0, 0]);
  expect(() => scan.scanSigns(Buffer.alloc(scan.MOST_SCANNED + 1))).toThrow(RangeError);
});

it.each(SOURCES)("%s is assembled from its text: node scripts/wasm.ts", async (source) => {
  const kept = readFileSync(join(import.meta.dirname, "../../../../src", `${source}.wasm`));
  expect(Buffer.from(await assembled(source)).equals(kept)).toBe(true);
});
