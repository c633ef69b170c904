/**
 * A streamed response in neutral events (OpenAI API reference, "Responses: streaming events"). Items and contents become
 * neutral parts in the order in which they begin; an upstream that leaves out some of the events that frame them is
 * understood all the same.
 */
import type { FrameKeys } from "../delta-frame.ts";
import { fragmentOf } from "../fragment.ts";
import { readLogprobs } from "../logprobs.ts";
import {
  type EventTap,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  SseStreamReader,
  stringOf,
} from "../reader.ts";
import { readErrorValue } from "../upstream-error.ts";
import { citationOf, errorOf, isCall, stopOf } from "./answer.ts";
import { sealOfItem } from "./reasoning-seal.ts";
import { readResponsesUsage } from "./usage.ts";

/** Items and contents beyond these are passed over: no answer has so many. */
const MAX_ITEMS = 4096;
const MAX_CONTENTS = 512;

const FRAME_KEYS: FrameKeys = { growing: ["delta"], unread: ["sequence_number", "obfuscation"] };

type TextKind = "text" | "refusal" | "reasoning";

interface OpenPart {
  readonly part: number;
  isOpen: boolean;
  /** Some of its text came. */
  hasText: boolean;
}

interface OpenItem {
  readonly isReasoning: boolean;
  /** Summaries stand before contents. */
  readonly summaries: (OpenPart | undefined)[];
  readonly contents: (OpenPart | undefined)[];
  call: OpenPart | undefined;
  isDone: boolean;
  /** The last reasoning part, open until the next begins: the seal comes with the item's end. */
  last: OpenPart | undefined;
}

export class ResponsesStreamReader extends SseStreamReader {
  readonly #items: (OpenItem | undefined)[] = [];
  #parts = 0;
  #hasCalls = false;
  #hasRefusal = false;
  /** The response has ended. */
  #ended = false;

  constructor(maxEventBytes: number, tap?: EventTap) {
    super(maxEventBytes, FRAME_KEYS, tap);
  }

  get complete(): boolean {
    return this.#ended;
  }

  protected take(event: JsonObject, name: string): void {
    const type = stringOf(event.type) || name;
    switch (type) {
      case "response.output_text.delta":
        this.#delta(event, "text", event.delta);
        break;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        this.#argument(event, event.delta);
        break;
      case "response.reasoning_summary_text.delta":
        this.#delta(event, "reasoning", event.delta, true);
        break;
      case "response.reasoning_text.delta":
        this.#delta(event, "reasoning", event.delta);
        break;
      case "response.refusal.delta":
        this.#delta(event, "refusal", event.delta);
        break;
      default:
        this.#takeRare(type, event);
    }
  }

