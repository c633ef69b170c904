/** Streams of each dialect up to a point at which real models fall silent, and what follows. */
import type { ChatUpstreamName } from "../conformance/ends.ts";
import { eventFrame, exceptionFrame } from "../wire/converse.fixtures.ts";
import { answerOf } from "./answers.ts";
import type { Scripted } from "./upstream.ts";

type Parts = readonly (string | Buffer)[];
type Event = Readonly<Record<string, unknown>>;

export const TEXT = "What the model says.";

const typed = (event: Event & { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const framed = (event: string, payload: Event): Buffer =>
  Buffer.from(eventFrame({ event, payload }), "latin1");

const chunk = (delta: object): string =>
  data({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: null }],
  });
const gemini = (part: object): string =>
  data({ candidates: [{ content: { role: "model", parts: [part] }, index: 0 }], modelVersion: "m" });
/** An item of reasoning far from those of the answer. */
const AT = { output_index: 90, item_id: "rs_1" };
const item = { type: "reasoning", id: "rs_1", summary: [] };
const summary = (type: string, more: Event): string =>
  typed({ type: `response.reasoning_summary_${type}`, ...AT, summary_index: 0, ...more });
const block = (type: string, more: Event): string =>
  typed({ type: `content_block_${type}`, index: 90, ...more });

/** The events of a text's stream that come before its content. */
const OPENING: Readonly<Record<ChatUpstreamName, number>> = {
  chat: 1,
  responses: 3,
  messages: 2,
  gemini: 0,
  converse: 1,
};

/** The stream of {@link TEXT}: its preamble, the delta that begins it, and the rest. */
export function streamOf(dialect: ChatUpstreamName) {
  const { headers = {}, parts = [] } = answerOf(dialect, { text: TEXT }, true);
  const all = parts as Parts;
  const opening = OPENING[dialect];
  return {
    headers,
    preamble: all.slice(0, opening),
    first: all.slice(opening, opening + 1),
    rest: all.slice(opening + 1),
  };
}

interface Pause {
  readonly name: string;
  readonly dialect: ChatUpstreamName;
  /** Before the silence, in place of what the stream begins with. */
  readonly before: Parts;
  /** It has content already. */
  readonly hasBegun?: boolean;
}

const opened = (dialect: ChatUpstreamName): Parts => streamOf(dialect).preamble;

/** Where a model is at work though nothing comes. */
export const AT_WORK: readonly Pause[] = [
  { name: "behind the role", dialect: "chat", before: opened("chat") },
  {
    name: "behind comments of OpenRouter and an empty delta",
    dialect: "chat",
    before: [
      ": OPENROUTER PROCESSING\n\n",
      ...opened("chat"),
      ": OPENROUTER PROCESSING\n\n",
      chunk({ content: "" }),
    ],
  },
  {
    name: "after reasoning",
    dialect: "chat",
    before: [...opened("chat"), chunk({ reasoning_content: "Hm." })],
    hasBegun: true,
  },
  {
    name: "after the name of a call",
    dialect: "chat",
    before: [
      ...opened("chat"),
      chunk({
        tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "" } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
    ],
    hasBegun: true,
  },
  { name: "behind response.created", dialect: "responses", before: opened("responses").slice(0, 1) },
  { name: "behind an empty message", dialect: "responses", before: opened("responses") },
  {
    name: "behind an empty item of reasoning and Azure's keepalive",
    dialect: "responses",
    before: [
      ...opened("responses").slice(0, 1),
      typed({ type: "response.output_item.added", output_index: 90, item }),
      typed({ type: "keepalive", sequence_number: 2 }),
    ],
  },
  {
    name: "between two summaries of reasoning",
    dialect: "responses",
    before: [
      ...opened("responses").slice(0, 1),
      typed({ type: "response.output_item.added", output_index: 90, item }),
      summary("part.added", { part: { type: "summary_text", text: "" } }),
      summary("text.delta", { delta: "Hm." }),
      summary("text.done", { text: "Hm." }),
      summary("part.done", { part: { type: "summary_text", text: "Hm." } }),
    ],
    hasBegun: true,
  },
  { name: "behind message_start", dialect: "messages", before: opened("messages").slice(0, 1) },
  {
    name: "behind an empty block and a ping",
    dialect: "messages",
    before: [...opened("messages").slice(0, 1), typed({ type: "ping" })],
  },
  {
    name: "behind a block of thinking whose text is left out",
    dialect: "messages",
    before: [
      ...opened("messages").slice(0, 1),
      block("start", { content_block: { type: "thinking", thinking: "", signature: "" } }),
      typed({ type: "ping" }),
    ],
  },
  {
    name: "within thinking",
    dialect: "messages",
    before: [
      ...opened("messages").slice(0, 1),
      block("start", { content_block: { type: "thinking", thinking: "", signature: "" } }),
      block("delta", { delta: { type: "thinking_delta", thinking: "Hm." } }),
    ],
    hasBegun: true,
  },
  {
    name: "within the arguments of a call",
    dialect: "messages",
    before: [
      ...opened("messages").slice(0, 1),
      block("start", { content_block: { type: "tool_use", id: "toolu_1", name: "f", input: {} } }),
      block("delta", { delta: { type: "input_json_delta", partial_json: '{"a":' } }),
    ],
    hasBegun: true,
  },
  {
    name: "behind a chunk without parts",
    dialect: "gemini",
    before: [
      data({
        candidates: [{ content: { role: "model" }, index: 0 }],
        usageMetadata: { promptTokenCount: 8 },
      }),
    ],
  },
  {
    name: "after a thought",
    dialect: "gemini",
    before: [gemini({ text: "Hm.", thought: true })],
    hasBegun: true,
  },
  { name: "behind messageStart", dialect: "converse", before: opened("converse") },
  {
    name: "after reasoning",
    dialect: "converse",
    before: [
      ...opened("converse"),
      framed("contentBlockDelta", { contentBlockIndex: 90, delta: { reasoningContent: { text: "Hm." } } }),
    ],
    hasBegun: true,
  },
  {
    name: "behind the beginning of a call",
    dialect: "converse",
    before: [
      ...opened("converse"),
      framed("contentBlockStart", {
        contentBlockIndex: 90,
        start: { toolUse: { toolUseId: "t1", name: "f" } },
      }),
    ],
    hasBegun: true,
  },
];

/** The stream of {@link TEXT}, with a silence behind `before`. */
export function paused({ dialect, before }: Pause, silence: () => Promise<unknown>): Scripted {
  const { headers, preamble, first, rest } = streamOf(dialect);
  const left = preamble.filter((part) => !before.includes(part));
  return { headers, parts: [...before, silence, ...left, ...first, ...rest] };
}

/** Errors that come behind a preamble, with status 200: an overload in the words of each dialect. */
export const OVERLOADED: Readonly<Record<ChatUpstreamName, Parts>> = {
  chat: [...opened("chat"), data({ error: { message: "Overloaded", code: 503, type: "overloaded_error" } })],
  responses: [
    ...opened("responses"),
    typed({
      type: "response.failed",
      response: {
        id: "resp_1",
        object: "response",
        created_at: 1,
        status: "failed",
        model: "m",
        output: [],
        error: { code: "server_is_overloaded", message: "Overloaded" },
      },
    }),
  ],
  messages: [
    ...opened("messages"),
    typed({ type: "ping" }),
    typed({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  ],
  gemini: [
    data({ candidates: [{ content: { role: "model" }, index: 0 }] }),
    data({ error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } }),
  ],
  converse: [
    ...opened("converse"),
    Buffer.from(exceptionFrame("throttlingException", "Too many requests"), "latin1"),
  ],
};
