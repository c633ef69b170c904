/**
 * Options of a generation as members of a messages request. Options that the dialect refuses in this combination are dropped
 * and named; none is changed to fit.
 */

import { type Thinker, takeSampling, takeThinking } from "../claude.ts";
import { type JsonText, type Placed, withNewMember } from "../json/json-text.ts";
import type { NeutralTool, ToolChoice } from "../neutral/neutral.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { enforcedFormat, type SchemaFormat } from "../schema/enforced.ts";
import { CLAUDE_RULES, CLAUDE_TOOLS } from "../schema/rules.ts";
import { fittedTool } from "../schema/tool.ts";
import { cacheControl } from "./write-messages.ts";

export interface Written extends Thinker {
  readonly hasTools: boolean;
}

export function optionMembers(options: OptionTaker, written: Written) {
  const { hasTools } = written;
  const toolChoice = toolChoiceOf(options, hasTools);
  const isForced = toolChoice?.type === "any" || toolChoice?.type === "tool";
  const reasoning = takeThinking(options, { ...written, canThink: written.canThink && !isForced });
  const format = formatOf(options);
  const outputConfig = {
    ...(reasoning?.effort !== undefined && { effort: reasoning.effort }),
    ...(format !== undefined && { format }),
  };
  const { temperature, topP, topK } = takeSampling(options, written.upstreamModel, reasoning !== undefined);
  const user = options.take("user");
  const tier = options.takeTier<"auto" | "standard_only">(TIERS);
  const stop = options.take("stop") ?? [];
  return {
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    ...(reasoning !== undefined && { thinking: reasoning.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(user !== undefined && { metadata: { user_id: user } }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

/** The dialect refuses some schemas of any tool, and more of a strict one. */
export function toolOf(tool: NeutralTool, index: number, options: OptionTaker) {
  const { name, description, parameters, strict, cache } = fittedTool(tool, index, CLAUDE_TOOLS, options);
  const written: ToolBody = { name, input_schema: parameters.placed };
  if (description !== undefined) written.description = description;
  if (strict !== undefined) written.strict = strict;
  return cache === undefined ? written : { ...written, ...cacheControl(cache) };
}

/** A tool while it is written: set member by member, since a request may have hundreds of tools. */
interface ToolBody {
  readonly name: string;
  description?: string;
  readonly input_schema: Placed;
  strict?: boolean;
}

/** Without tools the dialect refuses a tool choice; `auto` and `none` then have no effect and are not named as dropped. */
function toolChoiceOf(options: OptionTaker, hasTools: boolean) {
  const choice = options.take("toolChoice");
  const isSingle = options.take("parallelTools") === false;
  if (!hasTools) {
    if (choice !== undefined && choice !== "auto" && choice !== "none") options.putBack("toolChoice");
    return undefined;
  }
  if (choice === undefined && !isSingle) return undefined;
  return { ...choiceOf(choice), ...(isSingle && choice !== "none" && { disable_parallel_tool_use: true }) };
}

function choiceOf(choice: ToolChoice | undefined) {
  if (typeof choice === "object") return { type: "tool" as const, name: choice.name };
  if (choice === "required") return { type: "any" as const };
  return { type: choice === "none" ? ("none" as const) : ("auto" as const) };
}

function formatOf(options: OptionTaker) {
  const format = options.take("format");
  if (format === undefined || format.type === "text") return undefined;
  if (format.type === "json" || !format.schema.isObject) {
    options.putBack("format");
    return undefined;
  }
  const schema = enforcedFormat(describedSchema(format.schema, format), format, CLAUDE_RULES, options);
  return schema && { type: "json_schema" as const, schema };
}

/** A description beside the schema is moved into it. */
const describedSchema = (schema: JsonText, { description }: SchemaFormat) =>
  description === undefined ? schema : withNewMember(schema, "description", JSON.stringify(description));

const TIERS = {
  auto: "auto",
  default: "standard_only",
  standard_only: "standard_only",
} as const;
