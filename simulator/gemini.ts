/**
 * Google's generateContent, non-streamed and streamed, as generativelanguage.googleapis.com and Vertex send it:
 * function calls are never split, usage is cumulative on every event, and the stream has no end marker. Shapes:
 * https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thought-signatures
 */
import { fail } from "../src/base/errors.ts";
import { type Answer, type Choice, callsOf, type Token, type ToolCall } from "./answer.ts";
import { argumentsOf, textOf } from "./answer-text.ts";
import type { SimulatedDialect, StreamEvent } from "./dialect.ts";
import { type GeminiRequest, readGeminiRequest } from "./gemini-request.ts";
import { callSignature, textSignature } from "./gemini-turns.ts";
import { googleError, refuseInvalidKey, refuseUnknown } from "./google-error.ts";
import type { Instruction } from "./instruction.ts";
import { bulk, filled, padded } from "./padding.ts";
import { isObject, type JsonObject } from "./schema.ts";
import { parseObject } from "./simulated-request.ts";
import type { SimulatedRoute } from "./simulated-route.ts";
import { sseFrame, sseFrameBytes } from "./sse.ts";

type Part = Readonly<Record<string, unknown>>;

/** Tokens reported so far. */
interface Sent {
  candidates: number;
  thoughts: number;
}

const FINISH = { stop: "STOP", tool_calls: "STOP", length: "MAX_TOKENS" } as const;
/** Fields of a count request; all others belong in `generateContentRequest`, or on Vertex at the top level. */
const COUNT_FIELDS: ReadonlySet<string> = new Set([
  "contents",
  "generateContentRequest",
  "model",
  "systemInstruction",
  "tools",
  "generationConfig",
  "simulator",
]);
/** Line ends of the provider's streams. */
const LINES = { crlf: true } as const;

/** `{version}/models/{model}:{method}`, and Vertex's longer form of it. */
export const modelPath = (methods: string): RegExp =>
  new RegExp(
    "^(.*)\\/v1(?:beta1?)?\\/(?<vertex>projects\\/[^/]+\\/locations\\/[^/]+\\/publishers\\/[^/]+\\/)?" +
      `models\\/(?<model>[^/:]+):(?<method>${methods})$`,
  );

function note(sent: Sent, token: Token): void {
  if (token.kind === "reasoning") sent.thoughts++;
  else sent.candidates++;
}

/** `promptTokenCount` includes cached tokens, `candidatesTokenCount` excludes thoughts. */
function usageOf(request: GeminiRequest, instruction: Instruction, sent: Readonly<Sent>): unknown {
  if (isObject(instruction.usage)) return instruction.usage;
  const prompt = instruction.prompt_tokens ?? request.promptTokens;
  const thoughts = sent.thoughts + (instruction.reasoning_tokens ?? 0);
  const cached = instruction.cached_tokens ?? 0;
  return {
    promptTokenCount: prompt,
    ...(sent.candidates === 0 ? {} : { candidatesTokenCount: sent.candidates }),
    totalTokenCount: prompt + sent.candidates + thoughts,
    ...(cached === 0 ? {} : { cachedContentTokenCount: cached }),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(thoughts === 0 ? {} : { thoughtsTokenCount: thoughts }),
  };
}

/** The signature at the end of a text turn; a turn of calls has one on its first call instead. */
function endSignature(request: GeminiRequest, instruction: Instruction, choice: Choice, padding = ""): Part {
  const thinks =
    request.thinks ||
    (instruction.reasoning_tokens ?? 0) > 0 ||
    choice.tokens.some((token) => token.kind === "reasoning");
  const calls = choice.tokens.some((token) => token.kind === "call");
  if (!thinks || calls) return {};
  return { thoughtSignature: textSignature(textOf(choice, "text") + padding) };
}

/** Undefined for a call truncated by the token limit: the provider omits it. */
function callPart(request: GeminiRequest, call: ToolCall, index: number): Part | undefined {
  const args = argumentsOf(call);
  if (args === undefined) return undefined;
  const functionCall = { ...(request.callIds ? { id: call.id } : {}), name: call.name, args };
  return { functionCall, ...(index === 0 ? { thoughtSignature: callSignature(call.name, args) } : {}) };
}

/** A refusal has no content: the provider withholds it and says why. */
function refusalOf(choice: Choice, index: number) {
  const refusal = textOf(choice, "refusal");
  if (refusal === "") return undefined;
  const rating = { category: "HARM_CATEGORY_DANGEROUS_CONTENT", probability: "HIGH", blocked: true };
  return { finishReason: "SAFETY", index, safetyRatings: [rating], finishMessage: refusal };
}

function candidate(
  request: GeminiRequest,
  instruction: Instruction,
  choice: Choice,
  index: number,
  padding: string,
) {
  const refused = refusalOf(choice, index);
  if (refused !== undefined) return refused;
  const parts: Part[] = [];
  const thoughts = textOf(choice, "reasoning");
  if (request.includeThoughts && thoughts !== "") parts.push({ text: thoughts, thought: true });
  const text = textOf(choice, "text") + padding;
  const calls = callsOf(choice)
    .map((call, i) => callPart(request, call, i))
    .filter((part) => part !== undefined);
  if (text !== "" || calls.length === 0) {
    parts.push({ text, ...endSignature(request, instruction, choice, padding) });
  }
  parts.push(...calls);
  return { content: { parts, role: "model" }, finishReason: FINISH[choice.finish], index };
}

