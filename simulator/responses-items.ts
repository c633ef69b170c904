/**
 * Checks the input items of an OpenAI responses request like the provider: kinds of parts by role, ids by kind, tool
 * outputs against their calls, reasoning against its encrypted content. Shapes:
 * https://platform.openai.com/docs/api-reference/responses/create
 */
import { fail, type WeirError } from "../src/base/errors.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { isSeal, sealOf } from "./signature.ts";
import { contentText } from "./simulated-request.ts";

/** The texts of the input. */
export interface Input {
  /** The text of each item, including tool outputs. */
  readonly texts: readonly string[];
  readonly lastUserText: string;
  /** The path of the last tool calls if no encrypted reasoning precedes them. */
  readonly unsignedTurn?: string;
}

const ROLES = ["assistant", "system", "developer", "user"];
const INPUT_PARTS = ["input_text", "input_image", "input_file"];
const OUTPUT_PARTS = ["output_text", "refusal"];
/** Kinds of the provider's own tools; they are ignored. */
const HOSTED_ITEMS =
  /^(file_search|web_search|computer|code_interpreter|image_generation|local_shell|shell|apply_patch|mcp|custom_tool|tool_search|compaction|program)/;
const MAX_CALL_ID = 64;

const refused = (param: string, message: string): WeirError => fail("invalid_value", message, { param });

export const missing = (param: string): WeirError =>
  refused(param, `Missing required parameter: '${param}'.`);

export function invalidValue(param: string, value: unknown, supported: readonly string[]): WeirError {
  const names = supported.map((name) => `'${name}'`).join(", ");
  return refused(param, `Invalid value: '${String(value)}'. Supported values are: ${names}.`);
}

export const invalidType = (param: string, expected: string): WeirError =>
  refused(param, `Invalid type for '${param}': expected ${expected}.`);

/** @param stored items may be referred to by their id. @throws WeirError `invalid_value` */
export function readInput(input: unknown, stored: boolean): Input {
  if (input === undefined || input === null) throw missing("input");
  if (typeof input === "string") return { texts: [input], lastUserText: input };
  if (!Array.isArray(input)) throw invalidType("input", "one of an array of objects or string");
  if (input.length === 0) throw refused("input", "Invalid 'input': empty array. Expected at least one item.");
  const items = input.map((item: unknown, index) => readItem(item, `input[${index}]`, stored));
  checkCalls(items);
  checkReasoning(items);
  const lastUser = items.findLast((item) => item.role === "user");
  const unsigned = unsignedTurn(items);
  return {
    texts: items.map((item) => contentText(item.content) + contentText(item.output)),
    lastUserText: contentText(lastUser?.content),
    ...(unsigned === undefined ? {} : { unsignedTurn: unsigned }),
  };
}

/** The kind of an item; a message may leave it out. */
const kindOf = (item: JsonObject): unknown => item.type ?? "message";

function readItem(item: unknown, at: string, stored: boolean): JsonObject {
  if (!isObject(item)) throw invalidType(at, "an object");
  const kind = kindOf(item);
  switch (kind) {
    case "message":
      checkMessage(item, at);
      break;
    case "function_call":
      checkId(item, at, "fc");
      checkCallId(item, at);
      for (const name of ["name", "arguments"]) checkString(item, at, name);
      break;
    case "function_call_output":
      checkCallId(item, at);
      if (typeof item.output !== "string") checkParts(item.output, `${at}.output`, INPUT_PARTS);
      break;
    case "reasoning":
      checkSealed(item, at, stored);
      break;
    default:
      if (typeof kind !== "string" || !HOSTED_ITEMS.test(kind))
        throw invalidValue(`${at}.type`, kind, [
          "message",
          "function_call",
          "function_call_output",
          "reasoning",
        ]);
  }
  return item;
}

function checkMessage(item: JsonObject, at: string): void {
  if (!ROLES.includes(String(item.role))) throw invalidValue(`${at}.role`, item.role, ROLES);
  checkId(item, at, "msg");
  if (item.content === undefined) throw missing(`${at}.content`);
  if (typeof item.content === "string") return;
  checkParts(item.content, `${at}.content`, item.role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS);
}