  #takeRare(type: string, event: JsonObject): void {
    switch (type) {
      case "response.output_item.added":
        this.#added(event);
        break;
      case "response.output_item.done":
        this.#itemDone(indexOf(event.output_index, MAX_ITEMS), objectOf(event.item));
        break;
      case "response.content_part.added":
        this.#partOf(event, kindOf(objectOf(event.part).type), false);
        break;
      case "response.reasoning_summary_part.added":
        this.#partOf(event, "reasoning", true);
        break;
      case "response.content_part.done":
        this.#contentDone(event);
        break;
      case "response.output_text.annotation.added":
        this.#annotation(event);
        break;
      case "response.completed":
      case "response.incomplete":
        // One that holds no response has not told how it ended.
        if (isObject(event.response)) this.#finish(event.response, type);
        else this.malformed++;
        break;
      case "response.failed":
        this.error = errorOf(objectOf(event.response)) ?? readErrorValue(undefined);
        break;
      case "error":
        // OpenAI's has code and message beside the type, others nest them.
        this.error = readErrorValue(event.error ?? event);
        break;
      default:
        // An error of a server that names none of its events.
        if (type === "" && event.error != null) this.error = readErrorValue(event.error);
    }
  }

  #item(index: number | undefined, isReasoning: boolean): OpenItem | undefined {
    if (index === undefined) return undefined;
    let item = this.#items[index];
    if (item === undefined) {
      item = { isReasoning, summaries: [], contents: [], call: undefined, isDone: false, last: undefined };
      this.#items[index] = item;
    }
    return item.isDone ? undefined : item;
  }

  #added(event: JsonObject): void {
    const index = indexOf(event.output_index, MAX_ITEMS);
    const item = objectOf(event.item);
    const open = this.#item(index, item.type === "reasoning");
    if (open !== undefined && isCall(item)) this.#beginCall(open, item);
  }

  #beginCall(open: OpenItem, item: JsonObject): void {
    if (open.call !== undefined) return;
    const call = { part: this.#parts++, isOpen: true, hasText: false };
    open.call = call;
    this.#hasCalls = true;
    const id = stringOf(item.call_id) || stringOf(item.id);
    this.emit({
      type: "begin",
      choice: 0,
      part: call.part,
      kind: "tool_call",
      id,
      name: stringOf(item.name),
    });
  }

  /** The part that an event belongs to; it begins here where nothing announced it. */
  #partOf(event: JsonObject, kind: TextKind | undefined, isSummary: boolean): OpenPart | undefined {
    if (kind === undefined) return undefined;
    const open = this.#item(indexOf(event.output_index, MAX_ITEMS), kind === "reasoning");
    const index = indexOf(isSummary ? event.summary_index : event.content_index, MAX_CONTENTS);
    if (open === undefined || index === undefined) return undefined;
    const list = isSummary ? open.summaries : open.contents;
    let part = list[index];
    if (part === undefined) {
      part = this.#begin(open, kind, isSummary, false);
      list[index] = part;
    }
    return part.isOpen ? part : undefined;
  }

  #begin(open: OpenItem, kind: TextKind, isSummary: boolean, isRedacted: boolean): OpenPart {
    if (kind === "refusal") this.#hasRefusal = true;
    const begun: OpenPart = { part: this.#parts++, isOpen: true, hasText: false };
    if (kind === "reasoning") {
      if (open.last !== undefined) this.#end(open.last);
      open.last = begun;
    }
    this.emit({
      type: "begin",
      choice: 0,
      part: begun.part,
      kind,
      ...(isSummary && { isSummary }),
      ...(isRedacted && { isRedacted }),
    });
    return begun;
  }

  #delta(event: JsonObject, kind: TextKind, text: unknown, isSummary = false): void {
    const part = this.#partOf(event, kind, isSummary);
    if (part === undefined || typeof text !== "string" || text === "") return;
    const logprobs =
      kind === "text" && event.logprobs !== undefined ? readLogprobs(event.logprobs) : undefined;
    if (logprobs !== undefined) {
      part.hasText = true;
      this.emit({ type: "delta", choice: 0, part: part.part, text: fragmentOf(text), logprobs });
    } else this.#text(part, text);
  }

  #text(part: OpenPart, text: string): void {
    if (text === "") return;
    part.hasText = true;
    this.emit({ type: "delta", choice: 0, part: part.part, text: fragmentOf(text) });
  }

  #argument(event: JsonObject, text: unknown): void {
    const index = indexOf(event.output_index, MAX_ITEMS);
    const call = index === undefined ? undefined : this.#items[index]?.call;
    if (call?.isOpen === true && typeof text === "string") this.#text(call, text);
  }

  #annotation(event: JsonObject): void {
    const citation = citationOf(event.annotation);
    const part = citation && this.#partOf(event, "text", false);
    if (part !== undefined && citation !== undefined) {
      this.emit({ type: "citation", choice: 0, part: part.part, citation });
    }
  }

  #contentDone(event: JsonObject): void {
    const content = objectOf(event.part);
    const kind = kindOf(content.type);
    const part = this.#partOf(event, kind, false);
    if (part === undefined) return;
    this.#missed(part, kind === "refusal" ? content.refusal : content.text);
    if (kind !== "reasoning") this.#end(part);
  }

  /** The text of a part of which no delta came. */
  #missed(part: OpenPart, text: unknown): void {
    if (!part.hasText && typeof text === "string") this.#text(part, text);
  }

  #end(part: OpenPart): void {
    if (!part.isOpen) return;
    part.isOpen = false;
    this.emit({ type: "end", choice: 0, part: part.part });
  }

  #itemDone(index: number | undefined, item: JsonObject): void {
    const open = this.#item(index, item.type === "reasoning");
    if (open === undefined) return;
    if (isCall(item)) {
      this.#beginCall(open, item);
      if (open.call !== undefined) this.#missed(open.call, item.arguments ?? item.input);
    }
    for (const [at, value] of listOf(item.summary).entries()) {
      this.#whole({ output_index: index, summary_index: at }, objectOf(value), "reasoning", true);
    }
    for (const [at, value] of listOf(item.content).entries()) {
      const content = objectOf(value);
      this.#whole({ output_index: index, content_index: at }, content, kindOf(content.type), false);
    }
    const data = stringOf(item.encrypted_content);
    if (item.type === "reasoning" && data !== "") {
      const { part } = open.last ?? this.#begin(open, "reasoning", false, true);
      this.emit({ type: "seal", choice: 0, part, seal: sealOfItem(stringOf(item.id), data) });
    }
    this.#close(open);
  }

  /** One content of a finished item, as far as its own events did not tell it. */
  #whole(place: JsonObject, content: JsonObject, kind: TextKind | undefined, isSummary: boolean): void {
    const part = this.#partOf(place, kind, isSummary);
    if (part === undefined) return;
    if (kind === "text" && !part.hasText) this.#wholeText(part.part, content);
    this.#missed(part, kind === "refusal" ? content.refusal : content.text);
  }

  /** What stands beside a text of which no event told. */
  #wholeText(part: number, content: JsonObject): void {
    for (const annotation of listOf(content.annotations)) {
      const citation = citationOf(annotation);
      if (citation !== undefined) this.emit({ type: "citation", choice: 0, part, citation });
    }
  }

  #close(open: OpenItem): void {
    for (const part of open.summaries) if (part !== undefined) this.#end(part);
    for (const part of open.contents) if (part !== undefined) this.#end(part);
    if (open.call !== undefined) this.#end(open.call);
    if (open.last !== undefined) this.#end(open.last);
    open.isDone = true;
  }

  #finish(response: JsonObject, type: string): void {
    const failed = type === "response.completed" ? errorOf(response) : undefined;
    if (failed !== undefined) {
      this.error = failed;
      return;
    }
    // Whatever was not told in events of its own: some servers send the last one only.
    for (const [index, item] of listOf(response.output).entries()) {
      if (index < MAX_ITEMS) this.#itemDone(index, objectOf(item));
    }
    for (const open of this.#items) if (open !== undefined && !open.isDone) this.#close(open);
    const usage = readResponsesUsage(response.usage);
    if (usage !== undefined) this.emit({ type: "usage", usage });
    const ended = type === "response.incomplete" ? { ...response, status: "incomplete" } : response;
    const held = { calls: this.#hasCalls, refusal: this.#hasRefusal };
    this.emit({ type: "stop", choice: 0, stop: stopOf(ended, held) });
    this.#ended = this.done = true;
  }
}

const indexOf = (value: unknown, bound: number): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < bound ? value : undefined;

function kindOf(type: unknown): TextKind | undefined {
  if (type === "output_text") return "text";
  if (type === "refusal") return "refusal";
  return type === "reasoning_text" ? "reasoning" : undefined;
}
