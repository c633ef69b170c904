/**
 * A tool's parameters for Claude, which takes any JSON schema of a tool that it is not held to, save a choice as the outermost schema:
 * "input_schema does not support oneOf, allOf, or anyOf at the top level" (anthropics/claude-code#40075). The choice is told in the
 * description, and the model is not held to it.
 */
import { applyEdits } from "../json/json.ts";
import { JsonText } from "../json/json-text.ts";
import type { NeutralTool } from "../neutral/neutral.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { strictTool } from "./enforced.ts";
import { toldEdits } from "./fit.ts";
import { CLAUDE_RULES } from "./rules.ts";
import { readingSchema, readSchema } from "./schema-tree.ts";
import { TextCache } from "./text-cache.ts";

/** @param index of the tool in the request, for what is not carried as it is */
export function claudeTool(tool: NeutralTool, index: number, options: OptionTaker): NeutralTool {
  const parameters = withoutOuterChoice(tool.parameters);
  if (parameters === tool.parameters) return strictTool(tool, index, CLAUDE_RULES, options);
  options.drop(`/tools/${index}`);
  return { ...tool, parameters, ...(tool.strict === true && { strict: false }) };
}

const CHOICES: readonly string[] = ["anyOf", "oneOf", "allOf"];
const UPPER_O = 79;

/** A text with more capitals of the kind is searched for the names' end: each find costs as much as many bytes. */
const FEW = 16;

/** Their names end alike. In bytes one capital is sought, which texts of schemas hardly have: that is done for every tool. */
function mayHaveChoice({ json }: JsonText): boolean {
  if (typeof json === "string") return json.includes('Of"');
  const bytes = json.bytes.subarray(json.start, json.end);
  let at = bytes.indexOf(UPPER_O);
  for (let tries = 0; at >= 0 && tries < FEW; tries++) {
    if (bytes[at + 1] === LOWER_F && bytes[at + 2] === QUOTE) return true;
    at = bytes.indexOf(UPPER_O, at + 1);
  }
  return at >= 0 && bytes.includes('Of"', at, "latin1");
}

const LOWER_F = 102;
const QUOTE = 34;

function withoutOuterChoice(schema: JsonText): JsonText {
  if (!mayHaveChoice(schema)) return schema;
  const { text } = schema;
  const edited = EDITED.get(text);
  return edited === text ? schema : new JsonText(edited);
}

const EDITED = new TextCache((text) =>
  readingSchema(() => {
    const root = readSchema(text);
    const moved = root?.members.map(({ key }) => CHOICES.includes(key)) ?? [];
    return root === undefined || !moved.includes(true)
      ? text
      : applyEdits(text, toldEdits(text, root, moved));
  }),
);
