/**
 * Recorded-shape streams of real providers with what they amount to, and a plain second reading of server-sent events
 * to hold the quick one against: whole text, line by line, as the standard says it.
 */
import { readFileSync } from "node:fs";
import { NO_USAGE, type Usage } from "../src/usage.ts";
import { ChatStream, type StreamIdentity } from "../src/wire/chat/stream.ts";
import type { SvcReply } from "../src/wire/contract.ts";

export type Json = Record<string, unknown>;

export const ID = "chatcmpl-01ARZ3NDEKTSV4RRFFQ69G5FAV";
export const MODEL = "vendor/model-1";

export const SVC: SvcReply = {
  request_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  provider: "Größe",
  endpoint_id: "ep_a_b_eu",
  cost: { total_micro_usd: 7, lines: [], price_version: "pv_1" },
  warnings: [],
};

export const usage = (inputTokens: number, outputTokens: number, more: Partial<Usage> = {}): Usage => ({
  ...NO_USAGE,
  inputTokens,
  outputTokens,
  ...more,
});

export const chatStream = (given: Partial<StreamIdentity> = {}): ChatStream =>
  new ChatStream({
    id: ID,
    model: MODEL,
    includeUsage: true,
    choices: 1,
    maxEventBytes: 1 << 20,
    maxCaptureBytes: 1 << 20,
    ...given,
  });

export interface Recorded {
  readonly name: string;
  readonly choices: number;
  readonly usage: Usage;
  /** As one whole answer would give them. */
  readonly answer: readonly Json[];
}

const answer = (finish_reason: string, message: Json, index = 0): Json => ({
  index,
  message: { role: "assistant", ...message },
  finish_reason,
});

const call = (id: string, name: string, args: string) => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

const recorded = (name: string, used: Usage, ...choices: Json[]): Recorded => ({
  name,
  choices: choices.length,
  usage: used,
  answer: choices,
});

export const RECORDED: readonly Recorded[] = [
  recorded(
    "openai",
    usage(19, 12, { cacheReadTokens: 4, reasoningTokens: 3 }),
    answer("stop", { content: 'Héllo 世界 🎉\n"ok"' }),
  ),
  recorded("openai-logprobs", usage(8, 2), answer("length", { content: "Ja!" })),
  recorded(
    "openai-tools",
    usage(80, 33),
    answer("tool_calls", {
      tool_calls: [
        call("call_a1", "get_weather", '{"city":"Zürich\\n"}'),
        call("call_b2", "get_time", '{"zone":"CET"}'),
      ],
    }),
  ),
  recorded(
    "openai-two-choices",
    usage(5, 6),
    answer("stop", { content: "ABC" }),
    answer("length", { content: "xyz" }, 1),
  ),
  recorded("openai-refusal", usage(7, 4), answer("stop", { refusal: "I'm sorry, no." })),
  recorded("azure", usage(9, 3), answer("stop", { content: "Hi there" })),
  recorded("vllm", usage(11, 3), answer("stop", { content: "Grüß Gott" })),
  recorded("groq", usage(18, 5), answer("stop", { content: "Fast indeed" })),
  recorded(
    "deepseek",
    usage(17, 9, { cacheReadTokens: 8, reasoningTokens: 4 }),
    answer("stop", { reasoning_content: "嗯，好", content: "9.11 < 9.8" }),
  ),
  recorded("mistral", usage(6, 5), answer("stop", { thinking: "Also", content: "Déjà vu" })),
  recorded("together", usage(14, 3, { cacheReadTokens: 2 }), answer("stop", { content: "Once" })),
  recorded(
    "openrouter",
    usage(12, 4, { reasoningTokens: 1 }),
    answer("stop", { reasoning: "Hm", content: "Yes." }),
  ),
  recorded("ollama", usage(26, 5), answer("stop", { content: "Good day 𝄞" })),
  recorded(
    "gemini-tools",
    usage(60, 121, { reasoningTokens: 100 }),
    answer("tool_calls", {
      tool_calls: [
        call("function-call-1", "get_weather", '{"city":"Köln"}'),
        call("function-call-2", "get_weather", '{"city":"Bonn"}'),
      ],
    }),
  ),
  recorded("moonshot", usage(19, 13, { cacheReadTokens: 10 }), answer("stop", { content: "你好！" })),
  recorded("spaced-crlf", usage(3, 2), answer("stop", { content: "Spät €" })),
  recorded("several-lines", usage(2, 2), answer("stop", { content: "😀!" })),
];

export const bytesOf = (name: string): Buffer =>
  readFileSync(new URL(`./fixtures/chat/${name}.sse`, import.meta.url));

/** As the relay hands it over: one character a byte. */
export const latin1Of = (name: string): string => bytesOf(name).toString("latin1");

/** The `data` of every event of a whole stream, UTF-8 text. */
export function plainEvents(latin1: string): string[] {
  const text = Buffer.from(latin1, "latin1")
    .toString()
    .replace(/^\uFEFF/, "");
  const events: string[] = [];
  let data: string[] = [];
  for (const line of [...text.split(/\r\n|\r|\n/), ""]) {
    if (line === "" && data.length > 0) {
      events.push(data.join("\n"));
      data = [];
    } else if (line.startsWith("data:")) {
      data.push(line.slice(5).replace(/^ /, ""));
    }
  }
  return events;
}

/** The events of the stream as JSON, `[DONE]` left out. */
export const plainChunks = (latin1: string): Json[] =>
  plainEvents(latin1)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as Json);

export interface Relayed {
  /** Before the settlement, and all of it. */
  readonly early: string;
  readonly all: string;
  readonly stream: ChatStream;
}

/** Sends a text through a stream in the given pieces and settles it with what it reported. */
export function relay(pieces: readonly string[], given: Partial<StreamIdentity> = {}): Relayed {
  const stream = chatStream(given);
  let early = "";
  for (const piece of pieces) early += stream.push(piece);
  early += stream.end();
  return { early, all: early + stream.close(stream.facts.usage ?? usage(1, 1), SVC), stream };
}

export const answerOf = ({ stream }: Relayed): unknown =>
  (JSON.parse(stream.capture.json().toString()) as { choices: unknown }).choices;
