/** Tools of a responses request in neutral terms. */
import type { NeutralTool } from "../neutral/neutral.ts";
import { type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { NO_PARAMETERS } from "../neutral/tool-arguments.ts";
import { wrong } from "./neutral-messages.ts";

export function readTools(value: unknown, source: Source, dropped: string[]): NeutralTool[] {
  const tools: NeutralTool[] = [];
  for (const [index, item] of listOf(value).entries()) {
    const at = `/tools/${index}`;
    const tool = objectOf(item);
    // Hosted tools, namespaces of tools, and tools with input in free form.
    if (tool.type !== "function" && (tool.type != null || typeof tool.name !== "string")) dropped.push(at);
    else tools.push(functionTool(tool, source, at));
  }
  return tools;
}

function functionTool(tool: JsonObject, source: Source, at: string): NeutralTool {
  if (typeof tool.name !== "string") throw wrong(`${at}/name`, "a string");
  const { description, parameters, strict } = tool;
  return {
    name: tool.name,
    parameters: source.json(parameters) ?? NO_PARAMETERS,
    ...(typeof description === "string" && { description }),
    ...(typeof strict === "boolean" && { strict }),
  };
}
