/**
 * A streamed response in neutral events (OpenAI API reference, "Responses: streaming events"). Items and contents become
 * neutral parts in the order in which they begin; an upstream may leave out some of the events that frame
 * them.
 */
import { fragmentOf } from "../neutral/fragment.ts";
import { frameKeys } from "../neutral/frames/delta-frames.ts";
import { readLogprobs } from "../neutral/logprobs.ts";
import type { Citation, Fragment } from "../neutral/neutral.ts";
import { WHOLE_EVENT } from "../neutral/odd-events/whole-event.ts";
import { type EventTap, isObject, type JsonObject, listOf, objectOf, stringOf } from "../neutral/reader.ts";
import { readErrorValue } from "../neutral/upstream-error.ts";
import { readCitation } from "./citations.ts";
import {
  ARGUMENT_DELTAS,
  givenTo,
  ITEM_KINDS,
  isCustomCall,
  itemKindOf,
  itemOf,
  kindOf,
  MESSAGE_TEXTS,
  REASONING_TEXTS,
  TEXT_DELTAS,
  TEXTS_DONE,
  type TextKind,
} from "./kinds.ts";
import { isErrorEvent, nothingIn, readResponseError } from "./read-reply.ts";
import { sealOfItem } from "./seals.ts";
import { readStop } from "./stop.ts";
import { ImagedStream } from "./stream-images.ts";
import {
  mayBegin,
  newText,
  type OpenCall,
  type OpenItem,
  type OpenText,
  pairedTexts,
  placeIn,
  placesOf,
  StreamItems,
  textIndexOf,
  textToBegin,
  textToComplete,
  textToGrow,
} from "./stream-items.ts";
import { readResponsesUsage } from "./usage.ts";

const FRAME_KEYS = frameKeys(["delta"], ["sequence_number", "obfuscation"]);

export class ResponsesStreamReader extends ImagedStream {
  readonly #items: StreamItems;
  #parts = 0;
  #hasCalls = false;
  #hasRefusal = false;
  /** The response has ended. */
  #ended = false;

  constructor(maxEventBytes: number, tap?: EventTap) {
    super(maxEventBytes, FRAME_KEYS, tap);
    this.#items = new StreamItems(maxEventBytes);
  }

  get complete(): boolean {
    return this.#ended;
  }

  protected newPart(): number {
    return this.#parts++;
  }

  protected takeOther(event: JsonObject, name: string): void {
    const type = stringOf(event.type) || name;
    const kind = TEXT_DELTAS.get(type);
    if (kind !== undefined) this.#delta(event, kind);
    else if (ARGUMENT_DELTAS.includes(type)) this.#argument(event);
    else this.#takeRare(type, event, name);
  }

