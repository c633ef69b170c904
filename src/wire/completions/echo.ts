/** Prompts that an answer repeats (`echo`): they are text of the answer, and nothing of them is generated. */
import type { ReplyFacts } from "../neutral/contract.ts";

/**
 * Bytes of generated text in an answer's text. Never 0 where there is text: a report is missing, and an answer without output is
 * free of charge as a whole, its prompt too.
 */
export const lessEcho = (textBytes: number, echoedBytes: number): number =>
  textBytes === 0 ? 0 : Math.max(1, textBytes - echoedBytes);

/** The facts of an answer that repeats so many bytes of prompts. */
export function withoutEcho(facts: ReplyFacts, echoedBytes: number): ReplyFacts {
  if (echoedBytes === 0) return facts;
  const outputBytes = lessEcho(facts.outputBytes, echoedBytes);
  return { ...facts, outputBytes, unreportedBytes: Math.min(facts.unreportedBytes, outputBytes) };
}
