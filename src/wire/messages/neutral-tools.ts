/** Tools of a messages request in neutral terms. */
import { schemaAt, stringAt, under, wrong } from "../neutral/fields.ts";
import type { NeutralTool } from "../neutral/neutral.ts";
import { isObject, listOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { ToolList } from "../tool-kinds/tool-list.ts";
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

/** @param dropped gets the pointers of what has no neutral form, such as tools that Anthropic runs itself */
export function readTools(value: unknown, source: Source, dropped: string[]): readonly NeutralTool[] {
  if (value == null) return NO_TOOLS;
  const list = new ToolList(dropped);
  for (const [index, tool] of listOf(value).entries()) {
    const at = `/tools/${index}`;
    if (!isObject(tool)) throw wrong(at, "a tool");
    if (tool.type != null && tool.type !== "custom") {
      dropped.push(at);
      continue;
    }
    const { description, input_schema: schema, strict } = tool;
    const name = source.whole(stringAt(tool.name, `${at}/name`));
    const parameters = schemaAt(source, schema, `${at}/input_schema`);
    if (parameters === undefined) throw wrong(`${at}/input_schema`, "a JSON schema");
    const read: NeutralTool = {
      name,
      ...(typeof description === "string" && { description }),
      parameters,
      ...(typeof strict === "boolean" && { strict }),
      ...cacheOf(tool),
    };
    list.add(read, at);
    for (const key in tool) {
      if (!TOOL_MEMBERS.has(key) && isSet(tool[key])) dropped.push(under(at, key));
    }
  }
  return list.tools;
}

const NO_TOOLS: readonly NeutralTool[] = Object.freeze([]);

/** For these members false means the same as absence. */
export const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== false;
