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
   * Takes one read and calls `each` for every event completed by it. A reader that knows what comes next may take an
   * event straight from the text: `known` returns the index behind the event (its blank line included), or -1.
   * @throws WeirError `upstream_invalid_response` when an event outgrows the bound.
   */
  push(
    read: string,
    each: (data: string, name: string) => void,
    known?: (text: string, from: number) => number,
  ): void {
    const text = this.#lineFeeds(read);
    const pending = this.#pending;
    const isSeam = this.#endsLine && text.startsWith("\n");
    if (text !== "") this.#endsLine = text.endsWith("\n");
    if (pending !== "" && !isSeam && text.indexOf("\n\n") < 0) {
      // No event ends here. The pending text is not searched again: the cost would be quadratic in the number of pieces.
      this.#keep(pending + text);
      return;
    }
    const joined = pending === "" ? text : pending + text;
    let from = 0;
    let scan = this.#scanned;
    for (;;) {
      const behind = known === undefined ? -1 : known(joined, from);
      if (behind >= 0) {
        from = scan = behind;
        if (behind === joined.length) break;
        continue;
      }
      const end = joined.indexOf("\n\n", scan);
      if (end < 0) break;
      // Extra blank lines between events are empty events: they are not delivered.
      if (end > from) this.#deliver(joined.slice(from, end), each);
      from = scan = end + 2;
      while (joined.charCodeAt(from) === 10) from = ++scan;
    }
    this.#keep(from === 0 ? joined : copied(joined.slice(from)));
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
  end(each: (data: string, name: string) => void): void {
    const rest = this.#pending;
    this.#pending = "";
    this.#scanned = 0;
    if (rest.trim() !== "") this.#deliver(rest.endsWith("\n") ? rest.slice(0, -1) : rest, each);
  }

  #deliver(event: string, each: (data: string, name: string) => void): void {
    if (event.startsWith("data: ") && event.indexOf("\n") < 0) {
      if (event.length > 6) each(event.slice(6), "");
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
    if (data !== "") each(data, name);
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
