/**
 * A neutral request as a chat-completions body for one endpoint (OpenAI API reference, "Create chat completion"). Nothing
 * is added that changes what a model does (T53), except the option that makes a stream report its usage.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { effortOf } from "../neutral/effort.ts";
import type { NeutralRequest, NeutralTool, OutputFormat } from "../neutral/neutral.ts";
import { defined, OptionTaker, sameWords } from "../neutral/options.ts";
import { strictFormat } from "../schema/enforced.ts";
import { OPENAI_RULES, OPENAI_TOOLS } from "../schema/rules.ts";
import { fittedTool } from "../schema/tool.ts";
import { writeMessages } from "./write-messages.ts";

/** Anthropic's words for the tier mean nothing here. */
const TIERS = sameWords("auto", "default", "flex", "scale", "priority", "fast");

/** What has no place in the format is named in `dropped`. @throws WeirError 400 naming media that have none */
export function writeChatRequest(
  request: NeutralRequest,
  endpoint: Endpoint,
): { body: Readonly<Record<string, unknown>>; dropped: readonly string[] } {
  const taker = new OptionTaker(request);
  const { quirks } = endpoint.provider;
  const maxTokensField = quirks.maxTokensField === "either" ? "max_tokens" : quirks.maxTokensField;
  const body = {
    model: endpoint.upstreamModel,
    messages: writeMessages(request.messages, endpoint, taker),
    ...(request.stream && { stream: true }),
    ...(request.stream && quirks.streamUsage && { stream_options: { include_usage: true } }),
    ...sampling(taker, maxTokensField),
    ...tools(request.tools, taker),
    ...withReasoning(taker, endpoint),
    ...others(taker),
  };
  return { body, dropped: taker.dropped() };
}

function sampling(taker: OptionTaker, maxTokensField: string) {
  const logprobs = taker.take("logprobs");
  const format = taker.take("format");
  return defined({
    [maxTokensField]: taker.take("maxTokens"),
    temperature: taker.take("temperature"),
    top_p: taker.take("topP"),
    top_k: taker.take("topK"),
    stop: taker.take("stop"),
    seed: taker.take("seed"),
    frequency_penalty: taker.take("frequencyPenalty"),
    presence_penalty: taker.take("presencePenalty"),
    logit_bias: taker.take("logitBias"),
    logprobs: logprobs && true,
    top_logprobs: logprobs && logprobs.top > 0 ? logprobs.top : undefined,
    n: taker.take("choices"),
    response_format: format && formatOf(format, taker),
  });
}

function tools(given: readonly NeutralTool[], taker: OptionTaker) {
  const choice = taker.take("toolChoice");
  const parallel = taker.take("parallelTools");
  if (given.length === 0) {
    // Without tools both have no effect, unless a call is required.
    if (choice !== undefined && choice !== "auto" && choice !== "none") taker.putBack("toolChoice");
    return {};
  }
  for (const [index, { cache }] of given.entries()) {
    if (cache !== undefined) taker.drop(`/tools/${index}/cache_control`);
  }
  return defined({
    tools: given.map((tool, index) => {
      const { name, description, parameters, strict } = fittedTool(tool, index, OPENAI_TOOLS, taker);
      return {
        type: "function",
        function: defined({ name, description, parameters: parameters.placed, strict }),
      };
    }),
    tool_choice: typeof choice === "object" ? { type: "function", function: { name: choice.name } } : choice,
    parallel_tool_calls: parallel,
  });
}

function formatOf(format: OutputFormat, taker: OptionTaker) {
  if (format.type === "text") return { type: "text" };
  if (format.type === "json") return { type: "json_object" };
  const { name = "response", description, schema, strict } = strictFormat(format, OPENAI_RULES, taker);
  return { type: "json_schema", json_schema: defined({ name, description, schema, strict }) };
}

function withReasoning(taker: OptionTaker, endpoint: Endpoint) {
  const reasoning = taker.take("reasoning");
  if (reasoning === undefined) return {};
  if (!endpoint.capabilities.reasoning) {
    if (reasoning.effort !== "none") taker.putBack("reasoning");
    return {};
  }
  const { budgetTokens, show, summary } = reasoning;
  if (budgetTokens !== undefined || show === false || summary !== undefined) taker.putBack("reasoning");
  return defined({ reasoning_effort: effortOf(reasoning) });
}

/** `metadata` is left out: OpenAI accepts it only with `store`. */
const others = (taker: OptionTaker) =>
  defined({
    verbosity: taker.take("verbosity"),
    user: taker.take("user"),
    prompt_cache_key: taker.take("cacheKey"),
    service_tier: taker.takeTier(TIERS),
  });
