/**
 * A chat-completions stream, spliced. Nearly every event is the same JSON around one growing string: that frame is
 * learned from the first event of its kind, and later events that fit it are passed on without parsing. Whatever does
 * not fit (roles, finish, usage, tool calls, other providers' extras) is parsed and patched by position.
 * Text is latin1 throughout: no cut inside a character can damage it.
 */
import type { Usage } from "../../usage.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../contract.ts";
import {
  applyEdits,
  closingQuote,
  type Edit,
  latin1Json,
  type Member,
  memberOf,
  removeMembers,
  setMember,
  skim,
  utf8Of,
} from "../json.ts";
import { SseReader, sseData } from "../sse.ts";
import { ChatCapture, type Growing } from "./capture.ts";
import { readErrorValue } from "./errors.ts";
import { readChatUsage, readEventUsage, writeChatUsage } from "./usage.ts";

export interface StreamIdentity {
  readonly id: string;
  readonly model: string;
  /** False: the client asked for no usage; `usage` members and the last chunk are left out. */
  readonly includeUsage: boolean;
  /** Answers asked for; with one, what follows the finish reason waits for the settlement. */
  readonly choices: number;
  readonly maxEventBytes: number;
  readonly maxCaptureBytes: number;
}

/** The growing string of an event: what it is, and where its inside stands in the text. */
interface Place {
  readonly kind: string;
  /** Of the choice. */
  readonly index: number;
  /** Of the tool call whose arguments grow; -1 for text. */
  readonly tool: number;
  readonly start: number;
  readonly end: number;
}

/** The event around a growing string, as it comes (`head`, `tail`: blank line included) and as it goes out. */
interface Frame {
  readonly into: Growing;
  readonly head: string;
  readonly tail: string;
  readonly headOut: string;
  readonly tailOut: string;
  /** After `tail` comes a padding string that differs each time (OpenAI's `obfuscation`). */
  readonly padded: boolean;
}

interface Chunk {
  readonly object?: unknown;
  readonly error?: unknown;
  readonly created?: unknown;
  readonly usage?: unknown;
  readonly x_groq?: unknown;
  readonly choices?: unknown;
}

/** Members of a delta whose one string grows from event to event; beside them the arguments of a tool call. */
const GROWING: readonly string[] = ["content", "reasoning_content", "reasoning"];
const PADDING = '"obfuscation":"';
const PADDING_END = '"}\n\n';
const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
const LOWER_U = 117;
const ESCAPES = [...'"\\/bfnrt'].map((c) => c.charCodeAt(0));

export class ChatStream {
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
  #frame: Frame | undefined;
  #out = "";
  /** From the finish reason on: goes out after the settlement. */
  #last = "";
  #holding = false;
  #usage: Usage | undefined;
  /** Bytes of text up to the last report, its own event included. */
  #reportedBytes = 0;
  /** The last report as the upstream wrote it: its own details are not lost. */
  #usageJson: string | undefined;
  /** The upstream's event that holds usage and no choices: the last chunk is made of it. */
  #usageChunk: string | undefined;
  #created = 0;

  constructor(identity: StreamIdentity) {
    this.#identity = identity;
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
      this.#frame = undefined;
      return;
    }
    this.#parse(data);
  }

  /** Passes on the event at `from` if it fits the learned frame: the index behind it, or -1 when it does not. */
  #fits(text: string, from: number): number {
    const frame = this.#frame;
    if (frame === undefined || !stands(frame.head, text, from)) return -1;
    const start = from + frame.head.length;
    const quote = stringEnd(text, start);
    if (quote < 0 || !stands(frame.tail, text, quote)) return -1;
    let end = quote + frame.tail.length;
    if (frame.padded) {
      end = stringEnd(text, end) + PADDING_END.length;
      if (end < PADDING_END.length || !stands(PADDING_END, text, end - PADDING_END.length)) return -1;
    }
    const grown = text.slice(start, quote);
    this.#out += frame.headOut + grown + frame.tailOut;
    if (frame.padded) this.#out += text.slice(quote + frame.tail.length, end);
    this.events++;
    this.capture.grow(frame.into, grown);
    return end;
  }

  #emit(data: string): void {
    this.events++;
    if (this.#holding) this.#last += sseData(data);
    else this.#out += sseData(data);
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
      this.#frame = undefined;
      return;
    }
    // An event of several data lines: its line feeds are white space between tokens, and would end the line we send.
    const data = event.includes("\n") ? event.replaceAll("\n", " ") : event;
    if (typeof chunk.created === "number") this.#created = chunk.created;
    const usage = readEventUsage(chunk);
    if (usage !== undefined) this.#report(usage, chunk, data, members);
    const choices = Array.isArray(chunk.choices) ? (chunk.choices as unknown[]) : undefined;
    if (choices === undefined || choices.length === 0) {
      if (chunk.usage !== undefined && chunk.usage !== null) this.#usageChunk = data;
      // Some servers open with an empty chunk (Azure's content filter results): pass those on. What has no choices
      // member at all is no chunk, and clients would fall over it.
      else if (choices !== undefined) this.#emit(this.#patched(data, members));
      return;
    }
    this.capture.take(choices);
    if (usage !== undefined) this.#reportedBytes = this.capture.textBytes;
    if (this.#identity.choices === 1 && this.capture.finished) {
      this.#holding = true;
      this.#frame = undefined;
    }
    this.#emit(this.#patched(data, members));
    if (choices.length === 1 && usage === undefined && !this.#holding) this.#learn(data, members, choices[0]);
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
      setMember(text, members, "id", JSON.stringify(this.#identity.id)),
      setMember(text, members, "model", JSON.stringify(this.#identity.model)),
    ];
    if (!this.#identity.includeUsage) edits.push(...removeMembers(members, ["usage"]));
    // A usage report on a chunk with choices moves to the last chunk: the others say null (T1).
    else edits.push(setMember(text, members, "usage", "null"));
    return edits;
  }

  #patched(text: string, members: readonly Member[]): string {
    return applyEdits(text, this.#edits(text, members));
  }

  /** Keeps the frame around the one string of this delta, if that is all there is to it. */
  #learn(data: string, members: readonly Member[], choice: unknown): void {
    const place = growingString(data, members, choice);
    if (place === undefined) return;
    const edits = this.#edits(data, members);
    const before = edits.filter((e) => e.end <= place.start);
    const after = edits
      .filter((e) => e.start >= place.end)
      .map((e) => ({ start: e.start - place.end, end: e.end - place.end, text: e.text }));
    const rest = data.slice(place.end);
    const padding = rest.indexOf(PADDING);
    // Padding must be the last member, or the frame would let an unseen member through.
    const padded = padding >= 0 && rest.indexOf('"', padding + PADDING.length) === rest.length - 2;
    const cut = padded ? padding + PADDING.length : rest.length;
    const tailEdits = after.filter((e) => e.end <= cut);
    if (tailEdits.length !== after.length) return;
    const blank = padded ? "" : "\n\n";
    this.#frame = {
      into: this.capture.growing(place.index, place.kind, place.tool),
      head: `data: ${data.slice(0, place.start)}`,
      tail: rest.slice(0, cut) + blank,
      headOut: copied(`data: ${applyEdits(data.slice(0, place.start), before)}`),
      tailOut: copied(applyEdits(rest.slice(0, cut), tailEdits) + blank),
      padded,
    };
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
      return `${head.slice(0, -1)},"usage":${usageJson},"svc":${latin1Json(svc)}}`;
    }
    const text = this.#usageChunk;
    const { members } = skim(text);
    return applyEdits(text, [
      setMember(text, members, "id", JSON.stringify(id)),
      setMember(text, members, "model", JSON.stringify(model)),
      setMember(text, members, "choices", "[]"),
      setMember(text, members, "usage", usageJson),
      setMember(text, members, "svc", latin1Json(svc)),
    ]);
  }
}

