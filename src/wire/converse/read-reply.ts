/** A whole Converse answer (Amazon Bedrock API Reference, "Converse", response). */
import { fail } from "../../base/errors.ts";
import { converseReport } from "../extras/reports.ts";
import type { NeutralReply, ReplyPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";
import { readErrorValue, soleOf } from "../neutral/upstream-error.ts";
import { saysReason } from "../neutral/upstream-errors/bare-error.ts";
import { nothingMade } from "../neutral/upstream-errors/unusable.ts";
import { readCitation } from "./citations.ts";
import { readMedia } from "./images.ts";
import { readStop, unusableReason } from "./stop.ts";
import { readConverseUsage } from "./usage.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no answer. */
export function readConverseReply(body: unknown): NeutralReply {
  const answer = objectOf(soleOf(body));
  const usage = readConverseUsage(answer.usage);
  const unusable = unusableReason(answer.stopReason);
  if (unusable !== undefined) return { choices: [], usage, error: unusable };
  const { message } = objectOf(answer.output);
  if (!isObject(message)) {
    // The service's own form of an error: its message, at the top.
    if (answer.error || typeof answer.message === "string" || saysReason(answer))
      return { choices: [], usage, error: readErrorValue(answer) };
    throw fail("upstream_invalid_response", "The provider's answer has no message.");
  }
  const parts: ReplyPart[] = [];
  for (const block of listOf(message.content)) {
    const part = readBlock(objectOf(block));
    if (part !== undefined) parts.push(part);
  }
  const calls = parts.filter(({ type }) => type === "tool_call").length;
  const stop = { reason: readStop(answer.stopReason, calls) };
  const error = parts.length === 0 ? nothingMade(stop.reason, stringOf(answer.stopReason)) : undefined;
  if (error !== undefined) return { choices: [], usage, error };
  return { choices: [{ parts, stop }], usage, report: converseReport(answer) };
}

function readBlock(block: JsonObject): ReplyPart | undefined {
  if (typeof block.text === "string") {
    return block.text === "" ? undefined : { type: "text", text: block.text };
  }
  if (isObject(block.toolUse)) {
    const { toolUseId, name, input } = block.toolUse;
    const args = argumentsText(input);
    return { type: "tool_call", id: stringOf(toolUseId), name: stringOf(name), arguments: args };
  }
  if (isObject(block.reasoningContent)) return readReasoning(block.reasoningContent);
  return isObject(block.citationsContent) ? readCited(block.citationsContent) : readMedia(block);
}

function readReasoning({ reasoningText, redactedContent }: JsonObject): ReplyPart | undefined {
  if (typeof redactedContent === "string" && redactedContent !== "") {
    const seal = { by: "anthropic", data: redactedContent } as const;
    return { type: "reasoning", text: "", isRedacted: true, seal };
  }
  const text = stringOf(objectOf(reasoningText).text);
  const signature = stringOf(objectOf(reasoningText).signature);
  if (signature !== "") return { type: "reasoning", text, seal: { by: "anthropic", data: signature } };
  return text === "" ? undefined : { type: "reasoning", text };
}

function readCited({ content, citations }: JsonObject): ReplyPart | undefined {
  const text = listOf(content)
    .map((piece) => stringOf(objectOf(piece).text))
    .join("");
  if (text === "") return undefined;
  const read = listOf(citations).flatMap((citation) => readCitation(citation) ?? []);
  return { type: "text", text, ...(read.length > 0 && { citations: read }) };
}
