/**
 * What differs between generations of Gemini models, as data: how reasoning is steered, and what a request may hold.
 * Told by the model's name at the provider; a name that fits no row is taken for one of the newest.
 */
import type { Effort } from "../neutral/neutral.ts";

export interface Generation {
  readonly models: RegExp;
  /**
   * What an effort becomes: a number is a `thinkingBudget` in tokens, a word a `thinkingLevel`. Efforts that are not here
   * cannot be set: the reasoning of some models cannot be switched off.
   */
  readonly efforts: Readonly<Partial<Record<Effort, number | string>>>;
  /** No smaller budget is taken, but for 0 and -1, which say something else. */
  readonly leastBudget: number;
  /** Tool results may contain media; for other models media are written beside them. */
  readonly mediaInResults: boolean;
  /** A function call that comes back without its thought signature is refused. */
  readonly signedCalls: boolean;
  /**
   * An answer may be held to JSON beside functions. Others refuse: "Function calling with a response mime type: 'application/json' is
   * unsupported" (googleapis/python-genai#867, openai/openai-agents-python#656, maximhq/bifrost#3633).
   */
  readonly formatsBesideTools: boolean;
}

const BUDGETS = { minimal: 1024, low: 1024, medium: 8192, high: 24576, xhigh: 24576, max: 24576 };
const LEVELS = { low: "LOW", medium: "MEDIUM", high: "HIGH", xhigh: "HIGH", max: "HIGH" };
const OLDER = { leastBudget: 1, mediaInResults: false, signedCalls: false, formatsBesideTools: false };
const NEWER = { leastBudget: 1, mediaInResults: true, signedCalls: true, formatsBesideTools: true };

/**
 * Budgets are those of Google's own OpenAI-compatible endpoint; the least ones as in lobehub/lobehub#8122 and snailyp/gemini-balance#160.
 * https://ai.google.dev/gemini-api/docs/thinking, https://ai.google.dev/gemini-api/docs/openai#thinking
 */
const GENERATIONS: readonly Generation[] = [
  { models: /gemini-2\.5-pro/, efforts: BUDGETS, ...OLDER, leastBudget: 128 },
  { models: /gemini-2\.5-flash-lite/, efforts: { none: 0, ...BUDGETS }, ...OLDER, leastBudget: 512 },
  { models: /gemini-[12][.-]/, efforts: { none: 0, ...BUDGETS }, ...OLDER },
  { models: /gemini-[\d.]+-pro/, efforts: { minimal: "LOW", ...LEVELS }, ...NEWER },
];

/** `MINIMAL` is what the documentation gives for no thinking. */
const NEWEST: Generation = {
  models: /(?:)/,
  efforts: { none: "MINIMAL", minimal: "MINIMAL", ...LEVELS },
  ...NEWER,
};

export const generationOf = (upstreamModel: string): Generation =>
  GENERATIONS.find(({ models }) => models.test(upstreamModel)) ?? NEWEST;
