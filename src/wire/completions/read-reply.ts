/** A whole completion of an upstream, read into neutral terms (OpenAI API reference, "The completion object"). */
import { fail } from "../../base/errors.ts";
import { chatReport, isErrorBody } from "../chat/read-reply.ts";
import { readStop, unusableChoice } from "../chat/stop.ts";
import { readChatUsage } from "../chat/usage.ts";
import type { NeutralReply } from "../neutral/neutral.ts";
import { objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no completion. */
export function readCompletionsReply(body: unknown): NeutralReply {
  const reply = objectOf(body);
  if (isErrorBody(reply)) return { choices: [], usage: undefined, error: readErrorValue(reply) };
  if (!Array.isArray(reply.choices)) throw noTextCompletion();
  const unusable = reply.choices
    .map(objectOf)
    .map(unusableChoice)
    .find((error) => error !== undefined);
  if (unusable !== undefined) return { choices: [], usage: readChatUsage(reply.usage), error: unusable };
  return {
    choices: reply.choices.map(objectOf).map(({ text, finish_reason: reason }) => ({
      parts: typeof text === "string" && text !== "" ? [{ type: "text", text }] : [],
      stop: readStop(stringOf(reason), false),
    })),
    usage: readChatUsage(reply.usage),
    report: chatReport(reply),
  };
}

export const noTextCompletion = () =>
  fail("upstream_invalid_response", "The provider's answer is not a completion.");
