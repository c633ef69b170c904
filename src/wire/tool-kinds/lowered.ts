/**
 * A request's tools for a dialect that knows functions only: a custom tool becomes a function with one string, and so do its
 * calls in the conversation. Where the model may call some of the tools only, the others are not offered.
 */
import { fail } from "../../base/errors.ts";
import type { NeutralMessage, NeutralRequest, NeutralTool, Part } from "../neutral/neutral.ts";
import type { Source } from "../neutral/source.ts";
import { argumentsOfInput, parametersOfInput } from "./input.ts";

/** What a dialect has of its own. */
export interface KnownKinds {
  readonly custom: boolean;
  readonly allowedTools: boolean;
}

export const FUNCTIONS_ONLY: KnownKinds = Object.freeze({ custom: false, allowedTools: false });

/**
 * The request itself where there is nothing to change.
 * @param source of its strings, which may be marks
 * @throws WeirError 400 where no tool may be called that must be
 */
export function lowered(given: NeutralRequest, known: KnownKinds, source: Source): NeutralRequest {
  const allowing = given.options.allowedTools === undefined ? given : withOffered(given);
  const request = withSentChoice(allowing, source);
  const { tools, messages, options } = request;
  const isCustom =
    !known.custom && (tools.some(({ kind }) => kind === "custom") || messages.some(callsCustom));
  const { allowedTools } = options;
  const isNarrowed = !known.allowedTools && allowedTools !== undefined;
  if (!isCustom && !isNarrowed) return request;
  const allowed = isNarrowed ? new Set(allowedTools.value) : undefined;
  const offered = allowed === undefined ? tools : tools.filter(({ name }) => allowed.has(name));
  return {
    ...request,
    tools: isCustom ? offered.map(functionOf) : offered,
    messages: isCustom ? messages.map((message) => withFunctions(message, source)) : messages,
    options: isNarrowed ? withoutAllowed(options) : options,
  };
}

const withoutAllowed = ({
  allowedTools: _,
  ...others
}: NeutralRequest["options"]): NeutralRequest["options"] => others;

/** Only tools that are offered can be allowed. @throws WeirError 400 where one must be called, and none can be */
function withOffered(request: NeutralRequest): NeutralRequest {
  const { tools, options } = request;
  const { value, at } = options.allowedTools ?? { value: [], at: "" };
  const names = new Set(tools.map(({ name }) => name));
  const allowed = value.filter((name) => names.has(name));
  if (allowed.length === 0 && options.toolChoice?.value === "required") {
    throw fail("invalid_value", `${at} allows no tool of the request, and requires a call.`, { param: at });
  }
  if (allowed.length === value.length) return request;
  return { ...request, options: { ...options, allowedTools: { value: allowed, at } } };
}

/**
 * Only a tool that is sent can be chosen: "Tool choice 'function' not found in 'tools' parameter" (raine/claude-code-proxy#10). Clients
 * choose tools that are not in their list, and those that a provider runs, which are left out here.
 */
function withSentChoice(request: NeutralRequest, source: Source): NeutralRequest {
  const { options, tools, dropped } = request;
  const { toolChoice } = options;
  if (typeof toolChoice?.value !== "object") return request;
  const chosen = source.whole(toolChoice.value.name);
  if (tools.some(({ name }) => name === chosen)) return request;
  const { toolChoice: _, ...others } = options;
  return { ...request, options: others, dropped: [...dropped, toolChoice.at] };
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
