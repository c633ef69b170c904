/** The chat-completions and completions formats as a client speaks them: an ask as a body, an answer as what it says. */
import { expectSame } from "../same.ts";
import {
  type Ask,
  type AskPart,
  type Counts,
  dataUrl,
  type Heard,
  type HeardChoice,
  type Json,
  parsedArguments,
  type Svc,
  sseEvents,
  svcMember,
  type Turn,
} from "./ask.ts";
import type { Client } from "./ends.ts";

export const chatClient: Client = {
  name: "chat",
  path: "/v1/chat/completions",
  idPrefix: "chatcmpl-",
  headers: {},
  own: { pointer: "/logit_bias", keptBy: ["chat"] },
  pointers: {
    choices: "/n",
    stop: "/stop",
    seed: "/seed",
    json: "/response_format",
    image_urls: "/messages/0",
    cache_marks: "/messages/0/content/0/cache_control",
  },
  lacks: { tool_errors: "the format has no word for a tool that failed" },
  stops: {
    stop: "stop",
    stop_sequence: "stop",
    length: "length",
    tool_calls: "tool_calls",
    refusal: "content_filter",
    content_filter: "content_filter",
  },
  request: (ask, model, stream) => ({
    model,
    messages: [...(ask.system === undefined ? [] : [{ role: "system", content: ask.system }])].concat(
      ask.turns.flatMap(messagesOf),
    ),
    ...(ask.tools && { tools: ask.tools.map((tool) => ({ type: "function", function: tool })) }),
    ...(ask.choosing && {
      tool_choice:
        typeof ask.choosing === "object" ? { type: "function", function: ask.choosing } : ask.choosing,
    }),
    ...(ask.parallel !== undefined && { parallel_tool_calls: ask.parallel }),
    ...(ask.schema && {
      response_format: { type: "json_schema", json_schema: { name: "report", schema: ask.schema } },
    }),
    ...(ask.json && { response_format: { type: "json_object" } }),
    ...(ask.thinks && { reasoning: { effort: "low", exclude: false } }),
    ...shared(ask, stream),
  }),
  whole: (body) => {
    expectSame(body.object, "chat.completion");
    const choices: Json[] = body.choices;
    return {
      ...frameOf(body),
      choices: choices.map(({ message, finish_reason }) => choiceOf(message, finish_reason)),
      echo: [choices[0]?.message],
    };
  },
  streamed: (text) => {
    const { last, chunks } = chunksOf(text, "chat.completion.chunk");
    const messages = assembled(chunks);
    return {
      ...frameOf(last),
      choices: messages.map(({ message, finish }) => choiceOf(message, finish)),
      echo: [messages[0]?.message],
    };
  },
  errorOf: (body) => body.error,
  streamError,
};

export const completionsClient: Client = {
  name: "completions",
  path: "/v1/completions",
  idPrefix: "cmpl-",
  headers: {},
  own: { pointer: "/logit_bias", keptBy: ["chat", "completions"] },
  pointers: { choices: "/n", stop: "/stop", seed: "/seed" },
  lacks: Object.fromEntries(
    [
      "system",
      "turns",
      "images",
      "image_urls",
      "documents",
      "tools",
      "schema",
      "thinking",
      "refusals",
      "cache_marks",
      "tool_errors",
      "json",
    ].map((feature) => [feature, "a prompt is one text, and so is its answer"]),
  ),
  stops: { ...chatClient.stops, tool_calls: "stop" },
  request: (ask, model, stream) => ({
    model,
    prompt: ask.turns
      .flatMap((turn) => ("user" in turn ? turn.user : []))
      .map((part) => ("text" in part ? part.text : ""))
      .join(""),
    ...shared(ask, stream),
  }),
  whole: (body) => {
    expectSame(body.object, "text_completion");
    const choices: Json[] = body.choices;
    return {
      ...frameOf(body),
      choices: choices.map(({ text, finish_reason: stop }) => textChoice(text, stop)),
      echo: [],
    };
  },
  streamed: (text) => {
    const { last, chunks } = chunksOf(text, "text_completion");
    const texts: string[] = [];
    const stops: string[] = [];
    for (const { index, text: piece, finish_reason: stop } of chunks.flatMap((c): Json[] => c.choices)) {
      expectSame(stops[index], undefined, "nothing follows the end");
      texts[index] = (texts[index] ?? "") + piece;
      if (stop !== null) stops[index] = stop;
    }
    return { ...frameOf(last), choices: texts.map((said, i) => textChoice(said, stops[i] ?? "")), echo: [] };
  },
  errorOf: (body) => body.error,
  streamError,
};

const textChoice = (text: string, stop: string): HeardChoice => ({
  text,
  stop,
  refusal: "",
  reasoning: "",
  calls: [],
});

const shared = ({ stop, maxTokens, choices, own, temperature, seed, ...ask }: Ask, stream: boolean) => ({
  ...(temperature !== undefined && { temperature }),
  ...(seed !== undefined && { seed }),
  ...svcMember(ask),
  ...(stop && { stop }),
  ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  ...(choices !== undefined && { n: choices }),
  ...(own && { logit_bias: { "50256": -100 } }),
  ...(stream && { stream, stream_options: { include_usage: true } }),
});

