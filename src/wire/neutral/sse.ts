/**
 * Server-sent events as bytes: cuts a stream into the `data` and names of its events, wherever the reads happened to split
 * it. Text is latin1 (one character a byte), so a cut inside a character loses nothing. Takes LF, CRLF and CR, comments,
 * several data lines, a byte order mark, and a last event without its blank line (WHATWG HTML, "Server-sent events"); beside these, llama.cpp's
 * field `error`.
 */
import { fail } from "../../base/errors.ts";
import { copied } from "../json/latin1.ts";

const BOM = "\u00ef\u00bb\u00bf";

/** Equals the default bound of one event. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Appends an event to those that are held back. This is their only bound: what is not sent is not charged meanwhile.
 * @throws WeirError `upstream_invalid_response`
 */
export function waiting(events: string, more: string): string {
  const all = events + more;
  checkWaiting(all);
  return all;
}

/** @throws WeirError `upstream_invalid_response` where the events that are held back outgrow their bound */
export function checkWaiting({ length }: string): void {
  if (length <= MAX_WAITING_BYTES) return;
  const message = "The provider sent more events without content than the gateway takes.";
  throw fail("upstream_invalid_response", message);
}

/** Takes the events of a stream. */
export interface EventSink {
  onEvent(data: string, name: string): void;
  /**
   * Takes events straight from bytes, where it knows what comes next.
   * @returns the index behind the events (the blank line included), or -1
   */
  known(bytes: Buffer, from: number, to: number): number;
}

type Each = EventSink["onEvent"];

const knowsNone = (): number => -1;

const BOM_BYTE = 0xef;
const LINE_FEED = 10;
/** Most events are shorter: so much of a read becomes text to find the end of one, and all of it only for a longer one. */
const LOOK_BYTES = 2048;

/**
 * For one synchronous moment, the beginning of an event in an earlier read, and the read that it ends in. Larger ones are read without
 * what is known.
 */
const joined = Buffer.allocUnsafeSlow(64 * 1024);

export class SseReader {
  #pending = "";
  #scanned = 0;
  /** `#pending` ends with a line feed. Kept apart because looking would join the string's pieces. */
  #endsLine = false;
  #afterCr = false;
  #started = false;
  /** The first bytes of the stream while they may still be a byte order mark. */
  #opening = "";
  readonly #maxEventBytes: number;

  constructor(maxEventBytes: number) {
    this.#maxEventBytes = maxEventBytes;
  }

  /**
   * Takes one read and calls `each` for every event completed by it.
   * @param read latin1
   * @throws WeirError `upstream_invalid_response` when an event outgrows the bound.
   */
  push(read: string, each: Each): void {
    this.read(Buffer.from(read, "latin1"), 0, read.length, { onEvent: each, known: knowsNone });
  }

  /** The same of bytes, from `start` up to `end`. */
  read(bytes: Buffer, start: number, end: number, sink: EventSink): void {
    if (this.#pending === "" && !this.#afterCr && (this.#started || this.#starts(bytes, start, end)))
      this.#readEvents(bytes, start, end, sink);
    else if (end > start) this.#readBehind(bytes.toString("latin1", start, end), sink);
  }

  /** Whether a stream begins here with no byte order mark, nor with a part of one. */
  #starts(bytes: Buffer, start: number, end: number): boolean {
    if (this.#opening !== "" || start === end || bytes[start] === BOM_BYTE) return false;
    this.#started = true;
    return true;
  }

  /** A read that begins with an event. Only what is not known becomes text. */
  #readEvents(bytes: Buffer, start: number, end: number, sink: EventSink): void {
    let from = start;
    // The text from `textAt` on that is looked at.
    let text = "";
    let textAt = start;
    while (from < end) {
      const behind = sink.known(bytes, from, end);
      if (behind >= 0) {
        from = behind;
        continue;
      }
      let close = -1;
      if (from < textAt + text.length) close = text.indexOf("\n\n", from - textAt);
      for (let most = LOOK_BYTES; close < 0 && textAt + text.length < end; most = end - from) {
        textAt = from;
        text = bytes.toString("latin1", from, Math.min(end, from + most));
        if (text.includes("\r")) {
          this.#readText(bytes.toString("latin1", from, end), sink);
          return;
        }
        close = text.indexOf("\n\n");
      }
      if (close < 0) {
        const rest = from === textAt ? text : copied(text.slice(from - textAt));
        this.#endsLine = rest.endsWith("\n");
        this.#keep(rest);
        return;
      }
      // Extra blank lines between events are empty events: they are not delivered.
      if (textAt + close > from) this.#deliver(text.slice(from - textAt, close), sink);
      from = textAt + close + 2;
      while (from < end && bytes[from] === LINE_FEED) from++;
    }
    this.#endsLine = true;
  }

