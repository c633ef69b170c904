/**
 * Schemas as a request has them, for a provider that holds the model to them: fitted, and what a caller must hear of it. A bound that
 * is only told to the model and a map that is closed are named as not carried; so is what cannot be held to at all.
 */
import { JsonText } from "../json/json-text.ts";
import type { NeutralTool, OutputFormat } from "../neutral/neutral.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { type FittedSchema, fitSchema } from "./fit.ts";
import { CLAUDE_RULES, OPENAI_RULES, type SchemaRules } from "./rules.ts";
import { TextCache } from "./text-cache.ts";

/** Fitting a tool's schema costs some ten times as much as finding it here. */
const FITTED: ReadonlyMap<SchemaRules, TextCache<FittedSchema | undefined>> = new Map(
  [CLAUDE_RULES, OPENAI_RULES].map((rules) => [rules, new TextCache((text) => fitSchema(text, rules))]),
);

interface Fitted extends Omit<FittedSchema, "text"> {
  readonly schema: JsonText;
}

function fittedTo(schema: JsonText, rules: SchemaRules): Fitted | undefined {
  const { text } = schema;
  const fitted = FITTED.get(rules)?.get(text);
  if (fitted === undefined) return undefined;
  const { isTold, isClosed } = fitted;
  return { schema: fitted.text === text ? schema : new JsonText(fitted.text), isTold, isClosed };
}

/**
 * A tool's parameters, and whether the model is held to them. A schema that does not fit is sent as it is, and only told to the model.
 * @param tool one without `strict: true` stays as it is
 * @param index of the tool in the request
 */
export function strictTool<T extends Pick<NeutralTool, "parameters" | "strict">>(
  tool: T,
  index: number,
  rules: SchemaRules,
  options: OptionTaker,
): T {
  if (tool.strict !== true) return tool;
  const fitted = fittedTo(tool.parameters, rules);
  if (fitted === undefined || fitted.isTold || fitted.isClosed) options.drop(`/tools/${index}`);
  return fitted === undefined ? { ...tool, strict: false } : { ...tool, parameters: fitted.schema };
}

export type SchemaFormat = Extract<OutputFormat, { type: "json_schema" }>;

/**
 * The schema of an answer's format at a provider that always holds to it. Where the caller did not ask for that (`strict`), a bound that
 * is only told to the model is no loss.
 * @returns undefined where the schema does not fit: it cannot be carried
 */
export function enforcedFormat(
  schema: JsonText,
  { strict }: SchemaFormat,
  rules: SchemaRules,
  options: OptionTaker,
): JsonText | undefined {
  const fitted = fittedTo(schema, rules);
  if (fitted === undefined || fitted.isClosed || (fitted.isTold && strict === true))
    options.putBack("format");
  return fitted?.schema;
}

/** The same at a provider that holds to it only where `strict` is true: else the model is told the schema. */
export function strictFormat(format: SchemaFormat, rules: SchemaRules, options: OptionTaker): SchemaFormat {
  if (format.strict !== true) return format;
  const schema = enforcedFormat(format.schema, format, rules, options);
  return schema === undefined ? { ...format, strict: false } : { ...format, schema };
}