function messagesOf(turn: Turn): Json[] {
  if ("echo" in turn) return [...turn.echo];
  if ("user" in turn) return [{ role: "user", content: turn.user.map(partOf) }];
  if ("results" in turn) {
    const results: Json[] = turn.results.map(({ id, text, image }) => ({
      role: "tool",
      tool_call_id: id,
      content: image ? [{ type: "text", text }, partOf({ image })] : text,
    }));
    return turn.said === undefined ? results : [...results, { role: "user", content: turn.said }];
  }
  const calls = turn.calls?.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [{ role: "assistant", content: turn.assistant || null, ...(calls && { tool_calls: calls }) }];
}

function partOf(part: AskPart): Json {
  if ("text" in part) {
    const { text, isCached } = part;
    return { type: "text", text, ...(isCached && { cache_control: { type: "ephemeral" } }) };
  }
  if ("image" in part) return { type: "image_url", image_url: { url: dataUrl(part.image) } };
  if ("imageUrl" in part) return { type: "image_url", image_url: { url: part.imageUrl } };
  return { type: "file", file: { filename: "paper.pdf", file_data: dataUrl(part.document) } };
}

const frameOf = ({ id, model, usage, svc }: Json): Pick<Heard, "id" | "model" | "usage" | "svc"> => ({
  id,
  model,
  usage: chatCounts(usage),
  svc: svcOf(svc),
});

export const svcOf = (svc: Json): Svc => ({
  requestId: svc.request_id,
  provider: svc.provider,
  endpointId: svc.endpoint_id,
  cost: svc.cost,
  warnings: svc.warnings,
});

export function chatCounts(usage: Json): Counts {
  expectSame(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  return {
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    cacheRead: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWrite: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}

function choiceOf(message: Json, stop: string): HeardChoice {
  expectSame(message.role, "assistant");
  const calls: Json[] = message.tool_calls ?? [];
  return {
    text: message.content ?? "",
    refusal: message.refusal ?? "",
    reasoning: message.reasoning_content ?? "",
    calls: calls
      .filter(({ type }) => type === "function")
      .map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: parsedArguments(args) })),
    stop,
  };
}

/** The chunks with choices, and the one after them: usage stands there only, directly before the end (T1). */
function chunksOf(text: string, object: string): { last: Json; chunks: Json[] } {
  const events = sseEvents(text).map(({ data }) => data);
  expectSame(events.pop(), "[DONE]");
  const chunks: Json[] = events.map((data) => JSON.parse(data));
  const last = chunks.pop();
  expectSame(last.choices, []);
  for (const chunk of chunks) {
    expectSame([chunk.object, chunk.id, chunk.model, chunk.usage], [object, last.id, last.model, null]);
  }
  return { last, chunks };
}

/** The messages that the deltas add up to, by the rules of the format. */
function assembled(chunks: readonly Json[]): { message: Json; finish: string }[] {
  const found: { message: Json; finish: string }[] = [];
  for (const { index, delta, finish_reason: finish } of chunks.flatMap((chunk): Json[] => chunk.choices)) {
    if (found[index] === undefined) {
      expectSame(delta.role, "assistant", "T51: the first delta has the role");
      found[index] = { message: { role: "assistant", content: null }, finish: "" };
    }
    const choice = found[index];
    expectSame(choice.finish, "", "nothing follows the end");
    add(choice.message, delta);
    if (finish !== null) choice.finish = finish;
  }
  return found;
}

function add(message: Json, delta: Json): void {
  for (const key of ["content", "refusal", "reasoning_content"]) {
    if (typeof delta[key] === "string") message[key] = (message[key] ?? "") + delta[key];
  }
  for (const { index, ...piece } of (delta.tool_calls ?? []) as Json[]) {
    message.tool_calls ??= [];
    const call = message.tool_calls[index];
    if (call === undefined) {
      expectSame(index, message.tool_calls.length, "T44: calls are numbered from 0");
      expectSame(typeof piece.id, "string");
      if (piece.type === "custom") message.tool_calls.push(structuredClone(piece));
      else {
        expectSame(piece.type, "function");
        message.tool_calls.push({ ...piece, function: { arguments: "", ...piece.function } });
      }
    } else if (call.type === "custom") call.custom.input += piece.custom.input;
    else {
      call.function.arguments += piece.function?.arguments ?? "";
      if (piece.extra_content) call.extra_content = piece.extra_content;
    }
  }
  for (const detail of (delta.reasoning_details ?? []) as Json[]) {
    message.reasoning_details ??= [];
    const open = message.reasoning_details.find(
      ({ index, type }: Json) => index === detail.index && type === detail.type,
    );
    if (open === undefined) message.reasoning_details.push({ ...detail });
    else {
      for (const key of ["text", "summary", "data"])
        if (detail[key] !== undefined) open[key] = (open[key] ?? "") + detail[key];
      if (detail.signature) Object.assign(open, { signature: detail.signature, format: detail.format });
    }
  }
}

function streamError(text: string): string | undefined {
  const last: Json = JSON.parse(sseEvents(text).findLast(({ data }) => data !== "[DONE]")?.data ?? "{}");
  return last.error?.code;
}
