/**
 * Gives the events of a stream their numbers, as the field `id` of server-sent events: a client that connects again sends the last one
 * as `Last-Event-ID` (https://html.spec.whatwg.org/multipage/server-sent-events.html#the-last-event-id-header). They count from 0, so
 * that the same stream always has the same numbers.
 */

/** How each event that a relay writes ends. */
const END = Buffer.from("\n\n");
const COLON = ":".charCodeAt(0);

const idLine = (number: number): string => `id: ${number}\n`;

export class EventNumbers {
  /** The number of the next event. */
  next: number;

  constructor(next = 0) {
    this.next = next;
  }

  /**
   * The same events, each with its number; comments, which are no events, without one.
   * @param events whole events, each with its blank line. @returns memory of its own
   */
  numbered(events: Buffer): Buffer {
    // As most are: one event, in a write of its own.
    if (events.indexOf(END) === events.length - END.length && events[0] !== COLON)
      return oneOf(idLine(this.next++), events);
    const parts: (Buffer | string)[] = [];
    let length = 0;
    for (let start = 0; start < events.length; ) {
      const found = events.indexOf(END, start);
      const end = found < 0 ? events.length : found + END.length;
      if (events[start] !== COLON) {
        const line = idLine(this.next++);
        parts.push(line);
        length += line.length;
      }
      parts.push(events.subarray(start, end));
      length += end - start;
      start = end;
    }
    return joined(parts, length);
  }
}

function oneOf(line: string, event: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(line.length + event.length);
  event.copy(bytes, bytes.write(line, 0, "latin1"));
  return bytes;
}

function joined(parts: readonly (Buffer | string)[], length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const part of parts)
    at += typeof part === "string" ? bytes.write(part, at, "latin1") : part.copy(bytes, at);
  return bytes;
}

/** Where an event of this number begins in numbered events; -1 where it is not among them. */
export function startOf(events: Buffer, number: number): number {
  const line = idLine(number);
  if (events.toString("latin1", 0, line.length) === line) return 0;
  // No line of an event's data begins so: it would begin with the name of its field.
  const at = events.indexOf(`\n\n${line}`, undefined, "latin1");
  return at < 0 ? -1 : at + END.length;
}
