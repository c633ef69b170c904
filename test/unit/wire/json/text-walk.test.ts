/** A walk over JSON text finds what a reader of JSON finds, however it is written, and pauses. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TextWalk } from "../../../../src/wire/json/text-walk.ts";

const partsOf = (text: string): string[] =>
  [...new TextWalk(text).parts(1, text.length - 1)].flatMap((span) =>
    span === undefined ? [] : [text.slice(span.start, span.end)],
  );
const membersOf = (text: string) =>
  [...new TextWalk(text).members({ start: 0, end: text.length })].flatMap((span) =>
    span === undefined ? [] : [[span.key, text.slice(span.start, span.end)]],
  );

describe("parts of a list", () => {
  test.each([
    ["[]", []],
    ["[ \n ]", []],
    ["[1]", ["1"]],
    ['[ "a,b" ,\t{"c":[1,2]},[[]] , "]" ]', ['"a,b"', '{"c":[1,2]}', "[[]]", '"]"']],
    [String.raw`["\\","\"",",\\\""]`, [String.raw`"\\"`, String.raw`"\""`, String.raw`",\\\""`]],
  ])("%s", (text, parts) => {
    expect(partsOf(text)).toEqual(parts);
  });

  test("are those of JSON.parse", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, "\t"), (values, space) => {
        const text = JSON.stringify(values, null, space);
        expect(partsOf(text).map((part) => JSON.parse(part))).toEqual(JSON.parse(text));
      }),
    );
  });
});

test("members have their names without escapes, and those of one name are all given", () => {
  const text = String.raw`{ "a" : 1 , "\u0062":{"c":[":"]},"a":"\"" }`;
  expect(membersOf(text)).toEqual([
    ["a", "1"],
    ["b", '{"c":[":"]}'],
    ["a", String.raw`"\""`],
  ]);
  for (const none of ["[1]", '"a"', "1", "{}", "{ }"]) expect(membersOf(none), none).toEqual([]);
});

describe("a long text pauses the walk", () => {
  const M = 1_000_000;
  test.each([
    ["many values", `[[${"1,".repeat(M)}1]]`],
    ["many brackets", `[[${"[],".repeat(M)}1]]`],
    ["many quotes within a text", JSON.stringify(['"'.repeat(M)])],
    ["many backslashes", JSON.stringify(["\\".repeat(M)])],
    ["many short texts", JSON.stringify([Array.from({ length: M }, () => "")])],
  ])("%s", (_, text) => {
    const pauses = [...new TextWalk(text).parts(1, text.length - 1)].filter((span) => span === undefined);
    expect(pauses.length).toBeGreaterThanOrEqual(10);
  });
});
