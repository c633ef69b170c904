/** An org's own patterns cannot take the workers from others: their work is counted, and bounded for a payload and for a batch. */
import { RE2JS } from "re2js";
import { afterAll, describe, expect, test } from "vitest";
import type { Redaction } from "../../../src/record/record.ts";
import { encodeRow } from "../../../src/record/row.ts";
import { type FinishInput, finishBatch, WORK_OF_RULES } from "../../../src/workers/finish.ts";
import {
  budgetFor,
  matchesWithin,
  WORK_PER_CHARACTER,
  WorkBudget,
} from "../../../src/workers/metered-text.ts";
import { slowPattern, TRIAL_WORK } from "../../../src/workers/pattern-trial.ts";
import { openPool } from "../../../src/workers/pool.ts";
import { redactor } from "../../../src/workers/redact.ts";
import { record } from "../../support/analytics/records.ts";

const TOO_LONG = "the redaction patterns take too long on this text";

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
/** Patterns of a few characters each; to find all their matches takes the square of the text. */
const SQUARE = ["a.*b|a", "a[^z]*z|a", String.raw`\w+@|\w`, "(?s)q.*y|[a-q]", "[b-y]+@|[b-y]"];
const PROSE = "The quick brown fox, ABCDE1234F, writes to GB82 WEST 1234 5698 7654 32 about EMP-123456. ";

describe("searching a text whose reads are counted", () => {
  const ranges = (pattern: string, text: string) => {
    const found: [number, number][] = [];
    const matcher = RE2JS.compile(pattern).matcher(text);
    while (matcher.find()) found.push([matcher.start(), matcher.end()]);
    return found;
  };

  // Short texts are searched by another engine of re2js than long ones.
  test.each([...USUAL, ...SQUARE, "x.y", "(a|ab)(c|bcd)", "\\bfox\\b", "(?m)^The", "fox|EMP", "a"])(
    "finds what is found otherwise, and counts it: %s",
    (pattern) => {
      for (const text of ["", "a", PROSE, `${PROSE}é漢😀 नमस्ते X`, PROSE.repeat(8)]) {
        let work = 0;
        const budget = new (class extends WorkBudget {
          override take(more: number): void {
            work += more;
          }
        })(0);
        expect(matchesWithin(RE2JS.compile(pattern), text, budget)).toEqual(ranges(pattern, text));
        if (text !== "") expect(work).toBeGreaterThan(0);
      }
    },
  );

  test("ends with an error where the budget does, and the pattern can be used again", () => {
    for (const pattern of SQUARE.slice(0, 3).map((text) => RE2JS.compile(text))) {
      const text = "a".repeat(10_000);
      expect(() => matchesWithin(pattern, text, budgetFor(text.length))).toThrow(TOO_LONG);
      expect(matchesWithin(pattern, "a q", budgetFor(3)).length).toBeLessThan(4);
    }
  });

  test("spends of the whole as well", () => {
    const whole = new WorkBudget(10_000);
    const search = () => matchesWithin(RE2JS.compile("[a-z][xy]"), "b".repeat(200), budgetFor(200, whole));
    expect(search()).toEqual([]);
    expect(() => Array.from({ length: 20 }, search)).toThrow(TOO_LONG);
  });
});

describe("a payload", () => {
  const own = (patterns: readonly string[]) => redactor({ presets: ["email"], patterns });

  test("with patterns as people write them is redacted whatever its size", () => {
    for (const times of [1, 100, 1000]) {
      const text = JSON.stringify({ text: PROSE.repeat(times) });
      expect(
        own(USUAL)
          .payload(text)
          .match(/REDACTED:pattern/g),
      ).toHaveLength(3 * times);
    }
  });

  test("on which patterns take too long is never passed on as it is", () => {
    for (const pattern of SQUARE.slice(0, 2)) {
      // A string without spaces would be taken for base64.
      const text = "a ".repeat(3_000);
      for (const payload of [text, JSON.stringify([text]), JSON.stringify({ text }), `data: "${text}"\n\n`]) {
        expect(() => own([pattern]).bytes(Buffer.from(payload))).toThrow(TOO_LONG);
        expect(() => own([pattern]).text(payload)).toThrow(TOO_LONG);
      }
    }
  });

  test("has one budget for all of its texts", () => {
    const texts = JSON.stringify(Array.from({ length: 40 }, () => "a ".repeat(750)));
    expect(() => own(["a.*b|a"]).payload(texts)).toThrow(TOO_LONG);
  });
});

describe("a batch", () => {
  const text = "a ".repeat(5_000);
  const hostile = { presets: [], patterns: ["a.*b|a"] };
  const usual = { presets: [], patterns: ["EMP-[0-9]{6}"] };
  const rowOf = (redact: Redaction, content: string) =>
    encodeRow(record({ redact, request: Buffer.from(JSON.stringify({ content })) }));
  const batch = (rows: readonly Uint8Array[]): FinishInput => ({
    bytes: new Uint8Array(Buffer.concat(rows)),
    lengths: Uint32Array.from(rows, ({ length }) => length),
  });

  test("keeps the payloads of other orgs when one org's patterns take too long", () => {
    const rows = [rowOf(hostile, text), rowOf(usual, "EMP-123456 is here"), rowOf(hostile, text)];
    const { payloads, payloadsLost, requests } = finishBatch(batch(rows));
    expect([requests.rows, payloads.rows, payloadsLost]).toEqual([3, 1, 2]);
    const stored = Buffer.from(payloads.bytes).toString();
    expect(stored).toContain("[REDACTED:pattern] is here");
    expect(stored).not.toContain("a a a");
  });

  test("ends one org's share, and no other's, when its payloads take too long together", () => {
    const words = { presets: [], patterns: ["[a-z]+"] };
    const many = Array.from({ length: 10 }, () => rowOf(words, "quick ".repeat(500)));
    const rows = [...many, rowOf(usual, "EMP-123456 is here")];
    expect(finishBatch(batch(rows))).toMatchObject({ payloadsLost: 0, payloads: { rows: 11 } });
    const { payloads, payloadsLost } = finishBatch(batch(rows), 400_000);
    expect([payloadsLost > 0, payloadsLost < 10, payloads.rows]).toEqual([true, true, 11 - payloadsLost]);
    expect(Buffer.from(payloads.bytes).toString()).toContain("[REDACTED:pattern] is here");
  });

  test("pays for short matches as well as for reads", () => {
    const search = () => matchesWithin(RE2JS.compile("[a-z]"), "b".repeat(1000), new WorkBudget(100_000));
    expect(search).toThrow(TOO_LONG);
  });
});

describe("patterns that are set", () => {
  const pool = openPool();
  afterAll(() => pool.close());

  test("are quick if people have use for them", () => expect(slowPattern(USUAL)).toBeUndefined());

  test.each([...SQUARE, "(?:a?){900}b", "(?:x?a?b?){300}z"])("are slow: %s", (pattern) => {
    expect(slowPattern([pattern])).toBe(0);
    expect(slowPattern(["EMP-[0-9]{6}", pattern, "x"])).toBe(1);
  });

  test("are tried in a thread, the same each time", async () => {
    expect(await pool.slowPattern(["EMP-[0-9]{6}", "a.*b|a"])).toBe(1);
    expect(await pool.slowPattern(USUAL)).toBeUndefined();
  });

  test("may take less in the trial than for a payload, and less for a payload than in a batch", () => {
    expect(TRIAL_WORK / 4096).toBeLessThan(WORK_PER_CHARACTER);
    expect(WORK_OF_RULES).toBeGreaterThan(100_000 * WORK_PER_CHARACTER);
  });
});
