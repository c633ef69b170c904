/**
 * A large answer by position: the insides of its number lists are left out before anything looks at every character, so
 * that 20 MB of vectors cost a few searches each. What is left is checked as JSON; the numbers pass unread. A piece of a string between
 * brackets is left out, too, unless it has what no string may have.
 */
import { MOST_SCANNED, scanString } from "../../base/scan/scan.ts";
import { type Member, type Skim, skim } from "../json/json.ts";

const QUOTE = 34;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;

/** Shorter lists are not worth a cut. */
const CUT_OVER_BYTES = 64;

/** So many lists without a cut are no embeddings: the rest is looked at character by character. */
const MAX_MISSES = 4096;

/** Offsets are into the body. In the skeleton lists of numbers are empty, and so are long strings. */
export type Sketch = Omit<Skim, "elided" | "media">;

interface Cut {
  /** In the sketch. */
  readonly at: number;
  /** How far what follows is moved, all cuts before it included. */
  readonly moved: number;
}

/** @throws WeirError as {@link skim} does. */
export function sketch(body: Buffer): Sketch {
  const cuts: Cut[] = [];
  let text = "";
  let moved = 0;
  let from = 0;
  let misses = 0;
  // Where the next of each stands, looked for only once it is passed: so no byte is searched twice for the same one.
  let quote = -1;
  let object = -1;
  let backslash = -1;
  let close = -1;
  let open = nextOf(body, OPEN_ARRAY, 0);
  while (open < body.length && misses < MAX_MISSES) {
    const inner = nextOf(body, OPEN_ARRAY, open + 1);
    if (close < open) close = nextOf(body, CLOSE_ARRAY, open);
    if (quote < open) quote = nextOf(body, QUOTE, open);
    if (object < open) object = nextOf(body, OPEN_OBJECT, open);
    if (backslash < open) backslash = nextOf(body, BACKSLASH, open);
    // No string and nothing nested inside: numbers, or a piece of one string, which may as well be left out.
    if (close < Math.min(inner, quote, object, backslash) && close - open > CUT_OVER_BYTES) {
      // White space between numbers, or what makes the string invalid: what reads the sketch knows which of them.
      const control = controlIn(body, open + 1, close);
      text += body.toString("latin1", from, open + 1) + control;
      moved += close - open - 1 - control.length;
      cuts.push({ at: text.length, moved });
      from = close;
    } else misses++;
    open = inner;
  }
  text += body.toString("latin1", from);
  const { members, skeleton } = skim(text);
  return { members: members.map((member) => inBody(member, cuts)), skeleton };
}

/** The first control character between two places, which have no backslash between them; "" where there is none. */
function controlIn(body: Buffer, from: number, to: number): string {
  for (let at = from; at < to; at += MOST_SCANNED) {
    const part = body.subarray(at, Math.min(to, at + MOST_SCANNED));
    const valid = scanString(part);
    if (valid < part.length) return String.fromCharCode(part[valid] as number);
  }
  return "";
}

function nextOf(body: Buffer, byte: number, from: number): number {
  const at = body.indexOf(byte, from);
  return at < 0 ? body.length : at;
}

const inBody = (member: Member, cuts: readonly Cut[]): Member => ({
  ...member,
  start: placeOf(member.start, cuts),
  keyEnd: placeOf(member.keyEnd, cuts),
  valueStart: placeOf(member.valueStart, cuts),
  valueEnd: placeOf(member.valueEnd, cuts),
});

/** The place in the body of a place in the sketch. */
function placeOf(at: number, cuts: readonly Cut[]): number {
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[middle] as Cut).at <= at) low = middle + 1;
    else high = middle;
  }
  return at + (low === 0 ? 0 : (cuts[low - 1] as Cut).moved);
}
