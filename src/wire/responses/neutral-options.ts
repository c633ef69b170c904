/**
 * Options of a responses request in neutral terms. What the contract has no place for is named by its pointer, never lost.
 */
import { isEffort } from "../neutral/effort.ts";
import type {
  FieldValue,
  NeutralOptions,
  OutputFormat,
  OwnKind,
  Reasoning,
  ToolChoice,
} from "../neutral/neutral.ts";
import { set, type Writable } from "../neutral/options.ts";
import { isObject, type JsonObject, listOf, objectOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { wrong } from "./neutral-messages.ts";
import type { ToolReader } from "./neutral-tools.ts";

export function readOptions(
  body: JsonObject,
  reader: ToolReader,
  source: Source,
  dropped: string[],
): NeutralOptions {
  const options: Writable<NeutralOptions> = {};
  set(options, "maxTokens", numberAt(body, "max_output_tokens"));
  set(options, "temperature", numberAt(body, "temperature"));
  set(options, "topP", numberAt(body, "top_p"));
  set(options, "frequencyPenalty", numberAt(body, "frequency_penalty"));
  set(options, "presencePenalty", numberAt(body, "presence_penalty"));
  set(options, "cacheKey", stringAt(body, "prompt_cache_key"));
  set(options, "serviceTier", stringAt(body, "service_tier"));
  readUser(body, options, dropped);
  readMetadata(body, options, dropped);
  readToolOptions(body, reader, options, dropped);
  readText(body, source, options, dropped);
  readReasoning(body, options, dropped);
  readLogprobs(body, options, dropped);
  return options;
}

function readUser(body: JsonObject, options: Writable<NeutralOptions>, dropped: string[]): void {
  const older = stringAt(body, "user");
  const user = stringAt(body, "safety_identifier") ?? older;
  if (user === undefined) return;
  options.user = user;
  if (older !== undefined && older.value !== user.value) dropped.push(older.at);
}

function readMetadata(body: JsonObject, options: Writable<NeutralOptions>, dropped: string[]): void {
  const { metadata } = body;
  if (metadata == null) return;
  const entries = Object.entries(objectOf(metadata));
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === "string");
  if (!isObject(metadata) || texts.length < entries.length) dropped.push("/metadata");
  else if (texts.length > 0) options.metadata = { value: Object.fromEntries(texts), at: "/metadata" };
}

function readToolOptions(
  body: JsonObject,
  reader: ToolReader,
  options: Writable<NeutralOptions>,
  dropped: string[],
): void {
  const { tool_choice: choice, parallel_tool_calls: parallel } = body;
  if (choice != null) readToolChoice(choice, reader, options, dropped);
  if (typeof parallel === "boolean") options.parallelTools = { value: parallel, at: "/parallel_tool_calls" };
}

function readToolChoice(
  choice: unknown,
  reader: ToolReader,
  options: Writable<NeutralOptions>,
  dropped: string[],
): void {
  const at = "/tool_choice";
  const { type, allowed_tools: nested, ...given } = objectOf(choice);
  // The chat format has them in a member of their own.
  const { mode, tools: named } = isObject(nested) ? nested : given;
  const isNarrowed = type === "allowed_tools" && (mode === "auto" || mode === "required");
  const value = isNarrowed ? mode : choiceOf(choice, reader);
  if (value === undefined) {
    dropped.push(at);
    return;
  }
  options.toolChoice = { value, at };
  if (isNarrowed && !reader.isEmpty)
    options.allowedTools = { value: listOf(named).flatMap((tool) => chosenOf(tool, reader) ?? []), at };
}

/** Words of a choice; `any` is Anthropic's, which some clients send, as a type too. */
const CHOICES: Readonly<Record<string, ToolChoice>> = {
  auto: "auto",
  none: "none",
  required: "required",
  any: "required",
};

/** Undefined if it chooses a tool that has no name, such as one that the provider runs. */
function choiceOf(choice: unknown, reader: ToolReader): ToolChoice | undefined {
  const name = chosenOf(choice, reader);
  if (name !== undefined) return { name };
  const word = isObject(choice) ? choice.type : choice;
  return typeof word === "string" && Object.hasOwn(CHOICES, word) ? CHOICES[word] : undefined;
}

