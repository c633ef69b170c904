/**
 * A chat-completions stream, spliced. Nearly every event is the same JSON around one growing string: that frame is
 * learned from the first event of its kind, and later events that fit it are passed on without parsing. Of others that
 * share the JSON around their choices (roles, finish, tool calls) only the choices are parsed. What fits neither (usage,
 * other providers' extras) is parsed and patched by position.
 * Text is latin1 throughout: no cut inside a character can damage it.
 */
import type { Usage } from "../../usage.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import type { AnswerStream } from "../format.ts";
import type { Growing } from "../growing.ts";
import {
  applyEdits,
  type Edit,
  latin1Json,
  type Member,
  memberOf,
  removeMembers,
  setMember,
  skim,
  utf8Of,
} from "../json.ts";
import { copied } from "../latin1.ts";
import { SseReader, sseData, waiting } from "../sse.ts";
import { svcJson } from "../svc.ts";
import { readErrorValue } from "../upstream-error.ts";
import { ChatCapture } from "./capture.ts";
import { cutChunk } from "./finish-chunk.ts";
import { type Envelope, enclosedIn, envelopeOf, type Frame, frameOf, growingString, runOf } from "./frame.ts";
import { readChatUsage, readEventUsage, writeChatUsage } from "./usage.ts";

export interface StreamIdentity {
  readonly id: string;
  readonly model: string;
  /** False: the client asked for no usage; `usage` members and the last chunk are left out. */
  readonly includeUsage: boolean;
  /** Answers asked for; with one, its finish reason waits for the settlement. */
  readonly choices: number;
  readonly maxEventBytes: number;
  readonly maxCaptureBytes: number;
}

/** A frame learned, and the text that its events lengthen. */
interface Learned {
  readonly frame: Frame;
  readonly into: Growing;
}

/** The upstream's event that holds usage and no choices. */
interface UsageChunk {
  readonly text: string;
  readonly members: readonly Member[];
}

interface Chunk {
  readonly object?: unknown;
  readonly error?: unknown;
  readonly created?: unknown;
  readonly usage?: unknown;
  readonly x_groq?: unknown;
  readonly choices?: unknown;
}

export class ChatStream implements AnswerStream {
  /** Set when the upstream said `[DONE]`; nothing after it counts. */
  done = false;
  /** An error event of the upstream's; what follows it is not read. */
  error: UpstreamError | undefined;
  /** Events that carried something for the client. */
  events = 0;
  /** Events that were not JSON: skipped, and told in the warnings. */
  malformed = 0;
  readonly capture: ChatCapture;
  readonly #identity: StreamIdentity;
  readonly #sse: SseReader;
  readonly #event = (data: string) => this.#take(data);
  readonly #known = (text: string, from: number) => this.#fits(text, from);
  readonly #idJson: string;
  readonly #modelJson: string;
  #envelope: Envelope | undefined;
  #learned: Learned | undefined;
  #out = "";
  /** The finish reason and what ends the stream: goes out after the settlement. */
  #last = "";
  #holding = false;
  #usage: Usage | undefined;
  /** Bytes of text up to the last report, its own event included. */
  #reportedBytes = 0;
  /** The last report as the upstream wrote it: its own details are not lost. */
  #usageJson: string | undefined;
  /** The upstream's event that holds usage and no choices: the last chunk is made of it. */
  #usageChunk: UsageChunk | undefined;
  #created = 0;

  constructor(identity: StreamIdentity) {
    this.#identity = identity;
    this.#idJson = JSON.stringify(identity.id);
    this.#modelJson = JSON.stringify(identity.model);
    this.#sse = new SseReader(identity.maxEventBytes);
    this.capture = new ChatCapture(identity.maxCaptureBytes);
  }

  /**
   * One read of the upstream's body (latin1). Returns what the client gets now, as latin1 text; may be empty.
   * @throws WeirError `upstream_invalid_response` on an event beyond the bound.
   */
  push(read: string): string {
    this.#sse.push(read, this.#event, this.#known);
    return this.#flush();
  }