function whole(request: GeminiRequest, instruction: Instruction, answer: Answer): string {
  const sent: Sent = { candidates: 0, thoughts: 0 };
  for (const choice of answer.choices) for (const token of choice.tokens) note(sent, token);
  const usage = instruction.usage === "none" ? undefined : usageOf(request, instruction, sent);
  return filled(instruction, (padding) =>
    JSON.stringify({
      candidates: answer.choices.map((choice, index) =>
        candidate(request, instruction, choice, index, index === 0 ? padding : ""),
      ),
      usageMetadata: usage,
      modelVersion: request.model,
      responseId: answer.digest,
    }),
  );
}

class EventWriter {
  readonly #request: GeminiRequest;
  readonly #instruction: Instruction;
  readonly #answer: Answer;
  readonly #frameBytes: number;
  readonly #events: StreamEvent[] = [];
  readonly #sent: Sent = { candidates: 0, thoughts: 0 };

  constructor(request: GeminiRequest, instruction: Instruction, answer: Answer) {
    this.#request = request;
    this.#instruction = instruction;
    this.#answer = answer;
    this.#frameBytes = sseFrameBytes({ ...instruction, ...LINES });
  }

  write(): StreamEvent[] {
    const { choices } = this.#answer;
    if (this.#instruction.total_bytes !== undefined) this.#writeBulk(this.#instruction.total_bytes);
    else this.#writeTokens(choices);
    choices.forEach((choice, index) => {
      this.#writeFinish(choice, index, index === choices.length - 1);
    });
    if (this.#instruction.usage === "split") {
      this.#events.push({ data: this.#event({ usageMetadata: this.#usage() }), times: 1, late: true });
    }
    return this.#events;
  }

  /** Candidates alternate token by token. */
  #writeTokens(choices: readonly Choice[]): void {
    const calls = choices.map(callsOf);
    const longest = Math.max(...choices.map((choice) => choice.tokens.length));
    for (let i = 0; i < longest; i++) {
      choices.forEach((choice, index) => {
        const token = choice.tokens[i];
        if (token === undefined) return;
        note(this.#sent, token);
        const part = this.#part(token, choice.tokens[i + 1], calls[index] ?? []);
        if (part !== undefined) this.#push({ content: { parts: [part], role: "model" }, index });
      });
    }
  }

  /** The part sent with a token; a call is sent with its last one. */
  #part(token: Token, next: Token | undefined, calls: readonly ToolCall[]): Part | undefined {
    if (token.kind === "text") return { text: token.text };
    if (token.kind === "reasoning") {
      return this.#request.includeThoughts ? { text: token.text, thought: true } : undefined;
    }
    if (token.kind !== "call" || (next?.kind === "call" && next.call === token.call)) return undefined;
    const call = calls[token.call];
    return call === undefined ? undefined : callPart(this.#request, call, token.call);
  }

  /** As many equal events of `event_bytes` as fit into the total. */
  #writeBulk(totalBytes: number): void {
    const data = (text: string) =>
      this.#event({ candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }] });
    const { text, times } = bulk(
      totalBytes,
      this.#instruction,
      this.#frameBytes + Buffer.byteLength(data("")),
    );
    this.#sent.candidates = times;
    this.#events.push({ data: data(text), times });
  }

  #writeFinish(choice: Choice, index: number, last: boolean): void {
    const refused = refusalOf(choice, index);
    // Bulk content is not the choice's text, so it has no signature.
    const bulk = this.#instruction.total_bytes !== undefined;
    const signature = bulk ? {} : endSignature(this.#request, this.#instruction, choice);
    const content = { parts: [{ text: "", ...signature }], role: "model" };
    this.#push(refused ?? { content, finishReason: FINISH[choice.finish], index }, last);
  }

  #push(candidate: object, last = false): void {
    const usage = this.#reports(last) ? { usageMetadata: this.#usage() } : {};
    this.#events.push({ data: this.#event({ candidates: [candidate], ...usage }), times: 1 });
  }

  /** Whether the event carries usage: every one by default. */
  #reports(last: boolean): boolean {
    const mode = this.#instruction.usage;
    if (mode === "none" || mode === "split") return false;
    return last || (mode !== "with_last" && !isObject(mode));
  }

  #usage(): unknown {
    return usageOf(this.#request, this.#instruction, this.#sent);
  }

  #event(members: object): string {
    const { model: modelVersion } = this.#request;
    const json = JSON.stringify({ ...members, modelVersion, responseId: this.#answer.digest });
    return padded(json, this.#frameBytes, this.#instruction);
  }
}

export const gemini: SimulatedDialect<GeminiRequest> = {
  path: modelPath("generateContent|streamGenerateContent"),
  checkHeaders: refuseInvalidKey,
  read: (body, match) => readGeminiRequest(parseObject(body), match),
  whole,
  events: (request, instruction, answer) => new EventWriter(request, instruction, answer).write(),
  streamType: "text/event-stream",
  frame: (event, instruction) => sseFrame(event, { ...instruction, ...LINES }),
  error: googleError,
  errorEvent: (error) => ({ data: googleError(error) }),
};

export const geminiCountTokens: SimulatedRoute<GeminiRequest> = {
  path: modelPath("countTokens"),
  checkHeaders: refuseInvalidKey,
  read: (body, match) => readGeminiRequest(countable(parseObject(body)), match),
  reply(request, instruction) {
    const totalTokens = instruction.prompt_tokens ?? request.promptTokens;
    return JSON.stringify({
      totalTokens,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: totalTokens }],
    });
  },
  error: googleError,
};

/** A count request contains either `contents` or a complete request in its own member. */
function countable(json: JsonObject): JsonObject {
  refuseUnknown(json, COUNT_FIELDS);
  const { generateContentRequest: whole, ...rest } = json;
  if (whole === undefined) return rest;
  if (isObject(whole) && rest.contents === undefined) return { ...rest, ...whole };
  throw fail("invalid_value", "Exactly one of contents and generate_content_request must be given.", {
    param: "generate_content_request",
  });
}
