/**
 * What the calls of a warm-up say, and what is answered to them: whole and streamed chats of two shapes each. Not of more: code that
 * has seen objects of many shapes looks their members up more slowly for good.
 */

/** A model of the throw-away gateways. */
export const MODEL = "warm/up";
/** What its upstream calls it. */
export const UPSTREAM_MODEL = "warm-up";

const SENTENCE = "The river runs under the bridge and the weir measures what it lets through. ";
const QUESTION = SENTENCE.repeat(12);
const CREATED = 1_700_000_000;
const ID = "chatcmpl-CnZ1Qk0w5m7TqW3xYb9RrVt2";
const SHORT_EVENTS = 8;
const LONG_EVENTS = 64;
/** A body that asks for a short stream says so in its question. */
const SHORT = "In short: ";

const asked = (members: object, question = QUESTION): Buffer =>
  Buffer.from(
    JSON.stringify({
      model: MODEL,
      messages: [{ role: "user", content: question }],
      ...members,
      max_tokens: 256,
    }),
  );

/** Bodies of `POST /v1/chat/completions`, to be sent one after the other. */
export const BODIES: readonly Buffer[] = [
  asked({}),
  asked({ stream: false }),
  asked({ stream: true }, SHORT + QUESTION),
  asked({ stream: true }),
];

const usage = (completion: number) => ({
  prompt_tokens: 230,
  completion_tokens: completion,
  total_tokens: 230 + completion,
});

function wholeAnswer(sentences: number, message: object, members: object): Buffer {
  const body = JSON.stringify({
    id: ID,
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
    usage: usage(20 * sentences),
    ...members,
  });
  return answer(`content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`, body);
}

function streamedAnswer(events: number): Buffer {
  const choice = (delta: object, finish: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const chunks = [
    choice({ role: "assistant", content: "" }),
    ...Array.from({ length: events }, (_, at) => choice({ content: ` word${at}` })),
    choice({}, "stop"),
    { choices: [], usage: usage(events) },
  ];
  const base = { id: ID, object: "chat.completion.chunk", created: CREATED, model: UPSTREAM_MODEL };
  const data = [...chunks.map((chunk) => JSON.stringify({ ...base, ...chunk })), "[DONE]"];
  const pieces = data.map((text) => {
    const event = `data: ${text}\n\n`;
    return `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`;
  });
  return answer(
    "content-type: text/event-stream\r\ntransfer-encoding: chunked",
    `${pieces.join("")}0\r\n\r\n`,
  );
}

const answer = (fields: string, body: string): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\ndate: Tue, 14 Nov 2023 22:13:20 GMT\r\n${fields}\r\n\r\n${body}`);

const WHOLE: readonly Buffer[] = [
  wholeAnswer(9, {}, {}),
  wholeAnswer(3, { refusal: null }, { service_tier: "default", system_fingerprint: "fp_0" }),
];
const SHORT_STREAM = streamedAnswer(SHORT_EVENTS);
const LONG_STREAM = streamedAnswer(LONG_EVENTS);

/** The whole answer of HTTP to a request. @param nth number of the request: answers take turns */
export function answerTo(request: string, nth: number): Buffer {
  if (!request.includes('"stream":true')) return WHOLE[nth % WHOLE.length] as Buffer;
  return request.includes(SHORT) ? SHORT_STREAM : LONG_STREAM;
}
