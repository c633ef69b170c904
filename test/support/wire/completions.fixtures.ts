/** Completions read and spliced: streams in the shapes of providers, and what is asked of the passage. */
import { readCompletionsRequest } from "../../../src/wire/completions/request.ts";
import { completionsSplice } from "../../../src/wire/completions/splice.ts";
import type { AnswerIdentity, AnswerStream } from "../../../src/wire/format.ts";
import { MODEL, SVC } from "./fixtures.ts";

export const ID = "cmpl-01ARZ3NDEKTSV4RRFFQ69G5FAV";

export const IDENTITY: AnswerIdentity = {
  id: ID,
  requestId: SVC.request_id,
  model: MODEL,
  createdS: 1_750_000_000,
  clock: { now: () => 1_750_000_000_000 },
  maxEventBytes: 1 << 20,
  maxCaptureBytes: 1 << 20,
};

export const read = (body: object) =>
  readCompletionsRequest(Buffer.from(JSON.stringify({ model: "v/m", prompt: "x", ...body })));

export const streamOf = (body: object = {}): AnswerStream =>
  completionsSplice.stream(read({ stream: true, ...body }), IDENTITY);

export interface Stream {
  readonly name: string;
  /** The client's body. */
  readonly body: object;
  /** UTF-8. */
  readonly text: string;
  readonly texts: readonly string[];
  readonly usage: readonly [prompt: number, output: number];
}

const sse = (...events: readonly (object | string)[]): string =>
  events.map((e) => `data: ${typeof e === "string" ? e : JSON.stringify(e)}\n\n`).join("");

const OPENAI = { id: "cmpl-up", object: "text_completion", created: 1_750_000_001, model: "up" };
const plain = (text: string, finish: string | null = null, index = 0) => ({
  text,
  index,
  logprobs: null,
  finish_reason: finish,
});
const counted = (prompt: number, output: number) => ({
  prompt_tokens: prompt,
  completion_tokens: output,
  total_tokens: prompt + output,
});

/** Names and structure are the providers'; the contents are ours. */
export const STREAMS: readonly Stream[] = [
  {
    name: "OpenAI",
    body: {},
    text: sse(
      { ...OPENAI, choices: [plain(" été")], usage: null },
      { ...OPENAI, choices: [plain("\n\tand")], usage: null },
      { ...OPENAI, choices: [plain(" 🌊")], usage: null },
      { ...OPENAI, choices: [plain(' "more"', "length")], usage: null },
      { ...OPENAI, choices: [], usage: counted(3, 4) },
      "[DONE]",
    ),
    texts: [' été\n\tand 🌊 "more"'],
    usage: [3, 4],
  },
  {
    name: "OpenAI, two answers with log probabilities",
    body: { n: 2, logprobs: 1 },
    text: sse(
      ...["a", "b", "c"].flatMap((word, i) =>
        [0, 1].map((index) => ({
          ...OPENAI,
          choices: [
            {
              text: `${word}${index}`,
              index,
              logprobs: {
                tokens: [`${word}${index}`],
                token_logprobs: [-0.25],
                top_logprobs: [{ x: -1.5 }],
                text_offset: [2 * i],
              },
              finish_reason: null,
            },
          ],
        })),
      ),
      { ...OPENAI, choices: [plain("", "stop", 1)] },
      { ...OPENAI, choices: [plain("", "length", 0)] },
      { ...OPENAI, choices: [], usage: counted(1, 6) },
      "[DONE]",
    ),
    texts: ["a0b0c0", "a1b1c1"],
    usage: [1, 6],
  },
  {
    name: "vLLM, which counts in every event",
    body: { prompt: [[1, 2, 3]] },
    text: sse(
      ...["def", " f", "(x)", ":"].map((text, i) => ({
        ...OPENAI,
        choices: [{ index: 0, text, logprobs: null, finish_reason: null, stop_reason: null }],
        usage: counted(3, i + 1),
      })),
      {
        ...OPENAI,
        choices: [{ index: 0, text: " pass", logprobs: null, finish_reason: "stop", stop_reason: "\n" }],
        usage: counted(3, 5),
      },
      { ...OPENAI, choices: [], usage: counted(3, 5) },
      "[DONE]",
    ),
    texts: ["def f(x): pass"],
    usage: [3, 5],
  },
  {
    name: "llama.cpp, whose last chunk has it all",
    body: { suffix: "\n}" },
    text: sse(
      { choices: [plain("x")], created: 1, model: "gguf", object: "text_completion", id: "chatcmpl-1" },
      { choices: [plain("y")], created: 1, model: "gguf", object: "text_completion", id: "chatcmpl-1" },
      {
        choices: [plain("", "stop")],
        created: 2,
        model: "gguf",
        object: "text_completion",
        usage: counted(9, 2),
        id: "chatcmpl-1",
        timings: { prompt_n: 9, predicted_per_second: 80.125 },
      },
      "[DONE]",
    ),
    texts: ["xy"],
    usage: [9, 2],
  },
  {
    name: "Together, which repeats the text",
    body: {},
    text: sse(
      ...["o", "k"].map((text) => ({
        ...OPENAI,
        object: "completion.chunk",
        choices: [
          { index: 0, text, logprobs: null, finish_reason: null, delta: { token_id: 7, content: text } },
        ],
        usage: null,
      })),
      {
        ...OPENAI,
        object: "completion.chunk",
        choices: [
          { index: 0, text: "!", seed: 8, finish_reason: "eos", delta: { token_id: 1, content: "!" } },
        ],
        usage: counted(2, 3),
      },
      "[DONE]",
    ),
    texts: ["ok!"],
    usage: [2, 3],
  },
  {
    name: "Mistral's fill-in-the-middle, in the shape of chat",
    body: { suffix: "return x" },
    text: sse(
      {
        ...OPENAI,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }],
      },
      {
        ...OPENAI,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content: "x = « é »" }, finish_reason: null }],
      },
      {
        ...OPENAI,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta: { content: "\n" }, finish_reason: "stop" }],
        usage: counted(5, 4),
      },
      "[DONE]",
    ),
    texts: ["x = « é »\n"],
    usage: [5, 4],
  },
];
