/** What an upstream of Anthropic's, Google's or Amazon's dialect was told and answered, read from its own bodies. */
import type { Choosing, Json, Seen, StopWord } from "./ask.ts";
import type { Feature, Lack, Upstream } from "./ends.ts";

/** What Anthropic's and Amazon's dialects have no place for. */
const NO_PLACE: Partial<Record<Feature, Lack>> = {
  choices: { why: "a message is one answer", isTold: true },
  seed: { why: "the dialect has no seeds", isTold: true },
  json: { why: "the dialect asks for JSON by schema only", isTold: true },
};

export const messagesUpstream: Upstream = {
  name: "messages",
  model: "weir/sim-messages",
  thinker: "weir/sim-messages",
  seals: true,
  lacks: NO_PLACE,
  seen(body) {
    const system: Json[] = typeof body.system === "string" ? [{ text: body.system }] : (body.system ?? []);
    const blocks = (body.messages as Json[]).flatMap(({ content }) => blocksOf(content));
    const of = (type: string) => blocks.filter((block) => block.type === type);
    const results = of("tool_result");
    const all = [...blocks, ...results.flatMap(({ content }) => blocksOf(content))];
    const sources: Json[] = all.filter(({ type }) => type === "image").map(({ source }) => source);
    return {
      system: system.map(({ text }) => text).join("\n"),
      texts: of("text").map(({ text }) => text),
      images: sources.filter(({ type }) => type === "base64").map(sourceOf),
      imageUrls: sources.filter(({ type }) => type === "url").map(({ url }) => url),
      documents: of("document").map(({ source }) => sourceOf(source)),
      calls: of("tool_use").map(({ id, name, input }) => ({ id, name, arguments: input })),
      results: results.map(({ tool_use_id: id, content, is_error: isError = false }) => ({
        id,
        isError,
        text: blocksOf(content)
          .map(({ text = "" }) => text)
          .join(""),
      })),
      seals: blockSeals(blocks),
      tools: ((body.tools ?? []) as Json[]).map(({ name, description, input_schema: parameters }) => ({
        name,
        description,
        parameters,
      })),
      choosing: choosingOf(body.tool_choice),
      schema: body.output_config?.format?.schema,
      json: false,
      temperature: body.temperature,
      seed: undefined,
      stop: body.stop_sequences ?? [],
      maxTokens: body.max_tokens,
      choices: 1,
      cacheMarks: [...system, ...all].filter((block) => block.cache_control).length,
    };
  },
  told(body) {
    const blocks: Json[] = body.content;
    const { usage } = body;
    const joined = (type: string, member: string) =>
      blocks.map((block) => (block.type === type ? block[member] : "")).join("");
    return {
      choices: [
        {
          text: joined("text", "text"),
          refusal: "",
          reasoning: joined("thinking", "thinking"),
          calls: blocks
            .filter(({ type }) => type === "tool_use")
            .map(({ id, name, input }) => ({ id, name, arguments: input })),
          stop: ANTHROPIC_STOPS[body.stop_reason as string] as StopWord,
        },
      ],
      seals: blockSeals(blocks),
      usage: usage && {
        input: usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
        output: usage.output_tokens,
        cacheRead: usage.cache_read_input_tokens,
        cacheWrite: usage.cache_creation_input_tokens,
        reasoning: usage.output_tokens_details.thinking_tokens,
      },
    };
  },
};

/** Converse has the same words, and one for what a guardrail withheld. */
const ANTHROPIC_STOPS: Readonly<Record<string, StopWord>> = {
  end_turn: "stop",
  stop_sequence: "stop_sequence",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "refusal",
  content_filtered: "content_filter",
};

const blockSeals = (blocks: readonly Json[]): string[] =>
  blocks.flatMap(({ type, signature, data }) =>
    type === "thinking" ? signature : type === "redacted_thinking" ? data : [],
  );

const blocksOf = (content: Json): Json[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);

