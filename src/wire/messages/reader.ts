/**
 * Reads a messages stream into neutral events (Anthropic API reference, "Streaming messages"). Spliced and translated
 * streams both use it, so facts do not depend on the way. Accepts any shape: what is not of the expected type is ignored.
 */

import {
  messagesTiers,
  messagesTool,
  NO_TIERS,
  reportOf,
  tellMessagesUses,
  Uses,
} from "../extras/reports.ts";
import { type OpaquePaths, opaquePaths } from "../json/opaque.ts";
import type { Report, TierNames } from "../neutral/asked-extras.ts";
import { fragmentOf } from "../neutral/fragment.ts";
import { frameKeys } from "../neutral/frames/delta-frames.ts";
import type { PartKind } from "../neutral/neutral.ts";
import { WHOLE_EVENT } from "../neutral/odd-events/whole-event.ts";
import {
  type EventTap,
  isObject,
  type JsonObject,
  objectOf,
  SseStreamReader,
  stringOf,
} from "../neutral/reader.ts";
import { argumentsText } from "../neutral/tool-arguments.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { nothingMade } from "../neutral/upstream-errors/unusable.ts";
import { readCitation } from "./citations.ts";
import { isErrorEvent } from "./read-reply.ts";
import { sealOf, UNSIGNED } from "./seals.ts";
import { readStop } from "./stop.ts";
import { MessagesUsage } from "./usage.ts";

/** Larger block indexes are ignored: no answer has so many blocks. */
const MAX_BLOCKS = 4096;

const FRAME_KEYS = frameKeys(["text", "thinking", "partial_json"], []);

interface Block {
  readonly part: number;
  readonly kind: PartKind;
  /** The input of a tool call in its first event, which counts if no pieces follow. */
  input: string;
  isOpen: boolean;
}

const CARRIES = opaquePaths([["content_block", "input"]]);

export class MessagesStreamReader extends SseStreamReader {
  /** `message_delta` came with a stop reason. */
  stopped = false;
  readonly #usage = new MessagesUsage();
  readonly #uses = new Uses();
  #tiers: TierNames = NO_TIERS;
  /** By the upstream's index; blocks without a neutral form leave a gap. */
  readonly #blocks: (Block | undefined)[] = [];
  #parts = 0;
  /** `message_stop` came. */
  #ended = false;

  constructor(maxEventBytes: number, tap?: EventTap) {
    super(maxEventBytes, FRAME_KEYS, tap);
  }

  protected override get carries(): OpaquePaths {
    return CARRIES;
  }

  /** True with or without `message_stop`. */
  get complete(): boolean {
    return this.#ended || this.stopped;
  }

