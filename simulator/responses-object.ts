/**
 * The OpenAI response object: the items of an answer, and the object at its start and end. Type-checked against the
 * SDK. Shapes: https://platform.openai.com/docs/api-reference/responses/object
 */
import type {
  Response,
  ResponseFunctionToolCallItem,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseOutputRefusal,
  ResponseOutputText,
  ResponseReasoningItem,
  ResponseUsage,
} from "openai/resources/responses/responses";
import { type Answer, type Choice, callsOf, reasoningParts } from "./answer.ts";
import { CREATED } from "./chat.ts";
import type { Instruction } from "./instruction.ts";
import type { ResponsesRequest } from "./responses-request.ts";
import { sealOf } from "./signature.ts";

/**
 * A response on the wire: the SDK itself adds `output_text`; `usage` may come from the instruction, or not be known
 * yet. The SDK's type lacks members that the API sends (https://www.openresponses.org/specification).
 */
export type SentResponse = Omit<Response, "output_text" | "usage"> & {
  readonly usage?: unknown;
  readonly presence_penalty: number;
  readonly frequency_penalty: number;
  readonly store: boolean;
};

/** An item of the output and the pieces in which it is streamed. */
export type StreamedItem =
  | {
      readonly kind: "reasoning";
      readonly item: ResponseReasoningItem;
      /** Pieces of its summary; a summary without text is not streamed. */
      readonly pieces: readonly string[];
    }
  | {
      readonly kind: "message";
      readonly item: ResponseOutputMessage;
      readonly part: ResponseOutputText | ResponseOutputRefusal;
      readonly pieces: readonly string[];
    }
  /** A use of a tool that the provider runs. */
  | { readonly kind: "tool"; readonly item: ResponseOutputItem }
  | {
      readonly kind: "call";
      readonly item: ResponseFunctionToolCallItem;
      readonly pieces: readonly string[];
    };

/** The items of an answer; `filler` is added to its text. */
export function itemsOf(
  request: ResponsesRequest,
  instruction: Instruction,
  answer: Answer,
  filler = "",
): StreamedItem[] {
  const choice = answer.choices[0] as Choice;
  const items: StreamedItem[] = reasoningParts(choice, instruction).map((pieces, i) =>
    reasoningItem(request, `rs_${answer.digest}${i}`, pieces),
  );
  for (let i = 0; i < (instruction.redacted ?? 0); i++)
    items.push(reasoningItem(request, `rs_${answer.digest}r${i}`, []));
  for (const [name, times] of Object.entries(instruction.uses ?? {})) {
    for (let i = 0; i < times; i++)
      items.push({ kind: "tool", item: toolItem(name, `${answer.digest}${i}`) });
  }
  const { part, pieces } = contentOf(request, choice, filler);
  if (pieces.length > 0 || filler !== "") {
    const base = { id: `msg_${answer.digest}`, type: "message", role: "assistant" } as const;
    items.push({ kind: "message", item: { ...base, status: "completed", content: [part] }, part, pieces });
  }
  callsOf(choice).forEach((call, i) => {
    items.push({
      kind: "call",
      item: {
        id: `fc_${answer.digest}${i}`,
        type: "function_call",
        status: "completed",
        arguments: call.pieces.join(""),
        call_id: call.id,
        name: call.name,
      },
      pieces: call.pieces,
    });
  });
  const last = items.at(-1);
  if (choice.finish === "length" && last !== undefined) items[items.length - 1] = cut(last);
  return items;
}

const toolItem = (name: string, digest: string): ResponseOutputItem =>
  ({
    id: `${name.slice(0, 2)}_${digest}`,
    type: `${name}_call`,
    status: "completed",
    ...(name === "web_search" && { action: { type: "search", query: "?" } }),
  }) as ResponseOutputItem;

/** The item truncated by the token limit. */
function cut(last: StreamedItem): StreamedItem {
  switch (last.kind) {
    case "reasoning":
      return { ...last, item: { ...last.item, status: "incomplete" } };
    case "message":
      return { ...last, item: { ...last.item, status: "incomplete" } };
    case "call":
      return { ...last, item: { ...last.item, status: "incomplete" } };
    case "tool":
      return last;
  }
}

function reasoningItem(request: ResponsesRequest, id: string, pieces: readonly string[]): StreamedItem {
  const text = pieces.join("");
  const item: ResponseReasoningItem = {
    id,
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(request.encrypted ? { encrypted_content: sealOf(text === "" ? id : text) } : {}),
  };
  return { kind: "reasoning", item, pieces };
}

