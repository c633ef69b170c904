/**
 * A responses stream, spliced: events pass as they came, but for our id and model where an event holds the response. The
 * first of these wait for what follows them, because an error until then may be cured by another endpoint (T14); the last
 * waits for the settlement. Text is latin1 throughout: no cut inside a character can damage it.
 */
import type { Usage } from "../../usage.ts";
import { NeutralCapture } from "../capture.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import type { AnswerIdentity, AnswerStream } from "../format.ts";
import { applyEdits, memberOf, setMember, skim, utf8Of } from "../json.ts";
import { copied } from "../latin1.ts";
import type { StreamEvent } from "../neutral.ts";
import { isObject, type JsonObject, stringOf } from "../reader.ts";
import { SseReader, sseData, sseEvent } from "../sse.ts";
import { ResponsesEvents } from "./events.ts";
import { responseEdits, settledEdits } from "./patch.ts";

/** The last event, cut where its response stands. */
interface Last {
  readonly name: string;
  readonly before: string;
  readonly response: string;
  readonly after: string;
}

export class ResponsesSpliceStream implements AnswerStream {
  /** Events that were not JSON: skipped, and told in the warnings. */
  malformed = 0;
  readonly #identity: AnswerIdentity;
  readonly #previousId: string | undefined;
  readonly #sse: SseReader;
  readonly #reader = new ResponsesEvents();
  readonly #capture: NeutralCapture;
  readonly #event = (data: string, name: string) => this.#take(data, name);
  readonly #emit = (event: StreamEvent) => this.#capture.take(event);
  #out = "";
  /** The first events, until another comes. */
  #opening = "";
  #begun = false;
  #last: Last | undefined;
  #saidDone = false;
  #delivered: string | undefined;

  /** @param previousId `previous_response_id` as the client gave it. */
  constructor(identity: AnswerIdentity, previousId: string | undefined) {
    this.#identity = identity;
    this.#previousId = previousId;
    this.#sse = new SseReader(identity.maxEventBytes);
    this.#capture = new NeutralCapture(identity.maxCaptureBytes);
  }

  get done(): boolean {
    return this.#reader.done || this.#saidDone;
  }

  get complete(): boolean {
    return this.#reader.done;
  }

  get error(): UpstreamError | undefined {
    return this.#reader.error;
  }

  get events(): number {
    return this.#capture.events;
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

  responseJson(): string | undefined {
    return this.#delivered === undefined ? undefined : utf8Of(this.#delivered);
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
    const out = this.#opening + this.#out;
    this.#opening = this.#out = "";
    if (this.#last === undefined) return out;
    const { name, before, response, after } = this.#last;
    const { members } = skim(response);
    const hasUsage = this.#capture.usage !== undefined;
    this.#delivered = applyEdits(response, settledEdits(response, members, hasUsage, usage, svc));
    return out + eventText(name, before + this.#delivered + after);
  }

  #flush(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  #take(text: string, name: string): void {
    const reader = this.#reader;
    if (this.done || reader.error !== undefined) return;
    if (text === "[DONE]") {
      this.#saidDone = true;
      return;
    }
    const event = this.#parse(text);
    if (event === undefined) return;
    reader.take(event, name, this.#emit);
    if (reader.error !== undefined) return;
    // An event of several data lines: its line feeds are white space between tokens, and would end the line we send.
    const data = text.includes("\n") ? text.replaceAll("\n", " ") : text;
    const type = name || stringOf(event.type);
    if (isObject(event.response)) this.#pass(type, this.#patched(type, data));
    else {
      this.#begin();
      this.#pass(type, data);
    }
  }

  #parse(text: string): JsonObject | undefined {
    try {
      const event: unknown = JSON.parse(utf8Of(text));
      // Patched by position: must be what the positions are found by, too.
      if (isObject(event) && (!isObject(event.response) || skimmed(text))) return event;
    } catch {
      // Told below.
    }
    this.malformed++;
    return undefined;
  }

  /** An event that begins the answer: what waited goes out before it. */
  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#out += this.#opening;
    this.#opening = "";
  }

  #pass(name: string, data: string): void {
    if (data === "") return;
    if (this.#begun) this.#out += eventText(name, data);
    else this.#opening += copied(eventText(name, data));
  }

  /** The event with our own in its response; empty where it is the last, which is kept. */
  #patched(name: string, data: string): string {
    const { members } = skim(data);
    const member = memberOf(members, "response");
    if (member === undefined) return data;
    const text = data.slice(member.valueStart, member.valueEnd);
    const edits = responseEdits(text, skim(text).members, this.#identity, this.#previousId);
    const response = applyEdits(text, edits);
    if (!this.#reader.done) return applyEdits(data, [setMember(data, members, "response", response)]);
    this.#begin();
    const before = data.slice(0, member.valueStart);
    this.#last = { name, before, response, after: data.slice(member.valueEnd) };
    return "";
  }
}

const NAME = /^[\w.]+$/;

/** Clients go by the type inside the data as well: a name that could not stand in its line is left out. */
const eventText = (name: string, data: string): string =>
  NAME.test(name) ? sseEvent(name, data) : sseData(data);

/** Whether positions are found in an event, and in its response. */
function skimmed(text: string): boolean {
  const member = memberOf(skim(text).members, "response");
  if (member !== undefined) skim(text.slice(member.valueStart, member.valueEnd));
  return true;
}
