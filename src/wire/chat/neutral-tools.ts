/** Tools of a chat-completions request and the choice among them, including the older `functions` and shapes of other formats. */

import { listAt, objectAt, optional, schemaAt, stringAt, wrong } from "../neutral/fields.ts";
import type { FieldValue, Grammar, NeutralTool, ToolChoice } from "../neutral/neutral.ts";
import { isObject, type JsonObject, objectOf } from "../neutral/reader.ts";
import { NO_PARAMETERS } from "../neutral/tool-arguments.ts";
import { parametersOfInput } from "../tool-kinds/input.ts";
import { ToolList } from "../tool-kinds/tool-list.ts";
import { CACHE_KEYS, dropOthers, type Reading, readCache } from "./neutral-reading.ts";

const FUNCTION_KEYS = ["type", "name", "description", "parameters", "input_schema", "strict", ...CACHE_KEYS];
const CUSTOM_KEYS = ["type", "name", "description", "format", ...CACHE_KEYS];

/** The tools of `tools` and of the older `functions`. */
export function readTools(reading: Reading, body: JsonObject): readonly NeutralTool[] {
  if (body.tools == null && body.functions == null) return NO_TOOLS;
  const list = new ToolList(reading.dropped);
  for (const [index, value] of (optional(body.tools, "/tools", listAt) ?? []).entries()) {
    const at = `/tools/${index}`;
    const tool = readTool(reading, objectAt(value, at), at);
    if (tool === undefined) reading.dropped.push(at);
    else list.add(tool, at);
  }
  for (const [index, value] of (optional(body.functions, "/functions", listAt) ?? []).entries()) {
    const at = `/functions/${index}`;
    const fn = objectAt(value, at);
    list.add(readFunction(reading, fn, at, fn, at), at);
  }
  return list.tools;
}

const NO_TOOLS: readonly NeutralTool[] = Object.freeze([]);

/**
 * A tool without a type is a function if it contains or is one: clients of Mistral send no type. Cursor sends tools in the shapes of
 * the responses and the messages format, in which their members stand in the tool itself (BerriAI/litellm#34029,
 * icebear0828/codex-proxy#707).
 * @returns undefined where the tool is of no kind that is known
 */
function readTool(reading: Reading, tool: JsonObject, at: string): NeutralTool | undefined {
  const { type, name } = tool;
  const key = type === "custom" ? "custom" : "function";
  const nested = tool[key];
  if (type == null ? !isObject(nested) && typeof name !== "string" : type !== key) return undefined;
  const isNested = nested != null || typeof name !== "string";
  const place = isNested ? `${at}/${key}` : at;
  const own = isNested ? objectAt(nested, place) : tool;
  if (isNested) dropOthers(reading, tool, at, ["type", key, ...CACHE_KEYS]);
  // A tool of Anthropic's `custom` type has a schema, and is a function.
  const isCustom = type === "custom" && own.input_schema == null;
  return isCustom ? readCustom(reading, own, place) : readFunction(reading, own, place, tool, at);
}

/** @param marked an object beside the function that may have the cache mark */
function readFunction(
  reading: Reading,
  fn: JsonObject,
  at: string,
  marked: JsonObject,
  markedAt: string,
): NeutralTool {
  dropOthers(reading, fn, at, FUNCTION_KEYS);
  const name = reading.source.whole(stringAt(fn.name, `${at}/name`));
  const description = optional(fn.description, `${at}/description`, stringAt);
  const cache = readCache(reading, marked, markedAt) ?? readCache(reading, fn, at);
  return {
    name,
    ...(description !== undefined && { description }),
    parameters:
      schemaAt(reading.source, fn.parameters, `${at}/parameters`) ??
      schemaAt(reading.source, fn.input_schema, `${at}/input_schema`) ??
      NO_PARAMETERS,
    ...(typeof fn.strict === "boolean" && { strict: fn.strict }),
    ...(cache && { cache }),
  };
}

