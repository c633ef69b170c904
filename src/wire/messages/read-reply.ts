/** Reads an upstream's whole message (Anthropic API reference, "Message"). */

import { fail } from "../../base/errors.ts";
import { messagesTiers, messagesTool, reportOf, tellMessagesUses, Uses } from "../extras/reports.ts";
import type { Report } from "../neutral/asked-extras.ts";
import type { Citation, NeutralReply, ReplyPart } from "../neutral/neutral.ts";
import { isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";
import { readErrorValue, soleOf } from "../neutral/upstream-error.ts";
import { isBareError, saysReason } from "../neutral/upstream-errors/bare-error.ts";
import { nothingMade } from "../neutral/upstream-errors/unusable.ts";
import { readCitation } from "./citations.ts";
import { redactedPart, thinkingPart } from "./seals.ts";
import { readStop } from "./stop.ts";
import { readMessagesUsage } from "./usage.ts";

/**
 * @param value parsed JSON.
 * @throws WeirError `upstream_invalid_response` where it is no message.
 */
export function readMessagesReply(value: unknown): NeutralReply {
  const body = objectOf(soleOf(value));
  if (isErrorBody(body)) return { choices: [], usage: undefined, error: readErrorValue(body) };
  if (!Array.isArray(body.content)) throw noMessage();
  const parts: ReplyPart[] = [];
  for (const block of body.content) {
    const part = isObject(block) ? partOf(block) : undefined;
    if (part !== undefined) parts.push(part);
  }
  const stop = readStop(stringOf(body.stop_reason), body.stop_sequence);
  const usage = readMessagesUsage(body.usage);
  const isEmpty = body.content.length === 0;
  const error = isEmpty ? nothingMade(stop.reason, stringOf(body.stop_reason)) : undefined;
  if (error !== undefined) return { choices: [], usage, error };
  return { choices: [{ parts, stop }], usage, report: messagesReport(body) };
}

/** What a whole message reports beside tokens. */
export function messagesReport({ usage, content }: JsonObject): Report | undefined {
  const uses = new Uses();
  for (const block of listOf(content)) uses.see(messagesTool(objectOf(block)));
  const reported = objectOf(usage);
  tellMessagesUses(reported, uses);
  return reportOf(messagesTiers(reported), uses);
}

/** An error that came with status 200. */
export const isErrorBody = (body: JsonObject): boolean =>
  body.type === "error" || Boolean(body.error) || (!body.content && saysReason(body));

/** An error as an event of a type that the format does not have. */
export const isErrorEvent = (event: JsonObject, name: string): boolean =>
  name === "error" || Boolean(event.error) || (!event.content && isBareError(event));

export const noMessage = () => fail("upstream_invalid_response", "The provider's answer is not a message.");

/** Undefined for blocks of server tools, which have no neutral form. */
function partOf(block: JsonObject): ReplyPart | undefined {
  switch (block.type) {
    case "text": {
      const citations: Citation[] = [];
      for (const value of listOf(block.citations)) {
        const citation = readCitation(value);
        if (citation !== undefined) citations.push(citation);
      }
      return { type: "text", text: stringOf(block.text), ...(citations.length > 0 && { citations }) };
    }
    case "thinking":
      return thinkingPart(stringOf(block.thinking), stringOf(block.signature));
    case "redacted_thinking":
      return redactedPart(stringOf(block.data));
    case "tool_use": {
      return {
        type: "tool_call",
        id: stringOf(block.id),
        name: stringOf(block.name),
        arguments: argumentsText(block.input),
      };
    }
    default:
      return undefined;
  }
}
