/**
 * The messages of a Bedrock Converse request, checked as the service and the models behind it check them: roles, kinds
 * of blocks, tool results against the calls they answer, reasoning against its signature.
 * Rules: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
 */
import { fail, type WeirError } from "../src/base/errors.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { isSeal, signatureOf } from "./signature.ts";
import { contentText } from "./simulated-request.ts";
import { shown } from "./simulated-route.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: readonly JsonObject[];
}

const SHARED_BLOCKS = [
  "text",
  "image",
  "document",
  "video",
  "audio",
  "guardContent",
  "cachePoint",
  "searchResult",
];
const BLOCKS = {
  user: [...SHARED_BLOCKS, "toolResult"],
  assistant: [...SHARED_BLOCKS, "toolUse", "reasoningContent", "citationsContent"],
} as const;
const RESULT_BLOCKS = ["json", "text", "image", "document", "video", "searchResult"];
const FORMATS: Readonly<Record<string, readonly string[]>> = Object.freeze({
  image: ["png", "jpeg", "gif", "webp"],
  document: ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"],
});
const SOURCES = ["bytes", "s3Location", "text", "content"];
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** A refusal; `at` is the path as the service writes it, such as `messages.0.content.1`. */
export const refused = (at: string, message: string): WeirError =>
  fail("invalid_value", message, { param: at });