/** Types of tools that are chosen by them. */
const OWN_KINDS: readonly OwnKind[] = ["local_shell", "shell", "apply_patch", "tool_search"];

/** Types of tools that are chosen by name; the last one is Anthropic's. */
const NAMED: readonly unknown[] = ["function", "custom", "tool"];

function chosenOf(value: unknown, reader: ToolReader): string | undefined {
  const chosen = objectOf(value);
  const { type, namespace, function: fn, custom } = chosen;
  const own = OWN_KINDS.find((kind) => kind === type);
  if (own !== undefined) return reader.nameOfKind(own);
  // The chat format has the name in a member of its own.
  const { name = chosen.name } = objectOf(isObject(fn) ? fn : custom);
  return NAMED.includes(type) && typeof name === "string" ? reader.nameOf(namespace, name) : undefined;
}

function readText(
  body: JsonObject,
  source: Source,
  options: Writable<NeutralOptions>,
  dropped: string[],
): void {
  for (const [key, value] of Object.entries(objectOf(body.text))) {
    const at = `/text/${key}`;
    if (value == null) continue;
    if (key === "format") {
      const format = formatOf(objectOf(value), source, at);
      if (format === undefined) dropped.push(at);
      else if (format.type !== "text") options.format = { value: format, at };
    } else if (key === "verbosity" && typeof value === "string") options.verbosity = { value, at };
    else dropped.push(at);
  }
}

function formatOf(format: JsonObject, source: Source, at: string): OutputFormat | undefined {
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") return { type: "json" };
  if (format.type !== "json_schema") return undefined;
  const { name, description, schema, strict } = format;
  const carried = source.json(schema);
  if (carried?.isObject !== true) throw wrong(`${at}/schema`, "an object");
  return {
    type: "json_schema",
    schema: carried,
    ...(typeof name === "string" && { name }),
    ...(typeof description === "string" && { description: source.whole(description) }),
    ...(typeof strict === "boolean" && { strict }),
  };
}

function readReasoning(body: JsonObject, options: Writable<NeutralOptions>, dropped: string[]): void {
  const value: Writable<Reasoning> = {};
  let isSet = false;
  if (body.reasoning != null && !isObject(body.reasoning)) dropped.push("/reasoning");
  for (const [key, word] of Object.entries(objectOf(body.reasoning))) {
    if (word == null) continue;
    if (key === "effort" && isEffort(word)) value.effort = word;
    else if ((key === "summary" || key === "generate_summary") && typeof word === "string") {
      value.summary = word;
      value.show = true;
    } else {
      dropped.push(`/reasoning/${key}`);
      continue;
    }
    isSet = true;
  }
  if (isSet) options.reasoning = { value, at: "/reasoning" };
}

function readLogprobs(body: JsonObject, options: Writable<NeutralOptions>, dropped: string[]): void {
  let at = "";
  for (const [index, name] of listOf(body.include).entries()) {
    if (name === "message.output_text.logprobs") at = `/include/${index}`;
    // Every answer has seals: with them reasoning continues without being stored.
    else if (name !== "reasoning.encrypted_content") dropped.push(`/include/${index}`);
  }
  const top = numberAt(body, "top_logprobs");
  if (top !== undefined && top.value > 0) options.logprobs = { value: { top: top.value }, at: top.at };
  else if (at !== "") options.logprobs = { value: { top: 0 }, at };
}

function numberAt(body: JsonObject, key: string): FieldValue<number> | undefined {
  const value = body[key];
  if (value == null) return undefined;
  if (typeof value !== "number") throw wrong(`/${key}`, "a number");
  return { value, at: `/${key}` };
}

function stringAt(body: JsonObject, key: string): FieldValue<string> | undefined {
  const value = body[key];
  if (value == null) return undefined;
  if (typeof value !== "string") throw wrong(`/${key}`, "a string");
  return { value, at: `/${key}` };
}