  /** The upstream's body is over: a last event may have come without its blank line. */
  end(): string {
    this.#sse.end(this.#event);
    return this.#flush();
  }

  /** True once the answer is whole, whether or not the upstream said `[DONE]`. */
  get complete(): boolean {
    return this.done || this.capture.finished;
  }

  get facts(): ReplyFacts {
    return {
      usage: this.#usage,
      stopReason: this.capture.stopReason,
      toolCalls: this.capture.toolCalls,
      outputBytes: this.capture.textBytes,
      unreportedBytes: this.capture.textBytes - this.#reportedBytes,
    };
  }

  get textBytes(): number {
    return this.capture.textBytes;
  }

  /** The answer for the record; undefined where it outgrew the bound. */
  kept(): Buffer | undefined {
    return this.capture.truncated ? undefined : this.capture.json();
  }

  /** What leaves after the settlement: held events, the usage chunk, `[DONE]`. */
  close(usage: Usage, svc: SvcReply): string {
    if (!this.#identity.includeUsage) return `${this.#last}data: [DONE]\n\n`;
    return `${this.#last}${sseData(this.#usageText(usage, svc))}data: [DONE]\n\n`;
  }

  #flush(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }

  #take(data: string): void {
    if (this.done || this.error !== undefined) return;
    if (data === "[DONE]") {
      this.done = true;
      this.#learned = undefined;
    } else if (!this.#takeEnclosed(data)) {
      this.#parse(copied(data));
    }
  }

  /** Passes on the events from `from` on that fit the learned frame: the index behind them, or -1 when none does. */
  #fits(text: string, from: number): number {
    if (this.#learned === undefined) return -1;
    const { frame, into } = this.#learned;
    const run = runOf(frame, text, from);
    if (run === undefined) return -1;
    this.#out += run.out;
    this.events += run.events;
    // Many as one string: the pieces would be kept until the stream is settled, each at several times its length.
    this.capture.grow(into, run.events > 1 ? copied(run.grown) : run.grown);
    return run.end;
  }

