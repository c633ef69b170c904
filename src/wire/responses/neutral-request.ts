/**
 * A responses request in neutral terms: its items, tools and options are read in the files beside. What the contract has no
 * place for is named by its pointer, never lost.
 */
import { fail } from "../../base/errors.ts";
import type { NeutralRequest } from "../neutral/neutral.ts";
import { objectOf } from "../neutral/reader.ts";
import type { Source } from "../neutral/source.ts";
import { readMessages } from "./neutral-messages.ts";
import { readOptions } from "./neutral-options.ts";
import { ToolReader } from "./neutral-tools.ts";
import type { ResponsesRequest } from "./request.ts";

/** Members that are read here, or that concern no model. All others are dropped. */
const READ: ReadonlySet<string> = new Set([
  "model",
  "svc",
  "input",
  "instructions",
  "stream",
  "store",
  "background",
  "conversation",
  "previous_response_id",
  "prompt",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "text",
  "reasoning",
  "max_output_tokens",
  "temperature",
  "top_p",
  "frequency_penalty",
  "presence_penalty",
  "top_logprobs",
  "include",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "service_tier",
  "metadata",
]);

/** @throws WeirError 400 with the JSON pointer of a field that is wrong, or that no other dialect can carry */
export function responsesNeutral({ facts }: ResponsesRequest, source: Source): NeutralRequest {
  const body = objectOf(source.value);
  if (body.prompt != null) {
    const message = "Stored prompts exist at their provider only: this model's speaks another dialect.";
    throw fail("unsupported_option", message, { param: "/prompt" });
  }
  const dropped: string[] = [];
  for (const [key, value] of Object.entries(body)) {
    if (!READ.has(key) && isSet(key, value)) dropped.push(`/${key}`);
  }
  const reader = new ToolReader(source, dropped);
  reader.read(body.tools, "/tools");
  const messages = readMessages(body, source, reader, dropped);
  const { tools } = reader;
  const options = readOptions(body, reader, source, dropped);
  return { stream: facts.stream, messages, tools, options, dropped };
}

/** In this API null means absent, and a member with its default value changes nothing. */
const isSet = (key: string, value: unknown): boolean => {
  if (value == null) return false;
  if (key === "truncation") return value !== "disabled";
  // Obfuscation pads events against eavesdroppers; ours are not padded.
  return key !== "stream_options" || objectOf(value).include_obfuscation === true;
};
