/** A neutral request as the body of a messages call (Anthropic API reference, "Create a Message"). */
import type { Endpoint } from "../../base/endpoint.ts";
import type { NeutralRequest } from "../neutral/neutral.ts";
import { OptionTaker } from "../neutral/options.ts";
import { mayBudget } from "../neutral/turns.ts";
import { isResult, isThinking, writeMessages } from "./write-messages.ts";
import { optionMembers, toolOf } from "./write-options.ts";

/** @throws WeirError 400 if the request has only a system prompt, or tool arguments that are no object */
export function writeMessagesRequest(request: NeutralRequest, endpoint: Endpoint) {
  const options = new OptionTaker(request);
  const { system, messages } = writeMessages(request, options);
  // The dialect requires this option.
  const maxTokens = options.take("maxTokens") ?? endpoint.maxOutput;
  const { upstreamModel } = endpoint;
  const hasTools = request.tools.length > 0;
  const written = {
    upstreamModel,
    maxTokens,
    hasTools,
    canThink: endpoint.capabilities.reasoning,
    mayBudget: mayBudget(messages, isResult, isThinking),
  };
  const body = {
    model: upstreamModel,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...(hasTools && { tools: request.tools.map((tool, index) => toolOf(tool, index, options)) }),
    ...optionMembers(options, written),
    ...(request.stream && { stream: true }),
  };
  return { body, dropped: options.dropped() };
}