function contentOf(request: ResponsesRequest, choice: Choice, filler: string) {
  const of = (wanted: "text" | "refusal") =>
    choice.tokens.flatMap(({ kind, text }) => (kind === wanted ? [text] : []));
  const refusal = of("refusal");
  if (refusal.length > 0)
    return { part: { type: "refusal", refusal: refusal.join("") + filler }, pieces: refusal } as const;
  const pieces = of("text");
  const part: ResponseOutputText = {
    type: "output_text",
    annotations: [],
    logprobs: request.logprobs ? pieces.map(logprobOf) : [],
    text: pieces.join("") + filler,
  };
  return { part, pieces };
}

/** Constant: the simulated model is always equally sure. */
export const logprobOf = (token: string) => ({
  token,
  bytes: [...Buffer.from(token)],
  logprob: -0.25,
  top_logprobs: [],
});

/** `usage` as the instruction says; undefined if it is to be omitted. */
export function usageOf(
  request: ResponsesRequest,
  instruction: Instruction,
  sent: { readonly tokens: number; readonly reasoning: number },
): unknown {
  if (instruction.usage === "none") return undefined;
  if (typeof instruction.usage === "object") return instruction.usage;
  const input = instruction.prompt_tokens ?? request.promptTokens;
  const hidden = instruction.reasoning_tokens ?? 0;
  const written = (instruction.cache_write_tokens ?? 0) + (instruction.cache_write_1h_tokens ?? 0);
  const usage: ResponseUsage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: instruction.cached_tokens ?? 0, cache_write_tokens: written },
    output_tokens: sent.tokens + hidden,
    output_tokens_details: { reasoning_tokens: sent.reasoning + hidden },
    total_tokens: input + sent.tokens + hidden,
  };
  return usage;
}

/** A member of the request that the response repeats unchanged; the reader has checked those the simulator acts on. */
function repeated<Value>(request: ResponsesRequest, name: string, otherwise: Value): Value {
  return (request.json[name] ?? otherwise) as Value;
}

/** The tools as the API repeats them: each function has all of its members. */
const repeatedTools = (request: ResponsesRequest): SentResponse["tools"] =>
  repeated<SentResponse["tools"]>(request, "tools", []).map((tool) =>
    tool.type === "function" ? { ...FUNCTION, ...tool } : tool,
  );

const FUNCTION = { description: null, parameters: null, strict: true };

/** How the text is given; the format of a schema has all of its members. */
function repeatedText(request: ResponsesRequest): NonNullable<SentResponse["text"]> {
  const text = repeated<NonNullable<SentResponse["text"]>>(request, "text", {});
  const format = text.format ?? { type: "text" };
  const whole = format.type === "json_schema" ? { ...SCHEMA_FORMAT, ...format } : format;
  return { verbosity: "medium", ...text, format: whole as typeof format };
}

const SCHEMA_FORMAT = { description: null, strict: false };

/** The response before its output. */
export function startedResponse(
  request: ResponsesRequest,
  answer: Answer,
  { tier = "default" }: Instruction = {},
): SentResponse {
  return {
    id: `resp_${answer.digest}`,
    object: "response",
    created_at: CREATED,
    completed_at: null,
    status: "in_progress",
    access_programs: repeated(request, "access_programs", null),
    background: false,
    error: null,
    incomplete_details: null,
    instructions: repeated(request, "instructions", null),
    max_output_tokens: repeated(request, "max_output_tokens", null),
    max_tool_calls: repeated(request, "max_tool_calls", null),
    model: request.model,
    output: [],
    parallel_tool_calls: repeated(request, "parallel_tool_calls", true),
    previous_response_id: null,
    prompt_cache_key: repeated(request, "prompt_cache_key", null),
    reasoning: { effort: null, summary: null, ...repeated(request, "reasoning", {}) },
    safety_identifier: repeated(request, "safety_identifier", null),
    service_tier: tier as NonNullable<SentResponse["service_tier"]>,
    temperature: repeated(request, "temperature", 1),
    text: repeatedText(request),
    tool_choice: repeated(request, "tool_choice", "auto"),
    tools: repeatedTools(request),
    top_logprobs: repeated(request, "top_logprobs", 0),
    top_p: repeated(request, "top_p", 1),
    presence_penalty: 0,
    frequency_penalty: 0,
    store: repeated(request, "store", true),
    truncation: repeated(request, "truncation", "disabled"),
    usage: null,
    metadata: repeated(request, "metadata", {}),
  };
}

/** The response when it is over. */
export function endedResponse(
  request: ResponsesRequest,
  answer: Answer,
  output: ResponseOutputItem[],
  usage: unknown,
  instruction: Instruction = {},
): SentResponse {
  const { usage: _, ...started } = startedResponse(request, answer, instruction);
  const cutShort = answer.choices[0]?.finish === "length";
  return {
    ...started,
    status: cutShort ? "incomplete" : "completed",
    completed_at: cutShort ? null : CREATED,
    incomplete_details: cutShort ? { reason: "max_output_tokens" } : null,
    output,
    ...(usage === undefined ? {} : { usage }),
  };
}
