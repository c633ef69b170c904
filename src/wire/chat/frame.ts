/**
 * What the events of a stream have in common, so that few must be read in full. An envelope is the JSON around an event's
 * choices; a frame is a whole event around the one string that grows. Both are learned from an event that was parsed.
 * What fits them to the byte differs from that event only in the part left open, and that part is looked at each time:
 * no event passes that a reader of the whole would have refused, skipped or patched in another way.
 */
import { fragmentEnd } from "../fragment.ts";
import { applyEdits, type Edit, MAX_DEPTH, type Member, utf8Of } from "../json.ts";
import { closingQuote } from "../json-string.ts";
import { copied, stands } from "../latin1.ts";

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

/** What an envelope leaves open: the choices without their brackets, and what follows its tail. */
export interface Enclosed {
  readonly choices: string;
  readonly rest: string;
}

/** An event around a growing string, as it comes and as it goes out, in the order of the text. */
export interface Frame {
  readonly head: string;
  /** Between the growing string and the inside of the padding; undefined where there is no padding. */
  readonly middle: string | undefined;
  /** From the last quote on, blank line included. */
  readonly tail: string;
  /** A tail and the head of the next event. */
  readonly between: string;
  readonly headOut: string;
  readonly middleOut: string;
  readonly tailOut: string;
  readonly betweenOut: string;
}

/** Events of one frame, one behind the other. */
export interface Run {
  /** The index behind the last. */
  readonly end: number;
  readonly events: number;
  /** What the string grew by, as it stands in the JSON. */
  readonly grown: string;
  readonly out: string;
}

/** The growing string of an event: what it is, and where its inside stands in the text of the choices. */
export interface Place {
  readonly kind: string;
  /** Of the choice. */
  readonly index: number;
  /** Of the tool call whose arguments grow; -1 for text. */
  readonly tool: number;
  readonly start: number;
  readonly end: number;
}

/** Members of a delta whose one string grows from event to event; beside them the arguments of a tool call. */
const GROWING: readonly string[] = ["content", "reasoning_content", "reasoning"];
const PADDING = "obfuscation";
const PADDING_END = '"}';
/** JSON of so many characters cannot nest deeper than the bound, the event's own two levels included. */
const SHALLOW = 2 * (MAX_DEPTH - 2);
const SPACE = 32;
const QUOTE = 34;

/**
 * Undefined where it would fit no other event.
 * @param choices the member of that name, an array.
 * @param edits what the event is patched with; all of it stands outside the choices.
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
  // Padding must be the last that is said: what followed it would have to be looked at as well.
  const padded =
    last.key === PADDING && text.charCodeAt(last.valueStart) === QUOTE && last.valueEnd === text.length - 1;
  if (padded && edits.some((e) => e.end > last.valueStart)) return undefined;
  const before = edits.filter((e) => e.end <= start);
  const after = edits
    .filter((e) => e.start >= end)
    .map((e) => ({ start: e.start - end, end: e.end - end, text: e.text }));
  const opening = text.slice(0, start);
  const closing = text.slice(end, padded ? last.valueStart + 1 : text.length);
  const [head, tail] = ownPair(opening, closing);
  const [headOut, tailOut] = ownPair(applyEdits(opening, before), applyEdits(closing, after));
  return { head, tail, headOut, tailOut, padded };
}

/** What the envelope leaves open in an event; undefined where the event does not fit, or must be read in full to tell. */
export function enclosedIn(envelope: Envelope, text: string): Enclosed | undefined {
  const { head, tail } = envelope;
  let end = text.length;
  if (envelope.padded) {
    end = text.lastIndexOf('"', end - PADDING_END.length - 1) + 1;
    if (fragmentEnd(text, end) !== text.length - PADDING_END.length || !text.endsWith(PADDING_END))
      return undefined;
  }
  const start = head.length;
  const close = end - tail.length;
  if (close - start > SHALLOW || close <= start || !stands(head, text, 0) || !stands(tail, text, close)) {
    return undefined;
  }
  const choices = text.slice(start, close);
  // Of several data lines: they have to be made one.
  return choices.includes("\n") ? undefined : { choices, rest: text.slice(end) };
}

