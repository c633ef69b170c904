/**
 * The OpenAI completions reply, whole and streamed, as the provider sends it: text continued, or a gap before `suffix` filled.
 * Shapes: https://platform.openai.com/docs/api-reference/completions
 */
import { fail } from "../src/base/errors.ts";
import type { Answer, Choice } from "./answer.ts";
import { CREATED, openaiError } from "./chat.ts";
import type { SimulatedDialect, StreamEvent } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { bulk, filled, padded } from "./padding.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { parseObject, prompted, type SimulatedRequest, wholeNumber } from "./simulated-request.ts";
import { SSE_TYPE, sseFrame, sseFrameBytes } from "./sse.ts";

interface CompletionsRequest extends SimulatedRequest {
  /** Log probabilities of the answers are told. */
  readonly hasLogprobs: boolean;
  /** The prompt of each choice, which its text begins with; empty without `echo`. */
  readonly echoes: readonly string[];
  /** Answers that are made and counted for each one that is kept. */
  readonly madePerKept: number;
}

/** @throws WeirError `invalid_json` or `invalid_value`, as the provider would refuse the request */
function readCompletionsRequest(body: Buffer): CompletionsRequest {
  const json = parseObject(body);
  if (typeof json.model !== "string" || json.model === "")
    throw fail("invalid_value", "you must provide a model parameter", { param: "model" });
  const prompts = promptsOf(json.prompt);
  const kept = wholeNumber(json, "n", 128) ?? 1;
  const made = wholeNumber(json, "best_of", 128) ?? kept;
  if (made < kept) throw fail("invalid_value", "'best_of' must be at least 'n'.", { param: "best_of" });
  const stream = json.stream === true;
  if (json.stream_options != null && !stream) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    throw fail("invalid_value", message, { param: "stream_options" });
  }
  const texts = prompts.map(textOf);
  const base = prompted(json, [...texts, ...suffixOf(json)], texts.at(-1) ?? "");
  const tokenIds = prompts.filter((prompt) => typeof prompt !== "string");
  return {
    ...base,
    // Token ids are what they are; only texts are estimated.
    promptTokens:
      tokenIds.length === 0 ? base.promptTokens : tokenIds.reduce((sum, { length }) => sum + length, 0),
    model: json.model,
    stream,
    includeUsage: isObject(json.stream_options) && json.stream_options.include_usage === true,
    n: prompts.length * kept,
    madePerKept: made / kept,
    // The provider's default is 16, as is the simulator's usual answer.
    maxTokens: json.max_tokens === 0 ? 0 : (wholeNumber(json, "max_tokens") ?? Number.POSITIVE_INFINITY),
    tools: [],
    toolChoice: "none",
    format: "text",
    stopSequences: [json.stop].flat().filter((stop) => typeof stop === "string"),
    hasLogprobs: typeof json.logprobs === "number",
    echoes: json.echo === true ? texts.flatMap((text) => Array<string>(kept).fill(text)) : [],
  };
}

type Prompt = string | readonly number[];

function promptsOf(prompt: unknown): readonly Prompt[] {
  const list = Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt : [prompt];
  if (list.length > 0 && list.every((one) => typeof one === "string" || isTokens(one))) return list;
  throw fail("invalid_value", "'prompt' must be a text, token ids, or a list of either.", {
    param: "prompt",
  });
}

const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id));

/** Token ids stand for themselves: there is no tokenizer here. */
const textOf = (prompt: Prompt): string =>
  typeof prompt === "string" ? prompt : prompt.map((id) => `<${id}>`).join("");

function suffixOf({ suffix }: JsonObject): string[] {
  if (suffix === undefined || suffix === null) return [];
  if (typeof suffix !== "string")
    throw fail("invalid_value", "'suffix' must be a string.", { param: "suffix" });
  return [suffix];
}

/** @param sent tokens of the answers that are kept */
function usageOf(request: CompletionsRequest, instruction: Instruction, sent: number): unknown {
  if (instruction.usage === "none") return undefined;
  if (typeof instruction.usage === "object") return instruction.usage;
  const prompt = instruction.prompt_tokens ?? request.promptTokens;
  const made = Math.ceil(sent * request.madePerKept) + (instruction.reasoning_tokens ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: made,
    total_tokens: prompt + made,
    ...(instruction.cached_tokens !== undefined && {
      prompt_tokens_details: { cached_tokens: instruction.cached_tokens },
    }),
    ...(instruction.reasoning_tokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: instruction.reasoning_tokens },
    }),
  };
}

const piecesOf = ({ tokens }: Choice): string[] => tokens.map(({ text }) => text);

function completion(request: CompletionsRequest, instruction: Instruction, answer: Answer): string {
  const sent = answer.choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return filled(instruction, (filler) =>
    JSON.stringify({
      id: `cmpl-${answer.digest}`,
      object: "text_completion",
      created: CREATED,
      model: request.model,
      choices: answer.choices.map((choice, index) => {
        const pieces = withEcho(request, index, piecesOf(choice));
        return {
          text: pieces.join("") + (index === 0 ? filler : ""),
          index,
          logprobs: logprobsOf(request, pieces, 0),
          finish_reason: choice.finish,
        };
      }),
      usage: usageOf(request, instruction, sent),
    }),
  );
}

