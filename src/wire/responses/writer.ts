/**
 * A streamed answer as OpenAI's typed events, in OpenAI's order, numbered without a gap. The last event contains the whole
 * response and waits for the settlement. Text is latin1.
 */
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, StreamWriter } from "../format.ts";
import { Growing } from "../json/growing.ts";
import { utf8Of } from "../json/json.ts";
import type { SvcReply } from "../neutral/contract.ts";
import { latin1OfJson } from "../neutral/fragment.ts";
import type { Citation, Fragment, Logprob, Seal, StopReason, StreamEvent } from "../neutral/neutral.ts";
import { svcJson } from "../svc.ts";
import { firstSequence } from "./background.ts";
import { callJson, filled } from "./calls.ts";
import { writeCitation } from "./citations.ts";
import { imageItem } from "./image-item.ts";
import type { ItemStatus } from "./kinds.ts";
import {
  type EventFields,
  type EventType,
  eventRest,
  itemId,
  messageJson,
  outputText,
  reasoningItem,
  refusal,
  tokenLogprob,
} from "./objects.ts";
import {
  callFrame,
  type DeltaFrame,
  isWholeCall,
  lengthOf,
  newCall,
  type OpenCall,
  type OpenMessage,
  type OpenPart,
  type OpenReasoning,
  type OpenText,
  reasoningBegun,
  reasoningEnded,
  textFrame,
} from "./output.ts";
import type { ResponsesRequest } from "./request.ts";
import { ResponseObject } from "./response-object.ts";
import { packReasoning } from "./seals.ts";
import { writeIncompleteReason } from "./stop.ts";

type Begin = Extract<StreamEvent, { type: "begin" }>;

export class ResponsesStreamWriter implements StreamWriter {
  readonly #requestId: string;
  readonly #response: ResponseObject;
  readonly #wantsSummary: boolean;
  readonly #isWhole: boolean;
  readonly #parts: (OpenPart | undefined)[] = [];
  /** JSON of the items that have ended, by index. */
  readonly #items: string[] = [];
  #indexes = 0;
  #sequence: number;
  #isOpen = false;
  #out = "";
  #message: OpenMessage | undefined;
  /** The call whose item has not begun yet. */
  #waiting: OpenCall | undefined;
  /** The last call that has ended. Its item is told once it is known whether the answer was cut off within it. */
  #ended: OpenCall | undefined;
  #stop: StopReason = "other";
  #hasRefusal = false;
  #delivered: string | undefined;

  /** @param isWhole the answer is not streamed: only the response at its end is wanted, and no event is written */
  constructor(request: ResponsesRequest, identity: AnswerIdentity, isWhole = false) {
    this.#isWhole = isWhole;
    this.#requestId = identity.requestId;
    this.#response = new ResponseObject(request, identity);
    this.#wantsSummary = request.wantsSummary;
    this.#sequence = firstSequence(request);
  }

  write(event: StreamEvent): string {
    this.#open();
    // The format has one choice.
    if (event.type !== "usage" && event.choice === 0) this.#take(event);
    const out = this.#out;
    this.#out = "";
    return out;
  }

  close(usage: Usage, svc: SvcReply): string {
    this.#open();
    for (const index of this.#parts.keys()) this.#end(index);
    const reason = writeIncompleteReason(this.#stop, this.#hasRefusal);
    this.#leaveCall(reason !== undefined);
    this.#leave(reason !== undefined);
    this.#delivered = this.#response.ended(this.#items, reason, usage, svcJson(svc));
    this.#lifecycle(reason === undefined ? "completed" : "incomplete", this.#delivered);
    return this.#out;
  }

  get nextSequence(): number {
    return this.#sequence;
  }

  responseJson(): string | undefined {
    return this.#delivered === undefined ? undefined : utf8Of(this.#delivered);
  }

  #open(): void {
    if (this.#isWhole || this.#isOpen) return;
    this.#isOpen = true;
    const begun = this.#response.begun("in_progress");
    if (this.#sequence === 0) this.#lifecycle("created", begun);
    this.#lifecycle("in_progress", begun);
  }

  #lifecycle(state: "created" | "in_progress" | "completed" | "incomplete", response: string): void {
    this.#raw(`response.${state}`, `"response":${response}}`);
  }

  #raw(type: string, rest: string): void {
    if (this.#isWhole) return;
    this.#out += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${rest}\n\n`;
  }

  #event<T extends EventType>(type: T, fields: EventFields[T]): void {
    if (!this.#isWhole) this.#raw(type, eventRest(type, fields));
  }

  /** An event with a text in its empty string of this name. */
  #filled<T extends EventType>(type: T, fields: EventFields[T], name: string, text: Fragment): void {
    if (!this.#isWhole) this.#raw(type, filled(eventRest(type, fields), name, text));
  }

  #itemAdded(index: number, item: EventFields["response.output_item.added"]["item"]): void {
    this.#event("response.output_item.added", { output_index: index, item });
  }

  #itemDone(index: number, json: string): void {
    this.#items[index] = json;
    this.#raw("response.output_item.done", `"output_index":${index},"item":${json}}`);
  }

