/**
 * A neutral request as the body of a messages call. System messages become the system prompt, neighbours of one role one
 * message, tool results come first in theirs: the dialect wants it so.
 */
import type { Endpoint } from "../../endpoint.ts";
import type { NeutralMessage, NeutralRequest } from "../neutral.ts";
import { OptionTaker } from "../options.ts";
import { mayBudget, putResultsFirst, turnsOf } from "../turns.ts";
import { optionMembers, toolOf } from "./write-options.ts";
import { blockOf, textBlock } from "./write-parts.ts";

type Block = NonNullable<ReturnType<typeof blockOf>>;
type SystemBlock = NonNullable<ReturnType<typeof textBlock>>;

/** @throws WeirError 400 where the dialect cannot be told at all: nothing but a system prompt, broken tool arguments. */
export function writeMessagesRequest(request: NeutralRequest, endpoint: Endpoint) {
  const options = new OptionTaker(request);
  const drop = (at: string) => void options.drop(at);
  const system: SystemBlock[] = [];
  const hoist = ({ parts, at }: NeutralMessage) => {
    for (const part of parts) {
      const block = part.type === "text" ? textBlock(part, at, drop) : drop(at);
      if (block !== undefined) system.push(block);
    }
  };
  const messages = turnsOf(request.messages, options, hoist, ({ parts, at }) =>
    parts.flatMap((part) => blockOf(part, at, drop) ?? []),
  );
  putResultsFirst(messages, isResult);
  // The one option that the dialect cannot do without.
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
    ...(hasTools && { tools: request.tools.map(toolOf) }),
    ...optionMembers(options, written),
    ...(request.stream && { stream: true }),
  };
  return { body, dropped: options.dropped() };
}

const isResult = (block: Block): boolean => block.type === "tool_result";

const isThinking = ({ type }: Block): boolean => type === "thinking" || type === "redacted_thinking";
