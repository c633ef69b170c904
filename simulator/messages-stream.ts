/**
 * The events of a streamed Anthropic message, in the provider's order: start, each block with its deltas, end with the
 * final usage. Shapes: https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import type {
  Message,
  MessageDeltaUsage,
  RawContentBlockDeltaEvent,
  RawMessageDeltaEvent,
  RawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/messages";
import type { Answer, Choice } from "./answer.ts";
import type { StreamEvent } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import {
  type Block,
  blocksOf,
  ending,
  envelope,
  inputCounts,
  outputCounts,
  type Sent,
  textBlock,
  usageOf,
  withInstructedUsage,
} from "./messages-object.ts";
import { bulk, padded } from "./padding.ts";
import type { SimulatedRequest } from "./simulated-request.ts";
import { sseFrame, sseFrameBytes } from "./sse.ts";

const UNENDED = { stop_reason: null, stop_sequence: null, stop_details: null } as const;
/** Usage at the start of a message, before counting. */
const NOT_YET: Instruction = {
  prompt_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  reasoning_tokens: 0,
};

/** An event of the stream, `usage` of any shape; including the event that the SDK's types omit. */
type Event =
  | Exclude<RawMessageStreamEvent, { type: "message_start" | "message_delta" }>
  | { readonly type: "message_start"; readonly message: Omit<Message, "usage"> }
  | Omit<RawMessageDeltaEvent, "usage">
  | { readonly type: "ping" };

export class MessagesWriter {
  readonly #request: SimulatedRequest;
  readonly #instruction: Instruction;
  readonly #answer: Answer;
  readonly #events: StreamEvent[] = [];
  readonly #sent: Sent = { tokens: 0, thinking: 0 };

  constructor(request: SimulatedRequest, instruction: Instruction, answer: Answer) {
    this.#request = request;
    this.#instruction = instruction;
    this.#answer = answer;
  }

  write(): StreamEvent[] {
    this.#writeStart();
    const { total_bytes: totalBytes } = this.#instruction;
    if (totalBytes !== undefined) this.#writeBulk(totalBytes);
    else {
      const blocks = blocksOf(this.#answer, this.#instruction);
      blocks.forEach((block, index) => {
        this.#writeBlock(block, index);
      });
    }
    const late = this.#instruction.usage === "split";
    this.#push(this.#messageDelta(ending(this.#answer.choices[0] as Choice)), late);
    this.#push({ type: "message_stop" }, late);
    return this.#events;
  }

  /** At the start the provider has counted the prompt and at most one output token. */
  #writeStart(): void {
    const instruction = this.#instruction;
    const first = Math.min(1, this.#answer.choices[0]?.tokens.length ?? 0);
    const early = instruction.usage === "with_last" ? NOT_YET : { reasoning_tokens: 0 };
    const usage = usageOf(
      this.#request,
      { ...instruction, ...early },
      { tokens: early === NOT_YET ? 0 : first, thinking: 0 },
    );
    const message: Message = {
      ...envelope(this.#request, this.#answer),
      content: [],
      ...UNENDED,
      usage,
    };
    this.#push({ type: "message_start", message: withInstructedUsage(message, instruction) });
    this.#push({ type: "ping" });
  }

  #writeBlock(block: Block, index: number): void {
    this.#push({ type: "content_block_start", index, content_block: block.start });
    block.deltas.forEach((delta) => {
      this.#push({ type: "content_block_delta", index, delta });
      if ("signature" in delta) return;
      this.#sent.tokens++;
      if (block.thinks) this.#sent.thinking++;
      if (this.#instruction.usage === "every") this.#push(this.#messageDelta(UNENDED));
    });
    this.#push({ type: "content_block_stop", index });
  }

  #writeBulk(totalBytes: number): void {
    const delta = (text: string): RawContentBlockDeltaEvent => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    });
    this.#push({ type: "content_block_start", index: 0, content_block: textBlock([], "").start });
    const frame = sseFrame(
      { name: "content_block_delta", data: JSON.stringify(delta("")) },
      this.#instruction,
    );
    const { text, times } = bulk(totalBytes, this.#instruction, frame.length);
    this.#sent.tokens = times;
    this.#push(delta(text), false, times);
    this.#push({ type: "content_block_stop", index: 0 });
  }

  /** Its usage is cumulative. */
  #messageDelta(end: typeof UNENDED | ReturnType<typeof ending>): Omit<RawMessageDeltaEvent, "usage"> {
    const { cache_creation: _, ...input } = inputCounts(this.#request, this.#instruction);
    const usage: MessageDeltaUsage = { ...input, ...outputCounts(this.#instruction, this.#sent) };
    const event: RawMessageDeltaEvent = { type: "message_delta", delta: { ...end, container: null }, usage };
    return withInstructedUsage(event, this.#instruction);
  }

  #push(event: Event, late = false, times = 1): void {
    const frameBytes = sseFrameBytes(this.#instruction, event.type);
    const data = padded(JSON.stringify(event), frameBytes, this.#instruction);
    this.#events.push({ name: event.type, data, times, ...(late ? { late: true } : {}) });
  }
}
