/**
 * The typed events of a streamed OpenAI response: each item is announced, streamed in pieces, and repeated in full;
 * `sequence_number` has no gaps. There is no `[DONE]`. Shapes:
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import type { Answer } from "./answer.ts";
import type { StreamEvent } from "./dialect.ts";
import type { Instruction } from "./instruction.ts";
import { bulk, padded } from "./padding.ts";
import {
  endedResponse,
  itemsOf,
  logprobOf,
  type SentResponse,
  type StreamedItem,
  startedResponse,
  usageOf,
} from "./responses-object.ts";
import type { ResponsesRequest } from "./responses-request.ts";
import { sseFrame, sseFrameBytes } from "./sse.ts";

type Unnumbered<Event> = Event extends ResponseStreamEvent ? Omit<Event, "sequence_number"> : never;
type WithResponse = Extract<ResponseStreamEvent, { response: unknown; sequence_number: number }>;
/** An event before it is numbered. */
type Event =
  | Unnumbered<Exclude<ResponseStreamEvent, WithResponse>>
  | { readonly type: WithResponse["type"]; readonly response: SentResponse };

type Of<Kind extends StreamedItem["kind"]> = Extract<StreamedItem, { kind: Kind }>;

export class ResponsesWriter {
  readonly #request: ResponsesRequest;
  readonly #instruction: Instruction;
  readonly #answer: Answer;
  readonly #events: StreamEvent[] = [];
  #number = 0;

  constructor(request: ResponsesRequest, instruction: Instruction, answer: Answer) {
    this.#request = request;
    this.#instruction = instruction;
    this.#answer = answer;
  }

  write(): StreamEvent[] {
    const response = startedResponse(this.#request, this.#answer, this.#instruction);
    this.#push({ type: "response.created", response });
    this.#push({ type: "response.in_progress", response });
    const tokens = this.#answer.choices[0]?.tokens ?? [];
    const reasoning = tokens.filter(({ kind }) => kind === "reasoning").length;
    const { total_bytes: totalBytes } = this.#instruction;
    if (totalBytes !== undefined) {
      const { message, times } = this.#bulkMessage(totalBytes);
      this.#writeMessage(message, 0, times);
      this.#writeEnd([message], times, 0);
    } else {
      const items = itemsOf(this.#request, this.#instruction, this.#answer);
      items.forEach((item, index) => {
        this.#writeItem(item, index);
      });
      this.#writeEnd(items, tokens.length, reasoning);
    }
    return this.#events;
  }

  #writeItem(item: StreamedItem, index: number): void {
    if (item.kind === "reasoning") this.#writeReasoning(item, index);
    else if (item.kind === "message") this.#writeMessage(item, index, 1);
    else if (item.kind === "tool") this.#writeTool(item, index);
    else this.#writeCall(item, index);
  }

  #writeTool({ item }: Of<"tool">, index: number): void {
    const open = { ...item, status: "in_progress" } as typeof item;
    this.#push({ type: "response.output_item.added", output_index: index, item: open });
    this.#push({ type: "response.output_item.done", output_index: index, item });
  }

  #writeReasoning({ item, pieces }: Of<"reasoning">, index: number): void {
    const at = { item_id: item.id, output_index: index, summary_index: 0 };
    const { encrypted_content: _, ...open } = item;
    this.#push({
      type: "response.output_item.added",
      output_index: index,
      item: { ...open, summary: [] },
    });
    const text = pieces.join("");
    if (text !== "") {
      const part = { type: "summary_text", text: "" } as const;
      this.#push({ type: "response.reasoning_summary_part.added", ...at, part });
      for (const delta of pieces) this.#push({ type: "response.reasoning_summary_text.delta", ...at, delta });
      this.#push({ type: "response.reasoning_summary_text.done", ...at, text });
      this.#push({ type: "response.reasoning_summary_part.done", ...at, part: { ...part, text } });
    }
    this.#push({ type: "response.output_item.done", output_index: index, item });
  }

  /** `times`: how often each piece is sent. */
  #writeMessage({ item, part, pieces }: Of<"message">, index: number, times: number): void {
    const at = { item_id: item.id, output_index: index, content_index: 0 };
    this.#push({
      type: "response.output_item.added",
      output_index: index,
      item: { ...item, status: "in_progress", content: [] },
    });
    if (part.type === "refusal") {
      this.#push({ type: "response.content_part.added", ...at, part: { ...part, refusal: "" } });
      for (const delta of pieces) this.#push({ type: "response.refusal.delta", ...at, delta }, times);
      this.#push({ type: "response.refusal.done", ...at, refusal: part.refusal });
    } else {
      this.#push({ type: "response.content_part.added", ...at, part: { ...part, text: "", logprobs: [] } });
      for (const delta of pieces) this.#push(this.#textDelta(at, delta), times);
      const { text, logprobs = [] } = part;
      this.#push({ type: "response.output_text.done", ...at, text, logprobs });
    }
    this.#push({ type: "response.content_part.done", ...at, part });
    this.#push({ type: "response.output_item.done", output_index: index, item });
  }

  #textDelta(at: { item_id: string; output_index: number; content_index: number }, delta: string) {
    const logprobs = this.#request.logprobs ? [logprobOf(delta)] : [];
    return { type: "response.output_text.delta", ...at, delta, logprobs } as const;
  }

  #writeCall({ item, pieces }: Of<"call">, index: number): void {
    const at = { item_id: item.id, output_index: index };
    this.#push({
      type: "response.output_item.added",
      output_index: index,
      item: { ...item, status: "in_progress", arguments: "" },
    });
    for (const delta of pieces) this.#push({ type: "response.function_call_arguments.delta", ...at, delta });
    const { arguments: whole } = item;
    this.#push({ type: "response.function_call_arguments.done", ...at, arguments: whole });
    this.#push({ type: "response.output_item.done", output_index: index, item });
  }

  /**
   * A message of equal deltas of that total size. They share one number, being one event sent repeatedly; later events
   * omit the text, which would multiply the requested bytes.
   */
  #bulkMessage(totalBytes: number): { message: Of<"message">; times: number } {
    const part = {
      type: "output_text",
      text: "",
      annotations: [],
      logprobs: [],
    } satisfies Of<"message">["part"];
    const item: Of<"message">["item"] = {
      id: `msg_${this.#answer.digest}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [part],
    };
    const bare = this.#textDelta({ item_id: item.id, output_index: 0, content_index: 0 }, "");
    // Created, in progress, item added and part added come before the first delta.
    const data = JSON.stringify({ ...bare, sequence_number: 4 });
    const frame = sseFrame({ name: bare.type, data }, this.#instruction);
    const { text, times } = bulk(totalBytes, this.#instruction, frame.length);
    return { message: { kind: "message", item, part, pieces: [text] }, times };
  }

  #writeEnd(items: readonly StreamedItem[], tokens: number, reasoning: number): void {
    const usage = usageOf(this.#request, this.#instruction, { tokens, reasoning });
    const output = items.map(({ item }) => item);
    const response = endedResponse(this.#request, this.#answer, output, usage, this.#instruction);
    const type = response.status === "incomplete" ? "response.incomplete" : "response.completed";
    this.#push({ type, response }, 1, this.#instruction.usage === "split");
  }

  #push(event: Event, times = 1, late = false): void {
    const numbered = JSON.stringify({ ...event, sequence_number: this.#number++ });
    const data = padded(numbered, sseFrameBytes(this.#instruction, event.type), this.#instruction);
    this.#events.push({ name: event.type, data, times, ...(late ? { late: true } : {}) });
  }
}