/** Text of its own: as slices of a read they would keep all of it alive as long as the stream lasts (T10). */
const copied = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

/** `startsWith` at a position; comparing a slice is three times faster, and this is what a streamed token costs. */
const stands = (part: string, text: string, at: number): boolean => text.slice(at, at + part.length) === part;

/**
 * The end of the JSON string whose inside begins at `start`: the index of its closing quote, or -1 where it does not
 * end or is no valid JSON. Looked at byte by byte: tokens are short, and what passes unparsed must parse at the client.
 */
function stringEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at;
    if (c < SPACE) return -1;
    if (c !== BACKSLASH) continue;
    const escaped = text.charCodeAt(++at);
    if (escaped === LOWER_U) {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) return -1;
    } else if (!ESCAPES.includes(escaped)) return -1;
  }
  return -1;
}

/** Where the delta's growing string stands in the text: the delta must say nothing else. */
function growingString(data: string, members: readonly Member[], choice: unknown): Place | undefined {
  const { index, delta } = (choice ?? {}) as { index?: unknown; delta?: unknown };
  const choices = memberOf(members, "choices");
  if (choices === undefined || typeof delta !== "object" || delta === null) return undefined;
  const growing = growingOf(delta as Record<string, unknown>);
  if (growing === undefined) return undefined;
  const from = data.indexOf('"delta"', choices.valueStart);
  const opening = `"${growing.kind}":`;
  const at = data.indexOf(opening, from);
  if (from < 0 || at < 0 || at >= choices.valueEnd) return undefined;
  let start = at + opening.length;
  while (data.charCodeAt(start) === SPACE) start++;
  if (data.charCodeAt(start) !== QUOTE) return undefined;
  start++;
  const end = closingQuote(data, start);
  // Another member of the same name may have been found: its text would be taken for the answer's.
  if (JSON.parse(`"${utf8Of(data.slice(start, end))}"`) !== growing.text) return undefined;
  return { kind: growing.kind, tool: growing.tool, index: typeof index === "number" ? index : 0, start, end };
}

/** The one string of a delta that says something; undefined where there is more than that to be seen each time. */
function growingOf(delta: Record<string, unknown>): { kind: string; tool: number; text: string } | undefined {
  let kind = "";
  for (const [key, value] of Object.entries(delta)) {
    // Null, empty strings and lists say nothing, nor does a role that is repeated.
    if (key === "role" || !value || (Array.isArray(value) && value.length === 0)) continue;
    if (kind !== "") return undefined;
    kind = key;
  }
  if (kind === "tool_calls") return growingArguments(delta.tool_calls);
  const text = delta[kind === "" ? "content" : kind];
  if (typeof text !== "string" || (kind !== "" && !GROWING.includes(kind))) return undefined;
  return { kind: kind === "" ? "content" : kind, tool: -1, text };
}

/** A tool-call delta that only lengthens the arguments: an id or a name marks a new call, which must be parsed. */
function growingArguments(calls: unknown): { kind: string; tool: number; text: string } | undefined {
  if (!Array.isArray(calls) || calls.length !== 1) return undefined;
  const call = calls[0] as {
    id?: unknown;
    index?: unknown;
    function?: { name?: unknown; arguments?: unknown };
  } | null;
  const text = call?.function?.arguments;
  if (typeof call?.index !== "number" || typeof text !== "string" || call.id || call.function?.name)
    return undefined;
  return { kind: "arguments", tool: call.index, text };
}
