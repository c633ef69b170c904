/** A whole completion of an upstream, read into neutral terms (OpenAI API reference, "The completion object"). */
import { fail } from "../../base/errors.ts";
import { chatReport, isErrorBody } from "../chat/read-reply.ts";
import { readStop, unusableChoice } from "../chat/stop.ts";
import { readChatUsage } from "../chat/usage.ts";
import type { NeutralReply } from "../neutral/neutral.ts";
import { listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorValue, soleOf } from "../neutral/upstream-error.ts";
import { nothingMade } from "../neutral/upstream-errors/unusable.ts";

/** @throws WeirError `upstream_invalid_response` where the body is no completion. */
export function readCompletionsReply(body: unknown): NeutralReply {
  const reply = objectOf(soleOf(body));
  if (isErrorBody(reply)) return { choices: [], usage: undefined, error: readErrorValue(reply) };
  const values = listOf(reply.choices).map(objectOf);
  const [first] = values;
  if (first === undefined) throw noTextCompletion();
  const isEmpty = values.every(({ text }) => stringOf(text) === "");
  const word = stringOf(first.finish_reason);
  const error =
    values.map(unusableChoice).find((found) => found !== undefined) ??
    (isEmpty ? nothingMade(readStop(word, false).reason, word) : undefined);
  if (error !== undefined) return { choices: [], usage: readChatUsage(reply.usage), error };
  return {
    choices: values.map(({ text, finish_reason: reason }) => ({
      parts: typeof text === "string" && text !== "" ? [{ type: "text", text }] : [],
      stop: readStop(stringOf(reason), false),
    })),
    usage: readChatUsage(reply.usage),
    report: chatReport(reply),
  };
}

export const noTextCompletion = () =>
  fail("upstream_invalid_response", "The provider's answer is not a completion.");
