/** Parts of a log as messages carry them: whole events where they fit, and long ones in pieces. */
import type { Part } from "../event-log.ts";

export interface Piece {
  readonly bytes: Buffer;
  /** Number of the event that follows, and how many bytes of it are told. */
  readonly next: number;
  readonly skip: number;
}

/** Where an event begins that has a number, behind another one. */
const MARK = "\n\nid: ";
const BLANK = 2;

/**
 * The beginning of a part.
 * @param skip bytes of its first event that are not wanted
 * @param most bytes
 */
export function pieceOf({ first, end, bytes }: Part, skip: number, most: number): Piece {
  const rest = bytes.subarray(skip);
  if (rest.length <= most) return { bytes: rest, next: end, skip: 0 };
  // The whole of the mark is before the bound, so the events are within it.
  const at = rest.lastIndexOf(MARK, most - BLANK, "latin1");
  if (at < 0) return { bytes: rest.subarray(0, most), next: first, skip: skip + most };
  const number = /^\d+/.exec(rest.toString("latin1", at + MARK.length, at + MARK.length + DIGITS))?.[0];
  return { bytes: rest.subarray(0, at + BLANK), next: Number(number), skip: 0 };
}

/** More than a number has. */
const DIGITS = 16;
