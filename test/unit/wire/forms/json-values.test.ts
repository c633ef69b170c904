/** What a body is by its first bytes, and the JSON values that follow one another in one: wherever the reads were cut. */
import { describe, expect, test } from "vitest";
import { formOf } from "../../../../src/wire/forms/first-bytes.ts";
import { JsonValues } from "../../../../src/wire/forms/json-values.ts";

const FORMS: readonly (readonly [string, string])[] = [
  ["data: {}", "events"],
  ["data:{}", "events"],
  ["event: x", "events"],
  ["id:1", "events"],
  ["retry: 5", "events"],
  [": hello", "events"],
  ["\r\n\n data: x", "events"],
  ["\u00ef\u00bb\u00bfdata: x", "events"],
  ["\u00ef\u00bb\u00bf {", "json"],
  [' \n{"a":1}', "json"],
  ["[1]", "json"],
  ["<html>", "other"],
  ["date: x", "other"],
  ["\0\0\0\u0080", "frames"],
];

test.each(FORMS)("%j is %s, once enough of it came", (text, form) => {
  const seen = new Set<string>();
  for (let end = 1; end <= text.length; end++) seen.add(formOf(text.slice(0, end)));
  seen.delete("unknown");
  expect([...seen]).toEqual([form]);
});

const A = '{"a":"}{[\\"\\\\","b":[{"c":[]}]}';
const B = '{"n":12345678901234567890}';

describe.each([
  ["on lines", `${A}\n${B}\n`, ""],
  ["one behind the other", `${A}${B}`, ""],
  ["in a list", `[${A}\n,\r\n${B}]`, ""],
  ["behind a byte order mark", `\u00ef\u00bb\u00bf ${A} ${B}`, ""],
  ["before the end of a stream", `${A}${B}\n\ndata: [DONE]\n\n`, "data: [DONE]\n\n"],
])("%s", (_, text, rest) => {
  test("cut anywhere", () => {
    for (let cut = 0; cut <= text.length; cut++) {
      const values = new JsonValues(1000);
      expect([...values.push(text.slice(0, cut)), ...values.push(text.slice(cut))]).toEqual([A, B]);
      expect(values.isWithin).toBe(false);
      expect(values.rest).toBe(rest);
    }
    const values = new JsonValues(1000);
    expect([...text].flatMap((character) => values.push(character))).toEqual([A, B]);
  });
});

test("a value that has not ended, and one beyond the bound", () => {
  const values = new JsonValues(50);
  expect(values.push(`${A}{"x":`)).toEqual([A]);
  expect(values.isWithin).toBe(true);
  expect(() => values.push(`"${"x".repeat(50)}`)).toThrow(/larger/);
});
