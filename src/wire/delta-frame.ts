/**
 * Text that streams pass without being parsed. Nearly every event of a stream is the same JSON around one growing string:
 * that frame is learned from an event that was read in full and came to one delta and nothing else. What fits the frame to
 * the byte, but for the string and for members that nobody reads, comes to the same delta with another text. A frame holds
 * until the next event that does not fit: that one may change what the following mean.
 */
import { fragmentEnd } from "./fragment.ts";
import { copied, stands } from "./latin1.ts";
import type { Fragment } from "./neutral.ts";

/** Names of members, at any depth of an event. */
export interface FrameKeys {
  /** Their strings are what parts grow by. */
  readonly growing: readonly string[];
  /** No reader looks at these, and they differ from event to event: strings and counts. */
  readonly unread: readonly string[];
}

type Hole = "growing" | "string" | "digits";

/** A piece of the event that stays the same, and what follows it. */
interface Step {
  readonly literal: string;
  readonly hole: Hole;
}

interface Frame {
  /** Where in an event its data begin. */
  readonly dataAt: number;
  readonly steps: readonly Step[];
  /** Blank line included. */
  readonly tail: string;
  /** No string is in the tail, so that white space in it means nothing: Anthropic pads its events with it. */
  readonly isLoose: boolean;
}

/** Frames in a row that no event fitted: then no more are learned, since each costs more than it saves. */
const MOST_VAIN = 32;

const SPACE = 32;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const QUOTE = 34;

export class DeltaFrames {
  /** What the event that {@link fit} found grows its part by. */
  text: Fragment = "";
  /** The index at which its data begin. */
  dataAt = 0;
  #frame: Frame | undefined;
  #vain = 0;
  readonly #keys: FrameKeys;

  constructor(keys: FrameKeys) {
    this.#keys = keys;
  }

  /** An event that fits nothing is read: what it says may change the meaning of those that follow. */
  forget(): void {
    this.#frame = undefined;
  }

  /**
   * Learns from an event that came to one delta and nothing else.
   * @param data the event's, latin1.
   * @param text of the delta.
   */
  learn(data: string, name: string, text: Fragment): void {
    if (this.#vain >= MOST_VAIN) return;
    this.#frame = frameOf(data, name, text, this.#keys);
    if (this.#frame !== undefined) this.#vain++;
  }

  /** The index behind the event at `from` where it fits, else -1. */
  fit(read: string, from: number): number {
    const frame = this.#frame;
    if (frame === undefined) return -1;
    let at = from;
    let text = "";
    for (const { literal, hole } of frame.steps) {
      if (!stands(literal, read, at)) return -1;
      const start = at + literal.length;
      at = hole === "digits" ? digitsEnd(read, start) : fragmentEnd(read, start);
      if (at < 0) return -1;
      if (hole === "growing") text = read.slice(start, at);
    }
    // As the reader would have written it: other escapes of the same characters have to be made the usual ones.
    if (text === "" || UNUSUAL.test(text)) return -1;
    const end = frame.isLoose
      ? looseEnd(frame.tail, read, at)
      : stands(frame.tail, read, at)
        ? at + frame.tail.length
        : -1;
    if (end < 0) return -1;
    this.#vain = 0;
    // A slice would keep all of the read alive for as long as it waits for a slow client.
    this.text = copied(text);
    this.dataAt = from + frame.dataAt;
    return end;
  }
}

const UNUSUAL = /\\[/u]/;

interface Opening {
  readonly at: number;
  readonly hole: Hole;
}

/** Undefined where the string cannot be told from others in the event. */
function frameOf(
  data: string,
  name: string,
  text: Fragment,
  { growing, unread }: FrameKeys,
): Frame | undefined {
  if (data.includes("\n")) return undefined;
  const said = growing.flatMap((key) => valuesOf(data, key)).filter((at) => !saysNothing(data, at));
  const [at] = said;
  if (at === undefined || said.length > 1 || !data.startsWith(`"${text}"`, at)) return undefined;
  const openings: Opening[] = [{ at: at + 1, hole: "growing" }];
  for (const key of unread) {
    for (const value of valuesOf(data, key)) {
      if (data.charCodeAt(value) === QUOTE) openings.push({ at: value + 1, hole: "string" });
      else if (digitsEnd(data, value) >= 0) openings.push({ at: value, hole: "digits" });
    }
  }
  openings.sort((a, b) => a.at - b.at);
  const head = name === "" ? "data: " : `event: ${name}\ndata: `;
  const event = copied(`${head}${data}\n\n`);
  const steps: Step[] = [];
  let from = 0;
  for (const { at, hole } of openings) {
    const start = head.length + at;
    steps.push({ literal: event.slice(from, start), hole });
    from = hole === "digits" ? digitsEnd(event, start) : fragmentEnd(event, start);
  }
  const tail = event.slice(from);
  const isLoose = !tail.includes('"', 1);
  return { dataAt: head.length, steps, tail: isLoose ? tail.replaceAll(" ", "") : tail, isLoose };
}

/** Where the values of the members of this name begin. */
function valuesOf(data: string, key: string): number[] {
  const found: number[] = [];
  const quoted = `"${key}"`;
  for (let at = data.indexOf(quoted); at >= 0; at = data.indexOf(quoted, at + 1)) {
    const colon = spaceEnd(data, at + quoted.length);
    // Otherwise it is a value itself.
    if (data.charCodeAt(colon) === COLON) found.push(spaceEnd(data, colon + 1));
  }
  return found;
}

const NOTHING = /(?:null|""|\[\s*\])/y;

function saysNothing(data: string, at: number): boolean {
  NOTHING.lastIndex = at;
  return NOTHING.test(data);
}

function spaceEnd(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  return at;
}

/** The end of the count that begins at `from`; -1 where none does. */
function digitsEnd(text: string, from: number): number {
  let at = from;
  for (let c = text.charCodeAt(at); c >= ZERO && c <= NINE; c = text.charCodeAt(at)) at++;
  const isJson = at === from + 1 || text.charCodeAt(from) !== ZERO;
  return at > from && isJson ? at : -1;
}

/** The index behind a tail that stands with or without spaces between its characters; -1 where it does not. */
function looseEnd(tail: string, text: string, from: number): number {
  let at = from;
  for (let i = 0; i < tail.length; i++) {
    const c = tail.charCodeAt(i);
    while (text.charCodeAt(at) === SPACE) at++;
    if (text.charCodeAt(at++) !== c) return -1;
  }
  return at;
}
