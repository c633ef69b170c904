/**
 * A generation as a Converse request (Amazon Bedrock API Reference, "Converse" and "ConverseStream"). The model and the
 * choice of a stream stand in the path.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import { type Sampling, takeSampling } from "../claude.ts";
import type { NeutralRequest, OutputFormat } from "../neutral/neutral.ts";
import { OptionTaker } from "../neutral/options.ts";
import { ANY_OBJECT, objectSchema } from "../neutral/tool-arguments.ts";
import { mayBudget } from "../neutral/turns.ts";
import { enforcedFormat, strictTool } from "../schema/enforced.ts";
import { CLAUDE_RULES, CLAUDE_TOOLS } from "../schema/rules.ts";
import { fittedTool } from "../schema/tool.ts";
import type {
  ConverseMessage,
  ConverseRequestBody,
  InferenceConfig,
  TextFormat,
  ToolChoiceBlock,
  ToolConfig,
} from "./body.ts";
import { familyOf } from "./models.ts";
import { type Abilities, cachePoint, isResult, isThinking, writeMessages } from "./write-messages.ts";
import { writeReasoning } from "./write-reasoning.ts";

/** @throws WeirError 400 if the conversation cannot be written in this dialect. */
export function writeConverseRequest(
  request: NeutralRequest,
  endpoint: Endpoint,
): { body: ConverseRequestBody; dropped: readonly string[] } {
  const { upstreamModel } = endpoint;
  const abilities = { family: familyOf(upstreamModel), cache: endpoint.capabilities.cache };
  const options = new OptionTaker(request);
  const { system, messages, hasToolBlocks } = writeMessages(request, abilities, options);
  const { family } = abilities;
  const toolConfig = writeTools(request, abilities, hasToolBlocks, options) ?? writeCalledTools(messages);
  const isForced = toolConfig?.toolChoice !== undefined && !("auto" in toolConfig.toolChoice);
  const { fields, effort } = writeReasoning(options, {
    family,
    upstreamModel,
    maxTokens: request.options.maxTokens?.value ?? endpoint.maxOutput,
    canThink: endpoint.capabilities.reasoning && !isForced,
    mayBudget: mayBudget(messages, isResult, isThinking),
  });
  const { topK, ...sampling } =
    family === "anthropic"
      ? takeSampling(options, upstreamModel, fields.thinking !== undefined)
      : plainSampling(options);
  const inferenceConfig = { ...writeLimits(options), ...sampling };
  const more = { ...(topK !== undefined && { top_k: topK }), ...fields };
  const textFormat = writeFormat(options);
  const output = { ...(textFormat !== undefined && { textFormat }), ...(effort !== undefined && { effort }) };
  const requestMetadata = writeMetadata(options);
  const tier = options.takeTier(TIERS);
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

function plainSampling(options: OptionTaker): Sampling {
  const temperature = options.take("temperature");
  const topP = options.take("topP");
  return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
}

/**
 * Tools that must not be called are left out, which has the same effect. But calls in the conversation need their tools, and
 * the provider has no option that forbids calls.
 */
function writeTools(
  { tools }: NeutralRequest,
  { cache, family }: Abilities,
  hasToolBlocks: boolean,
  options: OptionTaker,
): ToolConfig | undefined {
  const choice = options.take("toolChoice");
  const isSingle = options.take("parallelTools") === false;
  if (tools.length === 0) {
    // Without tools nothing can be called, so what forbids calls has no effect.
    if (choice !== undefined && choice !== "auto" && choice !== "none") options.putBack("toolChoice");
    return undefined;
  }
  // More than one call at a time is what models do anyway; it cannot be forbidden.
  if (isSingle) options.putBack("parallelTools");
  if (choice === "none") {
    if (!hasToolBlocks) return undefined;
    options.putBack("toolChoice");
  }
  const toolChoice = choice === undefined || choice === "none" ? undefined : writeChoice(choice);
  return {
    tools: tools.flatMap((tool, index): ToolConfig["tools"] => {
      const { name, description, cache: mark } = tool;
      // "The value at toolConfig.tools.0.toolSpec.inputSchema.json.type must be one of the following: object." (earendil-works/pi#8279)
      const { parameters, strict } =
        family === "anthropic"
          ? fittedTool(tool, index, CLAUDE_TOOLS, options)
          : strictTool({ ...tool, parameters: objectSchema(tool.parameters) }, index, CLAUDE_RULES, options);
      const toolSpec = {
        name,
        // An empty one is refused.
        ...(description !== undefined && description !== "" && { description }),
        inputSchema: { json: parameters.placed },
        ...(strict === true && { strict }),
      };
      return cache && mark !== undefined ? [{ toolSpec }, cachePoint(mark)] : [{ toolSpec }];
    }),
    ...(toolChoice !== undefined && { toolChoice }),
  };
}

/**
 * The tools that the conversation called, where the request has none: the provider refuses calls without their tools. What
 * they took is not known any more.
 */
function writeCalledTools(messages: readonly ConverseMessage[]): ToolConfig | undefined {
  const names = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) if ("toolUse" in block) names.add(block.toolUse.name);
  }
  if (names.size === 0) return undefined;
  const inputSchema = { json: ANY_OBJECT };
  return { tools: [...names].map((name) => ({ toolSpec: { name, inputSchema } })) };
}

function writeChoice(choice: "auto" | "required" | { readonly name: string }): ToolChoiceBlock {
  if (choice === "auto") return { auto: {} };
  return choice === "required" ? { any: {} } : { tool: { name: choice.name } };
}

function writeFormat(options: OptionTaker): TextFormat | undefined {
  const format: OutputFormat | undefined = options.take("format");
  if (format === undefined || format.type === "text") return undefined;
  if (format.type !== "json_schema") {
    options.putBack("format");
    return undefined;
  }
  const { name, description } = format;
  const schema = enforcedFormat(format.schema, format, CLAUDE_RULES, options);
  if (schema === undefined) return undefined;
  return {
    type: "json_schema",
    structure: {
      jsonSchema: {
        schema: schema.text,
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
