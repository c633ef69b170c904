/**
 * Recorded-shape streams of real providers with what they amount to, and a plain second reading of server-sent events
 * to hold the quick one against: whole text, line by line, as the standard says it.
 */
import { readFileSync } from "node:fs";
import { NO_USAGE, type Usage } from "../../../src/base/usage.ts";
import { readChatRequest } from "../../../src/wire/chat/request.ts";
import { ChatSpliceStream } from "../../../src/wire/chat/splice-stream.ts";
import type { SvcReply } from "../../../src/wire/neutral/contract.ts";

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

export interface Asked {
  /** Answers asked for. */
  readonly choices: number;
  /** False: the client asked for no usage. */
  readonly includeUsage: boolean;
  readonly maxEventBytes: number;
  readonly maxCaptureBytes: number;
}

export function chatStream(given: Partial<Asked> = {}): ChatSpliceStream {
  const { choices: n = 1, includeUsage = true, maxEventBytes = 1 << 20, maxCaptureBytes = 1 << 20 } = given;
  const messages = [{ role: "user", content: "x" }];
  const stream_options = { include_usage: includeUsage };
  const body = { model: MODEL, messages, stream: true, stream_options, n };
  return new ChatSpliceStream(readChatRequest(Buffer.from(JSON.stringify(body))), {
    id: ID,
    requestId: SVC.request_id,
    model: MODEL,
    createdS: 0,
    clock: { now: () => 0 },
    maxEventBytes,
    maxCaptureBytes,
  });
}

export interface Recorded {
  readonly name: string;
  readonly choices: number;
  readonly usage: Usage;
  /** As the native format shows an answer. */
  readonly answer: readonly Candidate[];
}

export interface Candidate {
  readonly index: number;
  readonly content: readonly Json[];
  readonly stop: { readonly reason: string };
}

const answer = (reason: string, content: readonly Json[], index = 0): Candidate => ({
  index,
  content,
  stop: { reason },
});

const text = (said: string): Json => ({ type: "text", text: said });
const reasoning = (said: string): Json => ({ type: "reasoning", text: said });
const call = (id: string, name: string, args: string): Json => ({
  type: "tool_call",
  id,
  name,
  arguments: args,
});

const recorded = (name: string, used: Usage, ...choices: Candidate[]): Recorded => ({
  name,
  choices: choices.length,
  usage: used,
  answer: choices,
});

export const RECORDED: readonly Recorded[] = [
  recorded(
    "openai",
    usage(19, 12, { cacheReadTokens: 4, reasoningTokens: 3 }),
    answer("stop", [text('Héllo 世界 🎉\n"ok"')]),
  ),
  recorded("openai-logprobs", usage(8, 2), answer("length", [text("Ja!")])),
  recorded(
    "openai-tools",
    usage(80, 33),
    answer("tool_calls", [
      call("call_a1", "get_weather", '{"city":"Zürich\\n"}'),
      call("call_b2", "get_time", '{"zone":"CET"}'),
    ]),
  ),
  recorded(
    "openai-two-choices",
    usage(5, 6),
    answer("stop", [text("ABC")]),
    answer("length", [text("xyz")], 1),
  ),
  recorded("openai-refusal", usage(7, 4), answer("stop", [{ type: "refusal", text: "I'm sorry, no." }])),
  recorded("azure", usage(9, 3), answer("stop", [text("Hi there")])),
  recorded("vllm", usage(11, 3), answer("stop", [text("Grüß Gott")])),
  recorded("groq", usage(18, 5), answer("stop", [text("Fast indeed")])),
  recorded(
    "deepseek",
    usage(17, 9, { cacheReadTokens: 8, reasoningTokens: 4 }),
    answer("stop", [reasoning("嗯，好"), text("9.11 < 9.8")]),
  ),
  recorded("mistral", usage(6, 5), answer("stop", [reasoning("Also"), text("Déjà vu")])),
  recorded("together", usage(14, 3, { cacheReadTokens: 2 }), answer("stop", [text("Once")])),
  recorded(
    "openrouter",
    usage(12, 4, { reasoningTokens: 1 }),
    answer("stop", [reasoning("Hm"), text("Yes.")]),
  ),
  recorded("ollama", usage(26, 5), answer("stop", [text("Good day 𝄞")])),
  recorded(
    "gemini-tools",
    usage(60, 121, { reasoningTokens: 100 }),
    answer("tool_calls", [
      call("function-call-1", "get_weather", '{"city":"Köln"}'),
      call("function-call-2", "get_weather", '{"city":"Bonn"}'),
    ]),
  ),
  recorded("moonshot", usage(19, 13, { cacheReadTokens: 10 }), answer("stop", [text("你好！")])),
  recorded("spaced-crlf", usage(3, 2), answer("stop", [text("Spät €")])),
  recorded("several-lines", usage(2, 2), answer("stop", [text("😀!")])),
];

export const bytesOf = (name: string): Buffer =>
  readFileSync(new URL(`../../fixtures/chat/${name}.sse`, import.meta.url));

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
  readonly stream: ChatSpliceStream;
}

/** Sends a text through a stream in the given pieces and settles it with what it reported. */
export function relay(pieces: readonly string[], given: Partial<Asked> = {}): Relayed {
  const stream = chatStream(given);
  let early = "";
  for (const piece of pieces) early += stream.push(piece);
  early += stream.end();
  return { early, all: early + stream.close(stream.facts.usage ?? usage(1, 1), SVC), stream };
}

/** The answer as it is kept for the record; undefined where it outgrew the bound. */
export function answerOf({ stream }: Pick<Relayed, "stream">): unknown {
  const kept = stream.kept();
  return kept && (JSON.parse(kept.toString()) as { candidates: unknown }).candidates;
}
