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
import { mayHave, readingSchema, readSchema } from "./schema-tree.ts";
import { TextCache } from "./text-cache.ts";

/** @param index of the tool in the request, for what is not carried as it is */
export function claudeTool(tool: NeutralTool, index: number, options: OptionTaker): NeutralTool {
  const parameters = withoutOuterChoice(tool.parameters);
  if (parameters === tool.parameters) return strictTool(tool, index, CLAUDE_RULES, options);
  options.drop(`/tools/${index}`);
  return { ...tool, parameters, ...(tool.strict === true && { strict: false }) };
}

const CHOICES: readonly string[] = ["anyOf", "oneOf", "allOf"];

function withoutOuterChoice(schema: JsonText): JsonText {
  if (!CHOICES.some((name) => mayHave(schema, name))) return schema;
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
