/** Reads from a completions request what the gateway must know. */
import { type BodyRules, promptTextsOf, readBody, SVC_MEMBER } from "../body.ts";
import { estimatePromptTokens } from "../estimate.ts";
import type { ClientRequest, PromptText } from "../format.ts";
import { type CompletionsBody, completionsRequestSchema } from "./schema.ts";

export interface CompletionsRequest extends ClientRequest {
  /** False: the client asked for no usage in its stream. */
  readonly includeUsage: boolean;
}

/** Members that no model gets to read. */
const NO_PROMPT: readonly string[] = ["model", "svc", "stream", "stream_options", "user", "logit_bias"];

const RULES: BodyRules<CompletionsBody> = {
  ...SVC_MEMBER,
  schema: completionsRequestSchema,
  noPrompt: NO_PROMPT,
  media: [],
};

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readCompletionsRequest(bytes: Buffer): CompletionsRequest {
  const { text: _, value, proseBytes, ...read } = readBody(bytes, RULES);
  return {
    ...read,
    includeUsage: value.stream_options?.include_usage !== false,
    facts: {
      model: value.model,
      stream: value.stream ?? false,
      choices: value.n ?? 1,
      maxTokens: value.max_tokens ?? undefined,
      promptTokens: estimatePromptTokens(proseBytes, 0),
      hasTools: false,
      parallelTools: false,
      hasImages: false,
      imageCount: 0,
      hasAudio: false,
      hasSchema: false,
      hasUncounted: false,
      searchUnits: 0,
    },
  };
}

/** See {@link promptTextsOf}. */
export const promptTexts = (request: ClientRequest): PromptText[] => promptTextsOf(request, NO_PROMPT);
