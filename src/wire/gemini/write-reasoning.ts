/** How much Gemini shall think, and whether it shows its thoughts (https://ai.google.dev/gemini-api/docs/thinking). */
import type { Reasoning } from "../neutral/neutral.ts";
import type { OptionTaker } from "../neutral/options.ts";
import type { ThinkingConfig } from "./body.ts";
import type { Generation } from "./models.ts";

const DYNAMIC_BUDGET = -1;

/**
 * Undefined if the request sets nothing that the model has an option for.
 * @param reasons the model can think: others refuse the setting.
 */
export function writeReasoning(
  options: OptionTaker,
  generation: Generation,
  reasons: boolean,
): ThinkingConfig | undefined {
  const reasoning = options.take("reasoning");
  if (reasoning === undefined) return undefined;
  const { effort } = reasoning;
  if (!reasons) {
    if (effort !== "none") options.putBack("reasoning");
    return undefined;
  }
  const config = { ...writeAmount(reasoning, generation), ...writeShow(reasoning) };
  const isUnknown = effort !== undefined && generation.efforts[effort] === undefined;
  if (isUnknown || isTooSmall(reasoning.budgetTokens ?? 0, generation.leastBudget))
    options.putBack("reasoning");
  return Object.keys(config).length > 0 ? config : undefined;
}

/** The provider takes one of budget and level; a budget is the more exact. */
function writeAmount(
  { effort, budgetTokens, mostTokens = Number.POSITIVE_INFINITY, isAdaptive }: Reasoning,
  { efforts, leastBudget }: Generation,
): ThinkingConfig {
  if (budgetTokens !== undefined)
    return isTooSmall(budgetTokens, leastBudget) ? {} : { thinkingBudget: budgetTokens };
  const amount = effort === undefined ? undefined : efforts[effort];
  if (typeof amount === "number")
    return { thinkingBudget: Math.min(amount, Math.max(mostTokens, leastBudget)) };
  if (amount !== undefined) return { thinkingLevel: amount };
  return isAdaptive === true ? { thinkingBudget: DYNAMIC_BUDGET } : {};
}

/** 0 and -1 are no budgets, but words for none and for any. */
const isTooSmall = (budgetTokens: number, leastBudget: number): boolean =>
  budgetTokens > 0 && budgetTokens < leastBudget;

/** Formats in which a client sets a budget, or leaves it to the model, show the thinking by default. */
function writeShow({ show, summary, budgetTokens, isAdaptive }: Reasoning): ThinkingConfig {
  if (show !== undefined) return { includeThoughts: show };
  const isShown = summary !== undefined || budgetTokens !== undefined || isAdaptive === true;
  return isShown ? { includeThoughts: true } : {};
}
