/** Tools of a chat-completions request and the choice among them, including the older `functions`. */

import { listAt, objectAt, optional, schemaAt, stringAt, wrong } from "../neutral/fields.ts";
import type { FieldValue, Grammar, NeutralTool, ToolChoice } from "../neutral/neutral.ts";
import { isObject, type JsonObject, objectOf } from "../neutral/reader.ts";
import { NO_PARAMETERS } from "../neutral/tool-arguments.ts";
import { parametersOfInput } from "../tool-kinds/input.ts";
import { CACHE_KEYS, dropOthers, type Reading, readCache } from "./neutral-reading.ts";

const FUNCTION_KEYS = ["type", "name", "description", "parameters", "strict", ...CACHE_KEYS];

export function readTools(reading: Reading, body: JsonObject): NeutralTool[] {
  const tools: NeutralTool[] = [];
  for (const [index, value] of (optional(body.tools, "/tools", listAt) ?? []).entries()) {
    const at = `/tools/${index}`;
    const tool = objectAt(value, at);
    if (tool.type === "custom") {
      dropOthers(reading, tool, at, ["type", "custom", ...CACHE_KEYS]);
      tools.push(readCustom(reading, objectAt(tool.custom, `${at}/custom`), `${at}/custom`));
    } else if (!isFunction(tool)) {
      reading.dropped.push(at);
    } else if (tool.type == null && tool.function == null) {
      tools.push(readFunction(reading, tool, at, tool, at));
    } else {
      dropOthers(reading, tool, at, ["type", "function", ...CACHE_KEYS]);
      const fn = objectAt(tool.function, `${at}/function`);
      tools.push(readFunction(reading, fn, `${at}/function`, tool, at));
    }
  }
  for (const [index, value] of (optional(body.functions, "/functions", listAt) ?? []).entries()) {
    const at = `/functions/${index}`;
    const fn = objectAt(value, at);
    tools.push(readFunction(reading, fn, at, fn, at));
  }
  return tools;
}

/** A tool without a type is a function if it contains or is one: clients of Mistral send no type. */
const isFunction = ({ type, function: fn, name }: JsonObject): boolean =>
  type === "function" || (type == null && (isObject(fn) || typeof name === "string"));

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
    parameters: schemaAt(reading.source, fn.parameters, `${at}/parameters`) ?? NO_PARAMETERS,
    ...(typeof fn.strict === "boolean" && { strict: fn.strict }),
    ...(cache && { cache }),
  };
}

/** A tool that takes text in free form (OpenAI API reference, "Create chat completion", `tools`). */
function readCustom(reading: Reading, custom: JsonObject, at: string): NeutralTool {
  dropOthers(reading, custom, at, ["name", "description", "format"]);
  const description = optional(custom.description, `${at}/description`, stringAt);
  const format = optional(custom.format, `${at}/format`, objectAt);
  const grammar =
    format?.type === "grammar" ? grammarOf(reading, format.grammar, `${at}/format/grammar`) : undefined;
  return {
    name: reading.source.whole(stringAt(custom.name, `${at}/name`)),
    kind: "custom",
    parameters: parametersOfInput(grammar),
    ...(description !== undefined && { description }),
    ...(grammar !== undefined && { grammar }),
  };
}

/** Whole, since it goes into the text of a schema. */
function grammarOf({ source }: Reading, value: unknown, at: string): Grammar {
  const { syntax, definition } = objectAt(value, at);
  return {
    syntax: source.whole(stringAt(syntax, `${at}/syntax`)),
    definition: source.whole(stringAt(definition, `${at}/definition`)),
  };
}

export function readToolChoice(reading: Reading, body: JsonObject): FieldValue<ToolChoice> | undefined {
  const key = body.tool_choice == null ? "function_call" : "tool_choice";
  const value = body[key];
  if (value == null) return undefined;
  const at = `/${key}`;
  if (value === "auto" || value === "none" || value === "required") return { value, at };
  // Mistral's name of it.
  if (value === "any") return { value: "required", at };
  if (isObject(value)) {
    const named = key === "function_call" ? value : namedIn(value);
    if (typeof named.name === "string") return { value: { name: reading.source.whole(named.name) }, at };
  }
  reading.dropped.push(at);
  return undefined;
}

const namedIn = ({ function: fn, custom }: JsonObject): JsonObject => objectOf(isObject(fn) ? fn : custom);

/** The tools that may be called, if not all of them, and how: `allowed_tools` of the choice. */
export function readAllowedTools(
  reading: Reading,
  body: JsonObject,
): { readonly mode: FieldValue<ToolChoice>; readonly names: FieldValue<readonly string[]> } | undefined {
  const { type, allowed_tools: allowed } = objectOf(body.tool_choice);
  if (type !== "allowed_tools") return undefined;
  const at = "/tool_choice";
  const { mode, tools } = objectAt(allowed, `${at}/allowed_tools`);
  if (mode !== "auto" && mode !== "required") throw wrong(`${at}/allowed_tools/mode`, "auto or required");
  const names = listAt(tools, `${at}/allowed_tools/tools`).flatMap((tool) => {
    const { name } = namedIn(objectOf(tool));
    return typeof name === "string" ? [reading.source.whole(name)] : [];
  });
  return { mode: { value: mode, at }, names: { value: names, at } };
}
