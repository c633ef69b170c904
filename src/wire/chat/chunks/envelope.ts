/**
 * The JSON around an event's choices, which the events of a stream share. It is learned from a parsed event; of later events
 * that equal it byte for byte only the choices are parsed. Every event is refused, skipped or patched as it would be if it
 * were parsed as a whole.
 */
import { applyEdits, type Edit, MAX_DEPTH, type Member, moved } from "../../json/json.ts";
import { copied, stands } from "../../json/latin1.ts";
import { fragmentEnd } from "../../neutral/fragment.ts";

/** The JSON of an event around its choices, as it comes and as it goes out. */
export interface Envelope {
  /** With the bracket that opens the choices. */
  readonly head: string;
  /** From the bracket that closes them; where there is padding, with the quote that opens it. */
  readonly tail: string;
  readonly headOut: string;
  readonly tailOut: string;
  /** The last member is a string that differs each time (OpenAI's `obfuscation`); it stands behind `tail`. */
  readonly padded: boolean;
}

/** The parts of an event that its envelope does not fix. */
export interface Enclosed {
  /** The choices without their brackets. */
  readonly choices: string;
  /** Where the envelope's tail begins. */
  readonly tailAt: number;
}

const PADDING = "obfuscation";
const PADDING_END = '"}';
/** JSON of so few characters cannot nest deeper than the bound, including the event's own two levels. */
const SHALLOW = 2 * (MAX_DEPTH - 2);
const QUOTE = 34;

/**
 * Undefined if it would fit no other event.
 * @param choices the member of that name, an array.
 * @param edits those of the event; none is inside the choices
 */
export function envelopeOf(
  text: string,
  members: readonly Member[],
  choices: Member,
  edits: readonly Edit[],
): Envelope | undefined {
  const start = choices.valueStart + 1;
  const end = choices.valueEnd - 1;
  const last = members.at(-1) ?? choices;
  // Padding must be the last member: any member after it would have to be checked as well.
  const padded =
    last.key === PADDING && text.charCodeAt(last.valueStart) === QUOTE && last.valueEnd === text.length - 1;
  if (padded && edits.some((e) => e.end > last.valueStart)) return undefined;
  const before = edits.filter((e) => e.end <= start);
  const after = edits.filter((e) => e.start >= end);
  const opening = text.slice(0, start);
  const closing = text.slice(end, padded ? last.valueStart + 1 : text.length);
  const [head, tail] = ownPair(opening, closing);
  const [headOut, tailOut] = ownPair(applyEdits(opening, before), applyEdits(closing, moved(after, -end)));
  return { head, tail, headOut, tailOut, padded };
}

/** The event's open parts; undefined if it does not fit, or only a full parse can decide. */
export function enclosedIn(envelope: Envelope, text: string): Enclosed | undefined {
  const { head, tail } = envelope;
  const end = envelope.padded ? paddingAt(text) : text.length;
  const close = end - tail.length;
  if (end < 0 || !stands(head, text, 0) || close < 0 || !stands(tail, text, close)) return undefined;
  return enclosedBetween(text, head.length, close);
}

/** The index of the inside of the padding at the end of an event; -1 where it has none. */
export function paddingAt(text: string): number {
  const at = text.lastIndexOf('"', text.length - PADDING_END.length - 1) + 1;
  const isPadding = fragmentEnd(text, at) === text.length - PADDING_END.length && text.endsWith(PADDING_END);
  return isPadding ? at : -1;
}

/** The open parts of an event whose choices are between two brackets; undefined where only a full parse can decide. */
export function enclosedBetween(text: string, start: number, close: number): Enclosed | undefined {
  if (close - start > SHALLOW || close <= start) return undefined;
  const choices = text.slice(start, close);
  // An event of several data lines must be joined into one.
  return choices.includes("\n") ? undefined : { choices, tailAt: close };
}

/** Two texts as slices of one copy of their own. */
export function ownPair(first: string, second: string): [string, string] {
  const both = copied(first + second);
  return [both.slice(0, first.length), both.slice(first.length)];
}
