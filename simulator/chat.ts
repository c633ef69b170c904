/**
 * The OpenAI chat-completions reply, whole and streamed, as the provider sends it.
 * Shapes: https://platform.openai.com/docs/api-reference/chat/object and /chat/streaming
 */
import type { Answer, Choice, Token } from "./answer.ts";
import { readChatRequest } from "./chat-request.ts";
import type { ReportedError, SimulatedDialect, StreamEvent } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { bulk, filled } from "./padding.ts";
import type { SimulatedRequest } from "./simulated-request.ts";
import { SSE_TYPE, sseFrame, sseFrameBytes } from "./sse.ts";

/** A fixed instant, so that the same request has the same bytes: 2026-01-01 00:00:00 UTC, in seconds. */
export const CREATED = 1_767_225_600;
const FINGERPRINT = "fp_5e1f0a2b3c";

interface Sent {
  tokens: number;
  /** Those of {@link tokens} that were reasoning. */
  reasoning: number;
}

/** The reply's `usage`; undefined when instructed to report none. */
function usageOf(request: SimulatedRequest, instruction: Instruction, sent: Readonly<Sent>): unknown {
  if (instruction.usage === "none") return undefined;
  if (typeof instruction.usage === "object") return instruction.usage;
  const prompt = instruction.prompt_tokens ?? request.promptTokens;
  const hidden = instruction.reasoning_tokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: sent.tokens + hidden,
    total_tokens: prompt + sent.tokens + hidden,
    prompt_tokens_details: { cached_tokens: instruction.cached_tokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: sent.reasoning + hidden,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The JSON body of a call that is not streamed; with `bytes` or `total_bytes`, exactly that long. */
function completion(request: SimulatedRequest, instruction: Instruction, answer: Answer): string {
  const sent: Sent = { tokens: 0, reasoning: 0 };
  for (const choice of answer.choices) for (const token of choice.tokens) note(sent, token);
  return filled(instruction, (filler) =>
    JSON.stringify({
      id: `chatcmpl-${answer.digest}`,
      object: "chat.completion",
      created: CREATED,
      model: request.model,
      choices: answer.choices.map((choice, index) => ({
        index,
        message: message(choice, index === 0 ? filler : ""),
        logprobs: null,
        finish_reason: choice.finish,
      })),
      usage: usageOf(request, instruction, sent),
      service_tier: instruction.tier ?? "default",
      system_fingerprint: FINGERPRINT,
    }),
  );
}

function note(sent: Sent, token: Token): void {
  sent.tokens++;
  if (token.kind === "reasoning") sent.reasoning++;
}

function message(choice: Choice, filler: string) {
  const join = (kind: Token["kind"]) =>
    choice.tokens.reduce((text, token) => (token.kind === kind ? text + token.text : text), "");
  const calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  for (const token of choice.tokens) {
    if (token.kind !== "call") continue;
    const call = calls[token.call];
    if (call !== undefined) call.function.arguments += token.text;
    else
      calls.push({
        id: token.id ?? "",
        type: "function",
        function: { name: token.name ?? "", arguments: "" },
      });
  }
  const refusal = join("refusal");
  const reasoning = join("reasoning");
  const text = join("text") + filler;
  return {
    role: "assistant",
    content: text === "" && (calls.length > 0 || refusal !== "") ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

class ChunkWriter {
  readonly #request: SimulatedRequest;
  readonly #instruction: Instruction;
  readonly #answer: Answer;
  /** What framing adds to an event's data. */
  readonly #frameBytes: number;
  readonly #events: StreamEvent[] = [];
  readonly #sent: Sent = { tokens: 0, reasoning: 0 };

  constructor(request: SimulatedRequest, instruction: Instruction, answer: Answer) {
    this.#request = request;
    this.#instruction = instruction;
    this.#answer = answer;
    this.#frameBytes = sseFrameBytes(instruction);
  }

  write(): StreamEvent[] {
    const { choices } = this.#answer;
    choices.forEach((_, index) => {
      this.#push(index, { role: "assistant", content: "", refusal: null }, null);
    });
    if (this.#instruction.total_bytes !== undefined) this.#writeBulk(this.#instruction.total_bytes);
    else this.#writeTokens(choices);
    choices.forEach((choice, index) => {
      const last = index === choices.length - 1 && this.#instruction.usage === "with_last";
      this.#push(
        index,
        {},
        choice.finish,
        last ? usageOf(this.#request, this.#instruction, this.#sent) : undefined,
      );
    });
    this.#writeUsage();
    this.#events.push({ data: "[DONE]", times: 1, ...this.#late() });
    return this.#events;
  }

  /** Choices alternate token by token, as the provider interleaves them. */
  #writeTokens(choices: readonly Choice[]): void {
    const longest = Math.max(...choices.map((choice) => choice.tokens.length));
    for (let i = 0; i < longest; i++) {
      choices.forEach((choice, index) => {
        const token = choice.tokens[i];
        if (token === undefined) return;
        note(this.#sent, token);
        this.#push(index, delta(token), null);
      });
    }
  }

  /** As many equal content events of `event_bytes` as fit into the total. */
  #writeBulk(totalBytes: number): void {
    const bare = this.#chunk(0, { content: "" }, null, undefined);
    const { text, times } = bulk(totalBytes, this.#instruction, this.#frameBytes + Buffer.byteLength(bare));
    this.#sent.tokens = times;
    this.#events.push({ data: this.#chunk(0, { content: text }, null, undefined), times });
  }

  #writeUsage(): void {
    const mode = this.#instruction.usage;
    if (mode === "none" || mode === "with_last") return;
    if (!this.#request.includeUsage && mode !== "always") return;
    const usage = usageOf(this.#request, this.#instruction, this.#sent);
    this.#events.push({
      data: this.#padded({ ...this.#base(), choices: [], usage }),
      times: 1,
      ...this.#late(),
    });
  }

  #late(): { late?: true } {
    return this.#instruction.usage === "split" ? { late: true } : {};
  }

  #push(index: number, part: object, finish: string | null, usage?: unknown): void {
    this.#events.push({ data: this.#chunk(index, part, finish, usage), times: 1 });
  }

  #chunk(index: number, part: object, finish: string | null, usage: unknown): string {
    return this.#padded({
      ...this.#base(),
      choices: [{ index, delta: part, logprobs: null, finish_reason: finish }],
      ...this.#chunkUsage(usage),
    });
  }

  #chunkUsage(usage: unknown): { usage?: unknown } {
    if (usage !== undefined) return { usage };
    const mode = this.#instruction.usage;
    if (mode === "every") return { usage: usageOf(this.#request, this.#instruction, this.#sent) };
    return this.#request.includeUsage && mode !== "none" ? { usage: null } : {};
  }

  #base() {
    return {
      id: `chatcmpl-${this.#answer.digest}`,
      object: "chat.completion.chunk",
      created: CREATED,
      model: this.#request.model,
      service_tier: this.#instruction.tier ?? "default",
      system_fingerprint: FINGERPRINT,
    };
  }

  /** Pads with `obfuscation`, the field the provider itself pads chunks with. */
  #padded(chunk: object): string {
    const plain = JSON.stringify(chunk);
    const target = this.#instruction.bytes;
    if (target === undefined) return plain;
    const empty = Buffer.byteLength(JSON.stringify({ ...chunk, obfuscation: "" }));
    const lacking = target - this.#frameBytes - empty;
    return lacking < 0 ? plain : JSON.stringify({ ...chunk, obfuscation: "x".repeat(lacking) });
  }
}

