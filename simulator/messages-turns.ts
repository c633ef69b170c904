/**
 * Checks the conversation of an Anthropic messages request like the provider: roles, kinds of blocks, tool results
 * against their calls, reasoning against its signature. So a wrong translation is refused here. Shapes:
 * https://platform.claude.com/docs/en/api/messages
 */
import { fail, type WeirError } from "../src/base/errors.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { isSeal, signatureOf } from "./signature.ts";
import { contentText } from "./simulated-request.ts";

/** Consecutive messages of one role, which the provider treats as one turn. */
interface Turn {
  readonly role: string;
  /** Index of its first message. */
  readonly at: number;
  readonly blocks: JsonObject[];
}

/** The texts of the conversation. */
export interface Conversation {
  /** The text of each message, including tool results. */
  readonly texts: readonly string[];
  /** The last text that the user wrote. */
  readonly lastUserText: string;
  /** The path of the last assistant turn if it calls tools and does not begin with reasoning. */
  readonly unsignedTurn?: string;
}

const SERVER_BLOCKS = [
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
];
const USER_BLOCKS = ["text", "image", "document", "search_result", "tool_result", "container_upload"];
const ASSISTANT_BLOCKS = ["text", "thinking", "redacted_thinking", "tool_use", ...SERVER_BLOCKS];
const RESULT_BLOCKS = ["text", "image", "document", "search_result", "tool_reference"];
const SOURCES: Readonly<Record<string, readonly string[]>> = Object.freeze({
  image: ["base64", "url", "file"],
  document: ["base64", "url", "file", "text", "content"],
});
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** A refusal; `at` is the path as the provider writes it, such as `messages.0.content.1`. */
export const refused = (at: string, message: string): WeirError =>
  fail("invalid_value", `${at}: ${message}`, { param: at });

/** @param systemTurns the API version accepts messages of role "system". @throws WeirError `invalid_value` */
export function readConversation(messages: unknown, systemTurns: boolean): Conversation {
  if (!Array.isArray(messages)) throw refused("messages", "Field required");
  if (messages.length === 0) throw refused("messages", "at least one message is required");
  const turns: Turn[] = [];
  const texts: string[] = [];
  messages.forEach((message: unknown, index) => {
    const last = index === messages.length - 1;
    const { role, blocks } = readMessage(message, `messages.${index}`, last, systemTurns);
    texts.push(blocks.map(textOf).join(""));
    const turn = turns.at(-1);
    if (turn?.role === role) turn.blocks.push(...blocks);
    else turns.push({ role, at: index, blocks: [...blocks] });
  });
  const spoken = turns.filter((turn) => turn.role !== "system");
  if (spoken[0]?.role !== "user") throw refused("messages", 'first message must use the "user" role');
  checkCalls(spoken);
  const writing = turns.findLast((turn) => turn.role === "user" && ownText(turn) !== "");
  const unsigned = unsignedTurn(turns);
  return {
    texts,
    lastUserText: writing === undefined ? "" : ownText(writing),
    ...(unsigned === undefined ? {} : { unsignedTurn: unsigned }),
  };
}

const ownText = (turn: Turn): string =>
  turn.blocks.map((block) => (block.type === "text" ? contentText([block]) : "")).join("");

const textOf = (block: JsonObject): string =>
  block.type === "tool_result" ? contentText(block.content) : contentText([block]);

function readMessage(message: unknown, at: string, last: boolean, systemTurns: boolean): Omit<Turn, "at"> {
  if (!isObject(message)) throw refused(at, "Input should be a valid dictionary or object");
  const { role, content } = message;
  if (role === "system" && !systemTurns) {
    throw fail(
      "invalid_value",
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
      { param: `${at}.role` },
    );
  }
  if (role !== "user" && role !== "assistant" && role !== "system") {
    throw refused(`${at}.role`, "Input should be 'user' or 'assistant'");
  }
  for (const key of Object.keys(message)) {
    if (key !== "role" && key !== "content") throw refused(`${at}.${key}`, "Extra inputs are not permitted");
  }
  const blocks = typeof content === "string" ? stringBlocks(content) : content;
  if (!Array.isArray(blocks)) throw refused(`${at}.content`, "Input should be a valid list");
  if (blocks.length === 0 && !(last && role === "assistant")) {
    throw refused(
      at,
      "all messages must have non-empty content except for the optional final assistant message",
    );
  }
  const allowed = role === "assistant" ? ASSISTANT_BLOCKS : role === "user" ? USER_BLOCKS : ["text"];
  blocks.forEach((block: unknown, index) => {
    checkBlock(block, `${at}.content.${index}`, allowed);
  });
  const end: unknown = blocks.at(-1);
  if (last && role === "assistant" && isObject(end) && /\s$/.test(contentText([end]))) {
    throw refused("messages", "final assistant content cannot end with trailing whitespace");
  }
  return { role, blocks };
}

const stringBlocks = (text: string): JsonObject[] => (text === "" ? [] : [{ type: "text", text }]);

