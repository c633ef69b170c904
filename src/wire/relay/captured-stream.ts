/**
 * A streamed answer that is read into neutral events. The events are captured in the same way whether the answer is
 * translated or its bytes are passed on.
 */
import type { Usage } from "../../base/usage.ts";
import { AnswerIds } from "../accepts/made-ids.ts";
import type { AnswerIdentity, AnswerStream, Received } from "../format.ts";
import type { Edit } from "../json/json.ts";
import { copied } from "../json/latin1.ts";
import { type PassedBytes, passed } from "../json/passed-bytes.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../neutral/contract.ts";
import { headOf, type Passed } from "../neutral/frames/frame.ts";
import type { Fragment, StreamEvent } from "../neutral/neutral.ts";
import {
  type EventTap,
  type JsonObject,
  type PartPlace,
  type StreamReader,
  stringOf,
} from "../neutral/reader.ts";
import { waiting } from "../neutral/sse.ts";
import { NeutralCapture } from "./capture.ts";
import { isContent } from "./content.ts";

export abstract class CapturedStream implements AnswerStream {
  protected abstract readonly reader: StreamReader;
  protected readonly capture: NeutralCapture;
  /** The text to send with the next read, behind the bytes that were passed on. */
  protected out = "";
  readonly #emit = (event: StreamEvent) => this.take(event);

  constructor(maxCaptureBytes: number) {
    this.capture = new NeutralCapture(maxCaptureBytes);
  }

  get done(): boolean {
    return this.reader.done;
  }

  get complete(): boolean {
    return this.reader.complete;
  }

  get error(): UpstreamError | undefined {
    return this.reader.error;
  }

  get malformed(): number {
    return this.reader.malformed;
  }

  get events(): number {
    return this.capture.events;
  }

  get textBytes(): number {
    return this.capture.textBytes;
  }

  get isInText(): boolean {
    return this.capture.isInText;
  }

  get facts(): ReplyFacts {
    const { facts } = this.capture;
    const { report } = this.reader;
    return report === undefined ? facts : { ...facts, report };
  }

  get toolUses(): number {
    return this.reader.toolUses ?? 0;
  }

  kept(): Buffer | undefined {
    return this.capture.json();
  }

  read({ memory, start, end, others }: Received, isLast: boolean): Buffer {
    passed.clear();
    if (end > start) this.reader.read(memory, start, end, this.#emit);
    for (const piece of others) this.reader.read(piece.memory, piece.start, piece.end, this.#emit);
    if (isLast) this.reader.end(this.#emit);
    return this.flush();
  }

  push(read: string): string {
    const memory = Buffer.from(read, "latin1");
    return this.read({ memory, start: 0, end: read.length, others: [] }, false).toString("latin1");
  }

  end(): string {
    return this.read(NOTHING_RECEIVED, true).toString("latin1");
  }

  abstract close(usage: Usage, svc: SvcReply): string;

  protected take(event: StreamEvent): void {
    this.capture.take(event);
  }

  /** What the client gets now, to be used at once: it is in the memory of {@link passed}. */
  protected flush(): Buffer {
    this.passing();
    return passed.taken();
  }

  /** Where the bytes go that follow what is in `out`. */
  passing(): PassedBytes {
    const { out } = this;
    if (out !== "") {
      passed.addText(out);
      this.out = "";
    }
    return passed;
  }
}

/**
 * A stream whose events are passed on. Events before the first content wait for it, because until then another endpoint can
 * answer instead if an error comes (T14). All text is latin1: a cut inside a character cannot damage it.
 */
export abstract class SplicedStream extends CapturedStream implements EventTap {
  /** The id of the last call that began without one of its own, until it is in an event; else empty. */
  protected madeId = "";
  readonly #requestId: string;
  /** Undefined until a call begins. */
  #ids: AnswerIds | undefined;
  /** Events of earlier reads that wait for content, on memory of their own. */
  #opening = "";
  /** Those of this read: mostly content is behind them, and they need no copy. */
  #arrived = "";
  #begun = false;

  constructor({ maxCaptureBytes, requestId }: AnswerIdentity) {
    super(maxCaptureBytes);
    this.#requestId = requestId;
  }

  /** The record of the call has the ids that the client gets, also where the upstream gave none. */
  protected override take(event: StreamEvent): void {
    if (!this.#begun && isContent(event)) this.begin();
    if (event.type === "begin" && event.kind === "tool_call") {
      this.#ids ??= new AnswerIds(this.#requestId);
      const told = this.#ids.of(event);
      if (told.id !== event.id) this.madeId = told.id;
      this.capture.take(told);
    } else this.capture.take(event);
  }

  /** Passes one event on. @param data one line. Returns the same as {@link EventTap.event}. */
  protected abstract pass(data: string, type: string, event: JsonObject): Passed | undefined;

  grewBy({ choice, part }: PartPlace, read: Buffer, start: number, end: number, events: number): void {
    this.capture.growBy(choice, part, read, start, end, events);
  }

  grewByText({ choice, part }: PartPlace, text: Fragment): void {
    this.capture.grow(choice, part, text);
  }

  event(data: string, name: string, event: JsonObject): Passed | undefined {
    const ownType = stringOf(event.type);
    const type = isName(ownType) ? ownType : isName(name) ? name : "";
    // Several data lines are joined: their line feeds are white space between tokens, and would end the line we send.
    return this.pass(data.includes("\n") ? data.replaceAll("\n", " ") : data, type, event);
  }

  protected get hasBegun(): boolean {
    return this.#begun;
  }

  /**
   * Sends the events that waited. Called before an event with content, as the neutral contract has it; a format calls it where its own
   * events have more.
   */
  protected begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.out += this.#opening + this.#arrived;
    this.#opening = "";
    this.#arrived = "";
  }

  /** Sends an event, or lets it wait where it comes before all content. */
  protected add(text: string): void {
    if (this.#begun) this.out += text;
    else this.#arrived += text;
  }

  protected override flush(): Buffer {
    if (this.#arrived !== "") {
      this.#opening = waiting(this.#opening, copied(this.#arrived));
      this.#arrived = "";
    }
    return super.flush();
  }

  /** All text that was not sent yet. */
  protected rest(): string {
    this.begin();
    const { out } = this;
    this.out = "";
    return out;
  }
}

/** Whether the text can be an event's name. */
const NAME = /^[\w.]+$/;

const isName = (text: string): boolean => text !== "" && NAME.test(text);

const NOTHING_RECEIVED: Received = { memory: Buffer.alloc(0), start: 0, end: 0, others: [] };

const NO_EDITS: readonly Edit[] = [];

/** How an unchanged event is passed on. */
export const asItCame = (type: string): Passed => ({ head: headOf(type), edits: NO_EDITS });

/** An event with the `type` of its data as its name, which clients also use; if it has none, with its original name. */
export const passedEvent = (type: string, data: string): string => `${headOf(type)}${data}\n\n`;