  /** A read that begins within an event, or may begin so. */
  #readBehind(read: string, sink: EventSink): void {
    const pending = this.#pending;
    const length = pending.length + read.length;
    const isPlain = this.#started && !this.#afterCr && pending !== "" && !read.includes("\r");
    const endsOne = isPlain && ((this.#endsLine && read.startsWith("\n")) || read.includes("\n\n"));
    if (!endsOne || length > joined.length) {
      this.#readText(read, sink);
      return;
    }
    this.#pending = "";
    this.#scanned = 0;
    joined.write(pending, 0, "latin1");
    joined.write(read, pending.length, "latin1");
    this.#readEvents(joined, 0, length, sink);
  }

  #readText(read: string, sink: EventSink): void {
    const text = this.#lineFeeds(read);
    const pending = this.#pending;
    const isSeam = this.#endsLine && text.startsWith("\n");
    if (text !== "") this.#endsLine = text.endsWith("\n");
    if (pending !== "" && !isSeam && text.indexOf("\n\n") < 0) {
      // No event ends here. The pending text is not searched again: the cost would be quadratic in the number of pieces.
      this.#keep(pending + text);
      return;
    }
    const all = pending === "" ? text : pending + text;
    let from = 0;
    for (let end = all.indexOf("\n\n", this.#scanned); end >= 0; end = all.indexOf("\n\n", from)) {
      if (end > from) this.#deliver(all.slice(from, end), sink);
      from = end + 2;
      while (all.charCodeAt(from) === LINE_FEED) from++;
    }
    this.#keep(from === 0 ? all : copied(all.slice(from)));
  }

  #keep(pending: string): void {
    this.#pending = pending;
    // The last character may be the first of the two line feeds.
    this.#scanned = Math.max(0, pending.length - 1);
    if (pending.length > this.#maxEventBytes) {
      throw fail("upstream_invalid_response", "The provider sent an event larger than the gateway takes.");
    }
  }

  /** The stream has ended: delivers a last event that has no blank line. */
  end(sink: Pick<EventSink, "onEvent">): void {
    const rest = this.#pending;
    this.#pending = "";
    this.#scanned = 0;
    if (rest.trim() !== "") this.#deliver(rest.endsWith("\n") ? rest.slice(0, -1) : rest, sink);
  }

  #deliver(event: string, sink: Pick<EventSink, "onEvent">): void {
    if (event.startsWith("data: ") && event.indexOf("\n") < 0) {
      if (event.length > 6) sink.onEvent(event.slice(6), "");
      return;
    }
    let data: string | undefined;
    let name = "";
    for (const line of event.split("\n")) {
      if (line.startsWith("event:")) name = fieldOf(line, 6);
      else if (line.startsWith("data:") || line === "data") {
        const value = fieldOf(line, 5);
        data = data === undefined ? value : `${data}\n${value}`;
      } else if (line.startsWith("error:") && data === undefined) {
        // llama.cpp's own field (ggml-org/llama.cpp#16109).
        name = "error";
        data = fieldOf(line, 6);
      }
    }
    if (data === undefined) data = bareJson(event);
    if (data !== "") sink.onEvent(data, name);
  }

  /** Replaces every line end by LF. A CR at the end of a read may have its LF in the next. */
  #lineFeeds(read: string): string {
    let text = read;
    if (!this.#started) {
      text = this.#opening + text;
      this.#opening = "";
      if (text.length < BOM.length && BOM.startsWith(text)) {
        this.#opening = text;
        return "";
      }
      if (text.startsWith(BOM)) text = text.slice(BOM.length);
      this.#started = true;
    }
    if (this.#afterCr && text !== "") {
      this.#afterCr = false;
      if (text.startsWith("\n")) text = text.slice(1);
    }
    if (text.indexOf("\r") < 0) return text;
    this.#afterCr = text.endsWith("\r");
    return text.replace(/\r\n?/g, "\n");
  }
}

/** JSON on lines without a field, as servers write it that have begun a stream and then answer by a body; empty where there is none. */
function bareJson(event: string): string {
  if (event.startsWith("{")) return event;
  const at = event.indexOf("\n{");
  return at < 0 ? "" : event.slice(at + 1);
}

/** A line's value after its field name and colon, without one leading space. */
const fieldOf = (line: string, from: number): string =>
  line.slice(line.startsWith(" ", from) ? from + 1 : from);

/** One event without a name, as chat completions send it. */
export const sseData = (data: string): string => `data: ${data}\n\n`;

/** One event with its name. */
export const sseEvent = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

/** A comment, which every client skips: it keeps the connection open while the upstream is silent. */
export const KEEP_ALIVE = ": keep-alive\n\n";