function checkBlock(block: unknown, at: string, allowed: readonly string[]): void {
  if (!isObject(block)) throw refused(at, "Input should be a valid dictionary or object");
  const type = block.type;
  if (typeof type !== "string") throw refused(`${at}.type`, "Field required");
  if (!allowed.includes(type)) {
    const tags = allowed.map((tag) => `'${tag}'`).join(", ");
    throw refused(
      at,
      `Input tag '${type}' found using 'type' does not match any of the expected tags: ${tags}`,
    );
  }
  switch (type) {
    case "text":
      if (typeof block.text !== "string") throw refused(`${at}.text.text`, "Field required");
      if (block.text === "") throw refused("messages", "text content blocks must be non-empty");
      if (block.text.trim() === "")
        throw refused("messages", "text content blocks must contain non-whitespace text");
      return;
    case "image":
    case "document":
      checkSource(block.source, `${at}.${type}.source`, type);
      return;
    case "thinking":
      if (typeof block.thinking !== "string") throw refused(`${at}.thinking.thinking`, "Field required");
      if (block.signature !== signatureOf(block.thinking))
        throw refused(at, "Invalid `signature` in `thinking` block");
      return;
    case "redacted_thinking":
      if (typeof block.data !== "string" || !isSeal(block.data))
        throw refused(at, "Invalid `data` in `redacted_thinking` block");
      return;
    case "tool_use":
      checkToolUse(block, `${at}.tool_use`);
      return;
    case "tool_result":
      checkToolResult(block, `${at}.tool_result`);
  }
}

function checkSource(source: unknown, at: string, type: "image" | "document"): void {
  if (!isObject(source)) throw refused(at, "Field required");
  const kinds = SOURCES[type] as readonly string[];
  if (!kinds.includes(String(source.type))) {
    const tags = kinds.map((kind) => `'${kind}'`).join(", ");
    throw refused(
      at,
      `Input tag '${String(source.type)}' found using 'type' does not match any of the expected tags: ${tags}`,
    );
  }
  if (source.type === "url" && typeof source.url !== "string")
    throw refused(`${at}.url.url`, "Field required");
  if (source.type !== "base64") return;
  if (typeof source.data !== "string" || source.data === "")
    throw refused(`${at}.base64.data`, "Field required");
  const types = type === "image" ? IMAGE_TYPES : ["application/pdf"];
  if (!types.includes(String(source.media_type))) {
    const names = types.map((name) => `'${name}'`).join(" or ");
    throw refused(`${at}.base64.media_type`, `Input should be ${names}`);
  }
}

function checkToolUse({ id, name, input }: JsonObject, at: string): void {
  if (typeof id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(id))
    throw refused(`${at}.id`, "String should match pattern '^[a-zA-Z0-9_-]+$'");
  if (typeof name !== "string" || name === "") throw refused(`${at}.name`, "Field required");
  if (!isObject(input)) throw refused(`${at}.input`, "Input should be a valid dictionary");
}

function checkToolResult({ tool_use_id, content }: JsonObject, at: string): void {
  if (typeof tool_use_id !== "string") throw refused(`${at}.tool_use_id`, "Field required");
  if (content === undefined || typeof content === "string") return;
  if (!Array.isArray(content)) throw refused(`${at}.content`, "Input should be a valid list");
  content.forEach((block: unknown, index) => {
    checkBlock(block, `${at}.content.${index}`, RESULT_BLOCKS);
  });
}

/** The results at the start of a turn must match the calls of the previous turn. */
function checkCalls(turns: readonly Turn[]): void {
  const known = new Set<unknown>();
  turns.forEach((turn, index) => {
    const calls = idsOf(turns[index - 1], "tool_use", "id");
    const results = idsOf(turn, "tool_result", "tool_use_id");
    const stray = results.find((id) => !calls.includes(id));
    if (stray !== undefined) {
      throw refused(
        `messages.${turn.at}.content`,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(stray)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    const leading = turn.blocks.findIndex((block) => block.type !== "tool_result");
    const first = leading === -1 ? results : results.slice(0, leading);
    const open = calls.filter((id) => !first.includes(id));
    if (open.length > 0) throw unanswered(turns[index - 1] as Turn, open);
    for (const id of idsOf(turn, "tool_use", "id")) {
      if (known.has(id)) throw refused("messages", "`tool_use` ids must be unique");
      known.add(id);
    }
  });
  const last = turns.at(-1);
  const open = idsOf(last, "tool_use", "id");
  if (last !== undefined && open.length > 0) throw unanswered(last, open);
}

const idsOf = (turn: Turn | undefined, type: string, member: string): unknown[] =>
  (turn?.blocks ?? []).filter((block) => block.type === type).map((block) => block[member]);

const unanswered = (turn: Turn, ids: readonly unknown[]): WeirError =>
  refused(
    `messages.${turn.at}`,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );

function unsignedTurn(turns: readonly Turn[]): string | undefined {
  const turn = turns.findLast(({ role }) => role === "assistant");
  if (turn === undefined || idsOf(turn, "tool_use", "id").length === 0) return undefined;
  const type = turn.blocks[0]?.type;
  return type === "thinking" || type === "redacted_thinking" ? undefined : `messages.${turn.at}.content.0`;
}
