/**
 * Numbers the events of a background response anew, without a gap: clients resume by them, the gateway has told the first ones itself, and some
 * upstreams number none. Plain streams keep their upstream's numbers, and come here with no event.
 */
import { applyEdits, membersOf, setMember } from "../json/json.ts";

/** How most upstreams begin an event; up to its number, and the number. */
const USUAL = /^(\{"type":"[\w.]+","sequence_number":)\d+/;
const DATA = "\ndata: ";

export class SequenceNumbers {
  /** The number of the next event. */
  next: number;

  constructor(first: number) {
    this.next = first;
  }

  /** Whole events with their numbers, in memory of their own. @param events latin1 */
  numberedBytes(events: Buffer): Buffer {
    return events.length === 0 ? events : Buffer.from(this.numbered(events.toString("latin1")), "latin1");
  }

  /** The same as latin1 text. */
  numbered(events: string): string {
    let out = "";
    let from = 0;
    for (let end = events.indexOf("\n\n"); end >= 0; end = events.indexOf("\n\n", from)) {
      out += this.#event(events.slice(from, end)) + events.slice(end, end + 2);
      from = end + 2;
    }
    return out + events.slice(from);
  }

  /** An event has its name before its data, or no name. What has no data is a comment. */
  #event(event: string): string {
    const at = event.startsWith(DATA.slice(1)) ? 0 : event.indexOf(DATA) + 1;
    if (at === 0 && !event.startsWith(DATA.slice(1))) return event;
    const head = event.slice(0, at + DATA.length - 1);
    const data = event.slice(head.length);
    const usual = USUAL.exec(data);
    if (usual !== null) return head + usual[1] + this.next++ + data.slice(usual[0].length);
    const members = membersOf(data);
    if (members === undefined) return event;
    const number = setMember(data, members, "sequence_number", String(this.next++));
    return head + applyEdits(data, [number]);
  }
}
