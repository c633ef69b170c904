/** The client formats of the cases: where a call goes, how it is written, and where an answer has its text. */

export type FormatName = "chat" | "messages" | "responses";

interface BenchCall {
  readonly model: string;
  /** The user's message. */
  readonly text: string;
  readonly stream: boolean;
  readonly maxTokens: number;
}

export interface BenchFormat {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The request body of a user's message. */
  request(call: BenchCall): unknown;
  /** What precedes the text in an event that has some. */
  readonly deltaKey: string;
  /** The text of an event, empty where it has none. */
  deltaOf(event: unknown): string;
  /** The text of a JSON answer. @throws Error where it has no place for one */
  textOf(answer: unknown): string;
  /** Part of the line that only the last event of a complete stream has. */
  readonly end: string;
}

/** Chat completions and messages name these members alike. */
const withMessages = ({ model, text, stream, maxTokens }: BenchCall) => ({
  model,
  ...(stream ? { stream } : {}),
  max_tokens: maxTokens,
  messages: [{ role: "user", content: text }],
});

export const FORMATS: Readonly<Record<FormatName, BenchFormat>> = {
  /** OpenAI chat completions. */
  chat: {
    path: "/v1/chat/completions",
    headers: {},
    request: withMessages,
    deltaKey: '"content":"',
    deltaOf: (event) => string(field(first(field(event, "choices")), "delta"), "content"),
    textOf: (answer) => string(field(first(some(answer, "choices")), "message"), "content"),
    end: "[DONE]",
  },
  /** Anthropic messages. */
  messages: {
    path: "/v1/messages",
    headers: { "anthropic-version": "2023-06-01" },
    request: withMessages,
    deltaKey: '"text":"',
    deltaOf: (event) => string(field(event, "delta"), "text"),
    textOf: (answer) => string(first(some(answer, "content")), "text"),
    end: '"type":"message_stop"',
  },
  /** OpenAI responses. */
  responses: {
    path: "/v1/responses",
    headers: {},
    request: ({ model, text, stream, maxTokens }) => ({
      model,
      ...(stream ? { stream } : {}),
      max_output_tokens: maxTokens,
      input: text,
    }),
    deltaKey: '"delta":"',
    deltaOf: (event) => string(event, "delta"),
    textOf: (answer) => string(first(field(first(some(answer, "output")), "content")), "text"),
    end: '"type":"response.completed"',
  },
};

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

const string = (value: unknown, name: string): string => {
  const text = field(value, name);
  return typeof text === "string" ? text : "";
};

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined);

function some(answer: unknown, name: string): unknown {
  const value = field(answer, name);
  if (!Array.isArray(value)) throw new Error(`the answer has no ${name}`);
  return value;
}
