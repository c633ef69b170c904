/**
 * What clients of the messages format are told of a prompt that is too long: Anthropic's own words. Claude Code 2.1 compacts on "prompt
 * is too long" in a 400, and drops as many tokens as the numbers differ by; on "input length and `max_tokens` exceed context limit:
 * A + B > C" it asks again for C - A - 1000 tokens of answer, where those are 3000 or more.
 * https://platform.claude.com/docs/en/build-with-claude/context-windows
 */
import { type Overflow, overflowKind } from "../../base/overflow.ts";
import { withReason } from "./openai.ts";

/** A message that begins so has the words already. */
const OWN_WORDS =
  /^(?:prompt is too long: \d+ tokens|input length and `max_tokens` exceed context limit: \d)/i;

/** Room for an answer, in tokens, below which Claude Code does not lower `max_tokens`, and has to compact. */
const LEAST_ROOM = 4000;

/** The message of an error; the provider's own words follow, unless they are these. */
export function messagesOverflow(overflow: Overflow): string {
  return OWN_WORDS.test(overflow.said) ? overflow.said : withReason(wordsOf(overflow), overflow.said);
}

function wordsOf(overflow: Overflow): string {
  const { tokens = 0, answer = 0, maximum, isEstimated } = overflow;
  const how = isEstimated ? ", counted by the gateway" : "";
  switch (overflowKind(overflow)) {
    case "prompt":
      return `prompt is too long: ${tokens} tokens > ${maximum} maximum${how}.`;
    case "together":
      if (maximum - tokens < LEAST_ROOM) {
        return `prompt is too long: ${tokens + answer} tokens > ${maximum} maximum, with the ${answer} of max_tokens${how}.`;
      }
      return (
        `input length and \`max_tokens\` exceed context limit: ${tokens} + ${answer} > ${maximum}, ` +
        `decrease input length or \`max_tokens\` and try again${how}.`
      );
    default:
      // Agents drop as many tokens as a number says: without one that was counted, they choose how much to drop.
      return "prompt is too long: it exceeds the model's context.";
  }
}