const sourceOf = ({ media_type: mediaType, data }: Json) => ({ mediaType, data });

function choosingOf(choice: Json): Choosing | undefined {
  if (choice?.type === "tool") return { name: choice.name };
  return choice?.type === "any" ? "required" : choice?.type;
}

export const geminiUpstream: Upstream = {
  name: "gemini",
  model: "weir/sim-gemini",
  thinker: "weir/sim-gemini",
  seals: true,
  lacks: { cache_marks: { why: "the provider caches by itself", isTold: false } },
  seen: seenByGemini,
  told(body) {
    const candidates: Json[] = body.candidates;
    const usage = body.usageMetadata;
    const thoughts = usage?.thoughtsTokenCount ?? 0;
    return {
      seals: partSeals(candidates.flatMap(({ content }): Json[] => content?.parts ?? [])),
      choices: candidates.map(({ content, finishReason }) => {
        const parts: Json[] = content?.parts ?? [];
        const joined = (thought: boolean) =>
          parts.map((part) => ((part.thought ?? false) === thought ? (part.text ?? "") : "")).join("");
        const calls = parts.flatMap(({ functionCall: call }) => call ?? []);
        const done = calls.length > 0 ? "tool_calls" : "stop";
        return {
          text: joined(false),
          refusal: "",
          reasoning: joined(true),
          calls: calls.map(({ id, name, args }) => ({ id, name, arguments: args })),
          stop: finishReason === "STOP" ? done : finishReason === "MAX_TOKENS" ? "length" : "content_filter",
        };
      }),
      usage: usage && {
        input: usage.promptTokenCount,
        output: (usage.candidatesTokenCount ?? 0) + thoughts,
        cacheRead: usage.cachedContentTokenCount ?? 0,
        cacheWrite: 0,
        reasoning: thoughts,
      },
    };
  },
};

const partSeals = (parts: readonly Json[]): string[] =>
  parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []);

function seenByGemini(body: Json): Seen {
  const parts = (body.contents as Json[]).flatMap((content): Json[] => content.parts);
  const responses = parts.flatMap(({ functionResponse: response }): Json[] => response ?? []);
  const all = [...parts, ...responses.flatMap((response): Json[] => response.parts ?? [])];
  const config = body.generationConfig ?? {};
  const calling = body.toolConfig?.functionCallingConfig;
  const media = all
    .flatMap(({ inlineData }): Json[] => inlineData ?? [])
    .map(({ mimeType: mediaType, data }) => ({ mediaType, data }));
  const isImage = ({ mediaType }: { mediaType: string }) => mediaType.startsWith("image/");
  return {
    system: ((body.systemInstruction?.parts ?? []) as Json[]).map(({ text }) => text).join("\n"),
    texts: parts.filter(({ text, thought }) => text && !thought).map(({ text }) => text),
    images: media.filter(isImage),
    imageUrls: all.flatMap(({ fileData }) => fileData?.fileUri ?? []),
    documents: media.filter((one) => !isImage(one)),
    calls: parts
      .flatMap(({ functionCall }): Json[] => functionCall ?? [])
      .map(({ id, name, args }) => ({ id, name, arguments: args })),
    results: responses.map(({ id, response }) => ({
      id,
      text: response.error ?? response.result,
      isError: "error" in response,
    })),
    seals: partSeals(parts),
    tools: ((body.tools ?? []) as Json[])
      .flatMap((group): Json[] => group.functionDeclarations)
      .map(({ name, description, parametersJsonSchema: parameters }) => ({ name, description, parameters })),
    choosing:
      calling?.allowedFunctionNames === undefined
        ? GEMINI_MODES[calling?.mode as string]
        : { name: calling.allowedFunctionNames[0] },
    schema: config.responseJsonSchema,
    json: config.responseMimeType === "application/json" && config.responseJsonSchema === undefined,
    temperature: config.temperature,
    seed: config.seed,
    stop: config.stopSequences ?? [],
    maxTokens: config.maxOutputTokens,
    choices: config.candidateCount ?? 1,
    cacheMarks: 0,
  };
}

