/**
 * What Claude takes and refuses, at Anthropic and at Bedrock alike: how it is told to think, and what it takes beside that.
 * What does not fit is left out and told; nothing is changed to fit.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking and /adaptive-thinking
 */
import type { Effort, Reasoning } from "./neutral/neutral.ts";
import type { OptionTaker } from "./neutral/options.ts";

/** What an effort is worth in tokens, on models that take budgets. */
const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
};

/** No smaller budget is taken. */
export const LEAST_BUDGET = 1024;

/** The share of the output bound for thinking, which counts towards it: the rest is left for the answer. */
export const MOST_SHARE = 0.8;

/** 4.6; see {@link claudeVersion}. Later ones take nothing but adaptive thinking, and no sampling. */
const ADAPTIVE_FROM = 406;

/**
 * The version of `claude-opus-4-6`, `claude-3-5-haiku-20241022`, `anthropic.claude-sonnet-5` as 406, 305, 500; a Claude
 * that tells none is a new one. 0 for models of other makers.
 */
export function claudeVersion(model: string): number {
  const match = /claude-(?:[a-z]+-)*v?(\d)(?:[-.](\d{1,2})(?!\d))?(?!\d)/.exec(model);
  if (match === null) return model.includes("claude-") ? 9999 : 0;
  return Number(match[1]) * 100 + Number(match[2] ?? 0);
}

export interface Thinker {
  readonly upstreamModel: string;
  /** The bound on the output: the client's, or else the model's own. */
  readonly maxTokens: number;
  /** The model can, and no call is forced. */
  readonly canThink: boolean;
  /** The conversation allows it by budget: see `turns.ts`. */
  readonly mayBudget: boolean;
}

/**
 * Thinking by budget or by effort: models from 4.6 on decide themselves how long to think, steered by an effort, and from
 * 4.7 on take no budget; older ones, and models of other makers that speak Anthropic's dialect, take a budget only.
 */
export function takeThinking(
  options: OptionTaker,
  { upstreamModel, maxTokens, canThink, mayBudget }: Thinker,
) {
  const reasoning = options.take("reasoning");
  if (reasoning === undefined || reasoning.effort === "none") return undefined;
  const display = displayOf(reasoning);
  // Claude does not think unasked, and how to show it alone does not ask for any.
  if (!canThink || isOnlyShown(reasoning)) {
    // A call that only asks to show no thinking has what it asks for, since there is none.
    if (!isOnlyShown(reasoning) || display.display === "summarized") options.putBack("reasoning");
    return undefined;
  }
  const version = claudeVersion(upstreamModel);
  if (version > ADAPTIVE_FROM || (version === ADAPTIVE_FROM && reasoning.budgetTokens === undefined)) {
    if (reasoning.budgetTokens !== undefined) options.putBack("reasoning");
    const effort = reasoning.effort === "minimal" ? "low" : reasoning.effort;
    return { thinking: { type: "adaptive" as const, ...display }, effort };
  }
  const most = Math.floor(maxTokens * MOST_SHARE);
  const budget = reasoning.budgetTokens ?? Math.min(BUDGETS[reasoning.effort ?? "medium"], most);
  if (!mayBudget || budget < LEAST_BUDGET || budget >= maxTokens) {
    options.putBack("reasoning");
    return undefined;
  }
  return { thinking: { type: "enabled" as const, budget_tokens: budget, ...display }, effort: undefined };
}

/**
 * The least output bound, in tokens, at which an effort becomes thinking on a model that takes budgets, and leaves so many for the
 * answer.
 */
export function leastLimitFor(effort: Exclude<Effort, "none">, answerTokens: number): number {
  const byShare = Math.ceil(answerTokens / (1 - MOST_SHARE));
  const enough = Math.min(BUDGETS[effort] + answerTokens, byShare);
  return Math.max(Math.ceil(LEAST_BUDGET / MOST_SHARE), enough);
}

/** Whether a model takes an effort as it is, and no budget is made of it. */
export const takesEffort = (upstreamModel: string): boolean => claudeVersion(upstreamModel) >= ADAPTIVE_FROM;

const isOnlyShown = ({ effort, budgetTokens, isAdaptive }: Reasoning): boolean =>
  effort === undefined && budgetTokens === undefined && isAdaptive !== true;

function displayOf({ show, summary }: Reasoning): { readonly display?: "omitted" | "summarized" } {
  if (show === false) return { display: "omitted" };
  return show === true || summary !== undefined ? { display: "summarized" } : {};
}

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
}

/**
 * Claude ends at a temperature of 1, refuses most beside thinking, takes one of `temperature` and `topP`, and from 4.7 on
 * none of the three. 1 is what the first two are without being said.
 */
export function takeSampling(options: OptionTaker, upstreamModel: string, thinks: boolean): Sampling {
  const isNewest = claudeVersion(upstreamModel) > ADAPTIVE_FROM;
  const temperature = options.take("temperature");
  const topP = options.take("topP");
  const topK = options.take("topK");
  const takesTemperature =
    !isNewest && temperature !== undefined && temperature <= 1 && (!thinks || temperature === 1);
  if (temperature !== undefined && temperature !== 1 && !takesTemperature) options.putBack("temperature");
  const takesTopP = !isNewest && topP !== undefined && !takesTemperature && (!thinks || topP >= 0.95);
  if (topP !== undefined && topP !== 1 && !takesTopP) options.putBack("topP");
  const takesTopK = !isNewest && topK !== undefined && !thinks;
  if (topK !== undefined && !takesTopK) options.putBack("topK");
  return {
    ...(takesTemperature && { temperature }),
    ...(takesTopP && { topP }),
    ...(takesTopK && { topK }),
  };
}
