/**
 * Events of streams that are not parsed. Nearly all events of a stream have the same JSON around one growing string. That
 * frame is learned from an event that was read in full and gave exactly one delta. An event that equals the frame byte for
 * byte, except for the string and for members that nobody reads, gives the same delta with another text, and is passed on as
 * that event was. A frame is valid until the next event that does not fit: it may change the meaning of those after it.
 */

import { applyEdits, type Edit, moved } from "../json/json.ts";
import { copied, stands } from "../json/latin1.ts";
import { fragmentEnd, fragmentOf, textOf } from "./fragment.ts";
import type { Fragment } from "./neutral.ts";

/**
 * Matches the names of members at any depth of an event, up to their values; the first group is the name of a growing member.
 * @param growing members whose strings are the text of deltas
 * @param unread members that no reader looks at, and that differ from event to event: strings and counts.
 */
export const frameKeys = (growing: readonly string[], unread: readonly string[]): RegExp =>
  new RegExp(`"(?:${[`(${growing.join("|")})`, ...unread].join("|")})" *: *`, "g");

/** How an event was passed on to the client. */
export interface Passed {
  /** The text before its data. */
  readonly head: string;
  /** The edits of its data. */
  readonly edits: readonly Edit[];
}

type Hole = "growing" | "string" | "digits";

/** A fixed piece of the event, as received and as sent, and the kind of hole after it. */
interface Step {
  readonly literal: string;
  readonly out: string;
  readonly hole: Hole;
}

interface Frame {
  /** Offset of an event's data. */
  readonly dataAt: number;
  /** The text before the first hole. */
  readonly head: string;
  readonly headOut: string;
  /** The first has no literal but the head. */
  readonly steps: readonly Step[];
  /** Only the growing string differs. */
  readonly isPlain: boolean;
  /** Blank line included. */
  readonly tail: string;
  readonly tailOut: string;
  /** A tail and the head of the next event. */
  readonly between: string;
  readonly betweenOut: string;
  /** The tail contains no string, so white space in it has no meaning: Anthropic pads its events with it. */
  readonly isLoose: boolean;
  /** The data are edited; else they are passed on after `dataHead`. */
  readonly isPatched: boolean;
  readonly dataHead: string;
  /** Events are sent with another name than they came with. */
  readonly isRenamed: boolean;
}

/** After so many frames in a row that no event fitted, no more are learned: each costs more than it saves. */
const MOST_VAIN = 32;

/** More events than any read contains. */
const MOST_EVENTS = 1 << 30;

const SPACE = 32;
const ZERO = 48;
const NINE = 57;
const QUOTE = 34;

export class DeltaFrames {
  /** What the events that {@link fit} found grow their part by; as a reader of the whole writes it where that is written. */
  text: Fragment = "";
  /** The number of those events. */
  events = 0;
  /** The text of those events as they are passed on. */
  out = "";
  #frame: Frame | undefined;
  #vain = 0;
  /** The inside of the growing string in the event under way, and all between the event's head and tail as it goes out. */
  #grown: Fragment = "";
  #inside = "";
  readonly #keys: RegExp;

  /** @param keys see {@link frameKeys} */
  constructor(keys: RegExp) {
    this.#keys = keys;
  }

  /** Drops the frame: an event that did not fit is read, and may change the meaning of those after it. */
  forget(): void {
    this.#frame = undefined;
  }

