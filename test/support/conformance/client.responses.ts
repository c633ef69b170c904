/** The responses format as a client speaks it: an ask as a body, an answer as what it says. */
import { expectSame } from "../same.ts";
import {
  type Ask,
  type AskPart,
  dataUrl,
  type Heard,
  type HeardChoice,
  type Json,
  parsedArguments,
  sseEvents,
  svcMember,
  type Turn,
} from "./ask.ts";
import { svcOf } from "./client.chat.ts";
import type { Client } from "./ends.ts";

export const responsesClient: Client = {
  name: "responses",
  path: "/v1/responses",
  idPrefix: "resp_",
  headers: {},
  own: { pointer: "/truncation", keptBy: ["responses"] },
  pointers: { image_urls: "/input/0", json: "/text/format" },
  lacks: {
    stop: "the format has no stop sequences",
    choices: "a response is one answer",
    seed: "the format has no seeds",
    tool_errors: "the format has no word for a tool that failed",
    cache_marks: "the format has no cache marks: every prefix is cached",
  },
  stops: {
    stop: "completed",
    stop_sequence: "completed",
    length: "max_output_tokens",
    tool_calls: "completed",
    refusal: "completed",
    content_filter: "content_filter",
  },
  request: (ask, model, stream) => ({
    model,
    input: ask.turns.flatMap(itemsOf),
    store: false,
    ...(ask.system !== undefined && { instructions: ask.system }),
    ...(ask.tools && { tools: ask.tools.map((tool) => ({ type: "function", strict: false, ...tool })) }),
    ...(ask.choosing && {
      tool_choice: typeof ask.choosing === "object" ? { type: "function", ...ask.choosing } : ask.choosing,
    }),
    ...(ask.parallel !== undefined && { parallel_tool_calls: ask.parallel }),
    ...(ask.schema && { text: { format: { type: "json_schema", name: "report", schema: ask.schema } } }),
    ...(ask.json && { text: { format: { type: "json_object" } } }),
    ...(ask.thinks && {
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
    }),
    ...optionsOf(ask, stream),
  }),
  whole: heardOf,
  streamed: (text) => {
    const events: Json[] = sseEvents(text).map(({ name, data }) => {
      const event = JSON.parse(data);
      expectSame(event.type, name);
      return event;
    });
    expectSame(
      events.map(({ sequence_number: number }) => number),
      events.map((_, index) => index),
    );
    expectSame(events[0].type, "response.created");
    const last = events.at(-1);
    expectSame(last.type, `response.${last.response.status}`);
    expectSame(events[0].response.id, last.response.id);
    expectSame(deltasOf(events), textsOf(last.response.output), "the events add up to the items at the end");
    const done = events.filter(({ type }) => type === "response.output_item.done");
    expectSame(
      done.map(({ item }) => item),
      last.response.output,
    );
    return heardOf(last.response);
  },
  errorOf: (body) => body.error,
  streamError: (text) => {
    const last: Json = JSON.parse(sseEvents(text).at(-1)?.data ?? "{}");
    return last.type === "error" ? last.code : last.response?.error?.code;
  },
};

const optionsOf = ({ maxTokens, own, temperature, ...ask }: Ask, stream: boolean) => ({
  ...(temperature !== undefined && { temperature }),
  ...svcMember(ask),
  ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
  ...(own && { truncation: "auto" }),
  ...(stream && { stream }),
});

function itemsOf(turn: Turn): Json[] {
  if ("echo" in turn) return [...turn.echo];
  if ("user" in turn) return [{ role: "user", content: turn.user.map(partOf) }];
  if ("results" in turn) {
    const results: Json[] = turn.results.map(({ id, text, image }) => ({
      type: "function_call_output",
      call_id: id,
      output: image ? [partOf({ text }), partOf({ image })] : text,
    }));
    return turn.said === undefined ? results : [...results, { role: "user", content: turn.said }];
  }
  const calls: Json[] = (turn.calls ?? []).map(({ id, name, arguments: args }) => ({
    type: "function_call",
    call_id: id,
    name,
    arguments: JSON.stringify(args),
  }));
  return turn.assistant === "" ? calls : [{ role: "assistant", content: turn.assistant }, ...calls];
}

function partOf(part: AskPart): Json {
  if ("text" in part) return { type: "input_text", text: part.text };
  if ("image" in part) return { type: "input_image", detail: "auto", image_url: dataUrl(part.image) };
  if ("imageUrl" in part) return { type: "input_image", detail: "auto", image_url: part.imageUrl };
  return { type: "input_file", filename: "paper.pdf", file_data: dataUrl(part.document) };
}

function heardOf(response: Json): Heard {
  const { id, object, model, usage, svc, output } = response;
  expectSame(object, "response");
  return {
    id,
    model,
    choices: [choiceOf(response)],
    usage: {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cacheRead: usage.input_tokens_details.cached_tokens,
      cacheWrite: usage.input_tokens_details.cache_write_tokens ?? 0,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    },
    svc: svcOf(svc),
    echo: output,
  };
}

function choiceOf({ output, status, incomplete_details: why }: Json): HeardChoice {
  const items: Json[] = output;
  const contents = items.flatMap((item): Json[] => (item.type === "message" ? item.content : []));
  return {
    text: contents.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
    refusal: contents.map((part) => (part.type === "refusal" ? part.refusal : "")).join(""),
    reasoning: items
      .filter(({ type }) => type === "reasoning")
      .flatMap(({ summary, content }): Json[] => [...summary, ...(content ?? [])])
      .map(({ text }) => text)
      .join(""),
    calls: items
      .filter(({ type }) => type === "function_call")
      .map(({ call_id, name, arguments: args }) => ({
        id: call_id,
        name,
        arguments: parsedArguments(args),
      })),
    stop: status === "incomplete" ? why.reason : status,
  };
}

/** The pieces of each item, joined, by its place in the output. */
function deltasOf(events: readonly Json[]): string[] {
  const texts: string[] = [];
  for (const { type, output_index: index, delta } of events) {
    if (type === "response.output_item.added") texts[index] = "";
    if (typeof delta === "string") texts[index] += delta;
  }
  return texts;
}

const textsOf = (output: readonly Json[]): string[] =>
  output.map(({ type, content, summary, arguments: args, input }) => {
    if (type === "function_call") return args;
    if (type === "custom_tool_call") return input;
    // A search's arguments, or a shell's action: they come at the item's end.
    if (type.endsWith("_call")) return "";
    const parts: Json[] = type === "reasoning" ? [...summary, ...(content ?? [])] : content;
    return parts.map((part) => part.text ?? part.refusal).join("");
  });
