/** A whole response in neutral terms. Items of tools that the provider runs itself are ignored. */
import { fail } from "../../base/errors.ts";
import { openAiTiers, reportOf, responsesTool, tellOpenAiUses, Uses } from "../extras/reports.ts";
import type { Report } from "../neutral/asked-extras.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import { readLogprobs } from "../neutral/logprobs.ts";
import type { Logprob, NeutralReply, ReasoningPart, ReplyPart, TextPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { repliedArguments } from "../neutral/tool-arguments.ts";
import { readErrorValue, soleOf } from "../neutral/upstream-error.ts";
import { isBareError, saysReason } from "../neutral/upstream-errors/bare-error.ts";
import { WORD_LIMIT } from "../neutral/upstream-errors/said.ts";
import { nothingMade } from "../neutral/upstream-errors/unusable.ts";
import { readCitation } from "./citations.ts";
import { readImage } from "./image-item.ts";
import { isCall, isCustomCall } from "./kinds.ts";
import { sealOfItem } from "./seals.ts";
import { readStop } from "./stop.ts";
import { readResponsesUsage } from "./usage.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no response. */
export function readResponsesReply(body: unknown): NeutralReply {
  const response = objectOf(soleOf(body));
  const usage = readResponsesUsage(response.usage);
  const error = readResponseError(response);
  if (error !== undefined) return { choices: [], usage, error };
  if (!Array.isArray(response.output)) throw noResponse();
  const parts: ReplyPart[] = [];
  const logprobs: Logprob[] = [];
  for (const item of response.output) readItem(objectOf(item), parts, logprobs);
  const holds = (kind: ReplyPart["type"]) => parts.some(({ type }) => type === kind);
  const stop = readStop(response, { calls: holds("tool_call"), refusal: holds("refusal") });
  const nothing = nothingIn(response);
  if (nothing !== undefined) return { choices: [], usage, error: nothing };
  const choice = { parts, stop, ...(logprobs.length > 0 && { logprobs }) };
  return { choices: [choice], usage, report: responsesReport(response) };
}

/** The error that a response without items is, unless its status says why it has none. */
export function nothingIn(response: JsonObject): UpstreamError | undefined {
  if (listOf(response.output).length > 0 || response.status === "completed") return undefined;
  const { reason } = readStop(response, { calls: false, refusal: false });
  const isKnown = response.status === "incomplete" && reason !== "other";
  const word = stringOf(objectOf(response.incomplete_details).reason) || stringOf(response.status);
  return isKnown ? undefined : nothingMade("other", word);
}

export const noResponse = () => fail("upstream_invalid_response", "The provider's answer is not a response.");

/** What a whole response reports beside tokens. */
export function responsesReport(response: JsonObject): Report | undefined {
  const uses = new Uses();
  for (const item of listOf(response.output)) uses.see(responsesTool(objectOf(item)));
  tellOpenAiUses(response.usage, uses);
  return reportOf(openAiTiers(response), uses);
}

function readItem(item: JsonObject, parts: ReplyPart[], logprobs: Logprob[]): void {
  const image = readImage(item);
  if (image !== undefined) parts.push(image);
  else if (item.type === "message") readMessage(item, parts, logprobs);
  else if (item.type === "reasoning") parts.push(...reasoningParts(item));
  else if (isCall(item)) {
    const call = {
      type: "tool_call" as const,
      id: stringOf(item.call_id),
      name: stringOf(item.name),
    };
    if (isCustomCall(item)) parts.push({ ...call, arguments: stringOf(item.input), kind: "custom" });
    else parts.push({ ...call, arguments: repliedArguments(item.arguments) });
  }
}

function readMessage(item: JsonObject, parts: ReplyPart[], logprobs: Logprob[]): void {
  for (const value of listOf(item.content)) {
    const content = objectOf(value);
    if (content.type === "refusal") parts.push({ type: "refusal", text: stringOf(content.refusal) });
    else if (content.type === "output_text") {
      parts.push(textPart(content));
      logprobs.push(...(readLogprobs(content.logprobs) ?? []));
    }
  }
}

function textPart(content: JsonObject): TextPart {
  const citations = listOf(content.annotations).flatMap((annotation) => readCitation(annotation) ?? []);
  return { type: "text", text: stringOf(content.text), ...(citations.length > 0 && { citations }) };
}

/** One part for every summary and text. The seal is on the last one, or on a part of its own if there is none. */
function reasoningParts(item: JsonObject): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  for (const summary of listOf(item.summary)) {
    parts.push({ type: "reasoning", text: stringOf(objectOf(summary).text), isSummary: true });
  }
  for (const content of listOf(item.content)) {
    parts.push({ type: "reasoning", text: stringOf(objectOf(content).text) });
  }
  const data = stringOf(item.encrypted_content);
  if (data === "") return parts;
  const seal = sealOfItem(stringOf(item.id), data);
  const last = parts.pop();
  parts.push(
    last === undefined ? { type: "reasoning", text: "", isRedacted: true, seal } : { ...last, seal },
  );
  return parts;
}

/** An error as an event of a server that sends no types of events, or types of its own. */
export const isErrorEvent = (event: JsonObject, type: string, name: string): boolean =>
  name === "error" || (!type.startsWith("response.") && (Boolean(event.error) || isBareError(event)));

/** The error of a response that failed; undefined if it did not fail. */
export function readResponseError(response: JsonObject): UpstreamError | undefined {
  const { error, output, status, type } = response;
  if (isObject(error) || typeof error === "string") return readErrorValue(error);
  if (!output && (type === "error" || Boolean(error) || saysReason(response)))
    return readErrorValue(response);
  if (status !== "failed" && status !== "cancelled") return undefined;
  const { reason } = objectOf(response.incomplete_details);
  const why = stringOf(reason).slice(0, WORD_LIMIT);
  return { code: why, type: "", message: `The response ended as ${status}${why === "" ? "" : `: ${why}`}.` };
}
