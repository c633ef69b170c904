/**
 * Tools that a provider runs by itself within a call: what they find is read and billed as prompt, and how much that is nobody
 * here can know.
 */
import { isObject, type JsonObject, listOf } from "./reader.ts";

/** Members that ask for such a tool: a search of OpenAI's, OpenRouter's, xAI's, Alibaba's and Zhipu's, servers of tools. */
const ASKING: readonly string[] = [
  ...["web_search_options", "plugins", "search_parameters", "enable_search", "web_search", "mcp_servers"],
];

/** `type` of a tool, whose version may follow. */
const FETCHING = /^(web_search|web_fetch|x_search|file_search|collections_search|browser_search|mcp)/;

/** Whether a body asks the provider to look for more than it holds. */
export function bringsResults(body: JsonObject): boolean {
  for (const name of ASKING) {
    const value = body[name];
    if (value != null && value !== false) return true;
  }
  return listOf(body.tools).some(
    (tool) => isObject(tool) && typeof tool.type === "string" && FETCHING.test(tool.type),
  );
}
