/**
 * A ConverseStream answer (Amazon Bedrock API Reference, "ConverseStream", response): blocks begin, grow and stop by their
 * index; texts begin with their first delta. `metadata` is the last event. Exceptions come as frames of their own.
 */

import { converseReport } from "../extras/reports.ts";
import { utf8Of } from "../json/json.ts";
import type { Report } from "../neutral/asked-extras.ts";
import type { UpstreamError } from "../neutral/contract.ts";
import { fragmentOf } from "../neutral/fragment.ts";
import {
  type Emit,
  isObject,
  type JsonObject,
  objectOf,
  parsed,
  type StreamReader,
  stringOf,
} from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { MESSAGE_LIMIT } from "../neutral/upstream-errors/said.ts";
import { nothingMade } from "../neutral/upstream-errors/unusable.ts";
import { readCitation } from "./citations.ts";
import { EventStreamDecoder, type FrameHeaders } from "./event-stream.ts";
import { OpenImages } from "./images.ts";
import { readStop, unusableReason } from "./stop.ts";
import { readConverseUsage } from "./usage.ts";

interface Block {
  readonly part: number;
  readonly kind: "text" | "reasoning" | "tool_call";
  /** Nothing has come of a call's arguments. */
  isEmpty: boolean;
  /** It may come in pieces. */
  signature: string;
}

/** More blocks than any answer has open at a time. */
const MAX_OPEN = 1000;

export class ConverseStreamReader implements StreamReader {
  done = false;
  complete = false;
  error: UpstreamError | undefined;
  malformed = 0;
  report: Report | undefined;
  readonly #frames: EventStreamDecoder;
  /** Those that are open, by their index. */
  readonly #blocks = new Map<number, Block>();
  readonly #images: OpenImages;
  #parts = 0;
  #calls = 0;
  /** The error that the answer is, told once its usage has come. */
  #unusable: UpstreamError | undefined;
  #emit: Emit = () => {};
  readonly #each = (headers: FrameHeaders, payload: string) => this.#frame(headers, payload);

  constructor(maxEventBytes: number) {
    this.#frames = new EventStreamDecoder(maxEventBytes);
    this.#images = new OpenImages(maxEventBytes);
  }

  push(read: string, emit: Emit): void {
    if (this.done || this.error !== undefined) return;
    this.#emit = emit;
    this.#frames.push(read, this.#each);
  }

  read(bytes: Buffer, start: number, end: number, emit: Emit): void {
    this.push(bytes.toString("latin1", start, end), emit);
  }

  /** A frame that was cut cannot be read. */
  end(_: Emit): void {
    this.error ??= this.#unusable;
    if (!this.done && this.error === undefined && this.#frames.pendingBytes > 0) this.malformed++;
  }

  #frame(headers: FrameHeaders, payload: string): void {
    if (this.done || this.error !== undefined) return;
    const value = parsed(payload);
    const type = headers[":message-type"];
    if (type === "exception" || type === "error") {
      this.error = exceptionOf(headers, value ?? utf8Of(payload));
    } else if (value === undefined) {
      this.malformed++;
    } else {
      this.#take(headers[":event-type"], value);
    }
  }

