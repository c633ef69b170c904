import { afterAll, describe, expect, it } from "vitest";
import { openPool } from "../../../src/workers/pool.ts";
import { MAX_SAMPLE_BYTES, previewRedaction } from "../../../src/workers/redact-preview.ts";
import { PRESET_NAMES } from "../../../src/workers/redaction.ts";
import { corpus } from "./corpus.ts";

const pool = openPool();
afterAll(() => pool.close());

describe("a preview of redaction", () => {
  it("shows the sample with its spans replaced, and counts them", () => {
    expect(previewRedaction(["card", "email"], "4111 1111 1111 1111, a@b.io, +14155552671")).toEqual({
      output: "[REDACTED:card], [REDACTED:email], +14155552671",
      redactions: 2,
    });
    expect(previewRedaction([], "a@b.io")).toEqual({ output: "a@b.io", redactions: 0 });
    expect(previewRedaction(["email"], "[REDACTED:email]").redactions).toBe(0);
  });

  it("treats JSON and SSE as a payload: a number counts once it is replaced, a split secret once", () => {
    const json = '{"n":4111111111111111,"id":1700000000,"to":["a@b.io","\\u0061@c.io"]}';
    expect(previewRedaction(PRESET_NAMES, json)).toEqual({
      output: '{"n":"[REDACTED:card]","id":1700000000,"to":["[REDACTED:email]","[REDACTED:email]"]}',
      redactions: 3,
    });
    const sse = ["a@b", ".io"].map((content) => `data: {"choices":[{"delta":{"content":"${content}"}}]}`);
    expect(previewRedaction(["email"], sse.join("\n\n")).redactions).toBe(1);
  });

  it("counts as many marks as it makes, in all samples of the corpus", () => {
    for (const { text } of corpus) {
      const { output, redactions } = previewRedaction(PRESET_NAMES, text);
      expect(output.match(/\[REDACTED:/g)?.length ?? 0, text).toBe(redactions);
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
    expect(refusal(() => previewRedaction(["card", "toString"], "x"))).toEqual(refused("/presets/1"));
    const largest = "é".repeat(MAX_SAMPLE_BYTES / 2);
    expect(previewRedaction(PRESET_NAMES, largest)).toEqual({ output: largest, redactions: 0 });
    expect(refusal(() => previewRedaction([], `${largest}x`))).toEqual(refused("/sample"));
  });

  it("runs in the thread of the pool, with the same refusals", async () => {
    const sample = "key sk-aaaaaaaaaaaaaaaaaaaaaaaa";
    expect(await pool.previewRedaction(["api_key"], sample)).toEqual(previewRedaction(["api_key"], sample));
    await expect(pool.previewRedaction(["ssn"], sample)).rejects.toMatchObject({ kind: "invalid_value" });
  });
});
