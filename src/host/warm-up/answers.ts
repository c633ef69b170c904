/** What the upstream of a warm-up answers: whole and streamed chats, messages and responses. */
import { SENTENCE, SHORT, type WarmPath } from "./calls.ts";

/** What the upstream calls the model. */
export const UPSTREAM_MODEL = "warm-up";

const CREATED = 1_700_000_000;
const ID = "CnZ1Qk0w5m7TqW3xYb9RrVt2";
const SHORT_EVENTS = 8;
const LONG_EVENTS = 64;
const INPUT_TOKENS = 230;

const answer = (fields: string, body: string): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\ndate: Tue, 14 Nov 2023 22:13:20 GMT\r\n${fields}\r\n\r\n${body}`);

function whole(value: object): Buffer {
  const body = JSON.stringify(value);
  return answer(`content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`, body);
}

/** @param events each with its last line end */
function stream(events: readonly string[]): Buffer {
  const pieces = events.map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
  return answer(
    "content-type: text/event-stream\r\ntransfer-encoding: chunked",
    `${pieces.join("")}0\r\n\r\n`,
  );
}

const words = (count: number): string[] => Array.from({ length: count }, (_, at) => ` word${at}`);

const chatUsage = (output: number) => ({
  prompt_tokens: INPUT_TOKENS,
  completion_tokens: output,
  total_tokens: INPUT_TOKENS + output,
});

const chat = (sentences: number, message: object, members: object): Buffer =>
  whole({
    id: `chatcmpl-${ID}`,
    object: "chat.completion",
    created: CREATED,
    model: UPSTREAM_MODEL,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: SENTENCE.repeat(sentences), ...message },
        finish_reason: "stop",
      },
    ],
    usage: chatUsage(20 * sentences),
    ...members,
  });

function chatStream(count: number): Buffer {
  const choice = (delta: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const base = {
    id: `chatcmpl-${ID}`,
    object: "chat.completion.chunk",
    created: CREATED,
    model: UPSTREAM_MODEL,
  };
  const chunks = [
    choice({ role: "assistant", content: "" }),
    ...words(count).map((content) => choice({ content })),
    choice({}, "stop"),
    { choices: [], usage: chatUsage(count) },
  ];
  const data = [...chunks.map((chunk) => JSON.stringify({ ...base, ...chunk })), "[DONE]"];
  return stream(data.map((text) => `data: ${text}\n\n`));
}

/** An event that has its type for a name. */
const named = (event: { readonly type: string; readonly sequence_number?: number }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const message = (text: string | undefined, output: number) => ({
  id: `msg_${ID}`,
  type: "message",
  role: "assistant",
  model: UPSTREAM_MODEL,
  content: text === undefined ? [] : [{ type: "text", text }],
  stop_reason: text === undefined ? null : "end_turn",
  stop_sequence: null,
  usage: { input_tokens: INPUT_TOKENS, output_tokens: output },
});

const messageStream = (count: number): Buffer =>
  stream(
    [
      { type: "message_start", message: message(undefined, 1) },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...words(count).map((text) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      })),
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: count },
      },
      { type: "message_stop" },
    ].map(named),
  );

const responseItem = (text: string | undefined) => ({
  id: `msg_${ID}`,
  type: "message",
  status: text === undefined ? "in_progress" : "completed",
  role: "assistant",
  content: text === undefined ? [] : [textPart(text)],
});

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

const response = (text: string | undefined, output: number) => ({
  id: `resp_${ID}`,
  object: "response",
  created_at: CREATED,
  status: text === undefined ? "in_progress" : "completed",
  error: null,
  incomplete_details: null,
  model: UPSTREAM_MODEL,
  output: text === undefined ? [] : [responseItem(text)],
  usage:
    text === undefined
      ? null
      : {
          input_tokens: INPUT_TOKENS,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: INPUT_TOKENS + output,
        },
});

function responseStream(count: number): Buffer {
  const text = words(count).join("");
  const at = { item_id: `msg_${ID}`, output_index: 0, content_index: 0 };
  const events = [
    { type: "response.created", response: response(undefined, 0) },
    { type: "response.in_progress", response: response(undefined, 0) },
    { type: "response.output_item.added", output_index: 0, item: responseItem(undefined) },
    { type: "response.content_part.added", ...at, part: textPart("") },
    ...words(count).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: textPart(text) },
    { type: "response.output_item.done", output_index: 0, item: responseItem(text) },
    { type: "response.completed", response: response(text, count) },
  ];
  return stream(events.map((event, number) => named({ ...event, sequence_number: number })));
}

interface Answers {
  /** They take turns. */
  readonly whole: readonly Buffer[];
  /** By the number of their events. */
  readonly short: Buffer;
  readonly long: Buffer;
}

const streams = (of: (events: number) => Buffer) => ({ short: of(SHORT_EVENTS), long: of(LONG_EVENTS) });

const ANSWERS: Readonly<Record<WarmPath, Answers>> = {
  "/v1/chat/completions": {
    whole: [
      chat(9, {}, {}),
      chat(3, { refusal: null }, { service_tier: "default", system_fingerprint: "fp_0" }),
    ],
    ...streams(chatStream),
  },
  "/v1/messages": { whole: [whole(message(SENTENCE.repeat(9), 180))], ...streams(messageStream) },
  "/v1/responses": { whole: [whole(response(SENTENCE.repeat(9), 180))], ...streams(responseStream) },
};

/**
 * The whole answer of HTTP to a request; undefined where it is none for a model.
 * @param nth number of the request
 */
export function answerTo(request: string, nth: number): Buffer | undefined {
  const path = /^POST (\S+) /.exec(request)?.[1];
  const answers = ANSWERS[path as WarmPath] as Answers | undefined;
  if (answers === undefined) return undefined;
  if (!request.includes('"stream":true')) return answers.whole[nth % answers.whole.length];
  return request.includes(SHORT) ? answers.short : answers.long;
}
