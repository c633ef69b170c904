/** A tool's parameters for Claude whose outermost schema is a choice. */
import { expect, test } from "vitest";
import { JsonText } from "../../../../src/wire/json/json-text.ts";
import type { NeutralRequest, NeutralTool } from "../../../../src/wire/neutral/neutral.ts";
import { OptionTaker } from "../../../../src/wire/neutral/options.ts";
import { claudeTool } from "../../../../src/wire/schema/claude-tool.ts";

const NOTHING: NeutralRequest = { stream: false, messages: [], tools: [], options: {}, dropped: [] };

function written(parameters: string, strict?: boolean) {
  const options = new OptionTaker(NOTHING);
  const tool: NeutralTool = {
    name: "f",
    parameters: new JsonText(parameters),
    ...(strict !== undefined && { strict }),
  };
  const made = claudeTool(tool, 3, options);
  return [made.parameters.text, made.strict, ...options.dropped()];
}

test("any other schema stays", () => {
  const loose = '{"type":"object","properties":{"anyOf":{"oneOf":[{"minimum":1.0}]}}}';
  expect(written(loose)).toEqual([loose, undefined]);
  expect(written(loose, false)).toEqual([loose, false]);
});

test.each(["anyOf", "oneOf", "allOf"])("%s is told, and not held to", (key) => {
  const from = `{"type":"object", "${key}":[{"required":["a"]}], "properties":{"a":{"minimum":1.0}}}`;
  const told = `{"type":"object", "description":"{${key}: [{\\"required\\":[\\"a\\"]}]}", "properties":{"a":{"minimum":1.0}}}`;
  expect(written(from)).toEqual([told, undefined, "/tools/3"]);
  expect(written(from, true)).toEqual([told, false, "/tools/3"]);
});

test("a description is kept before it", () => {
  const from = '{"description":"d","anyOf":[],"oneOf":[]}';
  expect(written(from)).toEqual(['{"description":"d\\n\\n{anyOf: [], oneOf: []}"}', undefined, "/tools/3"]);
});
