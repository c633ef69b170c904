/**
 * Bedrock's Converse, non-streamed and as its binary event stream. Text and reasoning blocks have no start event, only
 * calls have; usage comes in a separate last event; every event has a meaningless `p` that hides its length. Shapes:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
import { type Answer, type Choice, callsOf, reasoningParts } from "./answer.ts";
import { argumentsOf, textOf } from "./answer-text.ts";
import { type ConverseRequest, checkAuthorization, readConverse } from "./converse-request.ts";
import type { Headers, ReportedError, SimulatedDialect, StreamEvent } from "./dialect.ts";
import { EVENT_STREAM_TYPE, eventStreamFrame } from "./event-stream.ts";
import type { Instruction } from "./instruction.ts";
import { bulk, filled, padded } from "./padding.ts";
import { isObject } from "./schema.ts";
import { sealOf, signatureOf } from "./signature.ts";

/** A content block, complete and as streamed. */
interface Block {
  readonly whole: object;
  readonly start?: object;
  readonly deltas: readonly object[];
  /** Number of deltas, from the first, that are tokens. */
  readonly tokens: number;
}

/** Constant, so that equal requests get equal bytes. */
const METRICS = Object.freeze({ latencyMs: 120 });
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const DELTA = "contentBlockDelta";

/** The blocks of an answer; `filler` is added to its text. */
function blocksOf(answer: Answer, choice: Choice, instruction: Instruction, filler = ""): Block[] {
  const blocks = reasoningParts(choice, instruction).map(reasoningBlock);
  for (let i = 0; i < (instruction.redacted ?? 0); i++) {
    const redacted = { reasoningContent: { redactedContent: sealOf(`${answer.digest}${i}`) } };
    blocks.push({ whole: redacted, deltas: [redacted], tokens: 0 });
  }
  const texts = choice.tokens.flatMap(({ kind, text }) =>
    kind === "text" || kind === "refusal" ? [text] : [],
  );
  if (texts.length > 0 || filler !== "") {
    const deltas = texts.map((text) => ({ text }));
    blocks.push({ whole: { text: texts.join("") + filler }, deltas, tokens: texts.length });
  }
  for (const call of callsOf(choice)) {
    const start = { toolUseId: call.id.replace("call_", "tooluse_"), name: call.name };
    const deltas = ["", ...call.pieces].map((input) => ({ toolUse: { input } }));
    const whole = { toolUse: { ...start, input: argumentsOf(call) ?? {} } };
    blocks.push({ whole, start: { toolUse: start }, deltas, tokens: deltas.length });
  }
  return blocks;
}

function reasoningBlock(pieces: readonly string[]): Block {
  const text = pieces.join("");
  const signature = signatureOf(text);
  const deltas = [...pieces.map((piece) => ({ text: piece })), { signature }];
  return {
    whole: { reasoningContent: { reasoningText: { text, signature } } },
    deltas: deltas.map((delta) => ({ reasoningContent: delta })),
    tokens: pieces.length,
  };
}

/** The stop reason, and the requested members of the model's own answer. */
function ending(request: ConverseRequest, choice: Choice) {
  const reasons = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use" } as const;
  const stopped = choice.stopSequence === undefined ? reasons[choice.finish] : "stop_sequence";
  const refused = textOf(choice, "refusal") !== "" && choice.finish !== "length";
  const wanted = request.responsePaths.includes("/stop_sequence");
  return {
    stopReason: refused ? "content_filtered" : stopped,
    ...(wanted ? { additionalModelResponseFields: { stop_sequence: choice.stopSequence ?? null } } : {}),
  };
}

/** `inputTokens` excludes cache reads and writes; the total includes both. */
function usageOf(request: ConverseRequest, instruction: Instruction, tokens: number) {
  if (instruction.usage === "none") return undefined;
  if (isObject(instruction.usage)) return instruction.usage;
  const read = instruction.cached_tokens ?? 0;
  const written = instruction.cache_write_tokens ?? 0;
  const writtenLong = instruction.cache_write_1h_tokens ?? 0;
  const cached = read + written + writtenLong;
  const inputTokens = Math.max(0, (instruction.prompt_tokens ?? request.promptTokens) - cached);
  const outputTokens = tokens + (instruction.reasoning_tokens ?? 0);
  const details = [
    { ttl: "1h", inputTokens: writtenLong },
    { ttl: "5m", inputTokens: written },
  ].filter((detail) => detail.inputTokens > 0);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + cached + outputTokens,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: written + writtenLong,
    cacheDetails: details,
    serverToolUsage: {},
  };
}

const choiceOf = (answer: Answer): Choice => answer.choices[0] ?? { tokens: [], finish: "stop" };

