/** A whole chat completion of an upstream, read into neutral terms (OpenAI API reference, "The chat completion object"). */
import { fail } from "../../base/errors.ts";
import { openAiTiers, reportOf, tellOpenAiUses, Uses } from "../extras/reports.ts";
import type { Report } from "../neutral/asked-extras.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import { readLogprobs } from "../neutral/logprobs.ts";
import type { NeutralChoice, NeutralReply, ReplyPart, TextPart, ToolCallPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { repliedArguments } from "../neutral/tool-arguments.ts";
import { readErrorValue, soleOf } from "../neutral/upstream-error.ts";
import { isBareError, saysReason } from "../neutral/upstream-errors/bare-error.ts";
import { nothingMade } from "../neutral/upstream-errors/unusable.ts";
import { readCitations } from "./citations.ts";
import { hasSound, readImages } from "./media.ts";
import { readExtraSeal, readReasoning, thinkingText } from "./reasoning.ts";
import { readStop, unusableChoice } from "./stop.ts";
import { isCustomCall } from "./tool-call.ts";
import { readEventUsage } from "./usage.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no chat completion. */
export function readChatReply(body: unknown): NeutralReply {
  const reply = objectOf(soleOf(body));
  if (isErrorBody(reply)) {
    return { choices: [], usage: undefined, error: readErrorValue(reply) };
  }
  const values = listOf(reply.choices).map(objectOf);
  // Without messages it is a chunk of a stream.
  if (values.length === 0 || !values.every(({ message }) => isObject(message))) throw noCompletion();
  const usage = readEventUsage(reply);
  const choices = values.map(choiceOf);
  const error =
    values.map(unusableChoice).find((found) => found !== undefined) ?? emptyError(values, choices);
  return error === undefined ? { choices, usage, report: chatReport(reply) } : { choices: [], usage, error };
}

/** Undefined where there is an answer, or may be none. */
function emptyError(
  [first]: readonly JsonObject[],
  choices: readonly NeutralChoice[],
): UpstreamError | undefined {
  if (choices.some(({ parts }) => parts.length > 0)) return undefined;
  const { reason } = (choices[0] as NeutralChoice).stop;
  return nothingMade(reason, stringOf(first?.finish_reason));
}

/** What a whole completion reports beside tokens. */
export function chatReport(reply: JsonObject): Report | undefined {
  const uses = new Uses();
  tellOpenAiUses(reply.usage, uses);
  return reportOf(openAiTiers(reply), uses);
}

/** An error that came with status 200. */
export const isErrorBody = (body: JsonObject): boolean =>
  Boolean(body.error) ||
  body.object === "error" ||
  (listOf(body.choices).length === 0 && (body.choices ? isBareError(body) : saysReason(body)));

/** An error as an event of a stream. */
export const isErrorEvent = (event: JsonObject, name: string): boolean =>
  Boolean(event.error) ||
  event.object === "error" ||
  (!event.choices && (name === "error" || isBareError(event)));

export const noCompletion = () =>
  fail("upstream_invalid_response", "The provider's answer is not a chat completion.");

function choiceOf(choice: JsonObject): NeutralChoice {
  const message = objectOf(choice.message);
  const { parts, callSeals } = readReasoning(message);
  const replyParts: ReplyPart[] = [...parts, ...textsOf(message)];
  replyParts.push(...readImages(message));
  if (hasSound(message)) replyParts.push({ type: "media", kind: "audio" });
  const calls = [...listOf(message.tool_calls)];
  if (isObject(message.function_call)) calls.push({ function: message.function_call });
  let called = 0;
  for (const value of calls) {
    const call = objectOf(value);
    const isCustom = isCustomCall(call);
    const { name, arguments: given, input } = objectOf(isCustom ? call.custom : call.function);
    if (typeof name !== "string" || name === "") continue;
    called++;
    const id = stringOf(call.id);
    const seal = readExtraSeal(call.extra_content) ?? callSeals.get(id);
    const args = isCustom ? stringOf(input) : repliedArguments(given);
    const part: ToolCallPart = { type: "tool_call", id, name, arguments: args };
    const isPlain = !isCustom && seal === undefined;
    replyParts.push(isPlain ? part : { ...part, ...(isCustom && { kind: "custom" }), ...(seal && { seal }) });
  }
  const logprobs = objectOf(choice.logprobs);
  const tokens = readLogprobs(logprobs.content) ?? readLogprobs(logprobs.refusal);
  return {
    parts: replyParts,
    stop: readStop(stringOf(choice.finish_reason), called > 0),
    ...(tokens && { logprobs: tokens }),
  };
}

/** Text (with Mistral's thinking) and refusal. Seal and citations of the message belong to the last text part. */
function textsOf(message: JsonObject): ReplyPart[] {
  const parts: ReplyPart[] = [];
  const { content, refusal } = message;
  if (typeof content === "string" && content !== "") parts.push({ type: "text", text: content });
  for (const value of listOf(content)) {
    const part = objectOf(value);
    const type = part.type === "thinking" ? "reasoning" : "text";
    const text = type === "reasoning" ? thinkingText(part) : stringOf(part.text);
    const last = parts.at(-1);
    if (text === "") continue;
    if (last?.type === type) parts[parts.length - 1] = { ...last, text: last.text + text };
    else parts.push({ type, text });
  }
  const seal = readExtraSeal(message.extra_content);
  const citations = readCitations(message.annotations);
  const at = parts.findLastIndex((part) => part.type === "text");
  if (at >= 0 && (citations.length > 0 || seal !== undefined)) {
    const extras = { ...(citations.length > 0 && { citations }), ...(seal && { seal }) };
    parts[at] = { ...(parts[at] as TextPart), ...extras };
  } else if (at < 0 && seal !== undefined) {
    parts.push({ type: "reasoning", text: "", seal });
  }
  if (typeof refusal === "string" && refusal !== "") parts.push({ type: "refusal", text: refusal });
  return parts;
}
