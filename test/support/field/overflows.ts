/** Overflows as providers write them, in each dialect: as the answer's status, and within a stream that has begun or not. */
import type { ChatUpstreamName, ClientName } from "../conformance/ends.ts";
import { exceptionFrame } from "../wire/converse.fixtures.ts";
import { answerOf } from "./answers.ts";
import type { Scripted } from "./upstream.ts";

export interface Refusing {
  readonly dialect: ChatUpstreamName;
  readonly name: string;
  readonly status?: number;
  /** The provider's words. */
  readonly says: string;
  /** Numbers that they have. */
  readonly tokens?: number;
  readonly maximum?: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const openai = (message: string, code: string | null = "context_length_exceeded") => ({
  error: { message, type: "invalid_request_error", param: "messages", code },
});

const said = (says: string, tokens?: number, maximum?: number) => ({
  says,
  ...(tokens !== undefined && { tokens }),
  ...(maximum !== undefined && { maximum }),
});

const OPENAI = said(
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
  9000,
  8192,
);
const WINDOW = said(
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
);
const ANTHROPIC = said("prompt is too long: 215692 tokens > 200000 maximum", 215_692, 200_000);
const GEMINI = said(
  "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).",
  1_300_000,
  1_048_576,
);
const BEDROCK = said("Input is too long for requested model.");

export const REFUSING: readonly Refusing[] = [
  { dialect: "chat", name: "OpenAI", ...OPENAI, body: openai(OPENAI.says) },
  { dialect: "responses", name: "OpenAI", ...WINDOW, body: openai(WINDOW.says) },
  {
    dialect: "messages",
    name: "Anthropic",
    ...ANTHROPIC,
    body: { type: "error", error: { type: "invalid_request_error", message: ANTHROPIC.says } },
  },
  {
    dialect: "gemini",
    name: "Gemini",
    ...GEMINI,
    body: { error: { code: 400, message: GEMINI.says, status: "INVALID_ARGUMENT" } },
  },
  {
    dialect: "converse",
    name: "Bedrock",
    ...BEDROCK,
    body: { message: BEDROCK.says },
    headers: { "x-amzn-errortype": "ValidationException:http://internal.amazon.com/" },
  },
];

export const asStatus = ({ status = 400, body, headers }: Refusing): Scripted => ({
  status,
  body: JSON.stringify(body),
  ...(headers && { headers }),
});

/** @throws Error where no provider of the dialect is listed */
export function refusalOf(dialect: ChatUpstreamName): Scripted {
  const refusing = REFUSING.find((one) => one.dialect === dialect);
  if (refusing === undefined) throw new Error(`no provider refuses in ${dialect}`);
  return asStatus(refusing);
}

/** The same within a stream. @param text what the model said before it; undefined: nothing */
export function asEvent(refusing: Refusing, text?: string): Scripted {
  const { dialect, says, body } = refusing;
  const answer = answerOf(dialect, { text: text ?? "" }, true);
  const { parts = [], headers } = answer;
  const first = text === undefined ? parts.slice(0, 1) : parts.slice(0, UP_TO_TEXT[dialect]);
  const event: Readonly<Record<ChatUpstreamName, string | Buffer>> = {
    chat: `data: ${JSON.stringify(body)}\n\n`,
    responses: sse("response.failed", {
      response: {
        id: "r1",
        object: "response",
        status: "failed",
        error: { code: "context_length_exceeded", message: says },
        output: [],
      },
    }),
    messages: sse("error", body),
    gemini: `data: ${JSON.stringify(body)}\n\n`,
    converse: Buffer.from(exceptionFrame("validationException", says), "latin1"),
  };
  // Bedrock and Gemini have no preamble.
  const begun =
    text === undefined && (dialect === "gemini" || dialect === "converse") ? first.slice(1) : first;
  return { ...(headers && { headers }), parts: [...begun, event[dialect]] };
}

/** Parts of a streamed answer up to a first delta of text. */
const UP_TO_TEXT: Readonly<Record<ChatUpstreamName, number>> = {
  chat: 2,
  responses: 4,
  messages: 3,
  gemini: 1,
  converse: 2,
};

const sse = (type: string, event: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`;

/** A question in each format's own words. */
export const ASKING = {
  chat: { messages: [{ role: "user", content: "a" }] },
  completions: { prompt: "a" },
  responses: { input: "a" },
  messages: { max_tokens: 100, messages: [{ role: "user", content: "a" }] },
  generate: { messages: [{ role: "user", content: [{ type: "text", text: "a" }] }] },
} as const satisfies Readonly<Record<ClientName, object>>;
