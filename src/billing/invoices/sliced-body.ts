/**
 * Long texts made over many turns of the event loop: written, joined or encoded at once, those of a month of twenty thousand documents
 * would stop every other request for tens of milliseconds.
 */
import { nextTurn } from "../../base/clock.ts";

/** Encoded in one turn: about a tenth of a millisecond. */
const CHARACTERS_AT_ONCE = 64 * 1024;

/** The parts after each other, in UTF-8. */
export async function slicedBody(parts: AsyncIterable<string> | Iterable<string>): Promise<Buffer> {
  const slices: Buffer[] = [];
  let waiting: string[] = [];
  let characters = 0;
  for await (const part of parts) {
    waiting.push(part);
    characters += part.length;
    if (characters < CHARACTERS_AT_ONCE) continue;
    slices.push(Buffer.from(waiting.join("")));
    waiting = [];
    characters = 0;
    await nextTurn();
  }
  slices.push(Buffer.from(waiting.join("")));
  return Buffer.concat(slices);
}

/**
 * The JSON of a value, part by part: together they are what `JSON.stringify` writes.
 * @param levels of nesting that are taken apart; what lies deeper is one part
 */
export function* jsonParts(value: object, levels: number): Generator<string> {
  const isList = Array.isArray(value);
  let before = isList ? "[" : "{";
  for (const [name, item] of isList ? value.entries() : Object.entries(value)) {
    if (item === undefined) continue;
    const head = isList ? before : `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (levels > 1 && typeof item === "object" && item !== null) {
      yield head;
      yield* jsonParts(item, levels - 1);
    } else yield head + JSON.stringify(item);
  }
  if (before !== ",") yield before;
  yield isList ? "]" : "}";
}
