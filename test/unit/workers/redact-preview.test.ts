import { afterAll, describe, expect, it } from "vitest";
import type { Redaction } from "../../../src/record/record.ts";
import { openPool } from "../../../src/workers/pool.ts";
import { MAX_FOUND_PARTS, MAX_SAMPLE_BYTES, previewRedaction } from "../../../src/workers/redact-preview.ts";
import { PRESET_NAMES } from "../../../src/workers/redaction.ts";
import { corpus } from "./corpus.ts";

const pool = openPool();
afterAll(() => pool.close());

/** Rules of presets alone. */
const only = (...presets: readonly string[]): Redaction => ({ presets, patterns: [] });
const shown = (redaction: Redaction, sample: string) => {
  const preview = previewRedaction(redaction, sample);
  if (preview === undefined) throw new Error("the patterns take too long");
  return preview;
};
/** What found what, in the order of the output. */
const foundBy = (redaction: Redaction, sample: string) =>
  shown(redaction, sample).parts.flatMap(({ rule, pattern, found }) =>
    rule === undefined ? [] : [[pattern ?? rule, found]],
  );

describe("a preview of redaction", () => {
  it("shows the sample with its spans replaced, and counts them", () => {
    expect(previewRedaction(only("card", "email"), "4111 1111 1111 1111, a@b.io, +14155552671")).toEqual({
      output: "[REDACTED:card], [REDACTED:email], +14155552671",
      redactions: 2,
      parts: [
        { text: "[REDACTED:card]", rule: "card", found: "4111 1111 1111 1111" },
        { text: ", " },
        { text: "[REDACTED:email]", rule: "email", found: "a@b.io" },
        { text: ", +14155552671" },
      ],
    });
    expect(previewRedaction(only(), "a@b.io")).toEqual({
      output: "a@b.io",
      redactions: 0,
      parts: [{ text: "a@b.io" }],
    });
    expect(previewRedaction(only("email"), "")).toEqual({ output: "", redactions: 0, parts: [] });
  });

  it("does not take a mark that is in the sample for one of its own", () => {
    const mark = "[REDACTED:email]";
    expect(previewRedaction(only("email"), `${mark} a@b.io`)).toEqual({
      output: `${mark} ${mark}`,
      redactions: 1,
      parts: [{ text: `${mark} ` }, { text: mark, rule: "email", found: "a@b.io" }],
    });
  });

  it("says which own pattern found a span, and of two rules the one that begins first", () => {
    const rules = { presets: ["email"], patterns: ["EMP-[0-9]{6}", "id [a-z@.]+"] };
    const sample = "EMP-123456 wrote to a@b.io, id c@d.io";
    expect(shown(rules, sample).output).toBe(
      "[REDACTED:pattern] wrote to [REDACTED:email], [REDACTED:pattern]",
    );
    expect(foundBy(rules, sample)).toEqual([
      [0, "EMP-123456"],
      ["email", "a@b.io"],
      [1, "id c@d.io"],
    ]);
  });

  it("says what was found inside JSON unescaped, and in a stream at the first piece", () => {
    expect(foundBy(only("email", "card"), '{"to":"\\u0061@c.io","n":4111111111111111}')).toEqual([
      ["email", "a@c.io"],
      ["card", "4111111111111111"],
    ]);
    const sse = ["a@b", ".io"].map((content) => `data: {"choices":[{"delta":{"content":"${content}"}}]}`);
    expect(foundBy(only("email"), sse.join("\n\n"))).toEqual([["email", "a@b.io"]]);
  });

  it("makes its output of its parts, whatever patterns find in marks, and bounds how many say their rule", () => {
    const everything = { presets: ["email"], patterns: ["[A-Z]+", "[^x]"] };
    const sse = 'data: {"choices":[{"delta":{"content":"A a@b.io x"}}]}';
    for (const sample of ["A a@b.io x", '["A a@b.io x"]', sse, "A".repeat(3000), "a ".repeat(3000)]) {
      const { output, parts } = shown(everything, sample);
      expect(parts.map(({ text }) => text).join("")).toBe(output);
      expect(parts.length).toBeLessThanOrEqual(2 * MAX_FOUND_PARTS + 1);
    }
  });

  it("shows nothing where own patterns take too long on the sample, as nothing of such a payload is kept", () => {
    const slow = { presets: [], patterns: ["a.*b|a"] };
    expect(previewRedaction(slow, "a".repeat(MAX_SAMPLE_BYTES))).toBeUndefined();
    expect(shown(slow, "aab").redactions).toBe(1);
  });

  it("treats JSON and SSE as a payload: a number counts once it is replaced, a split secret once", () => {
    const json = '{"n":4111111111111111,"id":1700000000,"to":["a@b.io","\\u0061@c.io"]}';
    expect(shown(only(...PRESET_NAMES), json)).toMatchObject({
      output: '{"n":"[REDACTED:card]","id":1700000000,"to":["[REDACTED:email]","[REDACTED:email]"]}',
      redactions: 3,
    });
    const sse = ["a@b", ".io"].map((content) => `data: {"choices":[{"delta":{"content":"${content}"}}]}`);
    expect(shown(only("email"), sse.join("\n\n")).redactions).toBe(1);
  });

  it("counts as many marks as it makes, in all samples of the corpus", () => {
    for (const { text } of corpus) {
      const { output, redactions, parts } = shown(only(...PRESET_NAMES), text);
      expect(output.match(/\[REDACTED:/g)?.length ?? 0, text).toBe(redactions);
      expect(parts.filter(({ rule }) => rule !== undefined).length, text).toBe(redactions);
    }
  });

  it("refuses a preset that does not exist, and a sample above its limit in bytes", () => {
    const refusal = (act: () => unknown) => {
      try {
        return act();
      } catch (error) {
        return error;
      }
    };
    const refused = (param: string) => expect.objectContaining({ kind: "invalid_value", param });
    expect(refusal(() => previewRedaction(only("card", "toString"), "x"))).toEqual(refused("/presets/1"));
    const largest = "é".repeat(MAX_SAMPLE_BYTES / 2);
    expect(previewRedaction(only(...PRESET_NAMES), largest)).toMatchObject({
      output: largest,
      redactions: 0,
    });
    expect(refusal(() => previewRedaction(only(), `${largest}x`))).toEqual(refused("/sample"));
  });

  it("runs in the thread of the pool, with the same refusals", async () => {
    const sample = "key sk-aaaaaaaaaaaaaaaaaaaaaaaa";
    expect(await pool.previewRedaction(only("api_key"), sample)).toEqual(
      previewRedaction(only("api_key"), sample),
    );
    await expect(pool.previewRedaction(only("ssn"), sample)).rejects.toMatchObject({ kind: "invalid_value" });
  });
});
