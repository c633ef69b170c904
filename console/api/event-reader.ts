/** Reads server-sent events out of a body as it comes (WHATWG HTML, 9.2.6). Pure: what a page does with them is elsewhere. */

export interface SentEvent {
  /** `message` where the stream names none. */
  readonly name: string;
  /** The last that the stream told; empty where it told none. */
  readonly id: string;
  readonly data: string;
}

/** An event whose data is an object of JSON, read. */
export interface ReadEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class EventReader {
  #rest = "";
  #name = "";
  #data: string[] = [];
  #id = "";
  /** The piece before ended with a carriage return: a line feed at the beginning of the next belongs to it. */
  #endedInReturn = false;

  /** @returns the events that are whole now */
  read(piece: string): readonly SentEvent[] {
    if (piece === "") return [];
    const text = this.#rest + (this.#endedInReturn && piece.startsWith("\n") ? piece.slice(1) : piece);
    this.#endedInReturn = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? "";
    const found: SentEvent[] = [];
    for (const line of lines) {
      const event = this.#take(line);
      if (event !== undefined) found.push(event);
    }
    return found;
  }

  #take(line: string): SentEvent | undefined {
    if (line === "") return this.#dispatched();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #dispatched(): SentEvent | undefined {
    const [name, data] = [this.#name, this.#data];
    this.#name = "";
    this.#data = [];
    if (data.length === 0) return undefined;
    return { name: name || "message", id: this.#id, data: data.join("\n") };
  }
}