function withEcho({ echoes }: CompletionsRequest, index: number, pieces: readonly string[]): string[] {
  const echo = echoes[index];
  return echo === undefined ? [...pieces] : [echo, ...pieces];
}

/** @param offset characters of the text before the first piece */
function logprobsOf({ hasLogprobs }: CompletionsRequest, pieces: readonly string[], offset: number) {
  if (!hasLogprobs) return null;
  let at = offset;
  return {
    tokens: pieces,
    token_logprobs: pieces.map(() => -0.5),
    top_logprobs: pieces.map((piece) => ({ [piece]: -0.5 })),
    text_offset: pieces.map(({ length }) => {
      at += length;
      return at - length;
    }),
  };
}

class TextChunks {
  readonly #request: CompletionsRequest;
  readonly #instruction: Instruction;
  readonly #answer: Answer;
  readonly #frameBytes: number;
  readonly #events: StreamEvent[] = [];
  /** Characters so far, by choice. */
  readonly #offsets: number[] = [];
  #sent = 0;

  constructor(request: CompletionsRequest, instruction: Instruction, answer: Answer) {
    this.#request = request;
    this.#instruction = instruction;
    this.#answer = answer;
    this.#frameBytes = sseFrameBytes(instruction);
  }

  write(): StreamEvent[] {
    const { choices } = this.#answer;
    const { total_bytes: totalBytes, usage: mode } = this.#instruction;
    if (totalBytes === undefined) this.#writeTokens(choices);
    else this.#writeBulk(totalBytes);
    for (const [index, { finish }] of choices.entries()) {
      const last = index === choices.length - 1 && mode === "with_last";
      this.#push(index, "", finish, last ? this.#usage() : undefined);
    }
    if (mode !== "none" && mode !== "with_last" && (this.#request.includeUsage || mode === "always")) {
      const data = { ...this.#base(), choices: [], usage: this.#usage() };
      this.#events.push({ data: this.#padded(data), times: 1, ...this.#late() });
    }
    this.#events.push({ data: "[DONE]", times: 1, ...this.#late() });
    return this.#events;
  }

  /** Choices alternate token by token, as the provider interleaves them. */
  #writeTokens(choices: readonly Choice[]): void {
    for (const [index, echo] of this.#request.echoes.entries()) this.#push(index, echo, null);
    const longest = Math.max(...choices.map(({ tokens }) => tokens.length));
    for (let i = 0; i < longest; i++) {
      for (const [index, { tokens }] of choices.entries()) {
        const token = tokens[i];
        if (token === undefined) continue;
        this.#sent++;
        this.#push(index, token.text, null);
      }
    }
  }

  #writeBulk(totalBytes: number): void {
    const bare = this.#chunk(0, "", null, undefined);
    const { text, times } = bulk(totalBytes, this.#instruction, this.#frameBytes + Buffer.byteLength(bare));
    this.#sent = times;
    this.#events.push({ data: this.#chunk(0, text, null, undefined), times });
  }

  #usage(): unknown {
    return usageOf(this.#request, this.#instruction, this.#sent);
  }

  #late(): { late?: true } {
    return this.#instruction.usage === "split" ? { late: true } : {};
  }

  #push(index: number, text: string, finish: string | null, usage?: unknown): void {
    this.#events.push({ data: this.#chunk(index, text, finish, usage), times: 1 });
  }

  #chunk(index: number, text: string, finish: string | null, usage: unknown): string {
    const offset = this.#offsets[index] ?? 0;
    this.#offsets[index] = offset + text.length;
    const logprobs = text === "" ? null : logprobsOf(this.#request, [text], offset);
    const choices = [{ text, index, logprobs, finish_reason: finish }];
    return this.#padded({ ...this.#base(), choices, ...this.#chunkUsage(usage) });
  }

  #chunkUsage(usage: unknown): { usage?: unknown } {
    if (usage !== undefined) return { usage };
    const mode = this.#instruction.usage;
    if (mode === "every") return { usage: this.#usage() };
    return this.#request.includeUsage && mode !== "none" ? { usage: null } : {};
  }

  #base() {
    const { digest } = this.#answer;
    return {
      id: `cmpl-${digest}`,
      object: "text_completion",
      created: CREATED,
      model: this.#request.model,
    };
  }

  #padded(chunk: object): string {
    return padded(JSON.stringify(chunk), this.#frameBytes, this.#instruction);
  }
}

export const completions: SimulatedDialect<CompletionsRequest> = {
  path: /^(.*)\/v1\/completions$/,
  read: readCompletionsRequest,
  whole: completion,
  events: (request, instruction, answer) => new TextChunks(request, instruction, answer).write(),
  streamType: SSE_TYPE,
  frame: sseFrame,
  error: openaiError,
  errorEvent: (error) => ({ data: openaiError(error) }),
  requestIdHeader: "x-request-id",
};
