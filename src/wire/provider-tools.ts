/**
 * Tools that a provider runs by itself within a call: what they find is read and billed as prompt, and how much that is
 * nobody here can know.
 */
import { isObject, type JsonObject } from "./reader.ts";

/** `type` of a tool, whose version may follow. */
const FETCHING = /^(web_search|web_fetch|x_search|file_search|collections_search|browser_search|mcp)/;

/**
 * Whether a body asks the provider to look for more than it holds: by members of OpenAI's, OpenRouter's, xAI's, Alibaba's
 * and Anthropic's, or by a tool. Every call comes here: names written out are found faster than names in a list.
 */
export function bringsResults(body: JsonObject): boolean {
  return (
    isAsked(body.web_search_options) ||
    isAsked(body.plugins) ||
    isAsked(body.search_parameters) ||
    isAsked(body.enable_search) ||
    isAsked(body.web_search) ||
    isAsked(body.mcp_servers) ||
    (Array.isArray(body.tools) && body.tools.some(isFetching))
  );
}

const isAsked = (value: unknown): boolean => value != null && value !== false;

const isFetching = (tool: unknown): boolean =>
  isObject(tool) && typeof tool.type === "string" && tool.type !== "function" && FETCHING.test(tool.type);