  #take(event: Exclude<StreamEvent, { type: "usage" }>): void {
    switch (event.type) {
      case "delta":
        this.#delta(this.#parts[event.part], event.text, event.logprobs);
        break;
      case "begin":
        this.#begin(event);
        break;
      case "seal":
        this.#seal(this.#parts[event.part], event.seal);
        break;
      case "citation":
        this.#cite(this.#parts[event.part], event.citation);
        break;
      case "media":
        this.#image(event);
        break;
      case "end":
        this.#end(event.part);
        break;
      case "stop":
        this.#stop = event.stop.reason;
        this.#leaveCall(writeIncompleteReason(this.#stop, this.#hasRefusal) !== undefined);
        break;
    }
  }

  #begin(event: Begin): void {
    this.#end(event.part);
    this.#leaveCall(false);
    if (this.#waiting !== undefined) this.#placeCall(this.#waiting);
    if (event.kind === "tool_call") {
      this.#waiting = newCall(event);
      this.#parts[event.part] = this.#waiting;
    } else if (event.kind === "reasoning") {
      const { isSummary = false, isRedacted = false } = event;
      // Clients show summaries and send them back; few know `reasoning_text`.
      this.#parts[event.part] = this.#beginReasoning(isSummary || this.#wantsSummary, isRedacted);
    } else this.#parts[event.part] = this.#beginText(event.kind);
  }

  #beginText(kind: "text" | "refusal"): OpenText {
    const message = this.#openMessage();
    const place = {
      item_id: message.id,
      output_index: message.index,
      content_index: message.contents.length,
    };
    message.contents.push("");
    message.open++;
    if (kind === "refusal") this.#hasRefusal = true;
    const part = kind === "text" ? outputText([], []) : refusal();
    this.#event("response.content_part.added", { ...place, part });
    return {
      kind,
      message,
      place,
      frame: this.#isWhole ? undefined : textFrame(kind, place),
      text: new Growing(),
      annotations: [],
      logprobs: [],
      seal: undefined,
    };
  }

  #openMessage(): OpenMessage {
    if (this.#message !== undefined) return this.#message;
    const index = this.#indexes++;
    const id = itemId("message", this.#requestId, index);
    const message: OpenMessage = { id, index, contents: [], open: 0, isLeft: false, seals: [] };
    this.#message = message;
    this.#itemAdded(index, { id, type: "message", status: "in_progress", role: "assistant", content: [] });
    return message;
  }

  #beginReasoning(isSummary: boolean, isRedacted: boolean): OpenReasoning {
    this.#leave();
    const index = this.#indexes++;
    const id = itemId("reasoning", this.#requestId, index);
    this.#itemAdded(index, reasoningItem(id, undefined, undefined));
    const text = new Growing();
    return { kind: "reasoning", id, index, isSummary, isRedacted, text, seal: undefined, frame: undefined };
  }

  /** Begins its item, after one for its signature. Called at the event after its first, which may be the signature. */
  #placeCall(call: OpenCall): NonNullable<OpenCall["place"]> {
    this.#waiting = undefined;
    this.#leave();
    if (call.seal !== undefined) this.#sealItem(call.seal, false);
    call.seal = undefined;
    const index = this.#indexes++;
    const { tool = "function_call" } = call;
    const id = itemId(tool, this.#requestId, index);
    if (!this.#isWhole) {
      const begun = callJson(call, id, "in_progress", "");
      this.#raw("response.output_item.added", `"output_index":${index},"item":${begun}}`);
    }
    call.place = { id, index, frame: this.#isWhole ? undefined : callFrame(tool, id, index) };
    if (call.held !== undefined) this.#grow(call.place.frame, call.held);
    call.held = undefined;
    return call.place;
  }

  #delta(part: OpenPart | undefined, text: Fragment, logprobs: readonly Logprob[] | undefined): void {
    if (part === undefined) return;
    if (text !== "") part.text.add(text);
    if (part.kind === "tool_call") this.#argument(part, text);
    else if (part.kind === "reasoning") {
      if (text !== "") this.#grow(this.#reasoningFrame(part), text);
    } else if (logprobs === undefined) this.#grow(part.frame, text);
    else this.#deltaWithLogprobs(part, text, logprobs);
  }

  /** A part without a frame has no deltas: its item has all of it at the end. */
  #grow(frame: DeltaFrame | undefined, text: Fragment): void {
    if (frame === undefined) return;
    const { head, middle, tail } = frame;
    this.#out += head + this.#sequence++ + middle + text + tail;
  }

  #deltaWithLogprobs(part: OpenText, text: Fragment, given: readonly Logprob[]): void {
    const logprobs = given.map(tokenLogprob);
    part.logprobs.push(...logprobs);
    this.#filled("response.output_text.delta", { ...part.place, delta: "", logprobs }, "delta", text);
  }

  #argument(call: OpenCall, text: Fragment): void {
    if (call.place === undefined && call.held === undefined) {
      call.held = text;
      return;
    }
    const { frame } = call.place ?? this.#placeCall(call);
    if (text !== "") this.#grow(frame, text);
  }

  #reasoningFrame(part: OpenReasoning): DeltaFrame {
    if (part.frame !== undefined) return part.frame;
    const { added, frame } = reasoningBegun(part);
    this.#raw(...added);
    part.frame = frame;
    return frame;
  }

  #seal(part: OpenPart | undefined, seal: Seal): void {
    if (part === undefined) return;
    // A signature may come in pieces.
    part.seal = part.seal === undefined ? seal : { by: seal.by, data: part.seal.data + seal.data };
  }

  #cite(part: OpenPart | undefined, citation: Citation): void {
    if (part?.kind !== "text") return;
    const annotation = writeCitation(citation, lengthOf(part));
    if (annotation === undefined) return;
    const { place, annotations } = part;
    const index = annotations.push(annotation) - 1;
    this.#event("response.output_text.annotation.added", { ...place, annotation_index: index, annotation });
  }

  #end(index: number): void {
    const part = this.#parts[index];
    this.#parts[index] = undefined;
    if (part === undefined) return;
    if (part.kind === "tool_call") {
      this.#leaveCall(false);
      this.#ended = part;
    } else if (part.kind === "reasoning") this.#endReasoning(part);
    else this.#endText(part);
  }

  #endText(part: OpenText): void {
    const { message, place, annotations, logprobs } = part;
    const text = part.text.text();
    const content = part.kind === "text" ? outputText(annotations, logprobs) : refusal();
    const name = part.kind === "text" ? "text" : "refusal";
    if (part.kind === "text") {
      this.#filled("response.output_text.done", { ...place, text: "", logprobs }, "text", text);
    } else this.#filled("response.refusal.done", { ...place, refusal: "" }, "refusal", text);
    this.#filled("response.content_part.done", { ...place, part: content }, name, text);
    message.contents[place.content_index] = filled(latin1OfJson(content), name, text);
    message.open--;
    if (part.seal !== undefined) {
      message.seals.push(part.seal);
      this.#leave();
    }
    if (message.isLeft && message.open === 0) this.#endMessage(message, false);
  }

  /** Closes the open message, if any, for further contents. It ends with the last of its contents. */
  #leave(isCut = false): void {
    const message = this.#message;
    if (message === undefined) return;
    this.#message = undefined;
    message.isLeft = true;
    if (message.open === 0) this.#endMessage(message, isCut);
  }

  #endMessage(message: OpenMessage, isCut: boolean): void {
    message.isLeft = false;
    const status = isCut ? "incomplete" : "completed";
    this.#itemDone(message.index, messageJson(message.id, status, message.contents));
    for (const seal of message.seals) this.#sealItem(seal, true);
  }

  #endReasoning(part: OpenReasoning): void {
    const { id, index, isSummary, isRedacted, seal } = part;
    const text = part.text.text();
    for (const [type, rest] of part.frame === undefined ? [] : reasoningEnded(part)) {
      this.#raw(type, filled(rest, "text", text));
    }
    const where = part.frame === undefined ? undefined : isSummary ? "summary" : "content";
    const sealed = seal === undefined ? undefined : packReasoning({ seal, isRedacted });
    this.#itemDone(index, filled(latin1OfJson(reasoningItem(id, where, sealed)), "text", text));
  }

  /** A signature of another part as an item of its own. @param isBehind the part is before it */
  #sealItem(seal: Seal, isBehind: boolean): void {
    const index = this.#indexes++;
    const id = itemId("reasoning", this.#requestId, index);
    this.#itemAdded(index, reasoningItem(id, undefined, undefined));
    this.#itemDone(index, latin1OfJson(reasoningItem(id, undefined, packReasoning({ seal, isBehind }))));
  }

  #image({ media }: Extract<StreamEvent, { type: "media" }>): void {
    this.#leaveCall(false);
    if (this.#waiting !== undefined) this.#placeCall(this.#waiting);
    this.#leave();
    const index = this.#indexes++;
    const id = itemId("image_generation_call", this.#requestId, index);
    this.#itemAdded(index, imageItem(id, undefined));
    this.#itemDone(index, latin1OfJson(imageItem(id, media)));
  }

  /** @param isCut the answer ended here, before it was whole */
  #leaveCall(isCut: boolean): void {
    const call = this.#ended;
    this.#ended = undefined;
    if (call !== undefined) this.#endCall(call, isCut && !isWholeCall(call) ? "incomplete" : "completed");
  }

  #endCall(call: OpenCall, status: ItemStatus): void {
    const { id, index, frame } = call.place ?? this.#placeCall(call);
    const { tool } = call;
    let text = call.text.text();
    if (tool === undefined && text === "") {
      // Clients parse arguments: empty ones are written as an empty object.
      text = "{}";
      this.#grow(frame, text);
    }
    const place = { item_id: id, output_index: index };
    if (tool === undefined)
      this.#filled("response.function_call_arguments.done", { ...place, arguments: "" }, "arguments", text);
    else if (tool === "custom")
      this.#filled("response.custom_tool_call_input.done", { ...place, input: "" }, "input", text);
    this.#itemDone(index, callJson(call, id, status, text));
    if (call.seal !== undefined) this.#sealItem(call.seal, true);
  }
}
