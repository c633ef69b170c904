/**
 * Streams of calls as servers send them beside the usual: several calls under one index or none (apache/maka#1976), and calls whose
 * arguments never come (agentgateway/agentgateway#3002).
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Call } from "../../support/conformance/ask.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import { type Field, startField } from "../../support/field/field.ts";
import type { Scripted } from "../../support/field/upstream.ts";
import { eventFrame } from "../../support/wire/converse.fixtures.ts";

const FORMATS = ["chat", "responses", "messages", "generate"] as const;
const PARAMETERS = { type: "object", properties: {} };

/** Asks with the tool f. */
const ASKS = {
  chat: {
    messages: [{ role: "user", content: "x" }],
    tools: [{ type: "function", function: { name: "f", parameters: PARAMETERS } }],
  },
  responses: { input: "x", tools: [{ type: "function", name: "f", parameters: PARAMETERS }], store: false },
  messages: {
    max_tokens: 9,
    messages: [{ role: "user", content: "x" }],
    tools: [{ name: "f", input_schema: PARAMETERS }],
  },
  generate: {
    messages: [{ role: "user", content: "x" }],
    tools: [{ name: "f", parameters: PARAMETERS }],
  },
};

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

interface Case {
  readonly name: string;
  readonly target: "chat" | "responses" | "messages" | "gemini" | "converse";
  readonly said: Scripted;
  /** Between equal ends the client gets the pieces as the upstream wrote them, and put together they are no such call. */
  readonly isOdd?: boolean;
  /** Undefined for an id that is made here. */
  readonly calls: readonly (Omit<Call, "id"> & { readonly id: string | undefined })[];
}

const sse = (events: readonly object[], end = ""): Scripted => ({
  headers: { "content-type": "text/event-stream" },
  parts: [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), end],
});

type Piece = Readonly<Record<string, unknown>>;

/** @param pieces of `tool_calls`, a chunk each */
const chat = (...pieces: readonly (readonly Piece[])[]): Scripted => {
  const chunk = (choice: object) => ({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: null, ...choice }],
  });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return sse(
    [
      ...pieces.map((tool_calls) => chunk({ delta: { role: "assistant", tool_calls } })),
      { ...chunk({ delta: {}, finish_reason: "tool_calls" }), usage },
    ],
    "data: [DONE]\n\n",
  );
};

const begun = (index: number | undefined, id: string, args: string | null | undefined = "{}"): Piece => ({
  ...(index !== undefined && { index }),
  id,
  type: "function",
  function: { name: "f", ...(args !== undefined && { arguments: args }) },
});

const more = (index: number | undefined, text: string): Piece => ({
  ...(index !== undefined && { index }),
  function: { arguments: text },
});

const messages = (...deltas: readonly string[]): Scripted =>
  sse([
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "call_a", name: "f", input: {} },
    },
    ...deltas.map((partial_json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ]);

const responses = (args: string): Scripted => {
  const response = { id: "r", object: "response", created_at: 1, model: "m", status: "completed" };
  const item = { id: "fc", type: "function_call", call_id: "call_a", name: "f", status: "completed" };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const output = [{ ...item, arguments: args }];
  return sse(
    [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { ...item, status: "in_progress", arguments: "" },
      },
      { type: "response.function_call_arguments.done", item_id: "fc", output_index: 0, arguments: args },
      { type: "response.output_item.done", output_index: 0, item: output[0] },
      {
        type: "response.completed",
        response: {
          ...response,
          output,
          usage: {
            ...usage,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens_details: { reasoning_tokens: 0 },
          },
        },
      },
    ].map((event, sequence_number) => ({ ...event, sequence_number })),
  );
};

