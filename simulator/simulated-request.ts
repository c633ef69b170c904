/**
 * A parsed request, whatever its dialect: what the answer depends on, and nothing else. Also the steps that the readers
 * of all dialects share; each refuses only what a provider would refuse.
 */
import { fail } from "../src/base/errors.ts";
import { directives, withoutDirectives } from "./instruction.ts";
import { isObject, type JsonObject } from "./schema.ts";

export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters: unknown;
}

export interface SimulatedRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The stream reports usage, in dialects where that must be requested. */
  readonly includeUsage: boolean;
  /** Number of choices requested. */
  readonly n: number;
  /** Limit of output tokens per answer; Infinity without one. */
  readonly maxTokens: number;
  readonly tools: readonly Tool[];
  readonly toolChoice: "none" | "auto" | "required" | { readonly name: string };
  readonly format: "text" | { readonly schema: unknown };
  /** All message text, in order. */
  readonly prompt: string;
  /** UTF-8 bytes of the prompt divided by four, rounded up. */
  readonly promptTokens: number;
  /** The last user message without its directives. */
  readonly lastUserText: string;
  /** The body's instruction objects, in order of precedence, lowest first. */
  readonly instructions: readonly unknown[];
  /** Names of the body's fields. */
  readonly fields: readonly string[];
  readonly stopSequences?: readonly string[];
  /** The path of the last assistant turn, if it calls tools and lacks verified reasoning before them. */
  readonly unsignedTurn?: string;
}

/** Members that every dialect derives in the same way from a body and its texts. */
export type Prompted = Pick<
  SimulatedRequest,
  "prompt" | "promptTokens" | "lastUserText" | "instructions" | "fields"
>;

/** @param texts of all messages, in order; @param lastUserText of the last user message, directives included */
export function prompted(json: JsonObject, texts: readonly string[], lastUserText: string): Prompted {
  const prompt = texts.join("\n");
  return {
    prompt,
    promptTokens: Math.ceil(Buffer.byteLength(prompt) / 4),
    lastUserText: withoutDirectives(lastUserText),
    instructions: [...(json.simulator === undefined ? [] : [json.simulator]), ...directives(lastUserText)],
    fields: Object.keys(json),
  };
}

/** @throws WeirError `invalid_json` if the body is not a JSON object */
export function parseObject(body: Buffer): JsonObject {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch {
    throw fail("invalid_json", "We could not parse the JSON body of your request.");
  }
  if (!isObject(json)) throw fail("invalid_json", "The body of your request is not a JSON object.");
  return json;
}

/** The text of a message's content: a string, or its parts with a `text`. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => (isObject(part) && typeof part.text === "string" ? part.text : ""))
    .join("");
}

/** @throws WeirError `invalid_value` unless the field is absent, null, or an integer from 1 to `max` */
export function wholeNumber(
  json: JsonObject,
  name: string,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const value = json[name];
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > max) {
    throw fail("invalid_value", `Invalid '${name}': expected an integer from 1 to ${max}.`, { param: name });
  }
  return value as number;
}
