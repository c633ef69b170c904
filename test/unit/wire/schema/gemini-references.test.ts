/** References in schemas for Gemini. */
import { expect, test } from "vitest";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import { geminiReferences } from "../../../../src/wire/schema/gemini-references.ts";

const edited = (text: string): string => geminiReferences(new JsonText(text)).text;

test.each([
  ["none", '{"type":"object","additionalProperties":false,"minimum":1.0}'],
  ["a name like it", '{"type":"object","properties":{"$ref":{"type":"string"}}}'],
  ["into $defs", '{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}'],
  ["with what may stand beside it", '{"items":{"$ref":"#/$defs/A","description":"d","default":1.0}}'],
  ["in data", '{"default":{"$ref":"#/definitions/A","title":"t"},"definitions2":{}}'],
  ["at the outermost schema", '{"$ref":"#/$defs/A","title":"t","$defs":{"A":{"type":"string"}}}'],
  ["into both", '{"items":{"$ref":"#/definitions/A"},"definitions":{"A":{}},"$defs":{}}'],
])("a reference stays: %s", (_, text) => {
  const schema = new JsonText(text);
  expect(geminiReferences(schema)).toBe(schema);
});

test.each([
  [
    "draft 7's definitions get their new name",
    '{"$ref":"#/definitions/A","definitions" : {"A":{"items":{"$ref": "#/definitions/B~1"}},"B/":{"default":1.0}}}',
    '{"$ref":"#/$defs/A","$defs" : {"A":{"items":{"$ref": "#/$defs/B~1"}},"B/":{"default":1.0}}}',
  ],
  [
    "what may not stand beside a reference stands beside a choice of one",
    '{"properties":{"a":{"title":"T","$ref":"#/$defs/A","description":"d"}},"$defs":{"A":{"type":"string"}}}',
    '{"properties":{"a":{"title":"T","anyOf":[{"$ref":"#/$defs/A"}],"description":"d"}},"$defs":{"A":{"type":"string"}}}',
  ],
  [
    "both",
    '{"items":{"$ref":"#/definitions/A","type":"string"},"definitions":{"A":{"type":"string"}}}',
    '{"items":{"anyOf":[{"$ref":"#/$defs/A"}],"type":"string"},"$defs":{"A":{"type":"string"}}}',
  ],
])("%s", (_, from, to) => {
  expect(edited(from)).toBe(to);
  expect(edited(to)).toBe(to);
});

test("a schema that is a range of a body is found there", () => {
  const schema = '{"items":{"$ref":"#/definitions/é"},"definitions":{"é":{}}}';
  const bytes = Buffer.from(`["é",${schema},"$ref"]`);
  const start = bytes.indexOf("{");
  const json = new JsonText({ bytes, start, end: start + Buffer.byteLength(schema) });
  expect(geminiReferences(json).text).toBe('{"items":{"$ref":"#/$defs/é"},"$defs":{"é":{}}}');
});
