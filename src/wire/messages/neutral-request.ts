/** A client's messages request in neutral terms. */
import type { CacheMark, NeutralMessage, NeutralRequest, Part } from "../neutral/neutral.ts";
import { isObject, objectOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { BlockReader, cacheOf, readMessages } from "./neutral-messages.ts";
import { readOptions } from "./neutral-options.ts";
import { readTools } from "./neutral-tools.ts";
import type { MessagesRequest } from "./request.ts";

/** @throws WeirError 400 naming the field. */
export function messagesNeutral(request: MessagesRequest, source: Source): NeutralRequest {
  const body = objectOf(source.value);
  const blocks = new BlockReader(source);
  const messages = readMessages(body, blocks);
  const { dropped } = blocks;
  if (isObject(body.cache_control) && !markLast(messages, cacheOf(body).cache ?? {})) {
    dropped.push("/cache_control");
  }
  const tools = readTools(body.tools, source, dropped);
  const options = readOptions(body, source, dropped);
  return { stream: request.facts.stream, messages, tools, options, dropped };
}

/** A cache mark on the body counts as one on its last block that can have one. */
function markLast(messages: NeutralMessage[], cache: CacheMark): boolean {
  const last = messages.at(-1);
  const part = last?.parts.at(-1);
  if (last === undefined || part === undefined || !bearsMark(part)) return false;
  const parts = [...last.parts.slice(0, -1), part.cache === undefined ? { ...part, cache } : part];
  messages[messages.length - 1] = { ...last, parts };
  return true;
}

const MARKABLE = ["text", "image", "document", "tool_call", "tool_result"] as const;

type Markable = Extract<Part, { type: (typeof MARKABLE)[number] }>;

const bearsMark = (part: Part): part is Markable => MARKABLE.some((type) => type === part.type);
