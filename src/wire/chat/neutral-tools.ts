/** Tools of a chat-completions request and the choice among them, including the older `functions`. */

import { listAt, objectAt, optional, schemaAt, stringAt } from "../neutral/fields.ts";
import type { FieldValue, NeutralTool, ToolChoice } from "../neutral/neutral.ts";
import { isObject, type JsonObject } from "../neutral/reader.ts";
import { NO_PARAMETERS } from "../neutral/tool-arguments.ts";
import { CACHE_KEYS, dropOthers, type Reading, readCache } from "./neutral-reading.ts";

const FUNCTION_KEYS = ["type", "name", "description", "parameters", "strict", ...CACHE_KEYS];

/** Other kinds of tool, such as `custom`, have no equal in most dialects. */
export function readTools(reading: Reading, body: JsonObject): NeutralTool[] {
  const tools: NeutralTool[] = [];
  for (const [index, value] of (optional(body.tools, "/tools", listAt) ?? []).entries()) {
    const at = `/tools/${index}`;
    const tool = objectAt(value, at);
    if (!isFunction(tool)) {
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

export function readToolChoice(reading: Reading, body: JsonObject): FieldValue<ToolChoice> | undefined {
  const key = body.tool_choice == null ? "function_call" : "tool_choice";
  const value = body[key];
  if (value == null) return undefined;
  const at = `/${key}`;
  if (value === "auto" || value === "none" || value === "required") return { value, at };
  // Mistral's name of it.
  if (value === "any") return { value: "required", at };
  if (isObject(value)) {
    const named = key === "function_call" ? value : isObject(value.function) ? value.function : {};
    if (typeof named.name === "string") return { value: { name: reading.source.whole(named.name) }, at };
  }
  reading.dropped.push(at);
  return undefined;
}
