/** What an upstream of OpenAI's dialects was told and answered, read from its own bodies. */
import {
  type Call,
  type Choosing,
  type Json,
  type Media,
  mediaOf,
  parsedArguments,
  type Said,
  type Seen,
} from "./ask.ts";
import type { Lack, Upstream } from "./ends.ts";

const NO_TOOL_ERRORS: Lack = { why: "the dialect has no word for a tool that failed", isTold: true };

export const chatUpstream: Upstream = {
  name: "chat",
  model: "weir/sim-chat",
  thinker: "weir/sim-chat",
  seals: false,
  lacks: {
    cache_marks: { why: "the dialect has no cache marks", isTold: true },
    tool_errors: NO_TOOL_ERRORS,
  },
  seen(body) {
    const messages: Json[] = body.messages;
    const of = (...roles: string[]) => messages.filter(({ role }) => roles.includes(role));
    const parts = of("user", "assistant").flatMap(({ content }): Json[] => partsOf(content));
    const files: Json[] = parts.filter(({ type }) => type === "file");
    return {
      system: of("system", "developer").map(textOf).join("\n"),
      texts: parts.filter(({ type }) => type === "text").map(({ text }) => text),
      ...imagesOf(
        [...parts, ...of("tool").flatMap(({ content }): Json[] => partsOf(content))]
          .filter(({ type }) => type === "image_url")
          .map((part) => part.image_url.url),
      ),
      documents: files.map(({ file }) => mediaOf(file.file_data) as Media),
      calls: of("assistant")
        .flatMap((message): Json[] => message.tool_calls ?? [])
        .map(callOf),
      results: of("tool").map((message) => ({
        id: message.tool_call_id,
        text: textOf(message),
        isError: false,
      })),
      seals: [],
      tools: ((body.tools ?? []) as Json[]).map((tool) => toolOf(tool.function)),
      choosing: choosingOf(body.tool_choice, body.tool_choice?.function),
      schema: body.response_format?.json_schema?.schema,
      json: body.response_format?.type === "json_object",
      temperature: body.temperature,
      seed: body.seed,
      stop: [body.stop ?? []].flat(),
      maxTokens: body.max_completion_tokens ?? body.max_tokens,
      choices: body.n ?? 1,
      cacheMarks: parts.filter((part) => part.cache_control).length,
    };
  },
  told(body) {
    const choices: Json[] = body.choices;
    const { usage } = body;
    return {
      choices: choices.map(({ message, finish_reason: stop }) => ({
        text: message.content ?? "",
        refusal: message.refusal ?? "",
        reasoning: message.reasoning_content ?? "",
        calls: ((message.tool_calls ?? []) as Json[]).map(callOf),
        stop,
      })),
      seals: [],
      usage: usage && {
        input: usage.prompt_tokens,
        output: usage.completion_tokens,
        cacheRead: usage.prompt_tokens_details.cached_tokens,
        cacheWrite: 0,
        reasoning: usage.completion_tokens_details.reasoning_tokens,
      },
    };
  },
};

/** A text to be continued, and nothing else. */
export const completionsUpstream: Upstream = {
  name: "completions",
  only: "completions",
  model: "weir/sim-completions",
  thinker: "weir/sim-completions",
  seals: false,
  lacks: {},
  seen: (body) => ({
    system: "",
    texts: [body.prompt],
    images: [],
    imageUrls: [],
    documents: [],
    calls: [],
    results: [],
    seals: [],
    tools: [],
    choosing: undefined,
    schema: undefined,
    json: false,
    temperature: body.temperature,
    seed: body.seed,
    stop: [body.stop ?? []].flat(),
    maxTokens: body.max_tokens,
    choices: body.n ?? 1,
    cacheMarks: 0,
  }),
  told({ choices, usage }) {
    return {
      choices: (choices as Json[]).map(({ text, finish_reason: stop }) => ({
        text,
        refusal: "",
        reasoning: "",
        calls: [],
        stop,
      })),
      seals: [],
      usage: usage && {
        input: usage.prompt_tokens,
        output: usage.completion_tokens,
        cacheRead: usage.prompt_tokens_details?.cached_tokens ?? 0,
        cacheWrite: 0,
        reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
      },
    };
  },
};

