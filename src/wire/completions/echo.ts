/**
 * Estimates how much the model generated from the text of its answer, where the upstream reports no usage. Prompts that an answer repeats (`echo`) are
 * text of the answer, and nothing of them is generated; answers that were made and not kept (`best_of`) are not in it, and are billed.
 */
import type { ReplyFacts } from "../neutral/contract.ts";
import { fragmentOf } from "../neutral/fragment.ts";

export interface Making {
  /** Bytes of the prompts as all answers together repeat them; 0 where none does. */
  readonly echoedBytes: number;
  /** Answers that are made for each one that is given, 1 or more. */
  readonly madeForEach: number;
}

/**
 * Bytes of generated text behind an answer's text. Never 0 where there is text: a report is missing, and an answer without output is
 * free of charge as a whole, its prompt too.
 */
export const generatedBytes = (textBytes: number, { echoedBytes, madeForEach }: Making): number =>
  textBytes === 0 ? 0 : Math.ceil(Math.max(1, textBytes - echoedBytes) * madeForEach);

/** An answer's facts whose byte counts are those of the text that the model generated. */
export function generatedFacts(facts: ReplyFacts, making: Making): ReplyFacts {
  if (making.echoedBytes === 0 && making.madeForEach === 1) return facts;
  const outputBytes = generatedBytes(facts.outputBytes, making);
  const unreportedBytes = Math.ceil(facts.unreportedBytes * making.madeForEach);
  return { ...facts, outputBytes, unreportedBytes: Math.min(unreportedBytes, outputBytes) };
}

/** Bytes of texts as they count in an answer, however the client escaped them. @param json a text or a list of texts */
export function echoBytesOf(json: string): number {
  const texts = JSON.parse(json) as string | readonly string[];
  return [texts].flat().reduce((bytes, text) => bytes + fragmentOf(text).length, 0);
}
