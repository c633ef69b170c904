/** The native request in neutral terms, which has the same parts under other names. */
import { fail } from "../../base/errors.ts";
import type { ClientRequest } from "../format.ts";
import type {
  Citation,
  DocumentPart,
  ImagePart,
  MediaSource,
  NeutralMessage,
  NeutralOptions,
  NeutralRequest,
  NeutralTool,
  OutputFormat,
  Part,
  TextPart,
  ToolResultPart,
} from "../neutral/neutral.ts";
import type { Writable } from "../neutral/options.ts";
import type { Source } from "../neutral/source.ts";
import { ANY_OBJECT, argumentsText, NO_PARAMETERS } from "../neutral/tool-arguments.ts";
import { OpenCalls } from "../tool-kinds/open-calls.ts";
import { ToolList } from "../tool-kinds/tool-list.ts";
import type { GenerateBody, NativePart } from "./schema.ts";

/** @throws WeirError 400 naming the part that is wrong in itself. */
export function generateNeutral(request: ClientRequest, source: Source): NeutralRequest {
  // Checked when it was read; its long strings are marks here, and strings all the same.
  const body = source.value as GenerateBody;
  const called = new OpenCalls<string>();
  const dropped: string[] = [];
  return {
    stream: request.facts.stream,
    messages: body.messages.map((message, at) => messageOf(message, `/messages/${at}`, called, source)),
    tools: toolsOf(body.tools ?? NO_TOOLS, source, dropped),
    options: optionsOf(body, source),
    dropped,
  };
}

function messageOf(
  { role, content }: GenerateBody["messages"][number],
  at: string,
  called: OpenCalls<string>,
  source: Source,
): NeutralMessage {
  if (role !== "system") called.by(role === "assistant");
  if (typeof content === "string") return { role, parts: [{ type: "text", text: content }], at };
  return { role, parts: content.map((part, i) => partOf(part, `${at}/content/${i}`, called, source)), at };
}

function partOf(part: NativePart, at: string, called: OpenCalls<string>, source: Source): Part {
  switch (part.type) {
    case "text":
      return textOf(part);
    case "image":
      return imageOf(part, at);
    case "document":
      return documentOf(part, at);
    case "audio":
    case "video":
      return { type: part.type, source: mediaOf(part, at), at };
    case "tool_call":
      called.call(part.id, part.name);
      return { ...part, arguments: argumentsText(source.whole(part.arguments)) };
    case "tool_result":
      return resultOf(part, at, called);
    case "reasoning": {
      const { summary, redacted, ...rest } = part;
      return { ...rest, ...(summary && { isSummary: true }), ...(redacted && { isRedacted: true }) };
    }
    case "refusal":
      return part;
  }
}

type Native<T extends NativePart["type"]> = Extract<NativePart, { type: T }>;

const textOf = ({ citations, ...part }: Native<"text">): TextPart => ({
  ...part,
  ...(citations !== undefined && { citations: citations as unknown as readonly Citation[] }),
});

const imageOf = ({ detail, cache, seal, ...part }: Native<"image">, at: string): ImagePart => ({
  type: "image",
  source: mediaOf(part, at),
  ...(detail !== undefined && { detail }),
  ...(cache !== undefined && { cache }),
  ...(seal !== undefined && { seal }),
  at,
});

const documentOf = (part: Native<"document">, at: string): DocumentPart => ({
  type: "document",
  source: part.text === undefined ? mediaOf(part, at) : { kind: "text", text: part.text },
  ...(part.name !== undefined && { name: part.name }),
  ...(part.context !== undefined && { context: part.context }),
  ...(part.citations !== undefined && { citations: part.citations }),
  ...(part.cache !== undefined && { cache: part.cache }),
  at,
});

function resultOf(part: Native<"tool_result">, at: string, called: OpenCalls<string>): ToolResultPart {
  const { content } = part;
  const name = called.result(part.id);
  const parts =
    typeof content === "string"
      ? [{ type: "text" as const, text: content }]
      : content.map((inner, i) => {
          const place = `${at}/content/${i}`;
          if (inner.type === "text") return textOf(inner);
          return inner.type === "image" ? imageOf(inner, place) : documentOf(inner, place);
        });
  return {
    type: "tool_result",
    id: part.id,
    name: part.name ?? name ?? "",
    parts,
    isError: part.is_error ?? false,
    ...(part.cache !== undefined && { cache: part.cache }),
  };
}