const tierOf = ({ tier }: Instruction) => (tier === undefined ? {} : { serviceTier: { type: tier } });

function whole(request: ConverseRequest, instruction: Instruction, answer: Answer): string {
  const choice = choiceOf(answer);
  return filled(instruction, (filler) => {
    const content = blocksOf(answer, choice, instruction, filler).map((block) => block.whole);
    return JSON.stringify({
      metrics: METRICS,
      output: { message: { content, role: "assistant" } },
      ...ending(request, choice),
      usage: usageOf(request, instruction, choice.tokens.length),
      ...tierOf(instruction),
    });
  });
}

function eventsOf(request: ConverseRequest, instruction: Instruction, answer: Answer): StreamEvent[] {
  const events: StreamEvent[] = [];
  const choice = choiceOf(answer);
  const json = (members: object, index: number) =>
    JSON.stringify({ ...members, p: LETTERS.slice(0, 1 + ((index * 7) % LETTERS.length)) });
  const push = (name: string, members: object, more: { times?: number; late?: true } = {}) => {
    const frameBytes = frame({ name, data: "" }, instruction).length;
    const data = padded(json(members, events.length), frameBytes, instruction);
    events.push({ name, data, times: 1, ...more });
  };
  push("messageStart", { role: "assistant" });
  let tokens = 0;
  if (instruction.total_bytes === undefined) {
    blocksOf(answer, choice, instruction).forEach((block, contentBlockIndex) => {
      if (block.start !== undefined) push("contentBlockStart", { contentBlockIndex, start: block.start });
      for (const delta of block.deltas) push(DELTA, { contentBlockIndex, delta });
      push("contentBlockStop", { contentBlockIndex });
      tokens += block.tokens;
    });
  } else {
    const delta = (text: string) => ({ contentBlockIndex: 0, delta: { text } });
    const bare = frame({ name: DELTA, data: json(delta(""), events.length) }, instruction).length;
    const { text, times } = bulk(instruction.total_bytes, instruction, bare);
    push(DELTA, delta(text), { times });
    push("contentBlockStop", { contentBlockIndex: 0 });
    tokens = times;
  }
  push("messageStop", ending(request, choice));
  const usage = usageOf(request, instruction, tokens);
  const late = instruction.usage === "split" ? ({ late: true } as const) : {};
  push("metadata", { metrics: METRICS, usage, ...tierOf(instruction) }, late);
  return events;
}

/**
 * Event names that end in `Exception` are exceptions. In place of SSE comments the stream has events of unknown types.
 */
function frame(event: Pick<StreamEvent, "data" | "name">, instruction: Instruction): Buffer {
  const { name = DELTA, data } = event;
  const bytes = name.endsWith("Exception")
    ? eventStreamFrame(headersOf("exception", name), data)
    : eventStreamFrame(headersOf("event", name), data);
  if (instruction.comments !== true) return bytes;
  return Buffer.concat([eventStreamFrame(headersOf("event", "simulatedComment"), "{}"), bytes]);
}

const headersOf = (type: "event" | "exception", name: string) => ({
  [`:${type}-type`]: name,
  ":content-type": "application/json",
  ":message-type": type,
});

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors */
const EXCEPTIONS: Readonly<Record<number, string>> = Object.freeze({
  403: "AccessDeniedException",
  404: "ResourceNotFoundException",
  408: "ModelTimeoutException",
  424: "ModelErrorException",
  429: "ThrottlingException",
  503: "ServiceUnavailableException",
});

function exceptionOf({ status, type }: ReportedError): string {
  return type ?? EXCEPTIONS[status] ?? (status < 500 ? "ValidationException" : "InternalServerException");
}

const errorBody = ({ message }: ReportedError): string => JSON.stringify({ message });

/** The service names the exception in a header, with a suffix that is not part of the name. */
function errorHeaders(error: ReportedError): Headers {
  return {
    "x-amzn-errortype": `${exceptionOf(error)}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  };
}

/** In a stream exception names begin with a lower-case letter, and a model's failure has another name. */
function errorEvent(error: ReportedError): Pick<StreamEvent, "data" | "name"> {
  const name =
    error.status === 424 && error.type === undefined ? "ModelStreamErrorException" : exceptionOf(error);
  return { name: name.charAt(0).toLowerCase() + name.slice(1), data: errorBody(error) };
}

export const converse: SimulatedDialect<ConverseRequest> = {
  path: /^(.*)\/model\/(?<model>[^/]+)\/(?<method>converse|converse-stream)$/,
  checkHeaders: checkAuthorization,
  read: readConverse,
  whole,
  events: eventsOf,
  streamType: EVENT_STREAM_TYPE,
  frame,
  error: errorBody,
  errorHeaders,
  errorEvent,
  requestIdHeader: "x-amzn-requestid",
};