function delta(token: Token): object {
  switch (token.kind) {
    case "text":
      return { content: token.text };
    case "reasoning":
      return { reasoning_content: token.text };
    case "refusal":
      return { refusal: token.text };
    case "call": {
      const { call: index, id, name, text } = token;
      if (id === undefined) return { tool_calls: [{ index, function: { arguments: text } }] };
      return { tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }] };
    }
  }
}

/** OpenAI's error types and codes by status: https://platform.openai.com/docs/guides/error-codes */
const ERROR_KINDS: Readonly<Record<number, readonly [type: string, code: string | null]>> = Object.freeze({
  401: ["invalid_request_error", "invalid_api_key"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
  500: ["server_error", null],
  503: ["server_error", "overloaded"],
});

/** OpenAI's error envelope, that of all its routes. */
export function openaiError({ status, message, type, code, param }: ReportedError): string {
  const [usualType, usualCode] = ERROR_KINDS[status] ?? [
    status < 500 ? "invalid_request_error" : "server_error",
    null,
  ];
  return JSON.stringify({
    error: { message, type: type ?? usualType, param: param ?? null, code: code ?? usualCode },
  });
}

export const chat: SimulatedDialect = {
  path: /^(.*)\/v1\/chat\/completions$/,
  read: readChatRequest,
  whole: completion,
  events: (request, instruction, answer) => new ChunkWriter(request, instruction, answer).write(),
  streamType: SSE_TYPE,
  frame: sseFrame,
  error: openaiError,
  errorEvent: (error) => ({ data: openaiError(error) }),
  requestIdHeader: "x-request-id",
};
