/**
 * Options of a generation as members of a messages request. What the dialect refuses in this combination is left out and
 * told; nothing is changed to fit.
 */
import type { NeutralTool, OutputFormat, Reasoning, ToolChoice } from "../neutral.ts";
import type { OptionTaker } from "../options.ts";
import { isObject, type JsonObject } from "../reader.ts";
import { cacheControl } from "./write-parts.ts";

export interface Written {
  readonly upstreamModel: string;
  readonly maxTokens: number;
  readonly hasTools: boolean;
  readonly canThink: boolean;
  /** The history allows thinking by budget. */
  readonly mayBudget: boolean;
}

export function optionMembers(options: OptionTaker, written: Written) {
  const { hasTools } = written;
  const toolChoice = toolChoiceOf(options, hasTools);
  const isForced = toolChoice?.type === "any" || toolChoice?.type === "tool";
  const reasoning = reasoningOf(options, { ...written, canThink: written.canThink && !isForced });
  const format = formatOf(options);
  const outputConfig = {
    ...(reasoning?.effort !== undefined && { effort: reasoning.effort }),
    ...(format !== undefined && { format }),
  };
  const user = options.take("user");
  const tier = tierOf(options);
  const stop = stopOf(options);
  return {
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    ...(reasoning !== undefined && { thinking: reasoning.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...samplingOf(options, reasoning !== undefined, claudeVersion(written.upstreamModel) > ADAPTIVE_FROM),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

/** The dialect wants an object's schema. */
export const toolOf = ({ name, description, parameters, strict, cache }: NeutralTool) => ({
  name,
  ...(description !== undefined && { description }),
  input_schema: inputSchema(parameters),
  ...(strict !== undefined && { strict }),
  ...cacheControl(cache),
});

function inputSchema(parameters: unknown) {
  const type = "object" as const;
  return isObject(parameters) ? { ...parameters, type } : { type, properties: {} };
}

/** Without tools the dialect refuses any choice of them, and `auto` and `none` say nothing. */
function toolChoiceOf(options: OptionTaker, hasTools: boolean) {
  const choice = options.take("toolChoice");
  const isSingle = options.take("parallelTools") === false;
  if (!hasTools) {
    if (choice !== undefined && choice !== "auto" && choice !== "none") options.putBack("toolChoice");
    return undefined;
  }
  if (choice === undefined && !isSingle) return undefined;
  return { ...choiceOf(choice), ...(isSingle && choice !== "none" && { disable_parallel_tool_use: true }) };
}

function choiceOf(choice: ToolChoice | undefined) {
  if (typeof choice === "object") return { type: "tool" as const, name: choice.name };
  if (choice === "required") return { type: "any" as const };
  return { type: choice === "none" ? ("none" as const) : ("auto" as const) };
}

/** What an effort is worth in tokens, on models that take budgets. */
const BUDGETS = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
} as const;
/** The dialect's least budget. */
const LEAST_BUDGET = 1024;
/** Of the output bound, which thinking counts towards: the rest is left for the answer. */
const MOST_SHARE = 0.8;

/** 4.6; see {@link claudeVersion}. Later ones take nothing but adaptive thinking, and no sampling. */
const ADAPTIVE_FROM = 406;

/**
 * Thinking by budget or by effort: models from 4.6 on decide themselves how long to think, steered by an effort, and from
 * 4.7 on take no budget; older ones, and models of other makers that speak this dialect, take a budget only.
 */
function reasoningOf(options: OptionTaker, { upstreamModel, maxTokens, canThink, mayBudget }: Written) {
  const said = options.take("reasoning");
  if (said === undefined || said.effort === "none") return undefined;
  const display = displayOf(said);
  if (!canThink || isOnlyShown(said)) {
    // Not to show what is not there is done by nothing.
    if (!isOnlyShown(said) || display.display === "summarized") options.putBack("reasoning");
    return undefined;
  }
  const version = claudeVersion(upstreamModel);
  if (version > ADAPTIVE_FROM || (version === ADAPTIVE_FROM && said.budgetTokens === undefined)) {
    if (said.budgetTokens !== undefined) options.putBack("reasoning");
    const effort = said.effort === "minimal" ? "low" : said.effort;
    return { thinking: { type: "adaptive" as const, ...display }, effort };
  }
  const most = Math.floor(maxTokens * MOST_SHARE);
  const budget = said.budgetTokens ?? Math.min(BUDGETS[said.effort ?? "medium"], most);
  if (!mayBudget || budget < LEAST_BUDGET || budget >= maxTokens) {
    options.putBack("reasoning");
    return undefined;
  }
  return { thinking: { type: "enabled" as const, budget_tokens: budget, ...display }, effort: undefined };
}

/** Only how to show it was said, not that there shall be any. */
const isOnlyShown = ({ effort, budgetTokens, isAdaptive }: Reasoning): boolean =>
  effort === undefined && budgetTokens === undefined && isAdaptive !== true;

function displayOf({ show, summary }: Reasoning): { readonly display?: "omitted" | "summarized" } {
  if (show === false) return { display: "omitted" };
  return show === true || summary !== undefined ? { display: "summarized" } : {};
}

/**
 * The version of `claude-opus-4-6`, `claude-3-5-haiku-20241022`, `anthropic.claude-sonnet-5` as 406, 305, 500; a Claude
 * that tells none is a new one. 0 for models of other makers.
 */
export function claudeVersion(model: string): number {
  const match = /claude-(?:[a-z]+-)*(\d)(?:[-.](\d{1,2})(?!\d))?(?!\d)/.exec(model);
  if (match === null) return model.includes("claude-") ? 9999 : 0;
  return Number(match[1]) * 100 + Number(match[2] ?? 0);
}

/**
 * The dialect ends at 1, refuses most beside thinking, on newer models takes one of `temperature` and `top_p`, and on the
 * newest none of the three. 1 is what the first two are without being said.
 */
function samplingOf(options: OptionTaker, thinks: boolean, isNewest: boolean) {
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
    ...(takesTopP && { top_p: topP }),
    ...(takesTopK && { top_k: topK }),
  };
}

/** The dialect refuses sequences of white space only. */
function stopOf(options: OptionTaker): string[] {
  const stop = options.take("stop") ?? [];
  const taken = stop.filter((text) => text.trim() !== "");
  if (taken.length < stop.length) options.putBack("stop");
  return taken;
}

function formatOf(options: OptionTaker) {
  const format = options.take("format");
  if (format === undefined || format.type === "text") return undefined;
  if (format.type === "json" || !isObject(format.schema)) {
    options.putBack("format");
    return undefined;
  }
  return { type: "json_schema" as const, schema: describedSchema(format.schema, format) };
}

/** A description beside the schema has its place in it. */
const describedSchema = (
  schema: JsonObject,
  { description }: Extract<OutputFormat, { type: "json_schema" }>,
) => (description === undefined || "description" in schema ? schema : { ...schema, description });

function tierOf(options: OptionTaker) {
  const tier = options.take("serviceTier");
  if (tier === "auto") return "auto" as const;
  if (tier === "default" || tier === "standard_only") return "standard_only" as const;
  if (tier !== undefined) options.putBack("serviceTier");
  return undefined;
}