const GEMINI_MODES: Readonly<Record<string, Choosing>> = { AUTO: "auto", ANY: "required", NONE: "none" };

export const converseUpstream: Upstream = {
  name: "converse",
  model: "weir/sim-converse",
  // Reasoning is a matter of the model behind: a Claude signs it.
  thinker: "test/model",
  seals: true,
  lacks: {
    ...NO_PLACE,
    image_urls: { why: "the service fetches nothing but from S3", isTold: true, isRefused: true },
  },
  seen: seenByConverse,
  told(body) {
    const blocks: Json[] = body.output.message.content;
    const { usage } = body;
    const thoughts = blocks.flatMap(({ reasoningContent }) => reasoningContent?.reasoningText?.text ?? []);
    const cached = usage && usage.cacheReadInputTokens + usage.cacheWriteInputTokens;
    return {
      choices: [
        {
          text: blocks.map(({ text = "" }) => text).join(""),
          refusal: "",
          reasoning: thoughts.join(""),
          calls: blocks.flatMap(({ toolUse }) => toolUse ?? []).map(useOf),
          stop: ANTHROPIC_STOPS[body.stopReason as string] as StopWord,
        },
      ],
      seals: reasoningSeals(blocks),
      usage: usage && {
        input: usage.inputTokens + cached,
        output: usage.outputTokens,
        cacheRead: usage.cacheReadInputTokens,
        cacheWrite: usage.cacheWriteInputTokens,
        reasoning: 0,
      },
    };
  },
};

const useOf = ({ toolUseId: id, name, input }: Json) => ({ id, name, arguments: input });

const reasoningSeals = (blocks: readonly Json[]): string[] =>
  blocks
    .flatMap(({ reasoningContent }): Json[] => reasoningContent ?? [])
    .map(({ reasoningText, redactedContent }) => reasoningText?.signature ?? redactedContent);

function seenByConverse(body: Json): Seen {
  const system: Json[] = body.system ?? [];
  const blocks = (body.messages as Json[]).flatMap((message): Json[] => message.content);
  const results = blocks.flatMap(({ toolResult }): Json[] => toolResult ?? []);
  const all = [...blocks, ...results.flatMap((result): Json[] => result.content)];
  const media = (kind: "image" | "document", type: string) =>
    all
      .flatMap((block): Json[] => block[kind] ?? [])
      .map(({ format, source }) => ({ mediaType: `${type}/${format}`, data: source.bytes }));
  const specs: Json[] = body.toolConfig?.tools ?? [];
  const choice = body.toolConfig?.toolChoice;
  const inference = body.inferenceConfig ?? {};
  const schema = body.outputConfig?.textFormat?.structure.jsonSchema.schema;
  return {
    system: system.flatMap(({ text }) => text ?? []).join("\n"),
    texts: blocks.flatMap(({ text }) => text ?? []),
    images: media("image", "image"),
    imageUrls: [],
    documents: media("document", "application"),
    calls: blocks.flatMap(({ toolUse }) => toolUse ?? []).map(useOf),
    results: results.map(({ toolUseId: id, content, status }) => ({
      id,
      isError: status === "error",
      text: (content as Json[]).map(({ text = "" }) => text).join(""),
    })),
    seals: reasoningSeals(blocks),
    tools: specs
      .flatMap(({ toolSpec }): Json[] => toolSpec ?? [])
      .map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema.json })),
    choosing: choice?.tool ?? (choice?.any ? "required" : choice && "auto"),
    schema: schema && JSON.parse(schema),
    json: false,
    temperature: inference.temperature,
    seed: undefined,
    stop: inference.stopSequences ?? [],
    maxTokens: inference.maxTokens,
    choices: 1,
    cacheMarks: [...system, ...blocks].filter(({ cachePoint }) => cachePoint).length,
  };
}
