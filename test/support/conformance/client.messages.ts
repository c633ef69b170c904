/** The messages format as a client speaks it: an ask as a body, an answer as what it says. */
import { expect } from "vitest";
import { expectSame } from "../same.ts";
import {
  type Ask,
  type AskPart,
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

export const messagesClient: Client = {
  name: "messages",
  path: "/v1/messages",
  idPrefix: "msg_",
  headers: { "anthropic-version": "2023-06-01" },
  own: { pointer: "/inference_geo", keptBy: ["messages"] },
  pointers: {
    stop: "/stop_sequences",
    tool_errors: "/messages/2",
    image_urls: "/messages/0",
    cache_marks: "/messages/0/content/0/cache_control",
  },
  lacks: {
    choices: "a message is one answer",
    seed: "the format has no seeds",
    json: "the format asks for JSON by schema only",
  },
  stops: {
    stop: "end_turn",
    stop_sequence: "stop_sequence",
    length: "max_tokens",
    tool_calls: "tool_use",
    refusal: "refusal",
    content_filter: "refusal",
  },
  request: (ask, model, stream) => ({
    model,
    max_tokens: ask.maxTokens ?? 4096,
    ...(ask.system !== undefined && { system: ask.system }),
    messages: ask.turns.map(messageOf),
    ...(ask.tools && {
      tools: ask.tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters,
      })),
    }),
    ...choosing(ask),
    ...(ask.schema && { output_config: { format: { type: "json_schema", schema: ask.schema } } }),
    ...(ask.thinks && { thinking: { type: "enabled", budget_tokens: 1024, display: "summarized" } }),
    ...optionsOf(ask, stream),
  }),
  whole: (body) => {
    expectSame([body.type, body.role], ["message", "assistant"]);
    return heardOf(body, body.svc);
  },
  streamed: (text) => {
    const events: Json[] = sseEvents(text).map(({ name, data }) => {
      const event = JSON.parse(data);
      expectSame(event.type, name);
      return event;
    });
    // A delta of the message without a reason to stop only reports usage.
    const spoken = events.filter(
      ({ type, delta }) => type !== "ping" && (type !== "message_delta" || delta.stop_reason !== null),
    );
    const first = spoken.shift();
    const last = spoken.pop();
    const delta = spoken.pop();
    expectSame(
      [first.type, delta.type, last.type],
      ["message_start", "message_delta", "message_stop"],
      "T51: one start, with usage, and one end",
    );
    const { message } = first;
    expectSame(typeof message.usage.input_tokens, "number");
    const content = blocksOf(spoken);
    const usage = { ...message.usage, ...delta.usage };
    return heardOf({ ...message, ...delta.delta, content, usage }, last.svc);
  },
  errorOf: (body) => {
    expect(body).toMatchObject({ type: "error", request_id: expect.any(String) });
    return body.error;
  },
  streamError: (text) => {
    const last = sseEvents(text).at(-1);
    return last?.name === "error" ? JSON.parse(last.data).error.code : undefined;
  },
};

function choosing({ choosing: choice, parallel }: Ask) {
  if (choice === undefined && parallel === undefined) return {};
  const single = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  if (typeof choice === "object") return { tool_choice: { type: "tool", ...choice, ...single } };
  return { tool_choice: { type: choice === "required" ? "any" : (choice ?? "auto"), ...single } };
}

const optionsOf = ({ stop, own, temperature, ...ask }: Ask, stream: boolean) => ({
  ...(temperature !== undefined && { temperature }),
  ...svcMember(ask),
  ...(stop && { stop_sequences: stop }),
  ...(own && { inference_geo: "global" }),
  ...(stream && { stream }),
});

function messageOf(turn: Turn): Json {
  if ("echo" in turn) return { role: "assistant", content: turn.echo };
  if ("user" in turn) return { role: "user", content: turn.user.map(blockOf) };
  if ("results" in turn) {
    const results: Json[] = turn.results.map(({ id, text, image, isError }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: image ? [{ type: "text", text }, blockOf({ image })] : text,
      ...(isError && { is_error: true }),
    }));
    return { role: "user", content: [...results, ...(turn.said ? [{ type: "text", text: turn.said }] : [])] };
  }
  const calls: Json[] = (turn.calls ?? []).map(({ id, name, arguments: input }) => ({
    type: "tool_use",
    id,
    name,
    input,
  }));
  const text = turn.assistant === "" ? [] : [{ type: "text", text: turn.assistant }];
  return { role: "assistant", content: [...text, ...calls] };
}

function blockOf(part: AskPart): Json {
  if ("text" in part) {
    const { text, isCached } = part;
    return { type: "text", text, ...(isCached && { cache_control: { type: "ephemeral" } }) };
  }
  if ("imageUrl" in part) return { type: "image", source: { type: "url", url: part.imageUrl } };
  const [type, { mediaType, data }] =
    "image" in part ? ["image", part.image] : (["document", part.document] as const);
  return { type, source: { type: "base64", media_type: mediaType, data } };
}

function heardOf(message: Json, svc: Json): Heard {
  const { id, model, usage, content } = message;
  const read = usage.cache_read_input_tokens ?? 0;
  const written = usage.cache_creation_input_tokens ?? 0;
  return {
    id,
    model,
    choices: [choiceOf(message)],
    usage: {
      input: usage.input_tokens + read + written,
      output: usage.output_tokens,
      cacheRead: read,
      cacheWrite: written,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
    svc: svcOf(svc),
    echo: content,
  };
}

function choiceOf({ content, stop_reason: stop }: Json): HeardChoice {
  const blocks: Json[] = content;
  const joined = (type: string, member: string) =>
    blocks.map((block) => (block.type === type ? block[member] : "")).join("");
  return {
    text: joined("text", "text"),
    refusal: "",
    reasoning: joined("thinking", "thinking"),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id, name, arguments: input })),
    stop,
  };
}

/** The blocks that the events add up to; each begins, grows and ends before the next. */
function blocksOf(events: readonly Json[]): Json[] {
  const blocks: Json[] = [];
  let json = "";
  let open = false;
  for (const { type, index, content_block: start, delta } of events) {
    if (type === "content_block_start") {
      expectSame(open, false, "one block at a time");
      expectSame(index, blocks.length, "T44: blocks are numbered as they begin");
      blocks.push({ ...start });
      json = "";
      open = true;
      continue;
    }
    expectSame(index, blocks.length - 1);
    const block = blocks[index];
    if (type === "content_block_stop") {
      if (block.type === "tool_use") block.input = parsedArguments(json || "{}");
      open = false;
      continue;
    }
    expectSame(type, "content_block_delta");
    if (delta.type === "input_json_delta") json += delta.partial_json;
    else if (delta.type === "text_delta") block.text += delta.text;
    else if (delta.type === "thinking_delta") block.thinking += delta.thinking;
    else if (delta.type === "signature_delta") block.signature = delta.signature;
    else expect.unreachable(`a delta of type ${delta.type}`);
  }
  expectSame(open, false, "every block ends");
  return blocks;
}