  #take(type: string | undefined, event: JsonObject): void {
    switch (type) {
      case "contentBlockDelta":
        if (!this.complete) this.#delta(event.contentBlockIndex, objectOf(event.delta));
        return;
      case "contentBlockStart":
        if (!this.complete) this.#start(event.contentBlockIndex, objectOf(event.start));
        return;
      case "contentBlockStop":
        if (typeof event.contentBlockIndex === "number") this.#close(event.contentBlockIndex);
        return;
      case "messageStop":
        this.#stop(event.stopReason);
        return;
      case "metadata": {
        this.report = converseReport(event);
        const usage = readConverseUsage(event.usage);
        if (usage !== undefined) this.#emit({ type: "usage", usage });
        this.error = this.#unusable;
        this.done = this.complete;
      }
    }
  }

  /** The starts of a call and of an image have content. */
  #start(index: unknown, { toolUse, image }: JsonObject): void {
    if (typeof index !== "number") return;
    if (isObject(image)) this.#images.begin(index, image);
    const { toolUseId, name } = objectOf(toolUse);
    if (stringOf(name) === "") return;
    this.#close(index);
    const block = this.#open(index, "tool_call");
    if (block === undefined) return;
    this.#calls++;
    const { part } = block;
    this.#emit({
      type: "begin",
      choice: 0,
      part,
      kind: "tool_call",
      id: stringOf(toolUseId),
      name: stringOf(name),
    });
  }

  #delta(index: unknown, delta: JsonObject): void {
    if (typeof index !== "number") return;
    if (typeof delta.text === "string") {
      this.#text(index, "text", delta.text);
    } else if (isObject(delta.toolUse)) {
      const block = this.#blocks.get(index);
      if (block?.kind === "tool_call") this.#grow(block, stringOf(delta.toolUse.input));
    } else if (isObject(delta.reasoningContent)) {
      this.#reasoning(index, delta.reasoningContent);
    } else if (isObject(delta.image)) {
      this.#images.grow(index, delta.image);
    } else if (isObject(delta.citation)) {
      const block = this.#blocks.get(index);
      const citation = readCitation(delta.citation);
      if (block?.kind !== "text" || citation === undefined) return;
      this.#emit({ type: "citation", choice: 0, part: block.part, citation });
    }
  }

  #reasoning(index: number, { text, signature, redactedContent }: JsonObject): void {
    if (typeof text === "string") this.#text(index, "reasoning", text);
    if (stringOf(signature) !== "") {
      const block = this.#begun(index, "reasoning");
      if (block !== undefined) block.signature += stringOf(signature);
    }
    if (stringOf(redactedContent) === "") return;
    const block = this.#begun(index, "reasoning", true);
    if (block !== undefined) block.signature += stringOf(redactedContent);
  }

  #text(index: number, kind: "text" | "reasoning", text: string): void {
    if (text === "") return;
    const block = this.#begun(index, kind);
    if (block !== undefined) this.#grow(block, text);
  }

  #grow(block: Block, text: string): void {
    if (text === "") return;
    block.isEmpty = false;
    this.#emit({ type: "delta", choice: 0, part: block.part, text: fragmentOf(text) });
  }

  /** The open block of the kind at an index; undefined where a block of another kind is open there. */
  #begun(index: number, kind: "text" | "reasoning", isRedacted?: true): Block | undefined {
    const open = this.#blocks.get(index);
    if (open !== undefined) return open.kind === kind ? open : undefined;
    const block = this.#open(index, kind);
    if (block === undefined) return undefined;
    const { part } = block;
    if (isRedacted === true) this.#emit({ type: "begin", choice: 0, part, kind, isRedacted });
    else this.#emit({ type: "begin", choice: 0, part, kind });
    return block;
  }

  #open(index: number, kind: Block["kind"]): Block | undefined {
    if (this.#blocks.size >= MAX_OPEN) return undefined;
    const block: Block = { part: this.#parts++, kind, isEmpty: true, signature: "" };
    this.#blocks.set(index, block);
    return block;
  }

  #close(index: number): void {
    const media = this.#images.end(index);
    if (media !== undefined) this.#emit({ type: "media", choice: 0, part: this.#parts++, media });
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    const { part, kind, signature } = block;
    // A call without arguments has an empty object of them, as in a whole answer (T45).
    if (kind === "tool_call" && block.isEmpty) this.#grow(block, "{}");
    if (signature !== "") {
      this.#emit({ type: "seal", choice: 0, part, seal: { by: "anthropic", data: signature } });
    }
    this.#emit({ type: "end", choice: 0, part });
    this.#blocks.delete(index);
  }

  #stop(stopReason: unknown): void {
    if (this.complete) return;
    for (const index of [...this.#blocks.keys(), ...this.#images.indexes]) this.#close(index);
    this.complete = true;
    this.#unusable = unusableReason(stopReason);
    const reason = readStop(stopReason, this.#calls);
    if (this.#parts === 0) this.#unusable ??= nothingMade(reason, stringOf(stopReason));
    if (this.#unusable !== undefined) return;
    this.#emit({ type: "stop", choice: 0, stop: { reason } });
  }
}

/** An exception's frame, whose payload may be text. That of a model's stream says in a member of its own what the model's server answered. */
function exceptionOf(headers: FrameHeaders, value: JsonObject | string): UpstreamError {
  const original = typeof value === "string" ? undefined : value.originalMessage;
  const read = readErrorValue(original || value);
  const { ":exception-type": type = "", ":error-code": code = "", ":error-message": message = "" } = headers;
  return { ...read, type, code, message: read.message || message.slice(0, MESSAGE_LIMIT) };
}
