/** Tools of a messages request in neutral terms. */
import { schemaAt, stringAt, under, wrong } from "../neutral/fields.ts";
import type { NeutralTool } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { ToolList } from "../tool-kinds/tool-list.ts";
import { clientTool } from "./client-tools.ts";
import { cacheOf } from "./neutral-messages.ts";

/**
 * Members of a tool that are read here, and `eager_input_streaming`, which is ignored: it only changes how a stream is cut
 * into pieces.
 */
const TOOL_MEMBERS = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "strict",
  "cache_control",
  "eager_input_streaming",
]);

/** What an editor shows at most is for the client, who runs it. */
const CLIENT_TOOL_MEMBERS = new Set(["type", "name", "cache_control", "max_characters"]);

/** @param dropped gets the pointers of what has no neutral form, such as tools that Anthropic runs itself */
export function readTools(value: unknown, source: Source, dropped: string[]): readonly NeutralTool[] {
  if (value == null) return NO_TOOLS;
  const list = new ToolList(dropped);
  for (const [index, tool] of listOf(value).entries()) {
    const at = `/tools/${index}`;
    if (!isObject(tool)) throw wrong(at, "a tool");
    const read = readTool(tool, at, source, dropped);
    if (read === undefined) dropped.push(at);
    else list.add(read, at);
  }
  return list.tools;
}

const NO_TOOLS: readonly NeutralTool[] = Object.freeze([]);

function readTool(tool: JsonObject, at: string, source: Source, dropped: string[]): NeutralTool | undefined {
  const { type, description, input_schema: schema, strict } = tool;
  const isPlain = type == null || type === "custom";
  const own = isPlain ? undefined : clientTool(type);
  if (!isPlain && own === undefined) return undefined;
  const name = source.whole(stringAt(tool.name, `${at}/name`));
  dropOthers(tool, own === undefined ? TOOL_MEMBERS : CLIENT_TOOL_MEMBERS, at, dropped);
  if (own !== undefined) return { name, ...own, ...cacheOf(tool) };
  const parameters = schemaAt(source, schema, `${at}/input_schema`);
  if (parameters === undefined) throw wrong(`${at}/input_schema`, "a JSON schema");
  return {
    name,
    ...(typeof description === "string" && { description }),
    parameters,
    ...(typeof strict === "boolean" && { strict }),
    ...cacheOf(tool),
  };
}

function dropOthers(tool: JsonObject, known: ReadonlySet<string>, at: string, dropped: string[]): void {
  for (const key in tool) if (!known.has(key) && isSet(tool[key])) dropped.push(under(at, key));
}

/** For these members false means the same as absence. */
export const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== false;