const gemini = (call: object): Scripted =>
  sse([
    {
      candidates: [
        {
          index: 0,
          content: { role: "model", parts: [{ functionCall: { name: "f", ...call } }] },
          finishReason: "STOP",
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      responseId: "g",
    },
  ]);

const converse = (...inputs: readonly string[]): Scripted => ({
  headers: { "content-type": "application/vnd.amazon.eventstream" },
  parts: [
    { event: "messageStart", payload: { role: "assistant" } },
    {
      event: "contentBlockStart",
      payload: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "call_a", name: "f" } } },
    },
    ...inputs.map((input) => ({
      event: "contentBlockDelta",
      payload: { contentBlockIndex: 0, delta: { toolUse: { input } } },
    })),
    { event: "contentBlockStop", payload: { contentBlockIndex: 0 } },
    { event: "messageStop", payload: { stopReason: "tool_use" } },
    { event: "metadata", payload: { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } } },
  ].map((event) => Buffer.from(eventFrame(event), "latin1")),
});

const call = (id: string | undefined, args: unknown = {}) => ({ id, name: "f", arguments: args });
const [A, B] = [call("call_a"), call("call_b")];
const SPLIT = [call("call_a", { n: 1 }), call("call_b", { n: 2 })];

const CASES: readonly Case[] = [
  {
    name: "two calls under one index",
    target: "chat",
    said: chat([begun(0, "call_a")], [begun(0, "call_b")]),
    calls: [A, B],
  },
  {
    name: "two calls under one index, in one chunk",
    target: "chat",
    said: chat([begun(0, "call_a"), begun(0, "call_b")]),
    calls: [A, B],
  },
  {
    name: "two calls under one index, in pieces",
    target: "chat",
    said: chat(
      [begun(0, "call_a", "")],
      [more(0, '{"n"')],
      [more(0, ":1}")],
      [begun(0, "call_b", '{"n"')],
      [more(0, ":2}")],
    ),
    calls: SPLIT,
  },
  {
    name: "two calls without an index",
    target: "chat",
    said: chat([begun(undefined, "call_a", '{"n":1}')], [begun(undefined, "call_b", '{"n":2}')]),
    calls: SPLIT,
  },
  {
    // acon96/hass_local_openai_llm#92.
    name: "two calls under one index and one id",
    target: "chat",
    said: chat([begun(0, "call_a", '{"n":1}')], [begun(0, "call_a", '{"n":2}')]),
    calls: [call("call_a", { n: 1 }), call(undefined, { n: 2 })],
  },
  {
    name: "an empty object before the arguments, each with all of the call",
    target: "chat",
    said: chat([begun(0, "call_a", "{}")], [begun(0, "call_a", '{"n":1}')]),
    isOdd: true,
    calls: [call("call_a", { n: 1 })],
  },
  {
    name: "two calls of one id without an index",
    target: "chat",
    said: chat([begun(undefined, "call_a", '{"n":1}')], [begun(undefined, "call_a", '{"n":2}')]),
    calls: [call("call_a", { n: 1 }), call(undefined, { n: 2 })],
  },
  {
    name: "two calls under one index, in pieces without ids",
    target: "chat",
    said: chat(
      [begun(0, "", '{"n"')],
      [more(0, ":1}")],
      [{ index: 0, type: "function", function: { name: "g", arguments: "" } }],
      [more(0, '{"n":2}')],
    ),
    calls: [call(undefined, { n: 1 }), { ...call(undefined, { n: 2 }), name: "g" }],
  },
  {
    // continuedev/continue#5849.
    name: "a name in pieces",
    target: "chat",
    said: chat(
      [{ index: 0, id: "call_a", type: "function", function: { name: "get_", arguments: "" } }],
      [{ index: 0, id: "call_a", function: { name: "weather" } }],
      [more(0, '{"n":1}')],
    ),
    isOdd: true,
    calls: [{ ...call("call_a", { n: 1 }), name: "get_weather" }],
  },
  {
    name: "a name in pieces, with the whole of it each time",
    target: "chat",
    said: chat(
      [{ index: 0, id: "call_a", type: "function", function: { name: "f" } }],
      [{ index: 0, id: "call_a", function: { name: "fg" } }],
      [{ index: 0, id: "call_a", function: { name: "fg", arguments: '{"n":1}' } }],
    ),
    isOdd: true,
    calls: [{ ...call("call_a", { n: 1 }), name: "fg" }],
  },
  {
    name: "a late id",
    target: "chat",
    said: chat(
      [{ index: 0, type: "function", function: { name: "f", arguments: "" } }],
      [{ index: 0, id: "call_a", function: { arguments: "{}" } }],
    ),
    isOdd: true,
    calls: [A],
  },
  {
    name: "calls without arguments before a text, and in one chunk",
    target: "chat",
    said: chat(
      [
        { index: 0, id: "call_a", type: "function", function: { name: "f" } },
        { index: 1, id: "call_b", type: "function", function: { name: "f" } },
      ],
      [more(1, "{}")],
    ),
    isOdd: true,
    calls: [A, B],
  },
  {
    name: "two calls in one chunk without indexes, ids and arguments",
    target: "chat",
    said: chat([{ function: { name: "f" } }, { function: { name: "g" } }]),
    isOdd: true,
    calls: [call(undefined), { ...call(undefined), name: "g" }],
  },
  {
    name: "an object",
    target: "chat",
    said: chat([{ ...begun(0, "call_a"), function: { name: "f", arguments: { n: 1, s: '\u00e9\n"' } } }]),
    calls: [call("call_a", { n: 1, s: '\u00e9\n"' })],
  },
  {
    name: "a call that is sent again at its end",
    target: "chat",
    said: chat([begun(0, "call_a", '{"n":1}')], [begun(0, "call_a", '{"n":1}')]),
    isOdd: true,
    calls: [call("call_a", { n: 1 })],
  },
  { name: "an empty text", target: "chat", said: chat([begun(0, "call_a", "")]), isOdd: true, calls: [A] },
  { name: "null", target: "chat", said: chat([begun(0, "call_a", null)]), isOdd: true, calls: [A] },
  {
    name: "no arguments",
    target: "chat",
    said: chat([{ index: 0, id: "call_a", type: "function", function: { name: "f" } }]),
    isOdd: true,
    calls: [A],
  },
  { name: "an empty text", target: "responses", said: responses(""), isOdd: true, calls: [A] },
  { name: "an object at the end alone", target: "responses", said: responses("{}"), isOdd: true, calls: [A] },
  { name: "an empty delta", target: "messages", said: messages(""), calls: [A] },
  { name: "no delta", target: "messages", said: messages(), calls: [A] },
  { name: "empty deltas around an object", target: "messages", said: messages("", "{", "}", ""), calls: [A] },
  { name: "no arguments", target: "gemini", said: gemini({}), calls: [call(undefined)] },
  { name: "null", target: "gemini", said: gemini({ id: "call_a", args: null }), calls: [A] },
  { name: "an empty delta", target: "converse", said: converse(""), calls: [A] },
  { name: "no delta", target: "converse", said: converse(), calls: [A] },
];

describe.each(FORMATS)("a %s client", (client) => {
  const heardBy = CASES.filter(({ target, isOdd }) => isOdd !== true || target !== client);

  test.each(heardBy.map((one) => [one.target, one.name, one] as const))(
    "hears of %s: %s",
    async (target, _, { said, calls }) => {
      field.up.script(said);
      const { status, text } = await field.send(client, target, ASKS[client], { stream: true });
      expect(status, text).toBe(200);
      const { choices, usage } = CLIENTS[client].streamed(text);
      const [choice] = choices;
      const heard = choice?.calls ?? [];
      expect(heard).toEqual(calls.map((one, index) => ({ ...one, id: one.id ?? heard[index]?.id })));
      for (const { id } of heard) expect(id).toMatch(/./);
      // What the gateway adds to a call is no output of the provider's.
      expect(usage.output).toBe(target === "messages" ? 2 : 1);
    },
  );
});
