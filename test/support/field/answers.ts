/**
 * What a model says, as each dialect writes it, whole and streamed, for a scripted upstream. Arguments of calls are JSON text and are
 * written as they are: in dialects that have an object there, they are that object's text.
 */
import type { ChatUpstreamName } from "../conformance/ends.ts";
import { eventFrame } from "../wire/converse.fixtures.ts";
import type { Scripted } from "./upstream.ts";

export interface SaidCall {
  readonly id: string;
  readonly name: string;
  /** The tool's; only the dialect responses has namespaces. */
  readonly namespace?: string;
  /** JSON text of an object. */
  readonly arguments: string;
}

/** A call of a free-form tool, which only the dialects chat and responses have. */
export interface SaidText {
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly input: string;
}

export interface Said {
  readonly text?: string;
  readonly calls?: readonly (SaidCall | SaidText)[];
  /** Characters of each delta; {@link PIECE} or more unless told. */
  readonly piece?: number;
}

/** Characters of a delta at least: a text longer than that is streamed in several, to {@link PIECES}. */
const PIECE = 7;
const PIECES = 24;
const INPUT_TOKENS = 11;
const OUTPUT_TOKENS = 7;

export const answerOf = (dialect: ChatUpstreamName, said: Said, stream: boolean): Scripted =>
  stream ? STREAMED[dialect](said) : { body: WHOLE[dialect](said) };

const q = (value: unknown): string => JSON.stringify(value);
const list = (items: readonly string[]): string => `[${items.join(",")}]`;

/** @throws Error for a free-form call: the dialect has none */
function argumentsOf(call: SaidCall | SaidText): string {
  if ("arguments" in call) return call.arguments;
  throw new Error("this dialect has no free-form calls");
}

/** No character is cut in two. @param piece characters of each, if they are told */
function piecesOf(text: string, piece?: number): string[] {
  const characters = Array.from(text);
  const size = piece ?? Math.max(PIECE, Math.ceil(characters.length / PIECES));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}

const WHOLE: Readonly<Record<ChatUpstreamName, (said: Said) => string>> = {
  chat: (said) => {
    const calls = (said.calls ?? []).map(chatCall);
    const message = `{"role":"assistant","content":${q(said.text ?? null)},"refusal":null${calls.length > 0 ? `,"tool_calls":${list(calls)}` : ""}}`;
    const choice = `{"index":0,"message":${message},"logprobs":null,"finish_reason":${q(chatFinish(said))}}`;
    return `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[${choice}],"usage":${q(CHAT_USAGE)}}`;
  },
  responses: (said) => responseOf("completed", responsesItems(said)),
  messages: ({ text, calls = [] }) => {
    const blocks = calls.map((call) => {
      const { id, name } = call;
      return `{"type":"tool_use","id":${q(id)},"name":${q(name)},"input":${argumentsOf(call)}}`;
    });
    if (text !== undefined) blocks.unshift(q({ type: "text", text }));
    const stop = calls.length > 0 ? "tool_use" : "end_turn";
    return `{"id":"m1","type":"message","role":"assistant","model":"m","content":${list(blocks)},"stop_reason":"${stop}","stop_sequence":null,"usage":${q(MESSAGES_USAGE)}}`;
  },
  gemini: (said) => geminiChunk(geminiParts(said), true),
  converse: ({ text, calls = [] }) => {
    const blocks = calls.map((call) => {
      const { id, name } = call;
      return `{"toolUse":{"toolUseId":${q(id)},"name":${q(name)},"input":${argumentsOf(call)}}}`;
    });
    if (text !== undefined) blocks.unshift(q({ text }));
    const stop = calls.length > 0 ? "tool_use" : "end_turn";
    return `{"output":{"message":{"role":"assistant","content":${list(blocks)}}},"stopReason":"${stop}","usage":${q(CONVERSE_USAGE)},"metrics":{"latencyMs":1}}`;
  },
};

