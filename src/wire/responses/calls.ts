/**
 * Calls of the client's tools as items of a response: of functions, of tools with input in free form, of the client's shell and
 * its search for tools (OpenAI API reference, "The response object", `output`).
 */
import { jsonIn } from "../../base/json.ts";
import { applyEdits, memberOf, membersOf, utf8Of } from "../json/json.ts";
import { onOneLine } from "../json/latin1.ts";
import { latin1OfJson, textOf } from "../neutral/fragment.ts";
import type { Fragment, ToolKind } from "../neutral/neutral.ts";
import { objectIn } from "../neutral/tool-arguments.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

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
  const head = latin1OfJson({ id, type: `${tool}_call`, status, call_id: callId }).slice(0, -1);
  if (tool === "tool_search") return `${head},"execution":"client","arguments":${args}}`;
  return `${head},"action":${actionOf(args)}}`;
}

/** The action of a shell's call; its type, its command and its variables are required. */
function actionOf(given: string): string {
  const args = withListedCommand(given);
  const members = membersOf(args);
  // One that has a name twice, or more names than are looked at.
  if (members === undefined) return args;
  const missing = (key: string, json: string) =>
    memberOf(members, key) === undefined ? [`"${key}":${json}`] : [];
  const added = [...missing("type", '"exec"'), ...missing("command", "[]"), ...missing("env", "{}")];
  if (added.length === 0) return args;
  const rest = members.length === 0 ? "}" : `,${args.slice(args.indexOf("{") + 1)}`;
  return `{${added.join(",")}${rest}`;
}

/** A client reads the command as a list; models write it as one text too, of the list or of a line for a shell. */
function withListedCommand(args: string): string {
  const command = memberOf(membersOf(args) ?? [], "command");
  if (command === undefined || args[command.valueStart] !== '"') return args;
  const { valueStart: start, valueEnd: end } = command;
  const line = JSON.parse(utf8Of(args.slice(start, end))) as string;
  return applyEdits(args, [{ start, end, text: latin1OfJson(wordsIn(line) ?? ["bash", "-lc", line]) }]);
}

/** The list of texts that a JSON text is; undefined where it is none. */
function wordsIn(json: string): string[] | undefined {
  if (!json.startsWith("[")) return undefined;
  const words = jsonIn(json);
  return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
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
