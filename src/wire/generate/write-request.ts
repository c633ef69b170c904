/** A request in neutral terms as a native request: the way back of `neutral-request.ts`. */
import type { MediaSource, NeutralOptions, NeutralRequest, Part, Reasoning } from "../neutral/neutral.ts";
import { defined } from "../neutral/options.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Members of a native body but for model and our options, with parts instead of plain strings throughout. What the native
 * format has no word for is left out.
 */
export function writeGenerateRequest({ stream, messages, tools, options }: NeutralRequest): Json {
  const { toolChoice, parallelTools, format } = options;
  const generation = generationOf(options);
  return defined({
    messages: messages.map(({ role, parts }) => ({ role, content: parts.map(partOf) })),
    stream: stream || undefined,
    generation: Object.keys(generation).length === 0 ? undefined : generation,
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: toolChoice?.value,
    parallel_tools: parallelTools?.value,
    format: format?.value,
  });
}

const generationOf = (options: NeutralOptions): Json =>
  defined({
    max_tokens: options.maxTokens?.value,
    temperature: options.temperature?.value,
    top_p: options.topP?.value,
    top_k: options.topK?.value,
    stop: options.stop?.value,
    seed: options.seed?.value,
    frequency_penalty: options.frequencyPenalty?.value,
    presence_penalty: options.presencePenalty?.value,
    logit_bias: options.logitBias?.value,
    logprobs: options.logprobs?.value.top,
    candidates: options.choices?.value,
    reasoning: reasoningOf(options.reasoning?.value),
    verbosity: options.verbosity?.value,
    service_tier: options.serviceTier?.value,
    cache_key: options.cacheKey?.value,
  });

const reasoningOf = (reasoning: Reasoning | undefined): Json | undefined =>
  reasoning &&
  defined({
    effort: reasoning.effort,
    budget_tokens: reasoning.budgetTokens,
    adaptive: reasoning.isAdaptive,
    show: reasoning.show,
  });

function partOf(part: Part): Json {
  switch (part.type) {
    case "image": {
      const { type, source, at: _, ...rest } = part;
      return defined({ type, ...mediaOf(source), ...rest });
    }
    case "document": {
      const { type, source, at: _, ...rest } = part;
      return defined({
        type,
        ...(source.kind === "text" ? { text: source.text } : mediaOf(source)),
        ...rest,
      });
    }
    case "audio":
    case "video":
      return { type: part.type, ...mediaOf(part.source) };
    case "tool_result": {
      const { type, id, name, parts, isError, cache } = part;
      const content = parts.map(partOf);
      return defined({
        type,
        id,
        name: name || undefined,
        content,
        is_error: isError || undefined,
        cache,
      });
    }
    case "reasoning": {
      const { isSummary, isRedacted, ...rest } = part;
      return defined({
        ...rest,
        summary: isSummary || undefined,
        redacted: isRedacted || undefined,
      });
    }
    default:
      return defined({ ...part });
  }
}

function mediaOf(source: MediaSource): Json {
  if (source.kind === "data") return { media_type: source.mediaType, data: source.data };
  if (source.kind === "file") return { file_id: source.id };
  return defined({ url: source.url, media_type: source.mediaType });
}
