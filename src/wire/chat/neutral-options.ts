/**
 * Options of a chat-completions request in neutral terms (OpenAI API reference, "Create chat completion"; `reasoning` is
 * OpenRouter's, `top_k` a common extension).
 */
import { isEffort, USUAL_EFFORT } from "../neutral/effort.ts";
import {
  booleanAt,
  listAt,
  numberAt,
  objectAt,
  optional,
  schemaAt,
  stringAt,
  under,
} from "../neutral/fields.ts";
import type { Effort, FieldValue, NeutralOptions, OutputFormat, Reasoning } from "../neutral/neutral.ts";
import { defined } from "../neutral/options.ts";
import type { JsonObject } from "../neutral/reader.ts";
import { ANY_OBJECT } from "../neutral/tool-arguments.ts";
import { dropOthers, type Reading } from "./neutral-reading.ts";
import { readAllowedTools, readToolChoice } from "./neutral-tools.ts";

/** Members that are read here and in the files beside, and those that concern no model. */
export const KNOWN_OPTIONS: readonly string[] = [
  "model",
  "messages",
  "stream",
  "stream_options",
  "store",
  "svc",
  "tools",
  "functions",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "seed",
  "n",
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "logprobs",
  "top_logprobs",
  "tool_choice",
  "function_call",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "reasoning",
  "verbosity",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "service_tier",
  "metadata",
];

export function readOptions(reading: Reading, body: JsonObject): NeutralOptions {
  const allowed = readAllowedTools(reading, body);
  return defined({
    maxTokens: maxTokens(body),
    temperature: field(body, "temperature", numberAt),
    topP: field(body, "top_p", numberAt),
    topK: field(body, "top_k", numberAt),
    stop: field(body, "stop", stops),
    seed: field(body, "seed", numberAt),
    frequencyPenalty: field(body, "frequency_penalty", numberAt),
    presencePenalty: field(body, "presence_penalty", numberAt),
    logitBias: field(body, "logit_bias", biases),
    logprobs: logprobs(reading, body),
    choices: field(body, "n", (value, at) => (value === 1 ? undefined : numberAt(value, at))),
    toolChoice: allowed?.mode ?? readToolChoice(reading, body),
    allowedTools: allowed?.names,
    parallelTools: field(body, "parallel_tool_calls", booleanAt),
    format: outputFormat(reading, body),
    reasoning: reasoning(reading, body),
    verbosity: field(body, "verbosity", stringAt),
    user: user(reading, body),
    cacheKey: field(body, "prompt_cache_key", stringAt),
    serviceTier: field(body, "service_tier", stringAt),
    metadata: field(body, "metadata", metadata),
  });
}

/** A member of the body; undefined where it is absent or null, or says nothing. */
export function field<T>(body: JsonObject, key: string, read: (value: unknown, at: string) => T | undefined) {
  const at = `/${key}`;
  const value = optional(body[key], at, read);
  return value === undefined ? undefined : { value, at };
}

/** The larger if both members are set: the hold covers it. */
function maxTokens(body: JsonObject): FieldValue<number> | undefined {
  const newer = field(body, "max_completion_tokens", numberAt);
  const older = field(body, "max_tokens", numberAt);
  return newer !== undefined && newer.value >= (older?.value ?? 0) ? newer : older;
}

export function stops(value: unknown, at: string): readonly string[] | undefined {
  if (typeof value === "string") return [value];
  const list = listAt(value, at).map((stop, index) => stringAt(stop, under(at, index)));
  return list.length === 0 ? undefined : list;
}

/** Reads an object of such values; undefined where it is empty. */
const recordOf =
  <T>(read: (value: unknown, at: string) => T) =>
  (value: unknown, at: string): Readonly<Record<string, T>> | undefined => {
    const entries = Object.entries(objectAt(value, at)).map(
      ([key, member]) => [key, read(member, under(at, key))] as const,
    );
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };

export const biases = recordOf(numberAt);
const metadata = recordOf(stringAt);

function logprobs(reading: Reading, body: JsonObject): NeutralOptions["logprobs"] {
  const wanted = optional(body.logprobs, "/logprobs", booleanAt) ?? false;
  const top = optional(body.top_logprobs, "/top_logprobs", numberAt);
  if (wanted) return { value: { top: top ?? 0 }, at: "/logprobs" };
  if (top !== undefined) reading.dropped.push("/top_logprobs");
  return undefined;
}

function outputFormat(reading: Reading, body: JsonObject): FieldValue<OutputFormat> | undefined {
  const at = "/response_format";
  const format = optional(body.response_format, at, objectAt);
  if (format === undefined) return undefined;
  const { source } = reading;
  switch (format.type) {
    case "text":
      return { value: { type: "text" }, at };
    case "json_object":
      return { value: { type: "json" }, at };
    case "json_schema": {
      const place = `${at}/json_schema`;
      const given = objectAt(format.json_schema, place);
      dropOthers(reading, given, place, ["name", "description", "schema", "strict"]);
      const name = optional(given.name, `${place}/name`, stringAt);
      const description = optional(given.description, `${place}/description`, stringAt);
      const value: OutputFormat = {
        type: "json_schema",
        ...(name !== undefined && { name: source.whole(name) }),
        ...(description !== undefined && { description: source.whole(description) }),
        schema: schemaAt(source, given.schema, `${place}/schema`) ?? ANY_OBJECT,
        ...(typeof given.strict === "boolean" && { strict: given.strict }),
      };
      return { value, at };
    }
    default:
      reading.dropped.push(at);
      return undefined;
  }
}

/** OpenRouter's object has more members than `reasoning_effort`, and wins if both are set. */
function reasoning(reading: Reading, body: JsonObject): FieldValue<Reasoning> | undefined {
  const at = "/reasoning";
  const given = optional(body.reasoning, at, objectAt);
  const bare = effortOf(reading, body.reasoning_effort, "/reasoning_effort");
  if (given === undefined) return bare && { value: { effort: bare }, at: "/reasoning_effort" };
  dropOthers(reading, given, at, ["effort", "max_tokens", "exclude", "enabled", "summary"]);
  const budgetTokens = optional(given.max_tokens, `${at}/max_tokens`, numberAt);
  const exclude = optional(given.exclude, `${at}/exclude`, booleanAt);
  const enabled = optional(given.enabled, `${at}/enabled`, booleanAt);
  const summary = optional(given.summary, `${at}/summary`, stringAt);
  let effort = effortOf(reading, given.effort, `${at}/effort`) ?? bare;
  if (enabled === false) effort = "none";
  else if (enabled === true && budgetTokens === undefined) effort ??= USUAL_EFFORT;
  const value: Reasoning = {
    ...(effort !== undefined && { effort }),
    ...(budgetTokens !== undefined && { budgetTokens }),
    ...(exclude !== undefined && { show: !exclude }),
    ...(summary !== undefined && { summary }),
  };
  return Object.keys(value).length === 0 ? undefined : { value, at };
}

/** Drops a level that only one provider knows. */
function effortOf(reading: Reading, value: unknown, at: string): Effort | undefined {
  const level = optional(value, at, stringAt);
  if (level === undefined) return undefined;
  if (isEffort(level)) return level;
  reading.dropped.push(at);
  return undefined;
}

/** `safety_identifier` is the newer name of `user`. */
function user(reading: Reading, body: JsonObject): FieldValue<string> | undefined {
  const newer = field(body, "safety_identifier", stringAt);
  const older = field(body, "user", stringAt);
  if (newer !== undefined && older !== undefined && older.value !== newer.value)
    reading.dropped.push(older.at);
  return newer ?? older;
}
