/** Options of a messages request in neutral terms. */

import { stringAt, under, wrong } from "../neutral/fields.ts";
import type {
  Effort,
  FieldValue,
  NeutralOptions,
  OutputFormat,
  Reasoning,
  ToolChoice,
} from "../neutral/neutral.ts";
import { set, type Writable } from "../neutral/options.ts";
import { isObject, type JsonObject, objectOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { isSet } from "./neutral-tools.ts";

/** Members of the body that are read here or elsewhere. All others are dropped. */
const READ = new Set([
  "model",
  "messages",
  "system",
  "stream",
  "tools",
  "svc",
  "cache_control",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "tool_choice",
  "thinking",
  "output_config",
  "output_format",
  "metadata",
  "service_tier",
]);

export function readOptions(body: JsonObject, source: Source, dropped: string[]): NeutralOptions {
  const options: Writable<NeutralOptions> = {};
  set(options, "maxTokens", numberAt(body, "max_tokens"));
  set(options, "temperature", numberAt(body, "temperature"));
  set(options, "topP", numberAt(body, "top_p"));
  set(options, "topK", numberAt(body, "top_k"));
  const stop = stopsOf(body.stop_sequences);
  if (stop.length > 0) options.stop = { value: stop, at: "/stop_sequences" };
  readToolChoice(body.tool_choice, options, dropped);
  readReasoning(body, options, dropped);
  readFormat(body, source, options, dropped);
  readMetadata(body.metadata, options, dropped);
  readTier(body.service_tier, options, dropped);
  for (const key in body) {
    if (!READ.has(key) && isSet(body[key])) dropped.push(under("", key));
  }
  return options;
}

function numberAt(body: JsonObject, key: string): FieldValue<number> | undefined {
  const value = body[key];
  if (value == null) return undefined;
  if (typeof value !== "number") throw wrong(`/${key}`, "a number");
  return { value, at: `/${key}` };
}

function stopsOf(value: unknown): string[] {
  const at = "/stop_sequences";
  if (value == null) return [];
  if (!Array.isArray(value)) throw wrong(at, "a list of strings");
  return value.map((text: unknown, index) => stringAt(text, under(at, index)));
}

/** Some clients send the type as a string. */
function readToolChoice(given: unknown, options: Writable<NeutralOptions>, dropped: string[]): void {
  if (given == null) return;
  const value = isObject(given) ? given : { type: given };
  const choice = choiceOf(value);
  if (choice === undefined) dropped.push("/tool_choice");
  else options.toolChoice = { value: choice, at: "/tool_choice" };
  const { disable_parallel_tool_use: single } = value;
  if (typeof single !== "boolean") return;
  options.parallelTools = { value: !single, at: "/tool_choice/disable_parallel_tool_use" };
}

function choiceOf({ type, name }: JsonObject): ToolChoice | undefined {
  if (type === "auto" || type === "none") return type;
  if (type === "any") return "required";
  return type === "tool" && typeof name === "string" ? { name } : undefined;
}

const EFFORTS: readonly unknown[] = ["low", "medium", "high", "xhigh", "max"] satisfies Effort[];

/** Two members set how much to think: `thinking`, and the effort in `output_config`. */
function readReasoning(body: JsonObject, options: Writable<NeutralOptions>, dropped: string[]): void {
  const thinking = thinkingOf(body.thinking);
  if (body.thinking != null && thinking === undefined) dropped.push("/thinking");
  const { effort } = objectOf(body.output_config);
  const at = "/output_config/effort";
  // Without thinking, the effort sets the length of the answer, for which other dialects have no option.
  const hasEffort = EFFORTS.includes(effort) && thinking?.effort !== "none";
  if (effort != null && !hasEffort) dropped.push(at);
  if (thinking === undefined && !hasEffort) return;
  const value: Reasoning = { ...thinking, ...(hasEffort && { effort: effort as Effort }) };
  options.reasoning = { value, at: thinking === undefined ? at : "/thinking" };
}

function thinkingOf(value: unknown): Reasoning | undefined {
  const { type, budget_tokens: budget, display } = objectOf(value);
  const shown =
    display === "summarized" || display === "omitted" ? { show: display === "summarized" } : undefined;
  if (type === "disabled") return { effort: "none" };
  if (type === "adaptive") return { isAdaptive: true, ...shown };
  if (type !== "enabled") return undefined;
  return { ...(typeof budget === "number" ? { budgetTokens: budget } : { isAdaptive: true }), ...shown };
}

function readFormat(
  body: JsonObject,
  source: Source,
  options: Writable<NeutralOptions>,
  dropped: string[],
): void {
  const config = objectOf(body.output_config);
  if (body.output_config != null && !isObject(body.output_config)) dropped.push("/output_config");
  for (const key in config) {
    if (key !== "effort" && key !== "format" && isSet(config[key]))
      dropped.push(under("/output_config", key));
  }
  const at = isObject(config.format) ? "/output_config/format" : "/output_format";
  const format = isObject(config.format) ? config.format : body.output_format;
  if (format == null) return;
  const { type, schema: given } = objectOf(format);
  const schema = source.json(given);
  if (type !== "json_schema" || schema?.isObject !== true) {
    dropped.push(at);
    return;
  }
  const value: OutputFormat = { type, schema, strict: true };
  options.format = { value, at };
}

function readMetadata(value: unknown, options: Writable<NeutralOptions>, dropped: string[]): void {
  if (value == null) return;
  if (!isObject(value)) {
    dropped.push("/metadata");
    return;
  }
  for (const key in value) {
    const member = value[key];
    if (key === "user_id" && typeof member === "string")
      options.user = { value: member, at: "/metadata/user_id" };
    else if (isSet(member)) dropped.push(under("/metadata", key));
  }
}

/** The neutral contract has OpenAI's names of tiers. */
function readTier(value: unknown, options: Writable<NeutralOptions>, dropped: string[]): void {
  const at = "/service_tier";
  if (value === "auto") options.serviceTier = { value: "auto", at };
  else if (value === "standard_only") options.serviceTier = { value: "default", at };
  else if (value != null) dropped.push(at);
}
