/**
 * A neutral request as a body for an upstream that speaks the responses dialect. Nothing is stored there: other formats
 * store nothing either, and the answer has the encrypted reasoning instead.
 */
import type { Endpoint } from "../../base/endpoint.ts";
import type { Written } from "../format.ts";
import { effortOf } from "../neutral/effort.ts";
import type { NeutralRequest, NeutralTool, OutputFormat, Reasoning, ToolChoice } from "../neutral/neutral.ts";
import { OptionTaker, sameWords } from "../neutral/options.ts";
import { strictFormat } from "../schema/enforced.ts";
import { OPENAI_RULES, OPENAI_TOOLS } from "../schema/rules.ts";
import { fittedTool } from "../schema/tool.ts";
import { writeMessages } from "./write-messages.ts";

export function writeResponsesRequest(request: NeutralRequest, endpoint: Endpoint): Written {
  const options = new OptionTaker(request);
  const include: string[] = [];
  const { reasoning: reasons } = endpoint.capabilities;
  if (reasons) include.push("reasoning.encrypted_content");
  const body: Record<string, unknown> = {
    model: endpoint.upstreamModel,
    input: writeMessages(request.messages, options),
    store: false,
    ...(request.stream && { stream: true }),
  };
  // A member that is undefined is not written.
  body.max_output_tokens = options.take("maxTokens");
  body.temperature = options.take("temperature");
  body.top_p = options.take("topP");
  body.user = options.take("user");
  body.prompt_cache_key = options.take("cacheKey");
  body.metadata = options.take("metadata");
  body.service_tier = options.takeTier(TIERS);
  const choice = options.take("toolChoice");
  const allowed = options.take("allowedTools");
  const parallel = options.take("parallelTools");
  if (request.tools.length > 0) {
    const { tools } = request;
    const custom = new Set(tools.flatMap(({ name, kind }) => (kind === "custom" ? [name] : [])));
    const named = (name: string) => ({
      type: custom.has(name) ? ("custom" as const) : ("function" as const),
      name,
    });
    body.tools = tools.map((tool, index) => toolOf(tool, index, options));
    body.tool_choice = choiceOf(choice, allowed, named);
    body.parallel_tool_calls = parallel;
    // Without tools none of the three has an effect, unless a call is required.
  } else if (choice !== undefined && choice !== "auto" && choice !== "none") options.putBack("toolChoice");
  body.text = textOf(options);
  body.reasoning = reasons ? reasoningOf(options.take("reasoning")) : undefined;
  const logprobs = options.take("logprobs");
  if (logprobs !== undefined) {
    include.push("message.output_text.logprobs");
    body.top_logprobs = logprobs.top;
  }
  if (include.length > 0) body.include = include;
  return { body, dropped: options.dropped() };
}

const TIERS = sameWords("auto", "default", "flex", "scale", "priority", "fast", "ultrafast");

const toolOf = (tool: NeutralTool, index: number, options: OptionTaker) =>
  tool.kind === "custom" ? customOf(tool) : functionOf(fittedTool(tool, index, OPENAI_TOOLS, options));

/** The default of `strict` is true in this format, and false in all others. */
const functionOf = ({ name, description, parameters, strict }: NeutralTool) => ({
  type: "function" as const,
  name,
  ...(description !== undefined && { description }),
  parameters: parameters.placed,
  strict: strict ?? false,
});

export type FunctionToolBody = ReturnType<typeof functionOf>;

const customOf = ({ name, description, grammar }: NeutralTool) => ({
  type: "custom" as const,
  name,
  ...(description !== undefined && { description }),
  ...(grammar !== undefined && { format: { type: "grammar" as const, ...grammar } }),
});

/** @param named a tool as the API names it */
function choiceOf(
  choice: ToolChoice | undefined,
  allowed: readonly string[] | undefined,
  named: (name: string) => object,
) {
  if (typeof choice === "object") return named(choice.name);
  return allowed === undefined || choice === undefined
    ? choice
    : { type: "allowed_tools" as const, mode: choice, tools: allowed.map(named) };
}

function textOf(options: OptionTaker) {
  const format = options.take("format");
  const verbosity = options.take("verbosity");
  if (format === undefined && verbosity === undefined) return undefined;
  return {
    ...(format !== undefined && { format: formatOf(format, options) }),
    ...(verbosity !== undefined && { verbosity }),
  };
}

/** The API requires a name of a schema. */
const SCHEMA_NAME = "response";

function formatOf(format: OutputFormat, options: OptionTaker) {
  if (format.type === "text") return { type: "text" as const };
  if (format.type === "json") return { type: "json_object" as const };
  const { name = SCHEMA_NAME, description, schema, strict } = strictFormat(format, OPENAI_RULES, options);
  return {
    type: "json_schema" as const,
    name,
    ...(description !== undefined && { description }),
    schema,
    ...(strict !== undefined && { strict }),
  };
}

/** Models of this dialect always decide how long they reason: `isAdaptive` is left out. */
function reasoningOf(reasoning: Reasoning | undefined) {
  if (reasoning === undefined) return undefined;
  const effort = effortOf(reasoning);
  const summary = reasoning.summary ?? (reasoning.show === true ? "auto" : undefined);
  if (effort === undefined && summary === undefined) return undefined;
  return { ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) };
}