  protected take(event: JsonObject, name: string): void {
    switch (stringOf(event.type) || name) {
      case "message_start":
        this.#report(objectOf(event.message).usage);
        break;
      case "content_block_start":
        this.#begin(event.index, objectOf(event.content_block));
        break;
      case "content_block_delta":
        this.#delta(event.index, objectOf(event.delta));
        break;
      case "content_block_stop":
        this.#end(this.#blockAt(event.index));
        break;
      case "message_delta": {
        this.#report(event.usage);
        const { stop_reason: reason, stop_sequence: sequence } = objectOf(event.delta);
        if (typeof reason === "string" && reason !== "") this.#stop(reason, sequence);
        break;
      }
      case "message_stop":
        // The stream gave no stop reason, and writers wait for one.
        if (!this.stopped) this.#stop("", undefined);
        this.#ended = this.done = true;
        break;
      case "error":
        this.error = readErrorValue(event);
        break;
      case "message":
        if (this.#blocks.length === 0) this.error = WHOLE_EVENT;
        break;
      case "ping":
        break;
      default:
        // Servers that name no event, or have types of their own.
        if (isErrorEvent(event, name)) this.error = readErrorValue(event);
    }
  }

  get report(): Report | undefined {
    return reportOf(this.#tiers, this.#uses);
  }

  get toolUses(): number {
    return this.#uses.total;
  }

  #report(value: unknown): void {
    if (!isObject(value)) return;
    this.#usage.take(value);
    this.#tiers = { ...this.#tiers, ...messagesTiers(value) };
    tellMessagesUses(value, this.#uses);
    const { usage } = this.#usage;
    if (usage !== undefined) this.emit({ type: "usage", usage });
  }

  #begin(index: unknown, block: JsonObject): void {
    if (this.stopped || !isPlace(index) || this.#blocks[index] !== undefined) return;
    switch (block.type) {
      case "text":
        this.#text(this.#open(index, "text"), block.text);
        this.#citations(index, block.citations);
        break;
      case "thinking":
        this.#text(this.#open(index, "reasoning"), block.thinking);
        this.#seal(index, block.signature);
        break;
      case "redacted_thinking":
        this.#open(index, "reasoning", true);
        this.#seal(index, block.data);
        break;
      case "tool_use": {
        const part = this.#parts++;
        const input = argumentsText(block.input);
        this.#blocks[index] = { part, kind: "tool_call", input, isOpen: true };
        const id = stringOf(block.id);
        this.emit({ type: "begin", choice: 0, part, kind: "tool_call", id, name: stringOf(block.name) });
        break;
      }
      default:
        // Blocks of server tools have no neutral form.
        this.#uses.see(messagesTool(block));
        break;
    }
  }

  #open(index: number, kind: "text" | "reasoning", isRedacted = false): Block {
    const part = this.#parts++;
    const block: Block = { part, kind, input: "", isOpen: true };
    this.#blocks[index] = block;
    this.emit({ type: "begin", choice: 0, part, kind, ...(isRedacted && { isRedacted }) });
    return block;
  }

  #delta(index: unknown, delta: JsonObject): void {
    const block = this.#blockAt(index);
    if (block === undefined || !block.isOpen) return;
    switch (delta.type) {
      case "text_delta":
        if (block.kind === "text") this.#text(block, delta.text);
        break;
      case "thinking_delta":
        if (block.kind === "reasoning") this.#text(block, delta.thinking);
        break;
      case "input_json_delta":
        if (block.kind === "tool_call") this.#text(block, delta.partial_json);
        break;
      case "signature_delta":
        this.#seal(index, delta.signature);
        break;
      case "citations_delta":
        this.#citations(index, [delta.citation]);
        break;
    }
  }

  #text(block: Block, text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    block.input = "";
    this.emit({ type: "delta", choice: 0, part: block.part, text: fragmentOf(text) });
  }

  #seal(index: unknown, data: unknown): void {
    const block = this.#blockAt(index);
    if (block?.kind !== "reasoning" || typeof data !== "string" || data === "" || data === UNSIGNED) return;
    this.emit({ type: "seal", choice: 0, part: block.part, seal: sealOf(data) });
  }

  #citations(index: unknown, list: unknown): void {
    const block = this.#blockAt(index);
    if (block?.kind !== "text" || !Array.isArray(list)) return;
    for (const value of list) {
      const citation = readCitation(value);
      if (citation !== undefined) this.emit({ type: "citation", choice: 0, part: block.part, citation });
    }
  }

  #end(block: Block | undefined): void {
    if (block === undefined || !block.isOpen) return;
    if (block.input !== "") this.#text(block, block.input);
    block.isOpen = false;
    this.emit({ type: "end", choice: 0, part: block.part });
  }

  #stop(reason: string, sequence: unknown): void {
    if (this.stopped) return;
    for (const block of this.#blocks) this.#end(block);
    this.stopped = true;
    const stop = readStop(reason, sequence);
    if (this.#parts === 0 && this.#uses.total === 0) this.error = nothingMade(stop.reason, reason);
    if (this.error === undefined) this.emit({ type: "stop", choice: 0, stop });
  }

  #blockAt(index: unknown): Block | undefined {
    return isPlace(index) ? this.#blocks[index] : undefined;
  }
}

const isPlace = (index: unknown): index is number =>
  typeof index === "number" && Number.isInteger(index) && index >= 0 && index < MAX_BLOCKS;