const STREAMED: Readonly<Record<ChatUpstreamName, (said: Said) => Scripted>> = {
  chat: (said) => {
    const deltas: object[] = [{ role: "assistant", content: "" }];
    for (const content of piecesOf(said.text ?? "", said.piece)) deltas.push({ content });
    for (const [index, call] of (said.calls ?? []).entries()) {
      const { id, name } = call;
      const [type, member] =
        "input" in call ? (["custom", "input"] as const) : (["function", "arguments"] as const);
      deltas.push({ tool_calls: [{ index, id, type, [type]: { name, [member]: "" } }] });
      for (const piece of piecesOf("input" in call ? call.input : call.arguments, said.piece)) {
        deltas.push({ tool_calls: [{ index, [type]: { [member]: piece } }] });
      }
    }
    const chunk = (choices: object[], usage: object | null) =>
      `data: ${q({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices, usage })}\n\n`;
    const parts = deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }], null));
    parts.push(chunk([{ index: 0, delta: {}, finish_reason: chatFinish(said) }], null));
    return sse([...parts, chunk([], CHAT_USAGE), "data: [DONE]\n\n"]);
  },
  responses: streamedResponse,
  messages: ({ text, calls = [], piece: size }) => {
    const usage = { ...MESSAGES_USAGE, output_tokens: 1 };
    const message = { id: "m1", type: "message", role: "assistant", model: "m", content: [], usage };
    const events: Event[] = [
      { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
    ];
    const block = (start: object, deltas: object[]) => {
      const index = events.filter(({ type }) => type === "content_block_start").length;
      events.push({ type: "content_block_start", index, content_block: start });
      for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
      events.push({ type: "content_block_stop", index });
    };
    if (text !== undefined) {
      block(
        { type: "text", text: "" },
        piecesOf(text, size).map((piece) => ({ type: "text_delta", text: piece })),
      );
    }
    for (const call of calls) {
      const pieces = piecesOf(argumentsOf(call), size);
      const deltas = pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece }));
      block({ type: "tool_use", id: call.id, name: call.name, input: {} }, deltas);
    }
    const delta = { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
    events.push({ type: "message_delta", delta, usage: MESSAGES_USAGE }, { type: "message_stop" });
    return sse(events.map(named));
  },
  gemini: ({ text, calls, piece: size }) => {
    const chunks = piecesOf(text ?? "", size).map((piece) => geminiChunk([q({ text: piece })], false));
    for (const part of geminiParts({ calls: calls ?? [] })) chunks.push(geminiChunk([part], false));
    return sse([...chunks, geminiChunk(['{"text":""}'], true)].map(dataOf));
  },
  converse: ({ text, calls = [], piece: size }) => {
    const frames = [eventFrame({ event: "messageStart", payload: { role: "assistant" } })];
    let contentBlockIndex = 0;
    const push = (event: string, payload: object) =>
      frames.push(eventFrame({ event, payload: { contentBlockIndex, ...payload } }));
    const end = () => {
      push("contentBlockStop", {});
      contentBlockIndex += 1;
    };
    if (text !== undefined) {
      for (const piece of piecesOf(text, size)) push("contentBlockDelta", { delta: { text: piece } });
      end();
    }
    for (const call of calls) {
      push("contentBlockStart", { start: { toolUse: { toolUseId: call.id, name: call.name } } });
      for (const input of piecesOf(argumentsOf(call), size))
        push("contentBlockDelta", { delta: { toolUse: { input } } });
      end();
    }
    const stopReason = calls.length > 0 ? "tool_use" : "end_turn";
    frames.push(eventFrame({ event: "messageStop", payload: { stopReason } }));
    frames.push(
      eventFrame({ event: "metadata", payload: { usage: CONVERSE_USAGE, metrics: { latencyMs: 1 } } }),
    );
    const parts = frames.map((frame) => Buffer.from(frame, "latin1"));
    return { headers: { "content-type": "application/vnd.amazon.eventstream" }, parts };
  },
};

const CHAT_USAGE = {
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: OUTPUT_TOKENS,
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
};
const MESSAGES_USAGE = { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS };
const CONVERSE_USAGE = {
  inputTokens: INPUT_TOKENS,
  outputTokens: OUTPUT_TOKENS,
  totalTokens: INPUT_TOKENS + OUTPUT_TOKENS,
};
const GEMINI_USAGE = {
  promptTokenCount: INPUT_TOKENS,
  candidatesTokenCount: OUTPUT_TOKENS,
  totalTokenCount: INPUT_TOKENS + OUTPUT_TOKENS,
};
const RESPONSES_USAGE = {
  input_tokens: INPUT_TOKENS,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: OUTPUT_TOKENS,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: INPUT_TOKENS + OUTPUT_TOKENS,
};

const chatFinish = ({ calls = [] }: Said): string => (calls.length > 0 ? "tool_calls" : "stop");

function chatCall(call: SaidCall | SaidText): string {
  const { id, name } = call;
  if ("input" in call) return q({ id, type: "custom", custom: { name, input: call.input } });
  return q({ id, type: "function", function: { name, arguments: call.arguments } });
}