/** @throws WeirError `invalid_value` as the service refuses such messages */
export function readMessages(json: unknown, hasTools: boolean): Message[] {
  if (!Array.isArray(json) || json.length === 0) {
    throw refused(
      "messages",
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  const messages = json.map(readMessage);
  if (messages[0]?.role !== "user") {
    throw refused(
      "messages.0.role",
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  const usesTools = messages.some(({ content }) =>
    content.some((block) => block.toolUse !== undefined || block.toolResult !== undefined),
  );
  if (usesTools && !hasTools) {
    throw refused(
      "toolConfig",
      "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    );
  }
  messages.forEach((message, index) => {
    if (message.role === messages[index - 1]?.role) {
      throw refused(
        `messages.${index}.role`,
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
      );
    }
    checkResults(messages[index - 1], message, index);
  });
  const last = messages.at(-1);
  if (last?.role === "assistant") checkResults(last, undefined, messages.length);
  return messages;
}

function readMessage(message: unknown, index: number): Message {
  const at = `messages.${index}`;
  if (!isObject(message)) throw refused(at, `The value at ${at} is not a message.`);
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") {
    throw refused(
      `${at}.role`,
      `Value '${shown(role)}' at '${at}.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]`,
    );
  }
  if (!Array.isArray(content) || content.length === 0) {
    throw refused(
      `${at}.content`,
      `The content field in the Message object at ${at} is empty. Add a ContentBlock object to the content field and try again.`,
    );
  }
  content.forEach((block: unknown, i) => {
    checkBlock(block, `${at}.content.${i}`, BLOCKS[role]);
  });
  const blocks: readonly JsonObject[] = content;
  const hasText = blocks.some((block) => block.text !== undefined);
  if (!hasText && blocks.some((block) => block.document !== undefined)) {
    throw refused(`${at}.content`, "Add a text block to the message: a document must come with one.");
  }
  return { role, content: blocks };
}

/** A union has exactly one member. */
function memberOf(block: unknown, at: string, allowed: readonly string[]): string {
  const names = isObject(block) ? Object.keys(block).filter((name) => block[name] !== undefined) : [];
  const [name = "nothing"] = names;
  if (names.length === 1 && allowed.includes(name)) return name;
  const found = names.length > 1 ? names.join(" and ") : name;
  throw refused(at, `The union at ${at} must have exactly one of ${allowed.join(", ")}, and has ${found}.`);
}

function checkBlock(block: unknown, at: string, allowed: readonly string[]): void {
  const name = memberOf(block, at, allowed);
  const value = isObject(block) ? block[name] : undefined;
  if (name === "text") {
    if (typeof value === "string" && value.trim() !== "") return;
    throw refused(
      at,
      `The text field in the ContentBlock object at ${at} is blank. Add text to the text field, and try again.`,
    );
  }
  if (!isObject(value)) throw refused(`${at}.${name}`, `The value at ${at}.${name} is not an object.`);
  if (name === "image" || name === "document") checkMedia(value, `${at}.${name}`, name);
  if (name === "cachePoint" && value.type !== "default") {
    throw refused(`${at}.cachePoint.type`, `The cachePoint at ${at} must be of type default.`);
  }
  if (name === "toolUse") checkToolUse(value, `${at}.toolUse`);
  if (name === "toolResult") checkToolResult(value, `${at}.toolResult`);
  if (name === "reasoningContent") checkReasoning(value, at);
}

function checkMedia(media: JsonObject, at: string, kind: "image" | "document"): void {
  const formats = FORMATS[kind] ?? [];
  if (typeof media.format !== "string" || !formats.includes(media.format)) {
    throw refused(`${at}.format`, `The format at ${at} must be one of ${formats.join(", ")}.`);
  }
  if (
    kind === "document" &&
    (typeof media.name !== "string" || !/^[A-Za-z0-9\s\-()[\]]{1,200}$/.test(media.name))
  ) {
    throw refused(
      `${at}.name`,
      "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
    );
  }
  const source = memberOf(media.source, `${at}.source`, SOURCES);
  const bytes = isObject(media.source) ? media.source.bytes : undefined;
  if (source === "bytes" && (typeof bytes !== "string" || bytes === "")) {
    throw refused(`${at}.source.bytes`, `The bytes at ${at}.source must be base64 and not empty.`);
  }
}

function checkToolUse({ toolUseId, name, input }: JsonObject, at: string): void {
  if (typeof toolUseId !== "string" || !ID.test(toolUseId)) {
    throw refused(
      `${at}.toolUseId`,
      `The toolUseId at ${at} must satisfy the pattern [a-zA-Z0-9_-]+ and 64 characters.`,
    );
  }
  if (typeof name !== "string" || !ID.test(name)) {
    throw refused(
      `${at}.name`,
      `The name at ${at} must satisfy the pattern [a-zA-Z0-9_-]+ and 64 characters.`,
    );
  }
  if (!isObject(input)) {
    throw refused(
      `${at}.input`,
      `The format of the value at ${at}.input is invalid. Provide a json object for the field and try again.`,
    );
  }
}

function checkToolResult({ toolUseId, content, status }: JsonObject, at: string): void {
  if (typeof toolUseId !== "string") throw refused(`${at}.toolUseId`, `There is no toolUseId at ${at}.`);
  if (!Array.isArray(content)) throw refused(`${at}.content`, `The content at ${at} is not a list.`);
  if (status !== undefined && status !== "success" && status !== "error") {
    throw refused(`${at}.status`, `The status at ${at} must be success or error.`);
  }
  if (status === "error" && content.length === 0) {
    throw refused(at, `The content field at ${at} cannot be empty when status value is error.`);
  }
  content.forEach((block: unknown, i) => {
    checkBlock(block, `${at}.content.${i}`, RESULT_BLOCKS);
  });
}

function checkReasoning(reasoning: JsonObject, at: string): void {
  const said = "The model returned the following errors:";
  if (
    memberOf(reasoning, `${at}.reasoningContent`, ["reasoningText", "redactedContent"]) === "redactedContent"
  ) {
    const { redactedContent: data } = reasoning;
    if (typeof data === "string" && isSeal(data)) return;
    throw refused(at, `${said} ${at}: Invalid \`data\` in \`redacted_thinking\` block`);
  }
  const { text, signature } = isObject(reasoning.reasoningText) ? reasoning.reasoningText : {};
  if (typeof text === "string" && signature === signatureOf(text)) return;
  throw refused(at, `${said} ${at}: Invalid \`signature\` in \`thinking\` block`);
}

const idsOf = (message: Message | undefined, name: "toolUse" | "toolResult"): unknown[] =>
  (message?.content ?? [])
    .map((block) => block[name])
    .flatMap((use) => (isObject(use) ? [use.toolUseId] : []));

/** The results in a message must match the calls of the previous message. */
function checkResults(before: Message | undefined, message: Message | undefined, index: number): void {
  const at = `messages.${index}.content`;
  const calls = idsOf(before, "toolUse");
  const results = idsOf(message, "toolResult");
  const open = calls.filter((id) => !results.includes(id));
  if (open.length > 0) {
    throw refused(at, `Expected toolResult blocks at ${at} for the following Ids: ${open.join(", ")}`);
  }
  if (results.length > calls.length) {
    throw refused(
      at,
      `The number of toolResult blocks at ${at} exceeds the number of toolUse blocks of previous turn.`,
    );
  }
}

/** The text of a message as counted in prompts: texts and tool results. */
export const textOfMessage = ({ content }: Message): string => content.map(textOfBlock).join("");

function textOfBlock(block: JsonObject): string {
  const result = block.toolResult;
  if (!isObject(result) || !Array.isArray(result.content)) return contentText([block]);
  return result.content
    .map((one: unknown) =>
      isObject(one) && one.json !== undefined ? JSON.stringify(one.json) : contentText([one]),
    )
    .join("");
}

/** The path of the last assistant message, if it calls tools and does not begin with reasoning. */
export function unsignedTurnOf(messages: readonly Message[]): string | undefined {
  const index = messages.findLastIndex(({ role }) => role === "assistant");
  const message = messages[index];
  if (message === undefined || idsOf(message, "toolUse").length === 0) return undefined;
  return message.content[0]?.reasoningContent === undefined ? `messages.${index}.content.0` : undefined;
}