type Media = Pick<Native<"image">, "data" | "media_type" | "url" | "file_id">;

function mediaOf({ data, media_type: mediaType, url, file_id: id }: Media, at: string): MediaSource {
  const given = [data, url, id].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw fail("invalid_value", `${at} needs one of data, url and file_id.`, { param: at });
  if (id !== undefined) return { kind: "file", id };
  if (url !== undefined) return { kind: "url", url, ...(mediaType !== undefined && { mediaType }) };
  if (mediaType === undefined) {
    throw fail("invalid_value", `${at}/media_type is required beside data.`, { param: `${at}/media_type` });
  }
  return { kind: "data", mediaType, data: data as string };
}

type NativeTool = NonNullable<GenerateBody["tools"]>[number];

const NO_TOOLS: readonly NativeTool[] = Object.freeze([]);

function toolsOf(tools: readonly NativeTool[], source: Source, dropped: string[]): readonly NeutralTool[] {
  const list = new ToolList(dropped);
  for (const [index, tool] of tools.entries()) list.add(toolOf(tool, source), `/tools/${index}`);
  return list.tools;
}

const toolOf = (tool: NativeTool, source: Source): NeutralTool => ({
  name: source.whole(tool.name),
  parameters: source.json(tool.parameters) ?? NO_PARAMETERS,
  ...(tool.description !== undefined && { description: tool.description }),
  ...(tool.strict !== undefined && { strict: tool.strict }),
  ...(tool.cache !== undefined && { cache: tool.cache }),
});

function formatOf(format: GenerateBody["format"], source: Source): OutputFormat | undefined {
  if (format?.type !== "json_schema") return format;
  const { description, schema } = format;
  return {
    ...format,
    ...(description !== undefined && { description: source.whole(description) }),
    schema: source.json(schema) ?? ANY_OBJECT,
  } as OutputFormat;
}

function optionsOf(body: GenerateBody, source: Source): NeutralOptions {
  const g = body.generation ?? {};
  const options: Writable<NeutralOptions> = {};
  const set = <K extends keyof NeutralOptions>(name: K, at: string, value: unknown) => {
    if (value !== undefined) options[name] = { value, at } as unknown as Writable<NeutralOptions>[K];
  };
  set("maxTokens", "/generation/max_tokens", g.max_tokens);
  set("temperature", "/generation/temperature", g.temperature);
  set("topP", "/generation/top_p", g.top_p);
  set("topK", "/generation/top_k", g.top_k);
  set("stop", "/generation/stop", typeof g.stop === "string" ? [g.stop] : g.stop);
  set("seed", "/generation/seed", g.seed);
  set("frequencyPenalty", "/generation/frequency_penalty", g.frequency_penalty);
  set("presencePenalty", "/generation/presence_penalty", g.presence_penalty);
  set("logitBias", "/generation/logit_bias", g.logit_bias);
  set("logprobs", "/generation/logprobs", g.logprobs === undefined ? undefined : { top: g.logprobs });
  set("choices", "/generation/candidates", g.candidates);
  set("verbosity", "/generation/verbosity", g.verbosity);
  set("serviceTier", "/generation/service_tier", g.service_tier);
  set("cacheKey", "/generation/cache_key", g.cache_key);
  set("toolChoice", "/tool_choice", body.tool_choice);
  set("parallelTools", "/parallel_tools", body.parallel_tools);
  set("format", "/format", formatOf(body.format, source));
  if (g.reasoning !== undefined) {
    const { effort, budget_tokens: budgetTokens, adaptive, show } = g.reasoning;
    set("reasoning", "/generation/reasoning", {
      ...(effort !== undefined && { effort }),
      ...(budgetTokens !== undefined && { budgetTokens }),
      ...(adaptive && { isAdaptive: true }),
      ...(show !== undefined && { show }),
    });
  }
  return options;
}
