/**
 * Calls of the client's tools as items of a response: of functions, of tools with input in free form, and of those that OpenAI
 * defines and the client runs (OpenAI API reference, "The response object", `output`).
 */
import { onOneLine } from "../json/latin1.ts";
import { latin1OfJson, textOf } from "../neutral/fragment.ts";
import type { Fragment, ToolKind } from "../neutral/neutral.ts";
import { objectIn } from "../neutral/tool-arguments.ts";
import type { ItemStatus } from "./kinds.ts";
import { ownCallJson } from "./own-calls.ts";

export type CallItem = ReturnType<typeof callItem>;
export type CustomCallItem = ReturnType<typeof customCallItem>;

/** What a call is called by. */
export interface Called {
  readonly callId: string;
  readonly name: string;
  readonly tool: ToolKind | undefined;
  /** The group of tools that the name is in; undefined for none. */
  readonly namespace: string | undefined;
}

const callItem = (id: string, status: ItemStatus, { callId, name, namespace }: Called) => ({
  id,
  type: "function_call" as const,
  status,
  arguments: "",
  call_id: callId,
  name,
  ...(namespace !== undefined && { namespace }),
});

const customCallItem = (id: string, status: ItemStatus, { callId, name, namespace }: Called) => ({
  id,
  type: "custom_tool_call" as const,
  status,
  input: "",
  call_id: callId,
  name,
  ...(namespace !== undefined && { namespace }),
});

/** The item as JSON, latin1. @param text of its arguments or its input, as they stand inside of a JSON string */
export function callJson(call: Called, id: string, status: ItemStatus, text: Fragment): string {
  const { tool, callId } = call;
  if (tool === undefined) return filled(latin1OfJson(callItem(id, status, call)), "arguments", text);
  if (tool === "custom") return filled(latin1OfJson(customCallItem(id, status, call)), "input", text);
  const args = onOneLine(Buffer.from(objectIn(textOf(text))?.text ?? "{}").toString("latin1"));
  return ownCallJson(tool, { id, call_id: callId }, status, args);
}

/** Inserts a text into the first empty string of this name in the JSON of a typed value. */
export function filled(json: string, name: string, text: Fragment): string {
  if (text === "") return json;
  const hole = `"${name}":""`;
  const at = json.indexOf(hole) + hole.length - 1;
  return json.slice(0, at) + text + json.slice(at);
}

/** The events that have the deltas of calls. Items of other kinds are told at their end. */
export const CALL_DELTAS = {
  function_call: "response.function_call_arguments.delta",
  custom: "response.custom_tool_call_input.delta",
} as const;
