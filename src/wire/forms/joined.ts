/** Members that grow from event to event: what a later piece adds to what came before. */
import { append } from "../json/append.ts";
import { isObject, type JsonObject } from "../neutral/reader.ts";

/** Names are a provider's, so such an object has no prototype that a name could reach. */
export type Grown = Record<string, unknown>;

export const newGrown = (): Grown => Object.create(null) as Grown;

/** Members that each piece may say again, and that are no text to add to. */
const SAID_AGAIN: ReadonlySet<string> = new Set(["id", "type", "role", "name", "format", "index", "object"]);
/** Objects within objects that are joined; deeper ones are set as a whole. */
const MOST_DEPTH = 4;

/** Adds a piece's members: text to text, lists behind lists, objects member by member. All else is set; null sets nothing. */
export function join(grown: Grown, piece: JsonObject, depth = 0): void {
  for (const key of Object.keys(piece)) joinMember(grown, key, piece[key], depth);
}

/** As {@link join}, for one member. @param depth of the object that has it */
export function joinMember(grown: Grown, key: string, value: unknown, depth = 0): void {
  const before = grown[key];
  if (value === null || value === undefined) {
    if (before === undefined) grown[key] = value;
  } else if (typeof value === "string" && typeof before === "string" && !SAID_AGAIN.has(key)) {
    grown[key] = before + value;
  } else if (Array.isArray(value)) {
    const list: unknown[] = Array.isArray(before) ? before : [];
    append(list, value);
    grown[key] = list;
  } else if (isObject(value) && depth < MOST_DEPTH) {
    const inner = isObject(before) ? (before as Grown) : newGrown();
    join(inner, value, depth + 1);
    grown[key] = inner;
  } else grown[key] = value;
}

/** Sets members that say something. */
export function setMembers(grown: Grown, members: JsonObject): void {
  for (const key of Object.keys(members)) {
    if (members[key] !== null || grown[key] === undefined) grown[key] = members[key];
  }
}

/** What was collected by index, in the order of the indexes. */
export const inOrder = <T>(byIndex: ReadonlyMap<number, T>): [index: number, each: T][] =>
  [...byIndex].sort(([a], [b]) => a - b);

/** Characters of a delta in a stream that is made of a whole answer: some clients read lines to 64 KB. */
const PIECE = 8192;

/** A text in pieces that cut no character in two; one empty piece of an empty text. */
export function piecesOf(text: string): string[] {
  if (text.length <= PIECE) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + PIECE);
    if (end < text.length && isFirstHalf(text.charCodeAt(end - 1))) end++;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

const isFirstHalf = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
