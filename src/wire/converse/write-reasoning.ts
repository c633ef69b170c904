/** How much a model on Bedrock shall think, in members of its own family: Converse itself has only the effort. */
import { type Thinker, takeThinking } from "../claude.ts";
import type { OptionTaker } from "../neutral/options.ts";
import { type Family, OPENAI_EFFORTS } from "./models.ts";

export interface WrittenReasoning {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** `outputConfig.effort` */
  readonly effort?: string;
}

const NO_REASONING: WrittenReasoning = { fields: {} };

export function writeReasoning(
  options: OptionTaker,
  thinker: Thinker & { readonly family: Family },
): WrittenReasoning {
  if (thinker.family === "anthropic") {
    const written = takeThinking(options, thinker);
    if (written === undefined) return NO_REASONING;
    const { thinking, effort } = written;
    return { fields: { thinking }, ...(effort !== undefined && { effort }) };
  }
  const reasoning = options.take("reasoning");
  if (reasoning === undefined) return NO_REASONING;
  if (thinker.family === "openai" && reasoning.effort !== undefined) {
    const effort = OPENAI_EFFORTS[reasoning.effort];
    if (effort !== undefined) return { fields: { reasoning_effort: effort } };
  }
  options.putBack("reasoning");
  return NO_REASONING;
}
