/**
 * What the calls of a warm-up ask: whole and streamed answers, in the three formats of clients. Not in more shapes than two of each:
 * code that has seen objects of many shapes looks their members up more slowly for good.
 */

/** A model of the throw-away gateways. */
export const MODEL = "warm/up";

export const SENTENCE = "The river runs under the bridge and the weir measures what it lets through. ";
const QUESTION = SENTENCE.repeat(12);
/** A body that asks for a short stream says so in its question. */
export const SHORT = "In short: ";

export type WarmPath = "/v1/chat/completions" | "/v1/messages" | "/v1/responses";

export interface WarmCall {
  readonly path: WarmPath;
  readonly body: Buffer;
}

const chat = (members: object, question = QUESTION) => ({
  model: MODEL,
  messages: [{ role: "user", content: question }],
  ...members,
  max_tokens: 256,
});

const response = (members: object) => ({ model: MODEL, input: QUESTION, ...members, max_output_tokens: 256 });

const call = (path: WarmPath, body: object): WarmCall => ({ path, body: Buffer.from(JSON.stringify(body)) });

const CHAT: readonly WarmCall[] = [
  call("/v1/chat/completions", chat({})),
  call("/v1/chat/completions", chat({ stream: false })),
  call("/v1/chat/completions", chat({ stream: true }, SHORT + QUESTION)),
  call("/v1/chat/completions", chat({ stream: true })),
];
const MESSAGES: readonly WarmCall[] = [
  call("/v1/messages", chat({})),
  call("/v1/messages", chat({ stream: true })),
];
const RESPONSES: readonly WarmCall[] = [
  call("/v1/responses", response({})),
  call("/v1/responses", response({ stream: true })),
];

/** To be sent one after the other, over and over. */
export const CALLS: readonly WarmCall[] = [...CHAT, ...MESSAGES, ...RESPONSES];
