/**
 * Events of streams that are not parsed. Nearly all events of a stream have the same JSON around one growing string. That
 * frame is learned from an event that was read in full and gave exactly one delta. An event that equals the frame byte for
 * byte, except for the string and for members that nobody reads, gives the same delta with another text, and is passed on as
 * that event was. A frame is valid until the next event that does not fit: it may change the meaning of those after it.
 */

import { Around, found, MOST_AROUND, texts } from "../../base/scan/runs.ts";
import { hasRun, type KnownRun, knownRun, viewOf } from "../json/byte-runs.ts";
import { applyEdits, type Edit, moved } from "../json/json.ts";
import { copied } from "../json/latin1.ts";
import type { PassedBytes } from "../json/passed-bytes.ts";

import { findFragmentEnd, fragmentEnd, fragmentOf, type PieceEnd, textOf } from "./fragment.ts";
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
  readonly literal: KnownRun;
  readonly out: Buffer;
  readonly hole: Hole;
}

interface Frame {
  /** Offset of an event's data. */
  readonly dataAt: number;
  /** The beginning of an event up to its first hole. */
  readonly head: KnownRun;
  /** Blank line included. */
  readonly tail: KnownRun;
  readonly tailText: string;
  readonly headOut: Buffer;
  readonly tailOut: Buffer;
  /** A tail and the head of the next event. */
  readonly betweenOut: Buffer;
  /** The first has no piece but the head. */
  readonly steps: readonly Step[];
  /** Only the growing string differs. */
  readonly isPlain: boolean;
  /** The tail contains no string, so white space in it has no meaning: Anthropic pads its events with it. */
  readonly isLoose: boolean;
  /** The data are edited; else they are passed on after `dataHead`. */
  readonly isPatched: boolean;
  readonly dataHead: Buffer;
  /** Events are sent with another name than they came with. */
  readonly isRenamed: boolean;
  /** For events that differ in the growing string alone, and are patched. */
  readonly around: Around | undefined;
}

/** Told of the events that fit, in order. The bytes are to be used at once. */
export interface Growth {
  /** Where the events go as they are passed on, before the first is told; undefined where they are not passed on. */
  passing(): PassedBytes | undefined;
  /** The part grows by the bytes from `start` up to `end`, which are as a reader writes them, in so many events. */
  grewBy(read: Buffer, start: number, end: number, events: number): void;
  grewByText(text: Fragment): void;
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
  #frame: Frame | undefined;
  #vain = 0;
  /** The end of a string in the event under way, and the inside of the growing one. */
  readonly #found: PieceEnd = { at: -1, hasUnusual: false };
  #grownAt = 0;
  #grownEnd = 0;
  #isUnusual = false;
  /** Where the holes of the event under way begin and end, one after the other. */
  readonly #holes: number[] = [];
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

