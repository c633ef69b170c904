/**
 * Events of streams that are not parsed. Nearly all events of a stream have the same JSON around one growing string. That
 * frame is learned from an event that was read in full and gave exactly one delta. An event that equals the frame byte for
 * byte, except for the string and for members that nobody reads, gives the same delta with another text, and is passed on as
 * that event was. A frame is valid until the next event that does not fit: it may change the meaning of those after it.
 */
import { found, texts } from "../../../base/scan/runs.ts";
import { hasRun, viewOf } from "../../json/byte-runs.ts";
import type { PassedBytes } from "../../json/passed-bytes.ts";
import { findFragmentEnd, type PieceEnd } from "../fragment.ts";
import type { Fragment } from "../neutral.ts";
import { bytesOf, type Frame, frameOf, type Passed, type Step, usual } from "./frame.ts";

/**
 * Matches the names of members at any depth of an event, up to their values; the first group is the name of a growing member.
 * @param growing members whose strings are the text of deltas
 * @param unread members that no reader looks at, and that differ from event to event: strings and counts.
 */
export const frameKeys = (growing: readonly string[], unread: readonly string[]): RegExp =>
  new RegExp(`"(?:${[`(${growing.join("|")})`, ...unread].join("|")})" *: *`, "g");

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
    const { isPlain, isRenamed, around } = frame;
    if (around !== undefined && passed !== undefined) {
      const events = passed.addEvents(read, from, to, around);
      if (events > 0) {
        this.#vain = 0;
        growth.grewBy(texts, 0, found.textEnd, events);
        return found.end;
      }
      if (!found.begins) return -1;
    }
    const { head } = bytesOf(frame);
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
  #pass(frame: Frame, passed: PassedBytes, read: Buffer, isNext: boolean): void {
    const { steps, isPlain } = frame;
    const { headOut, betweenOut } = bytesOf(frame);
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
    passed.add(bytesOf(frame).tailOut);
    return;
  }
  if (!frame.isRenamed) {
    passed.addRun(read, from, end);
    return;
  }
  passed.add(frame.dataHead);
  passed.addRun(read, from + frame.dataAt, end);
}

/** The index after the tail at `at`; -1 if it is not there. */
function tailEnd(frame: Frame, read: Buffer, view: DataView, at: number, to: number): number {
  const { tailText, isLoose } = frame;
  const { tail } = bytesOf(frame);
  if (at + tail.length <= to && hasRun(view, at, tail)) return at + tail.length;
  return isLoose ? looseEnd(tailText, read, at, to) : -1;
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