  /** Takes an event of which only the choices are new; false where it must be read in full. */
  #takeEnclosed(data: string): boolean {
    const envelope = this.#envelope;
    if (envelope === undefined) return false;
    const enclosed = enclosedIn(envelope, data);
    if (enclosed === undefined) return false;
    const choices = listOf(enclosed.choices);
    if (choices.length === 0 || readEventUsage({ choices }) !== undefined) return false;
    this.#gather(choices);
    const patched = envelope.headOut + enclosed.choices + envelope.tailOut + enclosed.rest;
    if (this.#holding) {
      this.#hold(patched, choices);
      return true;
    }
    this.#emit(patched);
    this.#learn(envelope, enclosed.choices, choices);
    return true;
  }

  #emit(data: string): void {
    this.events++;
    if (this.#holding) this.#last = waiting(this.#last, copied(sseData(data)));
    else this.#out += sseData(data);
  }

  /** A chunk with the finish reason or behind it: its text leaves at once. */
  #hold(data: string, choices: readonly unknown[]): void {
    this.events++;
    const { now, later } = cutChunk(data, choices);
    if (now !== "") this.#out += sseData(now);
    if (later !== "") this.#last = waiting(this.#last, copied(sseData(later)));
  }

  #parse(event: string): void {
    let chunk: Chunk;
    let members: readonly Member[];
    try {
      members = skim(event).members;
      chunk = JSON.parse(utf8Of(event)) as Chunk;
    } catch {
      this.malformed++;
      return;
    }
    if (chunk.error || chunk.object === "error") {
      this.error = readErrorValue(chunk.error || chunk);
      this.#learned = undefined;
      return;
    }
    // An event of several data lines: its line feeds are white space between tokens, and would end the line we send.
    const data = event.includes("\n") ? event.replaceAll("\n", " ") : event;
    if (typeof chunk.created === "number" && chunk.created !== this.#created) {
      // What was learned holds another time, and would pass on events without telling theirs.
      this.#created = chunk.created;
      this.#envelope = undefined;
      this.#learned = undefined;
    }
    const usage = readEventUsage(chunk);
    if (usage !== undefined) this.#report(usage, chunk, data, members);
    const choices = Array.isArray(chunk.choices) ? (chunk.choices as unknown[]) : undefined;
    if (choices === undefined || choices.length === 0) {
      if (chunk.usage !== undefined && chunk.usage !== null) this.#usageChunk = { text: data, members };
      // Some servers open with an empty chunk (Azure's content filter results): pass those on. What has no choices
      // member at all is no chunk, and clients would fall over it.
      else if (choices !== undefined) this.#emit(applyEdits(data, this.#edits(data, members)));
      return;
    }
    this.#gather(choices);
    if (usage !== undefined) this.#reportedBytes = this.capture.textBytes;
    const edits = this.#edits(data, members);
    if (this.#holding) {
      this.#hold(applyEdits(data, edits), choices);
      return;
    }
    this.#emit(applyEdits(data, edits));
    const member = memberOf(members, "choices");
    if (usage !== undefined || member === undefined) return;
    this.#envelope = envelopeOf(data, members, member, edits);
    if (this.#envelope === undefined) return;
    this.#learn(this.#envelope, data.slice(member.valueStart + 1, member.valueEnd - 1), choices);
  }

  #gather(choices: readonly unknown[]): void {
    this.capture.take(choices);
    if (this.#identity.choices !== 1 || !this.capture.finished) return;
    this.#holding = true;
    this.#learned = undefined;
  }

  /** Reports are cumulative wherever they come from: the last one stands, they are never added up. */
  #report(usage: Usage, chunk: Chunk, data: string, members: readonly Member[]): void {
    this.#usage = usage;
    this.#reportedBytes = this.capture.textBytes;
    const member = readChatUsage(chunk.usage) === undefined ? undefined : memberOf(members, "usage");
    this.#usageJson = member && data.slice(member.valueStart, member.valueEnd);
  }

  #edits(text: string, members: readonly Member[]): Edit[] {
    const edits = [
      setMember(text, members, "id", this.#idJson),
      setMember(text, members, "model", this.#modelJson),
    ];
    if (!this.#identity.includeUsage) edits.push(...removeMembers(members, ["usage"]));
    // A usage report on a chunk with choices moves to the last chunk: the others say null (T1).
    else edits.push(setMember(text, members, "usage", "null"));
    return edits;
  }

  /** Keeps the frame around the one string of the only choice, if that is all there is to it. */
  #learn(envelope: Envelope, text: string, choices: readonly unknown[]): void {
    if (choices.length !== 1) return;
    const place = growingString(text, choices[0]);
    if (place === undefined) return;
    const into = this.capture.growing(place.index, place.kind, place.tool);
    this.#learned = { frame: frameOf(envelope, text, place), into };
  }

  #usageText(usage: Usage, svc: SvcReply): string {
    const { id, model } = this.#identity;
    const usageJson = this.#usageJson ?? JSON.stringify(writeChatUsage(usage));
    if (this.#usageChunk === undefined) {
      const head = latin1Json({
        id,
        object: "chat.completion.chunk",
        created: this.#created,
        model,
        choices: [],
      });
      return `${head.slice(0, -1)},"usage":${usageJson},"svc":${svcJson(svc)}}`;
    }
    const { text, members } = this.#usageChunk;
    return applyEdits(text, [
      setMember(text, members, "id", this.#idJson),
      setMember(text, members, "model", this.#modelJson),
      setMember(text, members, "choices", "[]"),
      setMember(text, members, "usage", usageJson),
      setMember(text, members, "svc", svcJson(svc)),
    ]);
  }
}

/** Choices that stand in an event's text without their brackets; none where that is no JSON. */
function listOf(text: string): readonly unknown[] {
  try {
    return JSON.parse(`[${utf8Of(text)}]`) as unknown[];
  } catch {
    return [];
  }
}
