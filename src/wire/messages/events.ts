/**
 * What the events of a messages stream mean (Anthropic API reference, "Streaming messages"). The spliced and the translated
 * stream both read by this, so that facts never depend on the way. Must stand any shape: what is not of the expected type
 * is passed over. The frequent event, a piece of text, is taken as it stands, without parsing.
 */
import type { UpstreamError } from "../contract.ts";
import { fragmentOf } from "../fragment.ts";
import { utf8Of } from "../json.ts";
import { copied } from "../latin1.ts";
import type { PartKind } from "../neutral.ts";
import { type Emit, isObject, type JsonObject, objectOf, stringOf } from "../reader.ts";
import { readErrorValue } from "../upstream-error.ts";
import { readCitation } from "./citations.ts";
import { sealOf, UNSIGNED } from "./seals.ts";
import { readStop } from "./stop.ts";
import { MessagesUsage } from "./usage.ts";

/** Block indexes beyond this are passed over: no answer has so many. */
const MAX_BLOCKS = 4096;

/** Longer events are parsed: the pattern looks at them character by character. */
const MAX_PLAIN = 4096;

/** A delta around one string, as Anthropic writes it, white space before the last braces included. */
const PLAIN_DELTA =
  /^\{"type":"content_block_delta","index":(\d{1,4}),"delta":\{"type":"(?:(text_delta","text)|(thinking_delta","thinking)|input_json_delta","partial_json)":"((?:[ !#-[\]-\xff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*)"\s*\}\s*\}\s*$/;

interface Block {
  readonly part: number;
  readonly kind: PartKind;
  /** Of a tool call: what its first event gave, which counts where no pieces follow. */
  input: string;
  isOpen: boolean;
}

export class MessagesEvents {
  /** `message_stop` came; nothing after it counts. */
  done = false;
  /** An error event; what follows it is not read. */
  error: UpstreamError | undefined;
  /** Events that could not be read. */
  malformed = 0;
  /** `message_delta` told why the answer ended. */
  stopped = false;
  readonly #usage = new MessagesUsage();
  /** By the upstream's index; blocks that have no neutral form leave a gap. */
  readonly #blocks: (Block | undefined)[] = [];
  #parts = 0;

  /** The answer is whole, whether or not the upstream said its last word. */
  get complete(): boolean {
    return this.done || this.stopped;
  }

  /**
   * One event. Returns its type, "" where it could not be read.
   * @param data latin1 text.
   */
  take(data: string, name: string, emit: Emit): string {
    if (this.#takePlain(data, emit)) return "content_block_delta";
    let event: unknown;
    try {
      event = JSON.parse(utf8Of(data));
    } catch {
      event = undefined;
    }
    if (!isObject(event)) {
      this.malformed++;
      return "";
    }
    const type = stringOf(event.type) || name;
    this.#read(type, event, emit);
    return type;
  }

  #takePlain(data: string, emit: Emit): boolean {
    if (data.length > MAX_PLAIN) return false;
    const match = PLAIN_DELTA.exec(data);
    if (match === null) return false;
    const block = this.#blocks[Number(match[1])];
    const kind: PartKind = match[2] ? "text" : match[3] ? "reasoning" : "tool_call";
    if (block === undefined || !block.isOpen || block.kind !== kind) return false;
    const text = match[4] as string;
    if (text !== "") {
      block.input = "";
      // On memory of its own: a slice keeps all of the read alive for as long as it waits for a slow client.
      emit({ type: "delta", choice: 0, part: block.part, text: copied(text) });
    }
    return true;
  }