  /** The index after the events from `from` on that fit, before `to`; -1 if the first does not fit. */
  fit(read: Buffer, from: number, to: number, growth: Growth): number {
    const frame = this.#frame;
    if (frame === undefined) return -1;
    const passed = growth.passing();
    const { head, isPlain, isRenamed, around } = frame;
    if (around !== undefined && passed !== undefined) {
      const events = passed.addEvents(read, from, to, around);
      if (events > 0) {
        this.#vain = 0;
        growth.grewBy(texts, 0, found.textEnd, events);
        return found.end;
      }
    }
    const view = viewOf(read);
    if (from + head.length > to || !hasRun(view, from, head)) return -1;
    const limit = isRenamed && passed !== undefined ? 1 : MOST_EVENTS;
    let events = 0;
    let end = -1;
    for (let start = from; ; start = end) {
      const at = start + head.length;
      const close = isPlain ? this.#plain(read, at, to) : this.#filled(frame, read, view, at, to);
      // No reader tells a part of it that it grew by nothing.
      if (close <= at) break;
      const behind = tailEnd(frame, read, view, close, to);
      if (behind < 0) break;
      if (passed !== undefined && frame.isPatched) this.#pass(frame, passed, read, events > 0);
      // Each by itself: halves of a pair in two events are counted as they come, wherever the stream is cut.
      if (this.#isUnusual) growth.grewByText(usual(read.toString("latin1", this.#grownAt, this.#grownEnd)));
      else growth.grewBy(read, this.#grownAt, this.#grownEnd, 1);
      end = behind;
      if (++events === limit || end + head.length > to || !hasRun(view, end, head)) break;
    }
    if (events === 0) return -1;
    this.#vain = 0;
    if (passed !== undefined) endOf(frame, passed, read, from, end);
    return end;
  }

  /** The index behind the growing string, where nothing else differs; -1 where it has no end. */
  #plain(read: Buffer, from: number, to: number): number {
    const found = this.#found;
    findFragmentEnd(read, from, to, found);
    this.#grownAt = from;
    this.#grownEnd = found.at;
    this.#isUnusual = found.hasUnusual;
    return found.at;
  }

  /** The index behind the last hole of the event whose head ends at `from`; -1 where it does not fit so far. */
  #filled({ steps }: Frame, read: Buffer, view: DataView, from: number, to: number): number {
    const found = this.#found;
    let at = from;
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i] as Step;
      if (i > 0) {
        const { literal } = step;
        if (at + literal.length > to || !hasRun(view, at, literal)) return -1;
        at += literal.length;
      }
      let close: number;
      if (step.hole === "digits") close = digitsIn(read, at, to);
      else {
        findFragmentEnd(read, at, to, found);
        close = found.at;
      }
      if (close < 0) return -1;
      if (step.hole === "growing") {
        if (close === at) return -1;
        this.#grownAt = at;
        this.#grownEnd = close;
        this.#isUnusual = found.hasUnusual;
      }
      this.#holes[2 * i] = at;
      this.#holes[2 * i + 1] = close;
      at = close;
    }
    return at;
  }

  /** Passes on the event under way, but for its tail. */
  #pass(
    { steps, isPlain, headOut, betweenOut }: Frame,
    passed: PassedBytes,
    read: Buffer,
    isNext: boolean,
  ): void {
    passed.add(isNext ? betweenOut : headOut);
    if (isPlain) {
      passed.addRun(read, this.#grownAt, this.#grownEnd);
      return;
    }
    for (let i = 0; i < steps.length; i++) {
      if (i > 0) passed.add((steps[i] as Step).out);
      passed.addRun(read, this.#holes[2 * i] as number, this.#holes[2 * i + 1] as number);
    }
  }
}

/** Ends what was passed on of the events from `from` to `end`. */
function endOf(frame: Frame, passed: PassedBytes, read: Buffer, from: number, end: number): void {
  if (frame.isPatched) {
    passed.add(frame.tailOut);
    return;
  }
  if (!frame.isRenamed) {
    passed.addRun(read, from, end);
    return;
  }
  passed.add(frame.dataHead);
  passed.addRun(read, from + frame.dataAt, end);
}

const UNUSUAL = /\\[/u]/;

/** The piece as a reader writes it: unusual escapes of a character are replaced by the usual one. */
const usual = (piece: Fragment): Fragment =>
  piece.includes("\\") && UNUSUAL.test(piece) ? fragmentOf(textOf(piece)) : piece;

/** The index after the tail at `at`; -1 if it is not there. */
function tailEnd(frame: Frame, read: Buffer, view: DataView, at: number, to: number): number {
  const { tail, tailText, isLoose } = frame;
  if (at + tail.length <= to && hasRun(view, at, tail)) return at + tail.length;
  return isLoose ? looseEnd(tailText, read, at, to) : -1;
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
  const pieces: { readonly literal: string; readonly out: string; readonly hole: Hole }[] = [];
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
    pieces.push({ literal, out, hole });
    from = end;
  }
  const last = piece(data.length);
  // One that stands in what differs from event to event.
  if (patches < edits.length) return undefined;
  const [first = NO_PIECE] = pieces;
  const eventHead = headOf(name);
  const isPatched = edits.length > 0;
  const isLoose = !isPatched && !last.literal.includes('"', 1);
  const tail = `${isLoose ? last.literal.replaceAll(" ", "") : last.literal}\n\n`;
  const steps = pieces.map(({ literal, out, hole }, i): Step => {
    if (i === 0) return { literal: NO_RUN, out: NOTHING, hole };
    return { literal: knownRun(literal), out: isPatched ? Buffer.from(out, "latin1") : NOTHING, hole };
  });
  const tailOut = `${last.out}\n\n`;
  const between = tailOut + dataHead + first.out;
  const betweenOut = isPatched ? Buffer.from(between, "latin1") : NOTHING;
  const isRenamed = dataHead !== eventHead;
  const head = eventHead + first.literal;
  const isPlain = steps.length === 1;
  const isShort = tail.length + head.length <= MOST_AROUND && betweenOut.length <= MOST_AROUND;
  const around: Around | undefined =
    isPlain && isPatched && !isRenamed && isShort
      ? new Around(copied(tail + head), tail.length, copied(between), tailOut.length)
      : undefined;
  return {
    dataAt: eventHead.length,
    head: knownRun(head),
    tail: knownRun(tail),
    tailText: copied(tail),
    headOut: betweenOut.subarray(tailOut.length),
    tailOut: betweenOut.subarray(0, tailOut.length),
    betweenOut,
    steps,
    isPlain,
    isLoose,
    isPatched,
    dataHead: isRenamed ? Buffer.from(dataHead, "latin1") : NOTHING,
    isRenamed,
    around,
  };
}

const NOTHING = Buffer.alloc(0);
const NO_RUN = knownRun("");

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

/** The same of bytes, up to `to`. */
function digitsIn(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at++;
  const isJson = at === from + 1 || bytes[from] !== ZERO;
  return at > from && isJson ? at : -1;
}

/** The index after a tail with or without spaces between its characters; -1 if it is not there. */
function looseEnd(tail: string, bytes: Buffer, from: number, to: number): number {
  let at = from;
  for (let i = 0; i < tail.length; i++) {
    while (at < to && bytes[at] === SPACE) at++;
    if (at >= to || bytes[at] !== tail.charCodeAt(i)) return -1;
    at++;
  }
  return at;
}
