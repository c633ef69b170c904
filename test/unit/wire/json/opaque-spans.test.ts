/** Where a text has the values that are only carried: found by position, in time that grows with the text alone. */
import { describe, expect, test } from "vitest";
import { skim } from "../../../../src/wire/json/json.ts";
import {
  carriedSpans,
  hasCarried,
  NO_PATHS,
  opaquePaths,
  opaqueSpans,
} from "../../../../src/wire/json/opaque.ts";

const PATHS = opaquePaths([
  ["tools", "*", "function", "parameters"],
  ["tools", "*", "parameters"],
  ["format", "schema"],
]);

const found = (text: string) => {
  const bytes = Buffer.from(text);
  return opaqueSpans(bytes, 0, PATHS).map(({ start, end }) => bytes.toString("utf8", start, end));
};

const foundInBody = (text: string) => {
  const bytes = Buffer.from(text);
  const { members } = skim(bytes.toString("latin1"));
  return carriedSpans(bytes, members, PATHS).map(({ start, end }) => bytes.toString("utf8", start, end));
};

describe.each([
  ["a text", found],
  ["a body", foundInBody],
])("in %s", (_, spansIn) => {
  test.each<[string, string, string[]]>([
    [
      "every element of a list",
      '{"tools":[{"parameters":{"a":1.0}},{"parameters":{}}]}',
      ['{"a":1.0}', "{}"],
    ],
    ["one path within another", '{"tools":[{"function":{"parameters":{}},"parameters":[]}]}', ["{}", "[]"]],
    ["lists", '{"format":{"schema":[{"schema":{}}]}}', ['[{"schema":{}}]']],
    ["no other values", '{"format":{"schema":"{}"},"tools":[{"parameters":1},{"parameters":null}]}', []],
    ["no other places", '{"format":[{"schema":{}}],"tools":{"0":{"parameters":{}}},"parameters":{}}', []],
    ["not in a carried one", '{"format":{"schema":{"format":{"schema":{}}}}}', ['{"format":{"schema":{}}}']],
    ["equal names", '{"format":{"schema":{"a":1},"schema":{"a":2}}}', ['{"a":1}', '{"a":2}']],
    ["names in escapes", '{"format":{"sch\\u0065ma":{"a":1},"schema":{}}}', ['{"a":1}', "{}"]],
    ["white space", '\n{ "format"\t:\r\n{ "schema"  :  { "a" : [ ] } , "x" : 1 } } ', ['{ "a" : [ ] }']],
    [
      "brackets in strings",
      '{"format":{"x":"{[\\"","schema":{"}":"]}\\\\"},"y":"\\"schema\\":{"}}',
      ['{"}":"]}\\\\"}'],
    ],
    ...[90, 94, 95, 96, 97, 98, 200].map((length): [string, string, string[]] => {
      const text = "x".repeat(length);
      return [
        `a string of ${length} with escapes at its end`,
        `{"format":{"a":"${text}\\\\\\"","b":"${text}\\\\","${text}\\"":1,"schema":{"${text}":"${'\\"'.repeat(40)}"}}}`,
        [`{"${text}":"${'\\"'.repeat(40)}"}`],
      ];
    }),
    ["text beyond ASCII", '{"tools":[{"größe🎉":"é","parameters":{"ß":"🎉"}}]}', ['{"ß":"🎉"}']],
    ["empty objects and lists before", '{"x":{},"tools":[{},[],{"parameters":{}}]}', ["{}"]],
  ])("%s", (_name, text, expected) => {
    expect(spansIn(text)).toEqual(expected);
  });
});

test.each([
  ["a name that stands before an object", '{"schema" : {}}', true],
  ["before a list", '{"parameters":\n[]}', true],
  ["before another value", '{"schema":1,"parameters":"{}"}', false],
  ["in a string", '{"a":"{\\"schema\\":{}}"}', false],
  ["another name", '{"schemas":{}}', false],
])("the quick look: %s", (_, text, expected) => {
  expect([hasCarried(text, PATHS), hasCarried(text, NO_PATHS)]).toEqual([expected, false]);
});

const MANY = 100_000;

test.each([
  ["nesting", `{"format":{"schema":${"[".repeat(MANY)}${"]".repeat(MANY)}}}`, 2 * MANY],
  ["nesting that does not end", `{"format":{"schema":${'{"a":'.repeat(MANY)}`, 5 * MANY],
  ["a list that does not end", `{"tools":${"[".repeat(MANY)}`, undefined],
  ["brackets that close nothing", `{"format":{"schema":{}${"]".repeat(MANY)}`, 2],
  ["names without values", `{"format":{${'"schema"'.repeat(MANY)}`, undefined],
  ["commas", `{"tools":[${",".repeat(MANY)}`, undefined],
  ["no colon", '{"format":{"schema"{}', undefined],
  ["an end behind a name", '{"format":{"schema"', undefined],
  ["nothing", "", undefined],
])("hostile text: %s", (_, text, length) => {
  const [span] = opaqueSpans(Buffer.from(text), 0, PATHS);
  expect(span && span.end - span.start).toBe(length);
});

test.each([
  ["a string that does not end", '{"format":{"schema":{"a'],
  ["a name that does not end", '{"format":{"schema'],
  ["an escape that JSON does not have", '{"format":{"\\x":1,"schema":{}}}'],
])("T12: %s is no JSON", (_, text) => {
  expect(() => opaqueSpans(Buffer.from(text), 0, PATHS)).toThrow(
    expect.objectContaining({ kind: "invalid_json" }),
  );
});
