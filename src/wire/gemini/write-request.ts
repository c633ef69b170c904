/**
 * A generation as Gemini's generateContent request (https://ai.google.dev/api/generate-content). The model and the choice
 * of a stream stand in the path. Cache marks have no place: the provider caches by itself.
 */

import type { Endpoint } from "../../base/endpoint.ts";
import { withNewMember } from "../json/json-text.ts";
import type { NeutralRequest, NeutralTool, OutputFormat, ToolChoice } from "../neutral/neutral.ts";
import { defined, OptionTaker } from "../neutral/options.ts";
import { geminiReferences } from "../schema/gemini-references.ts";
import type {
  FunctionCallingConfig,
  FunctionDeclaration,
  GeminiRequestBody,
  GenerationConfig,
} from "./body.ts";
import { type Generation, generationOf } from "./models.ts";
import { writeMessages } from "./write-messages.ts";
import { writeReasoning } from "./write-reasoning.ts";

/** @throws WeirError 400 if the conversation cannot be written in this dialect. */
export function writeGeminiRequest(
  request: NeutralRequest,
  endpoint: Endpoint,
): { body: GeminiRequestBody; dropped: readonly string[] } {
  const generation = generationOf(endpoint.upstreamModel);
  const options = new OptionTaker(request);
  const { system, contents } = writeMessages(request, generation, options);
  const tools = toolsOf(request, generation);
  const hasTools = tools.length > 0;
  const toolConfig = writeToolChoice(options, hasTools);
  const takesFormat = generation.formatsBesideTools || !hasTools;
  const generationConfig = defined({
    ...writeConfig(options),
    ...writeFormat(options, takesFormat),
    thinkingConfig: writeReasoning(options, generation, endpoint.capabilities.reasoning),
  });
  const serviceTier = options.takeTier(TIERS);
  // More than one call at a time is what the provider does anyway; it cannot be forbidden.
  if (options.take("parallelTools") === false && hasTools) options.putBack("parallelTools");
  const body: GeminiRequestBody = {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    contents,
    ...(hasTools && {
      tools: [{ functionDeclarations: writeTools(tools, options) }],
    }),
    ...(toolConfig !== undefined && { toolConfig: { functionCallingConfig: toolConfig } }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
  return { body, dropped: options.dropped() };
}

/** The tools that are sent. A model that takes no JSON format beside functions gets none of them if it may call none: the format stays. */
function toolsOf(
  { tools, options }: NeutralRequest,
  { formatsBesideTools }: Generation,
): readonly NeutralTool[] {
  const isHeld = !formatsBesideTools && isJson(options.format?.value);
  return isHeld && options.toolChoice?.value === "none" ? [] : tools;
}

const isJson = (format: OutputFormat | undefined): boolean => format !== undefined && format.type !== "text";

const writeTools = (tools: readonly NeutralTool[], options: OptionTaker): FunctionDeclaration[] =>
  tools.map(({ name, description, parameters, strict }, index) => {
    // The provider has one degree of strictness for all tools, and that only as a mode of calling.
    if (strict === true) options.drop(`/tools/${index}`);
    return {
      name,
      ...(description !== undefined && { description }),
      parametersJsonSchema: geminiReferences(parameters).placed,
    };
  });

/**
 * Without functions the provider refuses every mode: "Function calling config is set without function_declarations". `auto` and
 * `none` then have no effect and are not named as dropped.
 */
function writeToolChoice(options: OptionTaker, hasTools: boolean): FunctionCallingConfig | undefined {
  const choice: ToolChoice | undefined = options.take("toolChoice");
  if (choice === undefined) return undefined;
  if (!hasTools) {
    if (choice !== "auto" && choice !== "none") options.putBack("toolChoice");
    return undefined;
  }
  if (choice === "auto") return { mode: "AUTO" };
  if (choice === "none") return { mode: "NONE" };
  if (choice === "required") return { mode: "ANY" };
  return { mode: "ANY", allowedFunctionNames: [choice.name] };
}

function writeConfig(options: OptionTaker) {
  const logprobs = options.take("logprobs");
  return {
    maxOutputTokens: options.take("maxTokens"),
    temperature: options.take("temperature"),
    topP: options.take("topP"),
    topK: options.take("topK"),
    stopSequences: options.take("stop"),
    seed: options.take("seed"),
    presencePenalty: options.take("presencePenalty"),
    frequencyPenalty: options.take("frequencyPenalty"),
    candidateCount: options.take("choices"),
    responseLogprobs: logprobs === undefined ? undefined : true,
    logprobs: logprobs !== undefined && logprobs.top > 0 ? logprobs.top : undefined,
  };
}

/** The provider holds to the schema always, and knows no name for it. @param isTaken whether it is held to any format here */
function writeFormat(options: OptionTaker, isTaken: boolean): GenerationConfig {
  const format: OutputFormat | undefined = options.take("format");
  if (format === undefined || format.type === "text") return {};
  if (!isTaken) {
    options.putBack("format");
    return {};
  }
  const responseMimeType = "application/json";
  if (format.type === "json") return { responseMimeType };
  const { schema, description } = format;
  const described =
    description === undefined ? schema : withNewMember(schema, "description", JSON.stringify(description));
  return { responseMimeType, responseJsonSchema: geminiReferences(described) };
}

/** https://ai.google.dev/gemini-api/docs/optimization; `auto` leaves it to the provider, as saying nothing does. */
const TIERS: Readonly<Record<string, string | undefined>> = {
  auto: undefined,
  default: "standard",
  standard_only: "standard",
  flex: "flex",
  priority: "priority",
};
