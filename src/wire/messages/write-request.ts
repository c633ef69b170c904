/**
 * A neutral request as the body of a messages call. System messages become the system prompt, neighbours of one role one
 * message, tool results come first in theirs: the dialect wants it so.
 */
import type { Endpoint } from "../../endpoint.ts";
import { fail } from "../../errors.ts";
import type { NeutralMessage, NeutralRequest } from "../neutral.ts";
import { OptionTaker } from "../options.ts";
import { optionMembers, toolOf } from "./write-options.ts";
import { blockOf, textBlock } from "./write-parts.ts";

type Block = NonNullable<ReturnType<typeof blockOf>>;
type SystemBlock = NonNullable<ReturnType<typeof textBlock>>;

interface Message {
  readonly role: "user" | "assistant";
  content: Block[];
}

/** @throws WeirError 400 where the dialect cannot be told at all: nothing but a system prompt, broken tool arguments. */
export function writeMessagesRequest(request: NeutralRequest, endpoint: Endpoint) {
  const options = new OptionTaker(request);
  const { system, messages } = conversationOf(request.messages, (at) => void options.drop(at));
  if (messages.length === 0) {
    throw fail("invalid_value", "The model needs at least one message of a user.", { param: "/messages" });
  }
  // The one option that the dialect cannot do without.
  const maxTokens = options.take("maxTokens") ?? endpoint.maxOutput;
  const { upstreamModel } = endpoint;
  const hasTools = request.tools.length > 0;
  const canThink = endpoint.capabilities.reasoning;
  const written = { upstreamModel, maxTokens, hasTools, canThink, mayBudget: mayBudget(messages) };
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

function conversationOf(from: readonly NeutralMessage[], drop: (at: string) => undefined) {
  const system: SystemBlock[] = [];
  const messages: Message[] = [];
  for (const { role, parts, at } of from) {
    if (role === "system") {
      // Its words are kept, its place is not.
      if (messages.length > 0) drop(at);
      for (const part of parts) {
        const block = part.type === "text" ? textBlock(part, at, drop) : drop(at);
        if (block !== undefined) system.push(block);
      }
      continue;
    }
    const content = parts.flatMap((part) => blockOf(part, at, drop) ?? []);
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  for (const message of messages)
    if (message.role === "user") message.content = resultsFirst(message.content);
  return { system, messages };
}

const isResult = (block: Block): boolean => block.type === "tool_result";

function resultsFirst(content: Block[]): Block[] {
  const results = content.filter(isResult);
  return results.length === 0 ? content : [...results, ...content.filter((block) => !isResult(block))];
}

/** With a budget of thinking, the dialect wants the turn that called the tools back as it was: begun with its thinking. */
function mayBudget(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  const turn = messages.at(-2);
  if (last?.role !== "user" || !last.content.some(isResult) || turn === undefined) return true;
  const first = turn.content[0]?.type;
  return first === "thinking" || first === "redacted_thinking";
}