function checkParts(parts: unknown, at: string, allowed: readonly string[]): void {
  if (parts === undefined) throw missing(at);
  if (!Array.isArray(parts)) throw invalidType(at, "one of an array of objects or string");
  parts.forEach((part: unknown, index) => {
    const here = `${at}[${index}]`;
    if (!isObject(part)) throw invalidType(here, "an object");
    if (part.type === undefined) throw missing(`${here}.type`);
    if (!allowed.includes(String(part.type))) throw invalidValue(`${here}.type`, part.type, allowed);
    if (part.type === "input_text" || part.type === "output_text") checkString(part, here, "text");
    if (part.type === "refusal") checkString(part, here, "refusal");
    if (part.type === "input_image" && part.image_url == null && part.file_id == null)
      throw missing(`${here}.image_url`);
    if (part.image_url != null) checkString(part, here, "image_url");
    const file = part.file_data ?? part.file_id ?? part.file_url;
    if (part.type === "input_file" && file == null) throw missing(`${here}.file_id`);
  });
}

function checkString(holder: JsonObject, at: string, name: string): void {
  if (holder[name] === undefined) throw missing(`${at}.${name}`);
  if (typeof holder[name] !== "string") throw invalidType(`${at}.${name}`, "a string");
}

function checkId({ id }: JsonObject, at: string, prefix: string): void {
  if (id === undefined || id === null) return;
  if (typeof id !== "string") throw invalidType(`${at}.id`, "a string");
  if (!id.startsWith(prefix))
    throw refused(`${at}.id`, `Invalid '${at}.id': '${id}'. Expected an ID that begins with '${prefix}'.`);
}

function checkCallId(item: JsonObject, at: string): void {
  checkString(item, at, "call_id");
  const length = String(item.call_id).length;
  if (length === 0) throw refused(`${at}.call_id`, `Invalid '${at}.call_id': empty string.`);
  if (length > MAX_CALL_ID)
    throw refused(
      `${at}.call_id`,
      `Invalid '${at}.call_id': string too long. Expected a string with maximum length ${MAX_CALL_ID}, but got a string with length ${length} instead.`,
    );
}

/** Encrypted content must be unchanged, and match the summary beside it if that is sent along. */
function checkSealed(item: JsonObject, at: string, stored: boolean): void {
  if (typeof item.id !== "string") throw missing(`${at}.id`);
  checkId(item, at, "rs");
  if (!Array.isArray(item.summary)) throw missing(`${at}.summary`);
  const sealed = item.encrypted_content;
  if (sealed === undefined || sealed === null) {
    if (stored) return;
    throw refused(
      "input",
      `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    );
  }
  const summary = contentText(item.summary);
  const whole =
    typeof sealed === "string" && isSeal(sealed) && (summary === "" || sealed === sealOf(summary));
  if (whole) return;
  throw refused(
    `${at}.encrypted_content`,
    `The encrypted content for item ${item.id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
  );
}

function checkCalls(items: readonly JsonObject[]): void {
  const called = new Set<unknown>();
  const answered = new Set<unknown>();
  for (const item of items) {
    if (item.type === "function_call") called.add(item.call_id);
    if (item.type !== "function_call_output") continue;
    if (!called.has(item.call_id))
      throw refused(
        "input",
        `No tool call found for function call output with call_id ${String(item.call_id)}.`,
      );
    answered.add(item.call_id);
  }
  const open = [...called].find((id) => !answered.has(id));
  if (open !== undefined) throw refused("input", `No tool output found for function call ${String(open)}.`);
}

/** Reasoning must be followed by the item it led to. */
function checkReasoning(items: readonly JsonObject[]): void {
  items.forEach((item, index) => {
    if (item.type !== "reasoning") return;
    const next = items[index + 1];
    const led =
      next !== undefined &&
      (next.type === "reasoning" || next.type === "function_call" || next.role === "assistant");
    if (led || (next !== undefined && HOSTED_ITEMS.test(String(next.type)))) return;
    throw refused(
      "input",
      `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
    );
  });
}

function unsignedTurn(items: readonly JsonObject[]): string | undefined {
  const call = items.findLastIndex((item) => item.type === "function_call");
  if (call === -1) return undefined;
  for (let at = call; at >= 0; at--) {
    const item = items[at] as JsonObject;
    if (item.type === "reasoning" && typeof item.encrypted_content === "string") return undefined;
    if (item.type !== "function_call" && item.type !== "reasoning" && item.role !== "assistant") break;
  }
  return `input[${call}]`;
}
