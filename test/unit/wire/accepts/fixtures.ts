/** A conversation with a tool in every client format, where each dialect puts the parts of it, and answers that call the tool. */
import type { Dialect, Endpoint } from "../../../../src/base/endpoint.ts";
import type { ClientRequest, OrgKey, Outgoing, OwnTools, Passage } from "../../../../src/wire/format.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { passageTo } from "../../../../src/wire/passages.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";
import { eventFrame } from "../../../support/wire/converse.fixtures.ts";
import type { Json } from "../../../support/wire/fixtures.ts";
import { IDENTITY } from "../chat.fixtures.ts";

export const FORMAT_NAMES = ["chat", "responses", "messages", "generate"] as const;
export type Format = (typeof FORMAT_NAMES)[number];
export const DIALECTS = ["chat", "responses", "messages", "gemini", "converse"] as const;
export type UpDialect = (typeof DIALECTS)[number];

/** All pairs that are translated. */
export const PAIRS = FORMAT_NAMES.flatMap((format) =>
  DIALECTS.flatMap((dialect) => (format === dialect ? [] : [[format, dialect] as const])),
);

export const ORG_KEY: OrgKey = Buffer.alloc(32, 7);

/** What is asked: a tool, a call of it by id and its result, and a choice of it. */
export interface Asked {
  readonly name: string;
  /** Ids of calls, a turn each. */
  readonly ids: readonly string[];
  /** Other tools. */
  readonly others?: readonly string[];
  readonly isChosen?: boolean;
}

const schema = { type: "object", properties: {} };

/** The body of a client. */
export function bodyOf(format: Format, { name, ids, others = [], isChosen = true }: Asked): Json {
  const names = [name, ...others];
  const functions = names.map((own) => ({ type: "function", function: { name: own, parameters: schema } }));
  switch (format) {
    case "chat":
      return {
        tools: functions,
        ...(isChosen && { tool_choice: { type: "function", function: { name } } }),
        messages: [
          { role: "user", content: "x" },
          ...ids.flatMap((id) => [
            {
              role: "assistant",
              content: null,
              tool_calls: [{ id, type: "function", function: { name, arguments: "{}" } }],
            },
            { role: "tool", tool_call_id: id, content: "r" },
          ]),
        ],
      };
    case "responses":
      return {
        tools: names.map((own) => ({ type: "function", name: own, parameters: schema })),
        ...(isChosen && { tool_choice: { type: "function", name } }),
        input: [
          { role: "user", content: "x" },
          ...ids.flatMap((id) => [
            { type: "function_call", call_id: id, name, arguments: "{}" },
            { type: "function_call_output", call_id: id, output: "r" },
          ]),
        ],
      };
    case "messages":
      return {
        max_tokens: 9,
        tools: names.map((own) => ({ name: own, input_schema: schema })),
        ...(isChosen && { tool_choice: { type: "tool", name } }),
        messages: [
          { role: "user", content: "x" },
          ...ids.flatMap((id) => [
            { role: "assistant", content: [{ type: "tool_use", id, name, input: {} }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "r" }] },
          ]),
        ],
      };
    case "generate":
      return {
        tools: names.map((own) => ({ name: own, parameters: schema })),
        ...(isChosen && { tool_choice: { name } }),
        messages: [
          { role: "user", content: "x" },
          ...ids.flatMap((id) => [
            { role: "assistant", content: [{ type: "tool_call", id, name, arguments: "{}" }] },
            { role: "user", content: [{ type: "tool_result", id, content: "r" }] },
          ]),
        ],
      };
  }
}

interface Way {
  readonly request: ClientRequest;
  readonly outgoing: Outgoing;
  readonly passage: Passage;
  /** What the upstream gets. */
  readonly sent: Json;
}

export const upstreamOf = (dialect: Dialect, provider = "p", upstreamModel = "m"): Endpoint => {
  const at = endpoint("e", { dialects: [dialect], upstreamModel });
  return { ...at, provider: { ...at.provider, id: provider } };
};

/** A body told to an upstream. */
export function told(format: Format, body: Json, to: Endpoint, orgKey = ORG_KEY): Way {
  const request = FORMATS[format].read(Buffer.from(JSON.stringify({ model: "v/m", ...body })));
  const passage = passageTo(FORMATS[format], to)?.passage;
  if (passage === undefined) throw new Error(`no way from ${format} to ${to.dialects}`);
  const outgoing = passage.write(request, to, "platform", orgKey);
  return { request, outgoing, passage, sent: JSON.parse(Buffer.concat(outgoing.parts).toString()) };
}

/** All values of members with these names, in order, however deep. */
export function valuesOf(value: unknown, ...names: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(item, ...names));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    names.includes(key) && typeof item !== "object" ? [item] : valuesOf(item, ...names),
  );
}

/** The names of tools that an upstream got: declared, called, chosen. */
export const namesIn = (sent: Json): string[] => {
  const { tools, toolConfig, tool_choice: choice, messages, input, contents } = sent;
  const allowed = (toolConfig as Json | undefined)?.functionCallingConfig as Json | undefined;
  return [
    ...valuesOf([tools, toolConfig, choice, messages, input, contents], "name"),
    ...((allowed?.allowedFunctionNames as string[] | undefined) ?? []),
  ] as string[];
};