  #read(type: string, event: JsonObject, emit: Emit): void {
    switch (type) {
      case "message_start":
        this.#report(objectOf(event.message).usage, emit);
        break;
      case "content_block_start":
        this.#begin(event.index, objectOf(event.content_block), emit);
        break;
      case "content_block_delta":
        this.#delta(event.index, objectOf(event.delta), emit);
        break;
      case "content_block_stop":
        this.#end(this.#blockAt(event.index), emit);
        break;
      case "message_delta": {
        this.#report(event.usage, emit);
        const { stop_reason: reason, stop_sequence: sequence } = objectOf(event.delta);
        if (typeof reason === "string" && reason !== "") this.#stop(reason, sequence, emit);
        break;
      }
      case "message_stop":
        this.#endAll(emit);
        this.done = true;
        break;
      case "error":
        this.error = readErrorValue(event.error);
        break;
      default:
        break;
    }
  }

  #report(value: unknown, emit: Emit): void {
    this.#usage.take(value);
    const { usage } = this.#usage;
    if (usage !== undefined && isObject(value)) emit({ type: "usage", usage });
  }

  #begin(index: unknown, block: JsonObject, emit: Emit): void {
    if (!isPlace(index) || this.#blocks[index] !== undefined) return;
    switch (block.type) {
      case "text":
        this.#text(this.#open(index, "text", emit), block.text, emit);
        this.#citations(index, block.citations, emit);
        break;
      case "thinking":
        this.#text(this.#open(index, "reasoning", emit), block.thinking, emit);
        this.#seal(index, block.signature, emit);
        break;
      case "redacted_thinking":
        this.#open(index, "reasoning", emit, true);
        this.#seal(index, block.data, emit);
        break;
      case "tool_use": {
        const part = this.#parts++;
        const input = isObject(block.input) ? JSON.stringify(block.input) : "{}";
        this.#blocks[index] = { part, kind: "tool_call", input, isOpen: true };
        const id = stringOf(block.id);
        emit({ type: "begin", choice: 0, part, kind: "tool_call", id, name: stringOf(block.name) });
        break;
      }
      default:
        // What a server tool does has no neutral form.
        break;
    }
  }

  #open(index: number, kind: "text" | "reasoning", emit: Emit, isRedacted = false): Block {
    const part = this.#parts++;
    const block: Block = { part, kind, input: "", isOpen: true };
    this.#blocks[index] = block;
    emit({ type: "begin", choice: 0, part, kind, ...(isRedacted && { isRedacted }) });
    return block;
  }

  #delta(index: unknown, delta: JsonObject, emit: Emit): void {
    const block = this.#blockAt(index);
    if (block === undefined || !block.isOpen) return;
    switch (delta.type) {
      case "text_delta":
        if (block.kind === "text") this.#text(block, delta.text, emit);
        break;
      case "thinking_delta":
        if (block.kind === "reasoning") this.#text(block, delta.thinking, emit);
        break;
      case "input_json_delta":
        if (block.kind === "tool_call") this.#text(block, delta.partial_json, emit);
        break;
      case "signature_delta":
        this.#seal(index, delta.signature, emit);
        break;
      case "citations_delta":
        this.#citations(index, [delta.citation], emit);
        break;
      default:
        break;
    }
  }

  #text(block: Block, text: unknown, emit: Emit): void {
    if (typeof text !== "string" || text === "") return;
    block.input = "";
    emit({ type: "delta", choice: 0, part: block.part, text: fragmentOf(text) });
  }

  #seal(index: unknown, data: unknown, emit: Emit): void {
    const block = this.#blockAt(index);
    if (block?.kind !== "reasoning" || typeof data !== "string" || data === "" || data === UNSIGNED) return;
    emit({ type: "seal", choice: 0, part: block.part, seal: sealOf(data) });
  }

  #citations(index: unknown, list: unknown, emit: Emit): void {
    const block = this.#blockAt(index);
    if (block?.kind !== "text" || !Array.isArray(list)) return;
    for (const value of list) {
      const citation = readCitation(value);
      if (citation !== undefined) emit({ type: "citation", choice: 0, part: block.part, citation });
    }
  }

  #end(block: Block | undefined, emit: Emit): void {
    if (block === undefined || !block.isOpen) return;
    if (block.input !== "") this.#text(block, block.input, emit);
    block.isOpen = false;
    emit({ type: "end", choice: 0, part: block.part });
  }

  #endAll(emit: Emit): void {
    for (const block of this.#blocks) this.#end(block, emit);
  }

  #stop(reason: string, sequence: unknown, emit: Emit): void {
    if (this.stopped) return;
    this.#endAll(emit);
    this.stopped = true;
    emit({ type: "stop", choice: 0, stop: readStop(reason, sequence) });
  }

  #blockAt(index: unknown): Block | undefined {
    return isPlace(index) ? this.#blocks[index] : undefined;
  }
}

const isPlace = (index: unknown): index is number =>
  typeof index === "number" && Number.isInteger(index) && index >= 0 && index < MAX_BLOCKS;
