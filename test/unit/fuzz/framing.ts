/**
 * Damage done to streams on purpose: to the events that they are made of, in either framing, and to how they are cut into
 * reads. All text is latin1, one character a byte.
 */

import { eventStreamFrame } from "../../../simulator/event-stream.ts";
import type { Random } from "../../../src/base/clock.ts";
import { below, type Damage, damagedJson, damagedText, pick, utf8 } from "./mutations.ts";

/** How a stream is taken apart and put together: its events, and the JSON in each. */
export interface Framing {
  split(stream: string): string[];
  /** Where the JSON of an event stands. */
  dataIn(event: string): { readonly start: number; readonly end: number };
  /** The event with other JSON. */
  withData(event: string, data: string): string;
  /** What such a stream may do beside its events. */
  dressed(stream: string, random: Random): string;
}

export const SSE_FRAMING: Framing = {
  split: (stream) => stream.split(/(?<=\n\n|\r\n\r\n)/),
  dataIn: (event) => {
    const start = event.search(/(?<=^data: ?)[^ ]/m);
    const end = event.slice(Math.max(0, start)).search(/[\r\n]/);
    return start < 0 ? { start: 0, end: 0 } : { start, end: end < 0 ? event.length : start + end };
  },
  withData(event, data) {
    const { start, end } = this.dataIn(event);
    return event.slice(0, start) + data + event.slice(end);
  },
  dressed(stream, random) {
    switch (below(random, 10)) {
      case 0:
        return stream.replace(/\r?\n/g, "\r\n");
      case 1:
        return stream.replace(/\r?\n/g, "\r");
      case 2:
        return stream.replace(/\r?\n/g, () => pick(random, ["\n", "\r\n", "\r"]));
      case 3:
        return `\u00ef\u00bb\u00bf${stream}`;
      case 4:
        return stream.replaceAll("\n\n", "\n\n: a comment\n\n\n");
      case 5:
        return stream.replaceAll("data: ", "data:");
      case 6:
        return stream.replaceAll("data: ", "id: 7\nretry: 10\ndata: ");
      case 7:
        return stream.trimEnd();
      default:
        return stream;
    }
  },
};

/** Frames of AWS event streams: no length and no checksum is wrong unless bytes are damaged after it. */
export const FRAME_FRAMING: Framing = {
  split(stream) {
    const bytes = Buffer.from(stream, "latin1");
    const frames: string[] = [];
    for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
      frames.push(stream.slice(at, at + bytes.readUInt32BE(at)));
    }
    return frames;
  },
  dataIn: (event) => {
    const headerBytes = Buffer.from(event.slice(4, 8), "latin1").readUInt32BE(0);
    return { start: 12 + headerBytes, end: event.length - 4 };
  },
  withData(event, data) {
    const headers: Record<string, string> = {};
    const { start } = this.dataIn(event);
    for (let at = 12; at < start; ) {
      const nameEnd = at + 1 + event.charCodeAt(at);
      const valueStart = nameEnd + 3;
      const valueEnd = valueStart + event.charCodeAt(nameEnd + 1) * 256 + event.charCodeAt(nameEnd + 2);
      headers[event.slice(at + 1, nameEnd)] = event.slice(valueStart, valueEnd);
      at = valueEnd;
    }
    return eventStreamFrame(headers, utf8(data)).toString("latin1");
  },
  dressed: (stream) => stream,
};

/** A stream whose events are dropped, repeated, exchanged or changed; or whose bytes are damaged. */
export function damagedStream(framing: Framing): Damage {
  return (stream, other, random) => damagedEvents(framing, stream, other, random);
}

function damagedEvents(framing: Framing, stream: string, other: string, random: Random): string {
  const act = random();
  if (act < 0.12) return damagedText(stream, other, random);
  const events = framing.split(stream);
  for (let times = act < 0.2 ? 0 : 1 + below(random, 3); times > 0 && events.length > 0; times--) {
    const at = below(random, events.length);
    const event = events[at] as string;
    const kind = random();
    if (kind < 0.1) events.splice(at, 1 + below(random, 3));
    else if (kind < 0.2) events.splice(at, 0, ...Array<string>(1 + below(random, 3)).fill(event));
    else if (kind < 0.3) [events[at], events[below(random, events.length)]] = [pick(random, events), event];
    else if (kind < 0.4) events.splice(at, 0, pick(random, framing.split(other)));
    else if (kind < 0.45) events.length = at;
    else {
      const { start, end } = framing.dataIn(event);
      const donor = pick(random, events);
      const place = framing.dataIn(donor);
      const data = event.slice(start, end);
      if (data !== "") {
        events[at] = framing.withData(event, damagedJson(data, donor.slice(place.start, place.end), random));
      }
    }
  }
  return framing.dressed(events.join(""), random);
}

/** The text in pieces: as one, in a few, or in bytes. */
export function pieced(text: string, random: Random): string[] {
  const act = random();
  if (act < 0.2) return [text];
  if (act < 0.3 && text.length < 4000) return [...text];
  const pieces: string[] = [];
  const size = 1 + below(random, act < 0.5 ? 40 : 1500);
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + below(random, size);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}