/** The frame around a growing string. @param choices what the envelope encloses. */
export function frameOf(envelope: Envelope, choices: string, place: Place): Frame {
  const opening = choices.slice(0, place.start);
  const closing = choices.slice(place.end);
  const { padded } = envelope;
  const end = padded ? `${PADDING_END}\n\n` : `${closing}${envelope.tail}\n\n`;
  const endOut = padded ? end : `${closing}${envelope.tailOut}\n\n`;
  const between = copied(`${end}data: ${envelope.head}${opening}`);
  const betweenOut = copied(`${endOut}data: ${envelope.headOut}${opening}`);
  return {
    head: between.slice(end.length),
    middle: padded ? copied(closing + envelope.tail) : undefined,
    tail: between.slice(0, end.length),
    between,
    headOut: betweenOut.slice(endOut.length),
    middleOut: padded ? copied(closing + envelope.tailOut) : "",
    tailOut: betweenOut.slice(0, endOut.length),
    betweenOut,
  };
}

/** The events from `from` on that fit the frame; undefined when the first does not. */
export function runOf(frame: Frame, text: string, from: number): Run | undefined {
  if (!stands(frame.head, text, from)) return undefined;
  const { middle, tail, between } = frame;
  let events = 0;
  let grown = "";
  let out = frame.headOut;
  let end = from;
  for (let start = from + frame.head.length; ; ) {
    const quote = fragmentEnd(text, start);
    if (quote < 0) break;
    let close = quote;
    if (middle !== undefined) {
      if (!stands(middle, text, quote)) break;
      close = fragmentEnd(text, quote + middle.length);
      if (close < 0) break;
    }
    // Of most events the end and the next one's begin are compared in one step.
    const goesOn = stands(between, text, close);
    if (!goesOn && !stands(tail, text, close)) break;
    const inside = text.slice(start, quote);
    if (events++ > 0) out += frame.betweenOut;
    out += inside;
    if (middle !== undefined) out += frame.middleOut + text.slice(quote + middle.length, close);
    grown += inside;
    end = close + tail.length;
    if (!goesOn) break;
    start = close + between.length;
  }
  return events === 0 ? undefined : { end, events, grown, out: out + frame.tailOut };
}

/** Two texts as slices of one copy of their own. */
function ownPair(first: string, second: string): [string, string] {
  const both = copied(first + second);
  return [both.slice(0, first.length), both.slice(first.length)];
}

/** Where the growing string of the only choice stands in the choices' text: its delta must say nothing else. */
export function growingString(text: string, choice: unknown): Place | undefined {
  const { index, delta } = (choice ?? {}) as { index?: unknown; delta?: unknown };
  if (typeof delta !== "object" || delta === null) return undefined;
  const growing = growingOf(delta as Record<string, unknown>);
  if (growing === undefined) return undefined;
  const from = text.indexOf('"delta"');
  const opening = `"${growing.kind}":`;
  const at = text.indexOf(opening, from);
  if (from < 0 || at < 0) return undefined;
  let start = at + opening.length;
  while (text.charCodeAt(start) === SPACE) start++;
  if (text.charCodeAt(start) !== QUOTE) return undefined;
  start++;
  const end = closingQuote(text, start);
  // Another member of the same name may have been found: its text would be taken for the answer's.
  if (JSON.parse(`"${utf8Of(text.slice(start, end))}"`) !== growing.text) return undefined;
  return { kind: growing.kind, tool: growing.tool, index: typeof index === "number" ? index : 0, start, end };
}

/** The one string of a delta that says something; undefined where there is more than that to be seen each time. */
function growingOf(delta: Record<string, unknown>): { kind: string; tool: number; text: string } | undefined {
  let kind = "";
  for (const [key, value] of Object.entries(delta)) {
    // Null, empty strings and lists say nothing, nor does a role that is repeated.
    if (key === "role" || !value || (Array.isArray(value) && value.length === 0)) continue;
    if (kind !== "") return undefined;
    kind = key;
  }
  if (kind === "tool_calls") return growingArguments(delta.tool_calls);
  const text = delta[kind === "" ? "content" : kind];
  if (typeof text !== "string" || (kind !== "" && !GROWING.includes(kind))) return undefined;
  return { kind: kind === "" ? "content" : kind, tool: -1, text };
}

/** A tool-call delta that only lengthens the arguments: an id or a name marks a new call, which must be parsed. */
function growingArguments(calls: unknown): { kind: string; tool: number; text: string } | undefined {
  if (!Array.isArray(calls) || calls.length !== 1) return undefined;
  const call = calls[0] as {
    id?: unknown;
    index?: unknown;
    function?: { name?: unknown; arguments?: unknown };
  } | null;
  const text = call?.function?.arguments;
  if (typeof call?.index !== "number" || typeof text !== "string" || call.id || call.function?.name)
    return undefined;
  return { kind: "arguments", tool: call.index, text };
}
