/**
 * What clients of OpenAI's formats are told of a prompt that is too long. Agents find it by these words where they do not read the
 * code: "maximum context length is N tokens" (OpenCode, Pi), "this model's maximum context length is" (LiteLLM, and so Aider),
 * "context length" (Cline, Roo Code), "exceeds the context window" and "reduce the length of the messages" (OpenCode, Claude Code).
 */
import { type Overflow, overflowKind } from "../../base/overflow.ts";

/** A message that begins so has the words already. */
const OWN_WORDS = /^(?:this model's maximum context length is \d|your input exceeds the context window)/i;

/** The message of an error; the provider's own words follow, unless they are these. */
export function overflowMessage(overflow: Overflow): string {
  return OWN_WORDS.test(overflow.said) ? overflow.said : withReason(wordsOf(overflow), overflow.said);
}

function wordsOf(overflow: Overflow): string {
  const { tokens = 0, answer = 0, maximum, isEstimated } = overflow;
  const about = isEstimated ? "about " : "";
  const limit = `This model's maximum context length is ${maximum} tokens`;
  switch (overflowKind(overflow)) {
    case "prompt":
      return `${limit}. However, your messages resulted in ${about}${tokens} tokens. Please reduce the length of the messages.`;
    case "together":
      return (
        `${limit}. However, you requested ${about}${tokens + answer} tokens (${tokens} in the messages, ${answer} in the completion). ` +
        "Please reduce the length of the messages or completion."
      );
    default:
      // Its own limit may be another one than the catalog's, and the count is not known.
      return `${limit} by the catalog, and your input exceeds the context window. Please reduce the length of the messages.`;
  }
}

/** The provider's own words behind those of a format. */
export const withReason = (words: string, said: string): string =>
  said === "" ? words : `${words} The provider said: ${said}`;
