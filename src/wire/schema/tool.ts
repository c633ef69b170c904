/**
 * A tool's parameters for a provider that refuses some schemas of any tool, also where it does not hold the model to them: mended, and
 * fitted where the model is held to them.
 */
import { JsonText } from "../json/json-text.ts";
import type { NeutralTool } from "../neutral/neutral.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { objectSchema } from "../neutral/tool-arguments.ts";
import { strictTool } from "./enforced.ts";
import { type MendedSchema, mendSchema } from "./mend.ts";
import { mayNeedMending } from "./needs.ts";
import { CLAUDE_TOOLS, OPENAI_TOOLS, type ToolRules } from "./rules.ts";
import { TextCache } from "./text-cache.ts";

/**
 * A tool whose parameters are an object's, as all these providers ask of them. What the outermost schema may not have is told in the
 * description: the model is not held to it, and is held to no part of the schema.
 * @param index of the tool in the request, for what is not carried as it is
 */
export function fittedTool(
  tool: NeutralTool,
  index: number,
  rules: ToolRules,
  options: OptionTaker,
): NeutralTool {
  const typed = withParameters(tool, objectSchema(tool.parameters));
  const { schema, isTold } = mended(typed.parameters, rules);
  const loose = withParameters(typed, schema);
  if (isTold) {
    options.drop(`/tools/${index}`);
    return tool.strict === true ? { ...loose, strict: false } : loose;
  }
  if (tool.strict !== true) return loose;
  const strict = strictTool(typed, index, rules.strict, options);
  return strict.strict === true ? strict : { ...loose, strict: false };
}

const withParameters = (tool: NeutralTool, parameters: JsonText): NeutralTool =>
  parameters === tool.parameters ? tool : { ...tool, parameters };

const MENDED: ReadonlyMap<ToolRules, TextCache<MendedSchema>> = new Map(
  [CLAUDE_TOOLS, OPENAI_TOOLS].map((rules) => [rules, new TextCache((text) => mendSchema(text, rules))]),
);

function mended(schema: JsonText, rules: ToolRules): { readonly schema: JsonText; readonly isTold: boolean } {
  if (!mayNeedMending(schema, rules)) return { schema, isTold: false };
  const { text } = schema;
  const { text: edited, isTold } = MENDED.get(rules)?.get(text) ?? mendSchema(text, rules);
  return { schema: edited === text ? schema : new JsonText(edited), isTold };
}
