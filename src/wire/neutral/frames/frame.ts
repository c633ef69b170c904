/**
 * What events of a stream that differ in one text have in common, learned from one of them: the JSON around the text, as it came and as it is
 * passed on.
 */
import { Around, MOST_AROUND } from "../../../base/scan/runs.ts";
import { type KnownRun, knownRun } from "../../json/byte-runs.ts";
import { applyEdits, type Edit, moved } from "../../json/json.ts";
import { copied } from "../../json/latin1.ts";
import { fragmentEnd, fragmentOf, textOf } from "../fragment.ts";
import type { Fragment } from "../neutral.ts";

const ZERO = 48;
const NINE = 57;
const QUOTE = 34;

/** How an event was passed on to the client. */
export interface Passed {
  /** The text before its data. */
  readonly head: string;
  /** The edits of its data. */
  readonly edits: readonly Edit[];
}

export type Hole = "growing" | "string" | "digits";

/** A fixed piece of the event, as received and as sent, and the kind of hole after it. */
export interface Step {
  readonly literal: KnownRun;
  readonly out: Buffer;
  readonly hole: Hole;
}

export interface Frame {
  /** Offset of an event's data. */
  readonly dataAt: number;
  /** The beginning of an event up to its first hole. */
  readonly headText: string;
  /** Blank line included. */
  readonly tailText: string;
  /** A tail and the head of the next event, as they go out. */
  readonly betweenOut: string;
  readonly tailOutLength: number;
  /** Made when an event needs them: those that {@link Around} takes do not. */
  bytes: FrameBytes | undefined;
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

export interface FrameBytes {
  readonly head: KnownRun;
  readonly tail: KnownRun;
  readonly headOut: Buffer;
  readonly tailOut: Buffer;
  readonly betweenOut: Buffer;
}

const UNUSUAL = /\\[/u]/;

/** The piece as a reader writes it: unusual escapes of a character are replaced by the usual one. */
export const usual = (piece: Fragment): Fragment =>
  piece.includes("\\") && UNUSUAL.test(piece) ? fragmentOf(textOf(piece)) : piece;

interface Opening {
  readonly at: number;
  readonly end: number;
  readonly hole: Hole;
}

/** Undefined if the growing string cannot be distinguished from others in the event. */
export function frameOf(
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
  const betweenOut = isPatched ? copied(tailOut + dataHead + first.out) : "";
  const isRenamed = dataHead !== eventHead;
  const head = eventHead + first.literal;
  const isPlain = steps.length === 1;
  const isShort = tail.length + head.length <= MOST_AROUND && betweenOut.length <= MOST_AROUND;
  // Slices of one text, so that none keeps the read alive.
  const aroundText = copied(tail + head);
  const around: Around | undefined =
    isPlain && isPatched && !isRenamed && isShort
      ? new Around(aroundText, tail.length, betweenOut, tailOut.length)
      : undefined;
  return {
    dataAt: eventHead.length,
    headText: aroundText.slice(tail.length),
    tailText: aroundText.slice(0, tail.length),
    betweenOut,
    tailOutLength: tailOut.length,
    bytes: undefined,
    steps,
    isPlain,
    isLoose,
    isPatched,
    dataHead: isRenamed ? Buffer.from(dataHead, "latin1") : NOTHING,
    isRenamed,
    around,
  };
}

export function bytesOf(frame: Frame): FrameBytes {
  frame.bytes ??= madeBytes(frame);
  return frame.bytes;
}

function madeBytes({ headText, tailText, betweenOut, tailOutLength }: Frame): FrameBytes {
  const between = Buffer.from(betweenOut, "latin1");
  return {
    head: knownRun(headText),
    tail: knownRun(tailText),
    headOut: between.subarray(tailOutLength),
    tailOut: between.subarray(0, tailOutLength),
    betweenOut: between,
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
