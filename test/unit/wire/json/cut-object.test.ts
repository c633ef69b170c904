/** The object that a text begins with, cut at any place, and the object that arguments are taken for. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { objectAtStart } from "../../../../src/wire/json/cut-object.ts";
import { MAX_DEPTH } from "../../../../src/wire/json/json.ts";
import {
  argumentsObject,
  argumentsText,
  repliedArguments,
} from "../../../../src/wire/neutral/tool-arguments.ts";

describe("the object at the start of a text", () => {
  test.each([
    // Whole, with and without more behind it.
    ['{"a":1}', '{"a":1}'],
    ['{"a":1}}', '{"a":1}'],
    ['{"a":1} I call it now.', '{"a":1}'],
    ['{"a":1}{"a":2}', '{"a":1}'],
    ['{}{"a":1}', '{"a":1}'],
    ['{ } {}\n{"a":1', "{}"],
    ["{}", "{}"],
    // Cut: what is whole stays as it was written.
    ['{"path":"a","content":"abc', '{"path":"a"}'],
    ['{ "a" : 1.0 , "b" : 1E2, "b', '{ "a" : 1.0 , "b" : 1E2}'],
    ['{"a":{"b":[1,{"c":"d', '{"a":{"b":[1,{}]}}'],
    ['{"a":{"b":[1,{"c":"d"},"e', '{"a":{"b":[1,{"c":"d"}]}}'],
    ['{"2":1,"1":9007199254740993,', '{"2":1,"1":9007199254740993}'],
    ['{"a":true', '{"a":true}'],
    ['{"a":1,"b":12', '{"a":1}'],
    ['{"a":1,"b":-', '{"a":1}'],
    ['{"a":1,"b":nul', '{"a":1}'],
    ['{"a":1,"b":', '{"a":1}'],
    ['{"a":1,"b', '{"a":1}'],
    ['{"a":"\\', "{}"],
    ['{"a":"\\"}', "{}"],
    ['{"a":[', '{"a":[]}'],
    [" {", "{}"],
  ])("%s", (text, object) => {
    expect(objectAtStart(text)).toBe(object);
    expect(argumentsObject(text)?.text).toBe(object);
  });

  test.each([
    "",
    "x",
    "[1]",
    '"{',
    "{x",
    "{]",
    '{"a"]',
    '{"a":1,}',
    '{"a":tru}',
    '{"a":tx',
    '{"a" 1',
    '{"a":1 "b":2}',
    "I call {}",
    '{"a":['.repeat(MAX_DEPTH),
  ])("%s begins with none", (text) => {
    expect(objectAtStart(text)).toBeUndefined();
  });

  test("T50: at every cut of any object it is a beginning of it with closed brackets", () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(object, fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        for (let length = 1; length <= text.length; length++) {
          const begun = objectAtStart(text.slice(0, length)) as string;
          expect(JSON.parse(begun)).toBeTypeOf("object");
          const whole = begun.replace(/[}\]]+$/, "");
          expect(text.startsWith(whole)).toBe(true);
          if (length === text.length) expect(begun).toBe(text);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe("arguments of a call", () => {
  test.each([
    ["", "{}"],
    [" \n\t", "{}"],
    ["null", "{}"],
    [" null ", "{}"],
    ['"{\\"a\\":1.0}"', '{"a":1.0}'],
    ['"null"', "{}"],
    ['""', "{}"],
    ['{"a":"1\n2", "b":"\t\\"\u0001",\n"c":1.0}', '{"a":"1\\n2", "b":"\\t\\"\\u0001",\n"c":1.0}'],
    ['{"a":"1\n2","b":"cut\n', '{"a":"1\\n2"}'],
  ])("%j as an object", (text, object) => {
    expect(argumentsObject(text).text).toBe(object);
  });

  test.each(["[1]", "5", '"x"', "not json", '{"a":"\\x"}', "\n"])("%j is no object", (text) => {
    const read = JSON.parse(argumentsObject(text).text);
    expect(read).toEqual(text.trim() === "" ? {} : { INVALID_JSON: text });
  });

  test.each([
    [undefined, "{}"],
    [null, "{}"],
    ["", "{}"],
    ["  ", "{}"],
    ["null", "{}"],
    [5, "{}"],
    [{ a: 1 }, '{"a":1}'],
    [[1], "[1]"],
    ['{"a":"cut', '{"a":"cut'],
    ["rubbish", "rubbish"],
  ])("%j as text", (given, text) => {
    expect(argumentsText(given)).toBe(text);
  });

  test("in an answer empty objects before them are no arguments", () => {
    expect(repliedArguments('{}{"a":1}')).toBe('{"a":1}');
    expect(repliedArguments("{}")).toBe("{}");
    expect(repliedArguments("{}x")).toBe("{}x");
  });
});
