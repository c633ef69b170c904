/**
 * A generation as a Converse request (Amazon Bedrock API Reference, "Converse" and "ConverseStream"). The model and the
 * choice of a stream stand in the path.
 */
import type { Endpoint } from "../../endpoint.ts";
import type { NeutralRequest, OutputFormat } from "../neutral.ts";
import { OptionTaker } from "../options.ts";
import { hasMark } from "../source.ts";
import type {
  ConverseMessage,
  ConverseRequestBody,
  InferenceConfig,
  TextFormat,
  ToolChoiceBlock,
  ToolConfig,
} from "./body.ts";
import { type Abilities, cachePoint, writeMessages } from "./messages.ts";
import { familyOf } from "./models.ts";
import { writeReasoning } from "./reasoning.ts";

/** @throws WeirError 400 where the conversation cannot be told at all. */
export function writeConverseRequest(
  request: NeutralRequest,
  endpoint: Endpoint,
): { body: ConverseRequestBody; dropped: readonly string[] } {
  const { upstreamModel } = endpoint;
  const abilities = { family: familyOf(upstreamModel), cache: endpoint.capabilities.cache };
  const options = new OptionTaker(request);
  const { system, messages, hasToolBlocks } = writeMessages(request, abilities, options);
  const { family } = abilities;
  const toolConfig = writeTools(request, abilities, hasToolBlocks, options);
  const isForced = toolConfig?.toolChoice !== undefined && !("auto" in toolConfig.toolChoice);
  const { fields, effort } = writeReasoning(options, {
    family,
    upstreamModel,
    maxTokens: request.options.maxTokens?.value ?? endpoint.maxOutput,
    mayThink: endpoint.capabilities.reasoning && !isForced && beginsWithThinking(messages),
  });
  const { topK, ...sampling } =
    family === "anthropic" ? claudeSampling(options, fields.thinking !== undefined) : plainSampling(options);
  const inferenceConfig = { ...writeLimits(options), ...sampling };
  const more = { ...(topK !== undefined && { top_k: topK }), ...fields };
  const textFormat = writeFormat(options);
  const output = { ...(textFormat !== undefined && { textFormat }), ...(effort !== undefined && { effort }) };
  const requestMetadata = writeMetadata(options);
  const tier = writeTier(options);
  const body: ConverseRequestBody = {
    messages,
    ...(system.length > 0 && { system }),
    ...(hasMembers(inferenceConfig) && { inferenceConfig }),
    ...(toolConfig !== undefined && { toolConfig }),
    ...(hasMembers(output) && { outputConfig: output }),
    ...(hasMembers(more) && { additionalModelRequestFields: more }),
    ...(requestMetadata !== undefined && { requestMetadata }),
    ...(tier !== undefined && { serviceTier: { type: tier } }),
  };
  return { body, dropped: options.dropped() };
}

const hasMembers = (value: object): boolean => Object.keys(value).length > 0;

function writeLimits(options: OptionTaker): InferenceConfig {
  const maxTokens = options.take("maxTokens");
  const stopSequences = options.take("stop");
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(stopSequences !== undefined && { stopSequences }),
  };
}

interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
}

function plainSampling(options: OptionTaker): Sampling {
  const temperature = options.take("temperature");
  const topP = options.take("topP");
  return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
}

/** Claude ends at a temperature of 1, refuses most beside thinking, and takes one of `temperature` and `topP`. */
function claudeSampling(options: OptionTaker, thinks: boolean): Sampling {
  const temperature = options.take("temperature");
  const topP = options.take("topP");
  const topK = options.take("topK");
  const takesTemperature = temperature !== undefined && temperature <= 1 && (!thinks || temperature === 1);
  if (temperature !== undefined && !takesTemperature) options.putBack("temperature");
  const takesTopP = topP !== undefined && !takesTemperature && (!thinks || topP >= 0.95);
  // 1 is what it is without being said.
  if (topP !== undefined && topP !== 1 && !takesTopP) options.putBack("topP");
  if (topK !== undefined && thinks) options.putBack("topK");
  return {
    ...(takesTemperature && { temperature }),
    ...(takesTopP && { topP }),
    ...(topK !== undefined && !thinks && { topK }),
  };
}