export const responsesUpstream: Upstream = {
  name: "responses",
  model: "weir/sim-responses",
  thinker: "weir/sim-responses",
  seals: true,
  lacks: {
    stop: { why: "the dialect has no stop sequences", isTold: true },
    choices: { why: "a response is one answer", isTold: true },
    seed: { why: "the dialect has no seeds", isTold: true },
    tool_errors: NO_TOOL_ERRORS,
    cache_marks: { why: "the dialect caches every prefix", isTold: false },
  },
  seen: seenByResponses,
  told(body) {
    const { usage, status } = body;
    const said = saidIn(body.output);
    const stop = said.calls.length > 0 ? "tool_calls" : said.refusal !== "" ? "refusal" : "stop";
    return {
      choices: [{ ...said, stop: status === "incomplete" ? "length" : stop }],
      seals: sealsIn(body.output),
      usage: usage && {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cacheRead: usage.input_tokens_details.cached_tokens,
        cacheWrite: usage.input_tokens_details.cache_write_tokens,
        reasoning: usage.output_tokens_details.reasoning_tokens,
      },
    };
  },
};

function seenByResponses(body: Json): Seen {
  const items: Json[] = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  const of = (kind: string) => items.filter(({ type = "message" }) => type === kind);
  const messages = of("message");
  const isSystem = ({ role }: Json) => role === "system" || role === "developer";
  const spoken = messages.filter((message) => !isSystem(message));
  const results = of("function_call_output");
  const parts = spoken.flatMap(({ content }): Json[] => partsOf(content));
  const all = [...parts, ...results.flatMap(({ output }): Json[] => partsOf(output))];
  return {
    system: [body.instructions ?? [], messages.filter(isSystem).map(textOf)].flat().join("\n"),
    texts: parts.filter(isText).map(({ text }) => text),
    ...imagesOf(all.filter(({ type }) => type === "input_image").map((part) => part.image_url)),
    documents: all
      .filter(({ type }) => type === "input_file")
      .map(({ file_data: data }) => mediaOf(data) as Media),
    calls: of("function_call").map(itemCall),
    results: results.map(({ call_id: id, output }) => ({
      id,
      text: textOf({ content: output }),
      isError: false,
    })),
    seals: sealsIn(items),
    tools: ((body.tools ?? []) as Json[]).map(toolOf),
    choosing: choosingOf(body.tool_choice, body.tool_choice),
    schema: body.text?.format?.schema,
    json: body.text?.format?.type === "json_object",
    temperature: body.temperature,
    seed: undefined,
    stop: [],
    maxTokens: body.max_output_tokens,
    choices: 1,
    cacheMarks: 0,
  };
}

const sealsIn = (items: readonly Json[]): string[] =>
  items.flatMap(({ type, encrypted_content: sealed }) => (type === "reasoning" ? (sealed ?? []) : []));

function saidIn(items: readonly Json[]): Said {
  const contents = items.flatMap((item): Json[] => (item.type === "message" ? item.content : []));
  const summaries = items.flatMap((item): Json[] => (item.type === "reasoning" ? item.summary : []));
  return {
    text: contents.map((part) => part.text ?? "").join(""),
    refusal: contents.map((part) => part.refusal ?? "").join(""),
    reasoning: summaries.map(({ text }) => text).join(""),
    calls: items.filter(({ type }) => type === "function_call").map(itemCall),
  };
}

const partsOf = (content: Json): Json[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);

const isText = ({ type }: Json): boolean => /text$/.test(type);

const textOf = ({ content }: Json): string =>
  partsOf(content)
    .filter(isText)
    .map(({ text }) => text)
    .join("");

const callOf = ({ id, function: { name, arguments: args } }: Json): Call => ({
  id,
  name,
  arguments: parsedArguments(args),
});

const itemCall = ({ call_id: id, name, arguments: args }: Json): Call => ({
  id,
  name,
  arguments: parsedArguments(args),
});

const toolOf = ({ name, description, parameters }: Json) => ({ name, description, parameters });

const choosingOf = (choice: Json, named: Json): Choosing | undefined =>
  typeof choice === "object" ? { name: named.name } : choice;

export const imagesOf = (urls: readonly string[]): Pick<Seen, "images" | "imageUrls"> => ({
  images: urls.flatMap((url) => mediaOf(url) ?? []),
  imageUrls: urls.filter((url) => mediaOf(url) === undefined),
});
