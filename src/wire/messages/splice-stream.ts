/**
 * A messages stream, spliced: events pass as they came. `message_start` gets our id and model, and waits for what follows
 * it, because an error until then may be cured by another endpoint (T14); what ends the answer waits for the settlement.
 * Text is latin1 throughout: no cut inside a character can damage it.
 */
import { fail } from "../../errors.ts";
import { NO_USAGE, type Usage } from "../../usage.ts";
import { NeutralCapture } from "../capture.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import type { AnswerIdentity, AnswerStream } from "../format.ts";
import { applyEdits, latin1Json, type Member, memberOf, setMember, skim } from "../json.ts";
import { copied } from "../latin1.ts";
import type { StreamEvent } from "../neutral.ts";
import { SseReader, sseEvent } from "../sse.ts";
import { svcJson } from "../svc.ts";
import { MessagesEvents } from "./events.ts";
import { writeDeltaUsage, writeMessagesUsage } from "./usage.ts";

export class MessagesSpliceStream implements AnswerStream {
  /** Pieces of content: the others carry no token. */
  events = 0;
  readonly #identity: AnswerIdentity;
  readonly #sse: SseReader;
  readonly #reader = new MessagesEvents();
  readonly #capture: NeutralCapture;
  readonly #event = (data: string, name: string) => this.#take(data, name);
  readonly #emit = (event: StreamEvent) => this.#capture.take(event);
  #out = "";
  /** The first events, until content comes. */
  #opening = "";
  #begun = false;
  /** The last `message_delta`, and whatever came from it on. */
  #delta = "";
  #rest = "";
  #stop = '{"type":"message_stop"}';

  constructor(identity: AnswerIdentity) {
    this.#identity = identity;
    this.#sse = new SseReader(identity.maxEventBytes);
    this.#capture = new NeutralCapture(identity.maxCaptureBytes);
  }

  get done(): boolean {
    return this.#reader.done;
  }

  get complete(): boolean {
    return this.#reader.complete;
  }

  get error(): UpstreamError | undefined {
    return this.#reader.error;
  }

  get malformed(): number {
    return this.#reader.malformed;
  }

  get textBytes(): number {
    return this.#capture.textBytes;
  }

  get facts(): ReplyFacts {
    return this.#capture.facts;
  }

  kept(): Buffer | undefined {
    return this.#capture.json();
  }

  push(read: string): string {
    this.#sse.push(read, this.#event);
    return this.#flush();
  }

  end(): string {
    this.#sse.end(this.#event);
    return this.#flush();
  }

  close(usage: Usage, svc: SvcReply): string {
    let out = this.#opening + this.#out;
    this.#opening = this.#out = "";
    if (this.#delta !== "") out += sseEvent("message_delta", this.#deltaWith(usage));
    out += this.#rest;
    const stop =
      withMember(this.#stop, "svc", svcJson(svc)) ?? `{"type":"message_stop","svc":${svcJson(svc)}}`;
    return out + sseEvent("message_stop", stop);
  }

  #flush(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  #take(event: string, name: string): void {
    const reader = this.#reader;
    if (reader.done || reader.error !== undefined) return;
    const type = reader.take(event, name, this.#emit);
    // An event of several data lines: its line feeds are white space between tokens, and would end the line we send.
    const data = event.includes("\n") ? event.replaceAll("\n", " ") : event;
    switch (type) {
      case "":
      case "error":
        break;
      case "content_block_delta":
        this.events++;
        this.#pass(type, data);
        break;
      case "message_start":
        this.#start(data);
        break;
      case "message_delta":
        // One without a stop reason only reports usage.
        if (reader.stopped) this.#delta = copied(data);
        else this.#pass(type, data);
        break;
      case "message_stop":
        this.#stop = copied(data);
        break;
      default:
        this.#pass(NAME.test(type) ? type : name, data);
    }
  }

  #pass(type: string, data: string): void {
    const text = sseEvent(type, data);
    if (this.#delta !== "") this.#rest += copied(text);
    else if (this.#begun) this.#out += text;
    else if (type === "ping") this.#opening += text;
    else {
      this.#begun = true;
      this.#out += this.#opening + text;
      this.#opening = "";
    }
  }

  /** There is one only (T51). */
  #start(data: string): void {
    if (this.#begun || this.#opening.includes("event: message_start\n")) return;
    const { id, model } = this.#identity;
    const message = memberOf(membersOf(data) ?? [], "message");
    const text = message && data.slice(message.valueStart, message.valueEnd);
    const named = text && withMember(text, "id", JSON.stringify(id));
    const modelled = named && withMember(named, "model", JSON.stringify(model));
    const patched = modelled && withUsage(modelled);
    if (message === undefined || patched === undefined) {
      throw fail("upstream_invalid_response", "The provider's answer begins with no message.");
    }
    const whole = data.slice(0, message.valueStart) + patched + data.slice(message.valueEnd);
    this.#opening += sseEvent("message_start", whole);
  }

  /** As the upstream wrote it; with the usage that the call was metered by where it reported none. */
  #deltaWith(usage: Usage): string {
    if (this.#capture.usage !== undefined) return this.#delta;
    return withMember(this.#delta, "usage", latin1Json(writeDeltaUsage(usage))) ?? this.#delta;
  }
}

/** Undefined where the text is no object whose members stand once each. */
function membersOf(text: string): readonly Member[] | undefined {
  try {
    return skim(text).members;
  } catch {
    return undefined;
  }
}

/** The text with one member set; undefined where it is no object. */
function withMember(text: string, key: string, value: string): string | undefined {
  const members = membersOf(text);
  return members && applyEdits(text, [setMember(text, members, key, value)]);
}

/** Clients read the first event's usage and add to it (T51): where the upstream says none, nothing is used yet. */
function withUsage(message: string): string | undefined {
  const usage = memberOf(membersOf(message) ?? [], "usage");
  const isSaid = usage !== undefined && message.startsWith("{", usage.valueStart);
  return isSaid ? message : withMember(message, "usage", JSON.stringify(writeMessagesUsage(NO_USAGE)));
}

/** What can be the name of an event. */
const NAME = /^\w+$/;
