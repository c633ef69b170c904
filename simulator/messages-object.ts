/**
 * The parts of an Anthropic message: content blocks, stop reason, usage. Contains the members of all versions of the
 * API, type-checked against the current SDK. Shapes: https://platform.claude.com/docs/en/api/messages
 */
import type {
  ContentBlock,
  RawContentBlockDelta,
  RawContentBlockStartEvent,
  RawMessageDeltaEvent,
  Usage,
} from "@anthropic-ai/sdk/resources/messages";
import { type Answer, type Choice, callsOf, reasoningParts } from "./answer.ts";
import type { Instruction } from "./instruction.ts";
import { sealOf, signatureOf } from "./signature.ts";
import type { SimulatedRequest } from "./simulated-request.ts";

/** A content block, complete and as streamed. */
export interface Block {
  readonly whole: ContentBlock;
  readonly start: RawContentBlockStartEvent["content_block"];
  readonly deltas: readonly RawContentBlockDelta[];
  /** Its deltas are reasoning tokens. */
  readonly thinks: boolean;
}

export interface Sent {
  tokens: number;
  /** Those of {@link tokens} that were reasoning. */
  thinking: number;
}

/** The blocks of an answer; `filler` is added to its text. */
export function blocksOf(answer: Answer, instruction: Instruction, filler = ""): Block[] {
  const choice = answer.choices[0] as Choice;
  const blocks = reasoningParts(choice, instruction).map(thinkingBlock);
  for (let i = 0; i < (instruction.redacted ?? 0); i++) {
    const whole = { type: "redacted_thinking", data: sealOf(`${answer.digest}${i}`) } as const;
    blocks.push({ whole, start: whole, deltas: [], thinks: false });
  }
  for (const [name, times] of Object.entries(instruction.uses ?? {})) {
    for (let i = 0; i < times; i++) blocks.push(serverToolBlock(name, `srvtoolu_${answer.digest}${i}`));
  }
  const texts = choice.tokens.flatMap(({ kind, text }) =>
    kind === "text" || kind === "refusal" ? [text] : [],
  );
  if (texts.length > 0 || filler !== "") blocks.push(textBlock(texts, filler));
  for (const { id, name, pieces } of callsOf(choice)) {
    const base = {
      type: "tool_use",
      id: id.replace("call_", "toolu_"),
      caller: { type: "direct" },
      name,
    } as const;
    const deltas = ["", ...pieces].map((json) => ({ type: "input_json_delta", partial_json: json }) as const);
    blocks.push({
      whole: { ...base, input: parsed(pieces.join("")) },
      start: { ...base, input: {} },
      deltas,
      thinks: false,
    });
  }
  return blocks;
}

/** A use of a tool that the provider runs; what it found is left out. */
function serverToolBlock(name: string, id: string): Block {
  const whole = { type: "server_tool_use", id, name, input: {}, caller: { type: "direct" } } as ContentBlock;
  return { whole, start: whole as Block["start"], deltas: [], thinks: false };
}

function thinkingBlock(pieces: readonly string[]): Block {
  const thinking = pieces.join("");
  const signature = signatureOf(thinking);
  return {
    whole: { type: "thinking", thinking, signature },
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...pieces.map((piece) => ({ type: "thinking_delta", thinking: piece }) as const),
      { type: "signature_delta", signature },
    ],
    thinks: true,
  };
}

export function textBlock(pieces: readonly string[], filler: string): Block {
  return {
    whole: { type: "text", text: pieces.join("") + filler, citations: null },
    start: { type: "text", text: "", citations: null },
    deltas: pieces.map((text) => ({ type: "text_delta", text }) as const),
    thinks: false,
  };
}

/** Arguments truncated by `max_tokens` are not valid JSON and are omitted from a non-streamed message. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

/** The stop reason of the message. */
export function ending(choice: Choice): Omit<RawMessageDeltaEvent.Delta, "container"> {
  const refusal = choice.tokens.flatMap(({ kind, text }) => (kind === "refusal" ? [text] : [])).join("");
  const reasons = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use" } as const;
  const stopped = choice.stopSequence === undefined ? reasons[choice.finish] : "stop_sequence";
  const refused = refusal !== "" && choice.finish !== "length";
  return {
    stop_reason: refused ? "refusal" : stopped,
    stop_sequence: choice.stopSequence ?? null,
    stop_details: refused ? { type: "refusal", category: null, explanation: refusal } : null,
  };
}

/** The input counts, which add up to the prompt's tokens. */
export function inputCounts(request: SimulatedRequest, instruction: Instruction) {
  const read = instruction.cached_tokens ?? 0;
  const written = instruction.cache_write_tokens ?? 0;
  const writtenLong = instruction.cache_write_1h_tokens ?? 0;
  const all = instruction.prompt_tokens ?? request.promptTokens;
  return {
    input_tokens: Math.max(0, all - read - written - writtenLong),
    cache_creation_input_tokens: written + writtenLong,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: writtenLong },
  };
}

export function outputCounts(instruction: Instruction, sent: Readonly<Sent>) {
  const hidden = instruction.reasoning_tokens ?? 0;
  return {
    output_tokens: sent.tokens + hidden,
    output_tokens_details: { thinking_tokens: sent.thinking + hidden },
    server_tool_use: serverToolUse(instruction),
  };
}

function serverToolUse({ uses }: Instruction) {
  if (uses === undefined) return null;
  const { web_search: searches = 0, web_fetch: fetches = 0 } = uses;
  return { web_search_requests: searches, web_fetch_requests: fetches };
}

export function usageOf(request: SimulatedRequest, instruction: Instruction, sent: Readonly<Sent>): Usage {
  return {
    ...inputCounts(request, instruction),
    ...outputCounts(instruction, sent),
    service_tier: (instruction.tier ?? "standard") as Usage["service_tier"],
    inference_geo: instruction.geo ?? null,
    speed: (instruction.speed ?? null) as Usage["speed"],
  };
}

/** Applies the instruction's `usage` to an object with usage. */
export function withInstructedUsage<Teller extends { usage: unknown }>(
  teller: Teller,
  { usage }: Instruction,
) {
  const { usage: right, ...rest } = teller;
  if (usage === "none") return rest;
  return { ...rest, usage: typeof usage === "object" ? usage : right };
}

export function envelope(request: SimulatedRequest, answer: Answer) {
  return {
    id: `msg_${answer.digest}`,
    type: "message",
    role: "assistant",
    model: request.model,
    container: null,
    diagnostics: null,
  } as const;
}