/** A tool that takes text in free form (OpenAI API reference, "Create chat completion", `tools`). */
function readCustom(reading: Reading, custom: JsonObject, at: string): NeutralTool {
  dropOthers(reading, custom, at, CUSTOM_KEYS);
  const description = optional(custom.description, `${at}/description`, stringAt);
  const format = optional(custom.format, `${at}/format`, objectAt);
  const grammar = format?.type === "grammar" ? grammarOf(reading, format, `${at}/format`) : undefined;
  return {
    name: reading.source.whole(stringAt(custom.name, `${at}/name`)),
    kind: "custom",
    parameters: parametersOfInput(grammar),
    ...(description !== undefined && { description }),
    ...(grammar !== undefined && { grammar }),
  };
}

/** Whole, since it goes into the text of a schema. The responses format has it in the format itself. */
function grammarOf({ source }: Reading, format: JsonObject, at: string): Grammar {
  const isFlat = format.grammar == null && format.definition != null;
  const place = isFlat ? at : `${at}/grammar`;
  const { syntax, definition } = isFlat ? format : objectAt(format.grammar, place);
  return {
    syntax: source.whole(stringAt(syntax, `${place}/syntax`)),
    definition: source.whole(stringAt(definition, `${place}/definition`)),
  };
}

/** Words of a choice; `any` is that of Mistral and Anthropic. */
const CHOICES: Readonly<Record<string, ToolChoice>> = {
  auto: "auto",
  none: "none",
  required: "required",
  any: "required",
};

/** The choice of `tool_choice`, or of the older `function_call`. */
export function readToolChoice(reading: Reading, body: JsonObject): FieldValue<ToolChoice> | undefined {
  const key = body.tool_choice == null ? "function_call" : "tool_choice";
  const given = body[key];
  if (given == null) return undefined;
  const at = `/${key}`;
  const named = isObject(given) ? (key === "function_call" ? given : namedIn(given)) : {};
  if (typeof named.name === "string") return { value: { name: reading.source.whole(named.name) }, at };
  // Cursor sends the word as a type, as Anthropic has it.
  const word = isObject(given) ? given.type : given;
  if (typeof word === "string" && Object.hasOwn(CHOICES, word))
    return { value: CHOICES[word] as ToolChoice, at };
  reading.dropped.push(at);
  return undefined;
}

/** Types of a tool that is chosen by name; the last one is Anthropic's. */
const NAMED: readonly unknown[] = ["function", "custom", "tool", undefined, null];

/** The object of a choice that has the tool's name: `function` or `custom`; in the shape of other formats, the choice itself. */
function namedIn(chosen: JsonObject): JsonObject {
  const { type, function: fn, custom } = chosen;
  if (isObject(fn) || isObject(custom)) return objectOf(isObject(fn) ? fn : custom);
  return NAMED.includes(type) ? chosen : {};
}

/** The tools that may be called, if not all of them, and how: `allowed_tools` of the choice. */
export function readAllowedTools(
  reading: Reading,
  body: JsonObject,
): { readonly mode: FieldValue<ToolChoice>; readonly names: FieldValue<readonly string[]> } | undefined {
  const choice = objectOf(body.tool_choice);
  if (choice.type !== "allowed_tools") return undefined;
  const at = "/tool_choice";
  // The responses format has them in the choice itself.
  const isFlat = choice.allowed_tools == null && choice.tools != null;
  const place = isFlat ? at : `${at}/allowed_tools`;
  const { mode, tools } = isFlat ? choice : objectAt(choice.allowed_tools, place);
  if (mode !== "auto" && mode !== "required") throw wrong(`${place}/mode`, "auto or required");
  const names = listAt(tools, `${place}/tools`).flatMap((tool) => {
    const { name } = namedIn(objectOf(tool));
    return typeof name === "string" ? [reading.source.whole(name)] : [];
  });
  return { mode: { value: mode, at }, names: { value: names, at } };
}