/** The ids of calls and results that an upstream got, in order. */
export const idsIn = (sent: Json): string[] =>
  valuesOf(
    [sent.messages, sent.input, sent.contents],
    "id",
    "tool_call_id",
    "call_id",
    "tool_use_id",
    "toolUseId",
  ) as string[];

const sse = (...events: readonly (Json | string)[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

/** An upstream's answer that calls a tool. @param id undefined: the upstream gives none */
interface Answering {
  whole(name: string, id: string | undefined): Json;
  /** latin1 */
  stream(name: string, id: string | undefined): string;
}

const chatCall = (name: string, id: string | undefined) => ({
  ...(id !== undefined && { id }),
  type: "function",
  function: { name, arguments: "{}" },
});
const responseOf = (name: string, id: string | undefined): Json => ({
  id: "r",
  object: "response",
  status: "completed",
  output: [
    {
      type: "function_call",
      ...(id !== undefined && { id: "i", call_id: id }),
      name,
      arguments: "{}",
      status: "completed",
    },
  ],
});
const geminiOf = (name: string, id: string | undefined): Json => ({
  candidates: [
    {
      index: 0,
      content: {
        role: "model",
        parts: [{ functionCall: { ...(id !== undefined && { id }), name, args: {} } }],
      },
      finishReason: "STOP",
    },
  ],
});

export const ANSWERS: Readonly<Record<UpDialect, Answering>> = {
  chat: {
    whole: (name, id) => ({
      id: "x",
      choices: [{ index: 0, message: { tool_calls: [chatCall(name, id)] }, finish_reason: "tool_calls" }],
    }),
    stream: (name, id) =>
      sse(
        {
          id: "x",
          choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...chatCall(name, id) }] } }],
        },
        { id: "x", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
        "[DONE]",
      ),
  },
  responses: {
    whole: responseOf,
    stream: (name, id) => {
      const response = responseOf(name, id);
      const [item] = response.output as Json[];
      return sse(
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { ...item, arguments: "", status: "in_progress" },
        },
        { type: "response.output_item.done", output_index: 0, item: item as Json },
        { type: "response.completed", response },
      );
    },
  },
  messages: {
    whole: (name, id) => ({
      id: "m",
      type: "message",
      role: "assistant",
      content: [{ type: "tool_use", ...(id !== undefined && { id }), name, input: {} }],
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    stream: (name, id) =>
      sse(
        { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 1 } } },
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "tool_use", ...(id !== undefined && { id }), name, input: {} },
        },
        { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{}" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
        { type: "message_stop" },
      ),
  },
  gemini: { whole: geminiOf, stream: (name, id) => sse(geminiOf(name, id)) },
  converse: {
    whole: (name, id) => ({
      output: {
        message: {
          role: "assistant",
          content: [{ toolUse: { ...(id !== undefined && { toolUseId: id }), name, input: {} } }],
        },
      },
      stopReason: "tool_use",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    }),
    stream: (name, id) =>
      [
        { event: "messageStart", payload: { role: "assistant" } },
        {
          event: "contentBlockStart",
          payload: {
            contentBlockIndex: 0,
            start: { toolUse: { ...(id !== undefined && { toolUseId: id }), name } },
          },
        },
        {
          event: "contentBlockDelta",
          payload: { contentBlockIndex: 0, delta: { toolUse: { input: "{}" } } },
        },
        { event: "contentBlockStop", payload: { contentBlockIndex: 0 } },
        { event: "messageStop", payload: { stopReason: "tool_use" } },
      ]
        .map(eventFrame)
        .join(""),
  },
};

const USAGE = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
};

const SVC = {
  request_id: "R",
  provider: "p",
  endpoint_id: "e",
  cost: { total_micro_usd: 0, lines: [], price_version: "pv_1" },
  warnings: [],
} as const;

/** An upstream's answer: a whole one, and the same as a stream, latin1. */
export interface Answer {
  readonly whole: Buffer;
  readonly stream: string;
}

/** What the client gets of an upstream's call of a tool. */
export function given(way: Way, dialect: UpDialect, name: string, id: string | undefined, requestId = "R") {
  const { whole, stream } = ANSWERS[dialect];
  return answered(
    way,
    { whole: Buffer.from(JSON.stringify(whole(name, id))), stream: stream(name, id) },
    requestId,
  );
}

/** What the client gets of an upstream's answer. */
export function answered(way: Way, answer: Answer, requestId = "R") {
  const identity = { ...IDENTITY, requestId };
  const { request, passage, outgoing } = way;
  const own: OwnTools | undefined = outgoing.ownTools;
  const events = passage.stream(request, identity, own);
  const begun = events.push(answer.stream) + events.end();
  return {
    whole: passage
      .whole(answer.whole, request, identity, own)
      .write(USAGE as never, SVC as never)
      .toString(),
    stream: Buffer.from(begun + events.close(USAGE as never, SVC as never), "latin1").toString(),
  };
}
