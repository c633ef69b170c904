/**
 * Numbers of tokens in a provider's words, in whatever order it says them.
 */
import type { UpstreamError } from "../../../wire/neutral/contract.ts";
import type { Refusal } from "./refusal.ts";
import { N } from "./row.ts";

export type Numbers = Pick<Refusal, "tokens" | "maximum" | "answer">;

const pattern = (words: string): RegExp => new RegExp(words, "i");

/** The most that fits. */
const MAXIMUM = [
  pattern(`maximum (?:context|prompt|input|model) length (?:is|of) (?:only )?\\(?(${N})`),
  pattern(`(?:context length|context window|available context size)(?: is| of)?(?: only)? \\(?(${N})`),
  pattern(
    `(?:limit(?: for this model)? (?:is|of)|cannot exceed|supports up to|longer than the maximum model length of) (${N})`,
  ),
];
/** The prompt alone. */
const PROMPT = [
  pattern(`(?:resulted in|contains(?: at least)?|you passed) (${N}) (?:input )?tokens`),
  pattern(`(${N}) tokens (?:from the input|in your prompt)`),
  pattern(`token count of (${N})`),
  pattern(`received (${N})\\b`),
];
/** Prompt and answer together. */
const TOTAL = pattern(`requested (?:about |a total of )?(${N}) tokens`);
/** The answer alone. */
const ANSWER = [
  pattern(`(${N}) (?:tokens )?(?:in|for|of) the (?:completion|output)`),
  pattern(`requested (${N}) output tokens`),
];

/**
 * @param groups what the row's own words say
 * @param message of an overflow, whose numbers are read where the words say none
 * @param upstream the same error: its own members go before the message
 */
export function numbersOf(
  groups: Readonly<Record<string, string | undefined>>,
  message: string,
  { promptTokens, contextTokens }: UpstreamError,
): Numbers {
  const answer = (numberOf(groups.answer) ?? first(ANSWER, message)) || undefined;
  const total = first([TOTAL], message);
  const beyond = numberOf(groups.beyond);
  const tokens =
    numberOf(groups.tokens) ??
    promptTokens ??
    first(PROMPT, message) ??
    (total !== undefined && answer !== undefined && total > answer ? total - answer : total);
  const maximum =
    numberOf(groups.maximum) ??
    (beyond === undefined ? undefined : beyond - 1) ??
    contextTokens ??
    first(MAXIMUM, message);
  return {
    ...(tokens !== undefined && { tokens }),
    ...(maximum !== undefined && { maximum }),
    ...(answer !== undefined && { answer }),
  };
}

function first(patterns: readonly RegExp[], message: string): number | undefined {
  for (const one of patterns) {
    const found = numberOf(one.exec(message)?.[1]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function numberOf(digits: string | undefined): number | undefined {
  const value = Number((digits ?? "").replaceAll(/[,_]/g, "") || Number.NaN);
  return Number.isSafeInteger(value) ? value : undefined;
}