/** Claude refuses to think on in a turn of calls that did not begin with thinking. */
function beginsWithThinking(messages: readonly ConverseMessage[]): boolean {
  const last = messages.at(-1);
  const turn = messages.at(-2);
  const hasResults = last?.role === "user" && last.content.some((block) => "toolResult" in block);
  if (!hasResults || turn === undefined) return true;
  const [first] = turn.content;
  return first !== undefined && "reasoningContent" in first;
}

/**
 * Tools that must not be called are left out, which says the same; but calls in the conversation need their tools, and the
 * provider has no word for forbidding them.
 */
function writeTools(
  { tools }: NeutralRequest,
  { cache }: Abilities,
  hasToolBlocks: boolean,
  options: OptionTaker,
): ToolConfig | undefined {
  const choice = options.take("toolChoice");
  // More than one call at a time is what models do anyway; it cannot be forbidden.
  if (options.take("parallelTools") === false) options.putBack("parallelTools");
  if (tools.length === 0) return undefined;
  if (choice === "none") {
    if (!hasToolBlocks) return undefined;
    options.putBack("toolChoice");
  }
  const toolChoice = choice === undefined || choice === "none" ? undefined : writeChoice(choice);
  return {
    tools: tools.flatMap(({ name, description, parameters, strict, cache: mark }): ToolConfig["tools"] => {
      const toolSpec = {
        name,
        // An empty one is refused.
        ...(description !== undefined && description !== "" && { description }),
        inputSchema: { json: parameters },
        ...(strict === true && { strict }),
      };
      return cache && mark !== undefined ? [{ toolSpec }, cachePoint(mark)] : [{ toolSpec }];
    }),
    ...(toolChoice !== undefined && { toolChoice }),
  };
}

function writeChoice(choice: "auto" | "required" | { readonly name: string }): ToolChoiceBlock {
  if (choice === "auto") return { auto: {} };
  return choice === "required" ? { any: {} } : { tool: { name: choice.name } };
}

function writeFormat(options: OptionTaker): TextFormat | undefined {
  const format: OutputFormat | undefined = options.take("format");
  if (format === undefined || format.type === "text") return undefined;
  const schema = format.type === "json_schema" ? JSON.stringify(format.schema) : undefined;
  if (format.type !== "json_schema" || schema === undefined || hasMark(schema)) {
    options.putBack("format");
    return undefined;
  }
  const { name, description } = format;
  return {
    type: "json_schema",
    structure: {
      jsonSchema: {
        schema,
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
      },
    },
  };
}

const MAX_METADATA = 16;
const METADATA = /^[a-zA-Z0-9\s._:/=+$@-]{0,256}$/;

/** Labels for the provider's logs, of few kinds of characters. */
function writeMetadata(options: OptionTaker): Readonly<Record<string, string>> | undefined {
  const metadata = options.take("metadata");
  if (metadata === undefined) return undefined;
  const entries = Object.entries(metadata);
  const fits = entries.every(([key, value]) => key !== "" && METADATA.test(key) && METADATA.test(value));
  if (fits && entries.length <= MAX_METADATA) return entries.length > 0 ? metadata : undefined;
  options.putBack("metadata");
  return undefined;
}

/** `auto` leaves it to the provider, as saying nothing does. */
const TIERS: Readonly<Record<string, string | undefined>> = {
  auto: undefined,
  default: "default",
  standard_only: "default",
  flex: "flex",
  priority: "priority",
};

function writeTier(options: OptionTaker): string | undefined {
  const tier = options.take("serviceTier");
  if (tier === undefined) return undefined;
  if (!Object.hasOwn(TIERS, tier)) options.putBack("serviceTier");
  return TIERS[tier];
}