const geminiParts = ({ text, calls = [] }: Said): string[] => [
  ...(text === undefined ? [] : [q({ text })]),
  ...calls.map((call) => {
    const { id, name } = call;
    return `{"functionCall":{"id":${q(id)},"name":${q(name)},"args":${argumentsOf(call)}},"thoughtSignature":"c2lnbmVk"}`;
  }),
];

const geminiChunk = (parts: readonly string[], isLast: boolean): string =>
  `{"candidates":[{"content":{"role":"model","parts":${list(parts)}},"index":0${isLast ? ',"finishReason":"STOP"' : ""}}],"usageMetadata":${q(GEMINI_USAGE)},"modelVersion":"m","responseId":"g1"}`;

type Item = Readonly<Record<string, unknown>> & { readonly id: string };

function responsesItems({ text, calls = [] }: Said): Item[] {
  const items = calls.map((call, index): Item => {
    const { id: call_id, name, namespace } = call;
    const common = { id: `fc_${index}`, status: "completed", call_id, name, namespace };
    return "input" in call
      ? { ...common, type: "custom_tool_call", input: call.input }
      : { ...common, type: "function_call", arguments: call.arguments };
  });
  if (text === undefined) return items;
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return [{ id: "msg_0", type: "message", status: "completed", role: "assistant", content }, ...items];
}

const responseOf = (status: string, output: readonly Item[]): string =>
  q({
    id: "resp_1",
    object: "response",
    created_at: 1,
    status,
    error: null,
    incomplete_details: null,
    model: "m",
    output,
    usage: status === "completed" ? RESPONSES_USAGE : null,
  });

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** An event that says its type twice, as Anthropic and OpenAI's responses have it. */
const named = (event: Event): string => `event: ${event.type}\ndata: ${q(event)}\n\n`;

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function streamedResponse(said: Said): Scripted {
  const items = responsesItems(said);
  const events: Event[] = [{ type: "response.created", response: JSON.parse(responseOf("in_progress", [])) }];
  for (const [output_index, item] of items.entries()) {
    const { began, pieces, done, empty } = streamedItem(item, said.piece);
    const at = { item_id: item.id, output_index };
    const open = { ...item, ...empty, status: "in_progress" };
    events.push({ type: "response.output_item.added", output_index, item: open });
    for (const event of [...began, ...pieces, ...done]) events.push({ ...event, ...at });
    events.push({ type: "response.output_item.done", output_index, item });
  }
  events.push({ type: "response.completed", response: JSON.parse(responseOf("completed", items)) });
  return sse(events.map((event, sequence_number) => named({ ...event, sequence_number })));
}

interface StreamedItem {
  readonly began: readonly Event[];
  readonly pieces: readonly Event[];
  readonly done: readonly Event[];
  /** What the item has before its pieces. */
  readonly empty: object;
}

function streamedItem(item: Item, piece: number | undefined): StreamedItem {
  if (item.type === "message") return streamedText(item.content as TextPart[], piece);
  const [kind, member] =
    item.type === "custom_tool_call"
      ? ["custom_tool_call_input", "input"]
      : ["function_call_arguments", "arguments"];
  const text = item[member as string] as string;
  return {
    began: [],
    pieces: piecesOf(text, piece).map((delta) => ({ type: `response.${kind}.delta`, delta })),
    done: [{ type: `response.${kind}.done`, [member as string]: text }],
    empty: { [member as string]: "" },
  };
}

interface TextPart {
  readonly text: string;
}

function streamedText([part]: readonly TextPart[], piece: number | undefined): StreamedItem {
  const { text } = part as TextPart;
  const at = { content_index: 0 };
  return {
    began: [{ type: "response.content_part.added", ...at, part: { ...part, text: "" } }],
    pieces: piecesOf(text, piece).map((delta) => ({
      type: "response.output_text.delta",
      ...at,
      delta,
      logprobs: [],
    })),
    done: [
      { type: "response.output_text.done", ...at, text, logprobs: [] },
      { type: "response.content_part.done", ...at, part },
    ],
    empty: { content: [] },
  };
}

/** An event of one line of data for each line of the JSON text. */
const dataOf = (json: string): string => `data: ${json.replaceAll("\n", "\ndata: ")}\n\n`;

const sse = (parts: readonly string[]): Scripted => ({
  headers: { "content-type": "text/event-stream" },
  parts,
});
