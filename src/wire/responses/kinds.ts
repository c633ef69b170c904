/** Kinds of items in a response and of texts in them, and the stream events that have their deltas or whole texts. */
import { isObject, type JsonObject } from "../neutral/reader.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";
export type ItemKind = "message" | "reasoning" | "call";
export type TextKind = "text" | "refusal" | "summary" | "reasoning";

export const ITEM_KINDS: readonly ItemKind[] = ["message", "reasoning", "call"];
export const MESSAGE_TEXTS: readonly TextKind[] = ["text", "refusal"];
export const REASONING_TEXTS: readonly TextKind[] = ["reasoning"];

export const itemOf = (kind: TextKind): ItemKind =>
  kind === "text" || kind === "refusal" ? "message" : "reasoning";

/** Undefined for items of tools that the provider runs itself. */
export function itemKindOf(item: JsonObject): ItemKind | undefined {
  if (isCall(item)) return "call";
  return item.type === "message" || item.type === "reasoning" ? item.type : undefined;
}

export function kindOf(type: unknown): TextKind | undefined {
  if (type === "output_text") return "text";
  if (type === "refusal") return "refusal";
  return type === "reasoning_text" ? "reasoning" : undefined;
}

export const TEXT_DELTAS: ReadonlyMap<string, TextKind> = new Map([
  ["response.output_text.delta", "text"],
  ["response.refusal.delta", "refusal"],
  ["response.reasoning_summary_text.delta", "summary"],
  ["response.reasoning_text.delta", "reasoning"],
]);
export const TEXTS_DONE: ReadonlyMap<string, TextKind> = new Map([
  ["response.output_text.done", "text"],
  ["response.refusal.done", "refusal"],
  ["response.reasoning_summary_text.done", "summary"],
  ["response.reasoning_text.done", "reasoning"],
]);
export const ARGUMENT_DELTAS: readonly string[] = [
  "response.function_call_arguments.delta",
  "response.custom_tool_call_input.delta",
];

/** Whether an event ends a stream with the whole response. */
export const isLast = (type: string): boolean =>
  type === "response.completed" || type === "response.incomplete";

export const isCustomCall = ({ type }: JsonObject): boolean => type === "custom_tool_call";

/** Whether an item is a call of the client's tools. */
export const isCall = ({ type }: JsonObject): boolean =>
  type === "function_call" || type === "custom_tool_call";

/** What an item calls its tool with. Some servers send the object itself. */
export const givenTo = ({ arguments: given, input }: JsonObject): unknown =>
  isObject(given) ? argumentsText(given) : (given ?? input);
