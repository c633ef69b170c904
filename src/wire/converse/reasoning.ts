/** How much a model on Bedrock shall think: in the words of its own family, for Converse has none but the effort. */
import type { Effort, Reasoning } from "../neutral.ts";
import type { OptionTaker } from "../options.ts";
import {
  BUDGETS,
  EFFORTS,
  type Family,
  LEAST_BUDGET,
  MOST_SHARE,
  OPENAI_EFFORTS,
  thinkingOf,
} from "./models.ts";

export interface WrittenReasoning {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** `outputConfig.effort` */
  readonly effort?: string;
}

export interface Thinker {
  readonly family: Family;
  readonly upstreamModel: string;
  /** The bound on the output: the client's, or else the model's own. */
  readonly maxTokens: number;
  /** The model can, and neither the tool choice nor the conversation forbids it. */
  readonly mayThink: boolean;
}

const NOTHING: WrittenReasoning = { fields: {} };

export function writeReasoning(options: OptionTaker, thinker: Thinker): WrittenReasoning {
  const reasoning = options.take("reasoning");
  if (reasoning === undefined) return NOTHING;
  if (thinker.family === "anthropic") {
    const { effort, budgetTokens, isAdaptive } = reasoning;
    // Claude does not think unasked; how to show it alone does not ask for any.
    const isAsked = effort !== undefined || budgetTokens !== undefined || isAdaptive === true;
    if (effort === "none" || !isAsked) return NOTHING;
    const written = thinker.mayThink ? writeThinking(options, reasoning, thinker) : undefined;
    if (written !== undefined) return written;
  } else if (thinker.family === "openai") {
    const effort = reasoning.effort === undefined ? undefined : OPENAI_EFFORTS[reasoning.effort];
    if (effort !== undefined) return { fields: { reasoning_effort: effort } };
  }
  options.putBack("reasoning");
  return NOTHING;
}

/**
 * Anthropic's `thinking`; undefined where no budget fits.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html
 */
function writeThinking(
  options: OptionTaker,
  reasoning: Reasoning,
  { upstreamModel, maxTokens }: Thinker,
): WrittenReasoning | undefined {
  const { budgetTokens, isAdaptive } = reasoning;
  const effort = reasoning.effort === "none" ? undefined : reasoning.effort;
  const display = displayOf(reasoning);
  const by = thinkingOf(upstreamModel);
  if (isAdaptive === true || by === "effort" || (by === "either" && budgetTokens === undefined)) {
    // The model decides how long: a budget has no place.
    if (budgetTokens !== undefined) options.putBack("reasoning");
    return {
      fields: { thinking: { type: "adaptive", ...display } },
      ...(effort !== undefined && { effort: EFFORTS[effort] }),
    };
  }
  const budget = budgetTokens ?? budgetOf(effort ?? "medium", maxTokens);
  if (budget < LEAST_BUDGET || budget >= maxTokens) return undefined;
  return { fields: { thinking: { type: "enabled", budget_tokens: budget, ...display } } };
}

const budgetOf = (effort: Exclude<Effort, "none">, maxTokens: number): number =>
  Math.min(BUDGETS[effort], Math.floor(maxTokens * MOST_SHARE));

function displayOf({ show, summary }: Reasoning): { readonly display?: "summarized" | "omitted" } {
  if (show === false) return { display: "omitted" };
  return show === true || summary !== undefined ? { display: "summarized" } : {};
}