  /**
   * Learns the frame of an event that gave exactly one delta.
   * @param data the event's, latin1.
   * @param text the delta's
   * @param passed absent: events that fit are not passed on.
   */
  learn(data: string, name: string, text: Fragment, passed?: Passed): void {
    if (this.#vain >= MOST_VAIN) return;
    this.#frame = frameOf(data, name, text, this.#keys, passed);
    if (this.#frame !== undefined) this.#vain++;
  }

  /** Drops the results of {@link fit}: a slice of a read keeps all of the read in memory, for as long as a slow client pauses the stream. */
  release(): void {
    this.text = "";
    this.out = "";
    this.#grown = "";
    this.#inside = "";
  }

  /**
   * The index after the events from `from` on that fit; -1 if the first does not fit.
   * @param each takes the text of each event, of events that are not passed on: the results of the call are not set then
   */
  fit(read: string, from: number, each?: (text: Fragment) => void): number {
    const frame = this.#frame;
    if (frame === undefined || !stands(frame.head, read, from)) return -1;
    const { head, tail, between, isPatched, isPlain } = frame;
    const limit = frame.isRenamed && each === undefined ? 1 : MOST_EVENTS;
    let events = 0;
    let text = "";
    let out = frame.headOut;
    let end = -1;
    for (let start = from; ; start = end) {
      const at = start + head.length;
      const close = isPlain ? fragmentEnd(read, at) : this.#holes(frame, read, at);
      // No reader tells a part of it that it grew by nothing.
      if (close <= at) break;
      const grown = isPlain ? read.slice(at, close) : this.#grown;
      // For most events, the end and the beginning of the next event are compared in one step.
      const goesOn = stands(between, read, close);
      const behind = goesOn ? close + tail.length : tailEnd(frame, read, close);
      if (behind < 0) break;
      if (isPatched) {
        if (events > 0) out += frame.betweenOut;
        out += isPlain ? grown : this.#inside;
      }
      // Each by itself: halves of a pair in two events are counted as they come, wherever the stream is cut.
      const usualText = usual(grown);
      if (each === undefined) text += usualText;
      else each(copied(usualText));
      end = behind;
      if (++events === limit || !(goesOn || stands(head, read, end))) break;
    }
    if (events === 0) return -1;
    this.#vain = 0;
    if (each !== undefined) {
      if (!isPlain) this.release();
      return end;
    }
    this.events = events;
    // A slice would keep all of the read alive for as long as it waits for a slow client, and many in one string all theirs.
    this.text = copied(text);
    this.out = isPatched ? out + frame.tailOut : frame.dataHead + read.slice(from + frame.dataAt, end);
    return end;
  }

  /** The index behind the last hole of the event whose head ends at `from`; -1 where it does not fit so far. */
  #holes({ steps, isPatched }: Frame, read: string, from: number): number {
    let at = from;
    let inside = "";
    for (let i = 0; i < steps.length; i++) {
      const { literal, out, hole } = steps[i] as Step;
      if (i > 0) {
        if (!stands(literal, read, at)) return -1;
        at += literal.length;
        if (isPatched) inside += out;
      }
      const close = hole === "digits" ? digitsEnd(read, at) : fragmentEnd(read, at);
      if (close < 0) return -1;
      const held = read.slice(at, close);
      if (hole === "growing") {
        if (held === "") return -1;
        this.#grown = held;
      }
      if (isPatched) inside += held;
      at = close;
    }
    this.#inside = inside;
    return at;
  }
}

const UNUSUAL = /\\[/u]/;

/** The piece as a reader writes it: unusual escapes of a character are replaced by the usual one. */
const usual = (piece: Fragment): Fragment =>
  piece.includes("\\") && UNUSUAL.test(piece) ? fragmentOf(textOf(piece)) : piece;

/** The index after the tail at `at`; -1 if it is not there. */
function tailEnd({ tail, isLoose }: Frame, read: string, at: number): number {
  if (isLoose) return looseEnd(tail, read, at);
  return stands(tail, read, at) ? at + tail.length : -1;
}

interface Opening {
  readonly at: number;
  readonly end: number;
  readonly hole: Hole;
}

/** Undefined if the growing string cannot be distinguished from others in the event. */
function frameOf(
  data: string,
  name: string,
  text: Fragment,
  keys: RegExp,
  passed: Passed | undefined,
): Frame | undefined {
  const openings = data.includes("\n") ? undefined : openingsOf(data, text, keys);
  if (openings === undefined) return undefined;
  const { head: dataHead, edits } = passed ?? NOT_PASSED;
  const steps: Step[] = [];
  let first = NO_PIECE;
  let from = 0;
  let patches = 0;
  const piece = (to: number) => {
    const within = edits.filter(({ start, end }) => start >= from && end <= to);
    patches += within.length;
    const literal = data.slice(from, to);
    if (within.length === 0) return { literal, out: literal };
    return { literal, out: applyEdits(literal, moved(within, -from)) };
  };
  for (const { at, end, hole } of openings) {
    const { literal, out } = piece(at);
    if (steps.length === 0) first = { literal, out };
    steps.push(
      steps.length === 0 ? { ...NO_PIECE, hole } : { literal: copied(literal), out: copied(out), hole },
    );
    from = end;
  }
  const last = piece(data.length);
  // One that stands in what differs from event to event.
  if (patches < edits.length) return undefined;
  const { literal, out } = first;
  const eventHead = headOf(name);
  const isPatched = edits.length > 0;
  const isLoose = !isPatched && !last.literal.includes('"', 1);
  const tail = `${isLoose ? last.literal.replaceAll(" ", "") : last.literal}\n\n`;
  const tailOut = `${last.out}\n\n`;
  const between = copied(tail + eventHead + literal);
  const betweenOut = isPatched ? copied(tailOut + dataHead + out) : "";
  return {
    dataAt: eventHead.length,
    head: between.slice(tail.length),
    headOut: betweenOut.slice(tailOut.length),
    steps,
    isPlain: steps.length === 1,
    tail: between.slice(0, tail.length),
    tailOut: betweenOut.slice(0, tailOut.length),
    between,
    betweenOut,
    isLoose,
    isPatched,
    dataHead,
    isRenamed: dataHead !== eventHead,
  };
}

const NO_PIECE = { literal: "", out: "" };

const NOT_PASSED: Passed = { head: "", edits: [] };

/** The text before the data of an event. */
export const headOf = (name: string): string => (name === "" ? "data: " : `event: ${name}\ndata: `);

/** The parts of an event that differ within its frame, in order; undefined if the growing string is not found. */
function openingsOf(data: string, text: Fragment, keys: RegExp): Opening[] | undefined {
  const openings: Opening[] = [];
  let isFound = false;
  keys.lastIndex = 0;
  for (let match = keys.exec(data); match !== null; match = keys.exec(data)) {
    const at = keys.lastIndex;
    const isText = data.charCodeAt(at) === QUOTE;
    if (match[1] === undefined) {
      const end = isText ? fragmentEnd(data, at + 1) : digitsEnd(data, at);
      if (end >= 0) openings.push(isText ? { at: at + 1, end, hole: "string" } : { at, end, hole: "digits" });
    } else if (!isEmptyAt(data, at)) {
      const end = isText ? fragmentEnd(data, at + 1) : -1;
      if (isFound || end < 0 || usual(data.slice(at + 1, end)) !== text) return undefined;
      openings.push({ at: at + 1, end, hole: "growing" });
      isFound = true;
    }
  }
  return isFound ? openings : undefined;
}

const EMPTY_VALUE = /(?:null|""|\[\s*\])/y;

function isEmptyAt(data: string, at: number): boolean {
  EMPTY_VALUE.lastIndex = at;
  return EMPTY_VALUE.test(data);
}

/** The end of the number that begins at `from`; -1 if there is none. */
function digitsEnd(text: string, from: number): number {
  let at = from;
  for (let c = text.charCodeAt(at); c >= ZERO && c <= NINE; c = text.charCodeAt(at)) at++;
  const isJson = at === from + 1 || text.charCodeAt(from) !== ZERO;
  return at > from && isJson ? at : -1;
}

/** The index after a tail with or without spaces between its characters; -1 if it is not there. */
function looseEnd(tail: string, text: string, from: number): number {
  let at = from;
  for (let i = 0; i < tail.length; i++) {
    const c = tail.charCodeAt(i);
    while (text.charCodeAt(at) === SPACE) at++;
    if (text.charCodeAt(at++) !== c) return -1;
  }
  return at;
}
