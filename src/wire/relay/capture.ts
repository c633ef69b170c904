/**
 * Puts a streamed answer together again from its neutral events: for the record (one answer instead of thousands of
 * events), for the stop reason, and for the byte count that bills what a client left unread. Bounded: beyond the bound it
 * counts but no longer keeps.
 */
import type { Usage } from "../../base/usage.ts";
import { Growing } from "../json/growing.ts";
import { nativeMedia } from "../media/made.ts";
import type { ReplyFacts } from "../neutral/contract.ts";
import { fragmentOf, latin1OfJson } from "../neutral/fragment.ts";
import type { Fragment, NeutralReply, PartKind, StopReason, StreamEvent } from "../neutral/neutral.ts";

/** Choices and parts beyond these go uncaptured: no answer has so many. */
const MAX_CHOICES = 128;
const MAX_PARTS = 1024;

interface CapturedPart {
  readonly kind: PartKind | "media";
  readonly id: string;
  readonly name: string;
  readonly text: Growing;
}

interface CapturedChoice {
  readonly parts: (CapturedPart | undefined)[];
  stop: StopReason | undefined;
}

export class NeutralCapture {
  /** Bytes of generated text, JSON escapes included. */
  textBytes = 0;
  /** Events that carried text: about one a token. */
  events = 0;
  toolCalls = 0;
  /** The last report. */
  usage: Usage | undefined;
  /** True when the text outgrew the bound: none of it is kept then. */
  truncated = false;
  /** The part that began last is text or a refusal, and has not ended. */
  #isTextOpen = false;
  /** Bytes of text before that part. */
  #bytesBefore = 0;
  #mediaBytes = 0;
  /** Bytes of text up to the last report. */
  #reportedBytes = 0;
  readonly #choices: CapturedChoice[] = [];
  readonly #maxBytes: number;
  /** The text that grew last, and whose it is: most deltas are of the same part as the one before. */
  #grown: Growing | undefined;
  #grownChoice = -1;
  #grownPart = -1;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  take(event: StreamEvent): void {
    switch (event.type) {
      case "delta":
        this.grow(event.choice, event.part, event.text);
        break;
      case "begin":
        this.#begin(event);
        break;
      case "media":
        this.#media(event);
        break;
      case "end":
        this.#isTextOpen = false;
        break;
      case "stop":
        this.#stop(event);
        break;
      case "usage":
        this.usage = event.usage;
        this.#reportedBytes = this.textBytes;
        break;
    }
  }

  /**
   * A text has begun to grow and goes on. Models write it token by token; elsewhere they may be silent for minutes at work: they think,
   * write a call that is sent as a whole, or wait for a tool of the provider's.
   */
  get isInText(): boolean {
    return this.#isTextOpen && this.textBytes > this.#bytesBefore;
  }

  get facts(): ReplyFacts {
    return {
      usage: this.usage,
      stopReason: this.#choices[0]?.stop ?? "",
      toolCalls: this.toolCalls,
      outputBytes: this.textBytes,
      unreportedBytes: this.textBytes - this.#reportedBytes,
    };
  }

  /** `{"candidates": […]}` as the native format shows them, JSON bytes; undefined where it outgrew the bound. */
  json(): Buffer | undefined {
    if (this.truncated) return undefined;
    const candidates = this.#choices.map(({ parts, stop }, index) => {
      const content = parts.flatMap((part) => (part === undefined ? [] : [partJson(part)]));
      const reason = stop === undefined ? '""' : latin1OfJson(stop);
      return `{"index":${index},"content":[${content.join(",")}],"stop":{"reason":${reason}}}`;
    });
    return Buffer.from(`{"candidates":[${candidates.join(",")}]}`, "latin1");
  }

  #begin(event: Extract<StreamEvent, { type: "begin" }>): void {
    const call = event.kind === "tool_call";
    this.#isTextOpen = event.kind === "text" || event.kind === "refusal";
    this.#bytesBefore = this.textBytes;
    if (call) this.toolCalls++;
    const parts = this.#choice(event.choice)?.parts;
    if (parts === undefined || event.part >= MAX_PARTS) return;
    const id = call ? fragmentOf(event.id) : "";
    const name = call ? fragmentOf(event.name) : "";
    parts[event.part] = { kind: event.kind, id, name, text: new Growing() };
    this.#grownPart = -1;
  }

  #stop({ choice, stop }: Extract<StreamEvent, { type: "stop" }>): void {
    const captured = this.#choice(choice);
    if (captured !== undefined) captured.stop = stop.reason;
  }

  /** Media are no text: they count against what is kept, and not towards what is billed without a report. */
  #media({ choice, part, media }: Extract<StreamEvent, { type: "media" }>): void {
    this.events++;
    const parts = this.#choice(choice)?.parts;
    if (parts === undefined || part >= MAX_PARTS || media.source === undefined) return;
    const text = new Growing();
    const json = latin1OfJson(nativeMedia(media));
    this.#mediaBytes += json.length;
    if (this.textBytes + this.#mediaBytes <= this.#maxBytes) text.add(json);
    else if (!this.truncated) this.#forget();
    parts[part] = { kind: "media", id: "", name: "", text };
    this.#grownPart = -1;
  }

  /** What is told by `tell` is counted by the report that came before it. */
  late(tell: () => void): void {
    const before = this.textBytes;
    tell();
    this.#reportedBytes += this.textBytes - before;
  }

  /** As a delta of one part. */
  grow(choice: number, part: number, text: Fragment): void {
    this.events++;
    this.textBytes += text.length;
    if (this.textBytes + this.#mediaBytes <= this.#maxBytes) this.#textOf(choice, part)?.add(text);
    else if (!this.truncated) this.#forget();
  }

  /** As so many deltas of one part, in the bytes from `start` up to `end`. */
  growBy(choice: number, part: number, bytes: Buffer, start: number, end: number, events: number): void {
    this.events += events;
    this.textBytes += end - start;
    if (this.textBytes + this.#mediaBytes <= this.#maxBytes)
      this.#textOf(choice, part)?.addBytes(bytes, start, end);
    else if (!this.truncated) this.#forget();
  }

  #textOf(choice: number, part: number): Growing | undefined {
    if (part !== this.#grownPart || choice !== this.#grownChoice) {
      this.#grown = this.#choices[choice]?.parts[part]?.text;
      this.#grownChoice = choice;
      this.#grownPart = part;
    }
    return this.#grown;
  }

  /** Half an answer would serve nobody, and a stream may stay open for long. */
  #forget(): void {
    this.truncated = true;
    for (const { parts } of this.#choices) for (const part of parts) part?.text.clear();
  }

  #choice(index: number): CapturedChoice | undefined {
    if (index >= MAX_CHOICES) return undefined;
    while (this.#choices.length <= index) this.#choices.push({ parts: [], stop: undefined });
    return this.#choices[index];
  }
}

/** Bytes of generated text in a whole answer, counted as in a stream. */
export function textBytesOf({ choices }: NeutralReply): number {
  let bytes = 0;
  for (const { parts } of choices) {
    for (const part of parts) {
      if (part.type === "media") continue;
      bytes += fragmentOf(part.type === "tool_call" ? part.arguments : part.text).length;
    }
  }
  return bytes;
}

function partJson({ kind, id, name, text }: CapturedPart): string {
  if (kind === "media") return text.text();
  if (kind !== "tool_call") return `{"type":"${kind}","text":"${text.text()}"}`;
  return `{"type":"tool_call","id":"${id}","name":"${name}","arguments":"${text.text()}"}`;
}