  #takeRare(type: string, event: JsonObject, name: string): void {
    switch (type) {
      case "response.output_item.added":
        this.#added(event);
        break;
      case "response.output_item.done":
        this.#itemDone(event);
        break;
      case "response.content_part.added":
        this.#partAdded(event, this.#kindOf(event));
        break;
      case "response.reasoning_summary_part.added":
        this.#partAdded(event, "summary");
        break;
      case "response.content_part.done":
        this.#contentDone(event, this.#kindOf(event));
        break;
      case "response.reasoning_summary_part.done":
        this.#contentDone(event, "summary");
        break;
      case "response.output_text.annotation.added":
        this.#annotation(event);
        break;
      case "response.completed":
      case "response.incomplete":
        // Without a response the event does not say how it ended.
        if (isObject(event.response)) this.#finish(event.response, type);
        else this.malformed++;
        break;
      case "response.failed":
      case "response.cancelled":
        this.error = readResponseError(objectOf(event.response)) ?? readErrorValue(event);
        break;
      case "error":
        // OpenAI's event has code and message beside the type; others nest them.
        this.error = readErrorValue(event);
        break;
      default:
        this.#takeWhole(type, event, name);
    }
  }

  /** Events with a whole text or whole arguments. */
  #takeWhole(type: string, event: JsonObject, name: string): void {
    const kind = TEXTS_DONE.get(type);
    if (kind !== undefined) this.#textDone(event, kind, kind === "refusal" ? event.refusal : event.text);
    else if (type === "response.function_call_arguments.done") this.#argumentsDone(event, event.arguments);
    else if (type === "response.custom_tool_call_input.done") this.#argumentsDone(event, event.input);
    else if (event.object === "response" && this.#parts === 0) this.error = WHOLE_EVENT;
    else if (isErrorEvent(event, type, name)) this.error = readErrorValue(event);
  }

  #added(event: JsonObject): void {
    const item = objectOf(event.item);
    const kind = itemKindOf(item);
    if (kind === undefined) return;
    const open = this.#items.begun(placeIn(event, item), kind);
    if (open !== undefined && kind === "call") this.#beginCall(open, item);
  }

  #beginCall(open: OpenItem, item: JsonObject): OpenCall {
    if (open.call !== undefined) return open.call;
    const call = { part: this.#parts++, isOpen: true, hasText: false };
    open.call = call;
    this.#hasCalls = true;
    const id = stringOf(item.call_id);
    const name = stringOf(item.name) || open.name;
    const begin = { type: "begin", choice: 0, part: call.part, kind: "tool_call", id, name } as const;
    this.emit(isCustomCall(item) ? { ...begin, tool: "custom" } : begin);
    if (open.early !== "") this.#piece(call, open.early);
    open.early = "";
    return call;
  }

  #delta(event: JsonObject, kind: TextKind): void {
    const { delta } = event;
    if (typeof delta !== "string" || delta === "") return;
    const open = this.#items.of(placeIn(event), itemOf(kind));
    if (open === undefined) return;
    const index = textIndexOf(kind === "summary" ? event.summary_index : event.content_index);
    const text = textToGrow(open, kind, index) ?? this.#begin(open, kind, index);
    if (text === undefined) return;
    const logprobs =
      kind === "text" && event.logprobs !== undefined ? readLogprobs(event.logprobs) : undefined;
    if (logprobs === undefined) this.#piece(text, fragmentOf(delta));
    else {
      text.hasText = true;
      this.emit({ type: "delta", choice: 0, part: text.part, text: fragmentOf(delta), logprobs });
    }
  }

  #argument(event: JsonObject): void {
    const { delta } = event;
    if (typeof delta !== "string" || delta === "") return;
    const open = this.#items.of(placeIn(event), "call");
    if (open === undefined) return;
    if (open.call === undefined) this.#items.keep(open, fragmentOf(delta));
    else if (open.call.isOpen) this.#piece(open.call, fragmentOf(delta));
  }

  #argumentsDone(event: JsonObject, value: unknown): void {
    const open = this.#items.itemOfWhole(placeIn(event), "call");
    if (open === undefined) return;
    open.name ||= stringOf(event.name);
    if (open.call !== undefined) this.#missed(open.call, value);
    else if (open.early === "") this.#items.keep(open, fragmentOf(stringOf(value)));
  }

  /** The kind of a content. vLLM gives contents of reasoning items the type of an answer's text. */
  #kindOf(event: JsonObject): TextKind | undefined {
    const kind = kindOf(objectOf(event.part).type);
    const item = this.#items.named(stringOf(event.item_id));
    return kind === "text" && item?.kind === "reasoning" ? "reasoning" : kind;
  }

  #partAdded(event: JsonObject, kind: TextKind | undefined): void {
    const open = kind && this.#items.of(placeIn(event), itemOf(kind));
    if (kind === undefined || open === undefined) return;
    const index = textIndexOf(kind === "summary" ? event.summary_index : event.content_index);
    const text = textToBegin(open, kind, index) ?? this.#begin(open, kind, index);
    if (text !== undefined) text.isAnnounced = true;
  }

  #textDone(event: JsonObject, kind: TextKind, value: unknown): void {
    const text = this.#textOfWhole(event, kind, value, ({ isWhole }) => !isWhole);
    if (text === undefined) return;
    text.isWhole = true;
    this.#missed(text, value);
  }

  #contentDone(event: JsonObject, kind: TextKind | undefined): void {
    if (kind === undefined) return;
    const content = objectOf(event.part);
    const value = kind === "refusal" ? content.refusal : content.text;
    const text = this.#textOfWhole(event, kind, value, ({ isEnded }) => !isEnded);
    if (text === undefined) return;
    text.isEnded = true;
    this.#cited(text, content);
    this.#missed(text, value);
    // The last part of reasoning stays open for the seal.
    if (kind === "text" || kind === "refusal") this.#end(text);
  }

  /** The text that an event contains as a whole. If no earlier event had it, it begins here, unless it is empty. */
  #textOfWhole(
    event: JsonObject,
    kind: TextKind,
    value: unknown,
    wants: (text: OpenText) => boolean,
  ): OpenText | undefined {
    const open = this.#items.itemOfWhole(placeIn(event), itemOf(kind));
    if (open === undefined) return undefined;
    const index = textIndexOf(kind === "summary" ? event.summary_index : event.content_index);
    const text = textToComplete(open, kind, index, wants);
    return text === undefined && stringOf(value) !== "" ? this.#begin(open, kind, index) : text;
  }

  #begin(
    open: OpenItem,
    kind: TextKind,
    index: number | undefined,
    isRedacted = false,
  ): OpenText | undefined {
    if (!mayBegin(open)) return undefined;
    if (kind === "refusal") this.#hasRefusal = true;
    const begun = newText(kind, index, this.#parts++);
    open.texts.push(begun);
    if (open.kind === "reasoning") {
      if (open.last !== undefined) this.#end(open.last);
      open.last = begun;
    }
    const { part } = begun;
    this.emit({
      type: "begin",
      choice: 0,
      part,
      kind: kind === "summary" ? "reasoning" : kind,
      ...(kind === "summary" && { isSummary: true }),
      ...(isRedacted && { isRedacted }),
    });
    return begun;
  }

  #piece(part: OpenText | OpenCall, text: Fragment): void {
    part.hasText = true;
    this.emit({ type: "delta", choice: 0, part: part.part, text });
  }

  /** The whole text of a part whose deltas did not come. */
  #missed(part: OpenText | OpenCall, value: unknown): void {
    const text = stringOf(value);
    if (part.isOpen && !part.hasText && text !== "") this.#piece(part, fragmentOf(text));
  }

  #annotation(event: JsonObject): void {
    const citation = readCitation(event.annotation);
    const open = citation && this.#items.of(placeIn(event), "message");
    if (citation === undefined || open === undefined) return;
    const index = textIndexOf(event.content_index);
    const text =
      textToComplete(open, "text", index, ({ isOpen, isEnded }) => isOpen && !isEnded) ??
      this.#begin(open, "text", index);
    if (text?.isOpen === true) this.#cite(text, citation);
  }

  #cite(text: OpenText, citation: Citation): void {
    text.hasCitations = true;
    this.emit({ type: "citation", choice: 0, part: text.part, citation });
  }

  /** Citations of a whole text, if no event had them. */
  #cited(text: OpenText, { annotations }: JsonObject): void {
    if (text.kind !== "text" || text.hasCitations || !text.isOpen) return;
    for (const annotation of listOf(annotations)) {
      const citation = readCitation(annotation);
      if (citation !== undefined) this.#cite(text, citation);
    }
  }

  #end(part: OpenText | OpenCall): void {
    if (!part.isOpen) return;
    part.isOpen = false;
    this.emit({ type: "end", choice: 0, part: part.part });
  }

  #itemDone(event: JsonObject): void {
    const item = objectOf(event.item);
    const kind = itemKindOf(item);
    const open = kind && this.#items.done(placeIn(event, item), kind);
    if (open !== undefined) this.#whole(open, item);
  }

  /** Reads from a finished item what its own events did not contain. */
  #whole(open: OpenItem, item: JsonObject): void {
    if (open.kind === "call") this.#missed(this.#beginCall(open, item), givenTo(item));
    const contents = listOf(item.content).map(objectOf);
    const summaries = listOf(item.summary).map(objectOf);
    if (open.kind === "reasoning") this.#wholeTexts(open, "summary", summaries, () => true);
    for (const kind of open.kind === "reasoning" ? REASONING_TEXTS : MESSAGE_TEXTS) {
      this.#wholeTexts(open, kind, contents, ({ type }) => kindOf(type) === kind);
    }
    const data = stringOf(item.encrypted_content);
    if (open.kind === "reasoning" && data !== "" && !open.isSealed) {
      const text =
        open.last?.isOpen === true
          ? open.last
          : this.#begin(open, "reasoning", undefined, open.last === undefined);
      open.isSealed = true;
      if (text !== undefined) {
        this.emit({ type: "seal", choice: 0, part: text.part, seal: sealOfItem(stringOf(item.id), data) });
      }
    }
    this.#close(open);
  }

  #wholeTexts(
    open: OpenItem,
    kind: TextKind,
    list: readonly JsonObject[],
    isOfKind: (content: JsonObject) => boolean,
  ): void {
    const contents = list.flatMap((value, index) => {
      if (!isOfKind(value)) return [];
      return [{ value, index, text: stringOf(kind === "refusal" ? value.refusal : value.text) }];
    });
    for (const [at, known] of pairedTexts(open, kind, contents).entries()) {
      const content = contents[at];
      if (content === undefined || (known?.hasText === true && !known.isOpen)) continue;
      const { value, index, text } = content;
      if (known === undefined && text === "" && open.texts.length > 0) continue;
      // A text that has ended cannot take more.
      const isMissing = known === undefined || (!known.isOpen && text !== "");
      const part = isMissing ? this.#begin(open, kind, index) : known;
      if (part === undefined) continue;
      this.#cited(part, value);
      this.#missed(part, text);
    }
  }

  #close(open: OpenItem): void {
    for (const text of open.texts) this.#end(text);
    if (open.call !== undefined) this.#end(open.call);
    open.isDone = true;
  }

  #finish(response: JsonObject, type: string): void {
    const isCut = type === "response.incomplete";
    const ended = isCut ? { ...response, status: "incomplete" } : response;
    if (!isCut) this.error = readResponseError(response);
    else if (this.#parts === 0) this.error = nothingIn(ended);
    if (this.error !== undefined) return;
    this.#output(listOf(response.output).map(objectOf));
    for (const open of this.#items.all) {
      if (open.kind === "call" && open.call === undefined && open.name !== "")
        this.#beginCall(open, { id: open.id });
      if (!open.isDone) this.#close(open);
    }
    const usage = readResponsesUsage(response.usage);
    if (usage !== undefined) this.emit({ type: "usage", usage });
    const held = { calls: this.#hasCalls, refusal: this.#hasRefusal };
    this.emit({ type: "stop", choice: 0, stop: readStop(ended, held) });
    this.#ended = this.done = true;
  }

  /** Reads what had no events of its own: some servers send only the last event. */
  #output(items: readonly JsonObject[]): void {
    const known = new Map<JsonObject, OpenItem | undefined>();
    const places = placesOf(items, this.#items.firstOf(items.length));
    for (const kind of ITEM_KINDS) {
      const own = places.filter(({ item }) => itemKindOf(item) === kind);
      const ownPlaces = own.map(({ place }) => place);
      const paired = this.#items.paired(ownPlaces, kind);
      for (const [at, { item }] of own.entries()) known.set(item, paired[at]);
    }
    for (const { item, place } of places) {
      const kind = itemKindOf(item);
      const open = kind && (known.get(item) ?? this.#items.add(place, kind));
      if (open !== undefined) this.#whole(open, item);
    }
  }
}
