/**
 * A streamed answer that is read into neutral events. What they come to is captured alike, whichever way the answer itself
 * goes on to the client: translated, or as the bytes that came.
 */
import type { Usage } from "../usage.ts";
import { NeutralCapture } from "./capture.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "./contract.ts";
import { headOf, type Passed } from "./delta-frame.ts";
import type { AnswerStream } from "./format.ts";
import type { Edit } from "./json.ts";
import { copied } from "./latin1.ts";
import type { StreamEvent } from "./neutral.ts";
import {
  type EventTap,
  type JsonObject,
  type PartPlace,
  type Run,
  type StreamReader,
  stringOf,
} from "./reader.ts";
import { waiting } from "./sse.ts";

export abstract class CapturedStream implements AnswerStream {
  protected abstract readonly reader: StreamReader;
  protected readonly capture: NeutralCapture;
  /** What leaves with the next read. */
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

  get facts(): ReplyFacts {
    return this.capture.facts;
  }

  kept(): Buffer | undefined {
    return this.capture.json();
  }

  push(read: string): string {
    this.reader.push(read, this.#emit);
    return this.flush();
  }

  end(): string {
    this.reader.end(this.#emit);
    return this.flush();
  }

  abstract close(usage: Usage, svc: SvcReply): string;

  protected take(event: StreamEvent): void {
    this.capture.take(event);
  }

  protected flush(): string {
    const { out } = this;
    this.out = "";
    return out;
  }
}

/**
 * One whose events pass as they came. The first wait for those that hold content, because an error until then may be cured
 * by another endpoint (T14). Text is latin1 throughout: no cut inside a character can damage it.
 */
export abstract class SplicedStream extends CapturedStream implements EventTap {
  #opening = "";
  #begun = false;

  /** An event in full; its data are one line. Returns as {@link EventTap.event}. */
  protected abstract pass(data: string, type: string, event: JsonObject): Passed | undefined;

  run({ choice, part }: PartPlace, { text, events, out }: Run): void {
    this.capture.grow(choice, part, text, events);
    this.out += out;
  }

  event(data: string, name: string, event: JsonObject): Passed | undefined {
    const ownType = stringOf(event.type);
    const type = isName(ownType) ? ownType : isName(name) ? name : "";
    // Of several data lines: the line feeds are white space between tokens, and would end the line we send.
    return this.pass(data.includes("\n") ? data.replaceAll("\n", " ") : data, type, event);
  }

  protected get hasBegun(): boolean {
    return this.#begun;
  }

  /** An event that holds content comes: what waited goes out before it. */
  protected begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.out += this.#opening;
    this.#opening = "";
  }

  /** What holds no content itself. */
  protected add(text: string): void {
    if (this.#begun) this.out += text;
    else this.#opening = waiting(this.#opening, copied(text));
  }

  /** All that has not left yet. */
  protected rest(): string {
    this.begin();
    return this.flush();
  }
}

/** What can stand in the line of an event's name. */
const NAME = /^[\w.]+$/;

const isName = (text: string): boolean => text !== "" && NAME.test(text);

const NO_EDITS: readonly Edit[] = [];

/** How an event is passed on of which no byte changes. */
export const asItCame = (type: string): Passed => ({ head: headOf(type), edits: NO_EDITS });

/** An event under the name that its data say, which clients go by too; under that of its line where they say none. */
export const passedEvent = (type: string, data: string): string => `${headOf(type)}${data}\n\n`;
