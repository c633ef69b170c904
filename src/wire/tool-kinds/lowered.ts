/**
 * A request's tools for a dialect that knows functions only: a custom tool becomes a function with one string, and so do its
 * calls in the conversation. Where the model may call some of the tools only, the others are not offered.
 */
import type { NeutralMessage, NeutralRequest, NeutralTool, Part } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";
import { argumentsOfInput, parametersOfInput } from "./input.ts";

/** What a dialect has of its own. */
export interface KnownKinds {
  readonly custom: boolean;
  readonly allowedTools: boolean;
}

export const FUNCTIONS_ONLY: KnownKinds = Object.freeze({ custom: false, allowedTools: false });

/** The request itself where there is nothing to change. @param source of its strings, which may be marks */
export function lowered(request: NeutralRequest, known: KnownKinds, source: Source): NeutralRequest {
  const { tools, messages, options } = request;
  const isCustom =
    !known.custom && (tools.some(({ kind }) => kind === "custom") || messages.some(callsCustom));
  const { allowedTools, ...others } = options;
  const isNarrowed = !known.allowedTools && allowedTools !== undefined;
  if (!isCustom && !isNarrowed) return request;
  const offered = isNarrowed ? tools.filter(({ name }) => allowedTools.value.includes(name)) : tools;
  return {
    ...request,
    tools: isCustom ? offered.map(functionOf) : offered,
    messages: isCustom ? messages.map((message) => withFunctions(message, source)) : messages,
    options: isNarrowed ? others : options,
  };
}

const callsCustom = ({ parts }: NeutralMessage): boolean => parts.some(isCustomCall);

const isCustomCall = (part: Part): boolean => part.type === "tool_call" && part.kind === "custom";

function functionOf(tool: NeutralTool): NeutralTool {
  if (tool.kind !== "custom") return tool;
  const { grammar, ...rest } = tool;
  return { ...rest, parameters: parametersOfInput(grammar) };
}

function withFunctions(message: NeutralMessage, source: Source): NeutralMessage {
  if (!callsCustom(message)) return message;
  return { ...message, parts: message.parts.map((part) => callOf(part, source)) };
}

function callOf(part: Part, source: Source): Part {
  if (part.type !== "tool_call" || part.kind !== "custom") return part;
  const { kind: _, ...call } = part;
  return { ...call, arguments: argumentsOfInput(source.whole(part.arguments)) };
}
