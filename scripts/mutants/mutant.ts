/**
 * A mutant as it is kept: the lines as they are and the lines in their place. So the same fault can be made again in a later state
 * of the source, as long as these lines are in it.
 */
import type { Change } from "./operators.ts";

export interface Mutant {
  /** Its room of `src`. */
  readonly room: string;
  /** From the root of the repository. */
  readonly file: string;
  /** The first of the lines, counted from 1, in the source that it was made of. */
  readonly line: number;
  readonly operator: string;
  /** Whole lines, without the last line's end. */
  readonly original: string;
  readonly replacement: string;
}

/** @param file as `src/<room>/…` */
export function mutantOf(file: string, text: string, change: Change): Mutant {
  const from = text.lastIndexOf("\n", change.start - 1) + 1;
  const end = text.indexOf("\n", change.end);
  const to = end < 0 ? text.length : end;
  return {
    room: roomOf(file),
    file,
    line: lineAt(text, from),
    operator: change.operator,
    original: text.slice(from, to),
    replacement: text.slice(from, change.start) + change.replacement + text.slice(change.end, to),
  };
}

export interface Placed {
  /** The whole source with the fault. */
  readonly text: string;
  /** The line that is changed first, in the source as it was: counted from 1, and its offsets without the indent. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/**
 * The source with the mutant's lines in place of the original ones; of several equal lines the nearest to where it was.
 * @throws an Error where the source does not have the original lines
 */
export function place({ file, line, original, replacement }: Mutant, text: string): Placed {
  const places = placesOf(text, original);
  const nearest = places.sort(
    (a, b) => Math.abs(lineAt(text, a) - line) - Math.abs(lineAt(text, b) - line),
  )[0];
  if (nearest === undefined) throw new Error(`${file} has no such lines any more: ${original}`);
  const changed = nearest + commonStart(original, replacement);
  const from = text.lastIndexOf("\n", changed - 1) + 1;
  const lineText = text.slice(from).split("\n", 1)[0] ?? "";
  return {
    text: text.slice(0, nearest) + replacement + text.slice(nearest + original.length),
    line: lineAt(text, from),
    start: from + lineText.search(/\S|$/),
    end: from + lineText.length,
  };
}

function commonStart(a: string, b: string): number {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same;
}

/** Where these whole lines begin. */
function placesOf(text: string, lines: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(lines); at >= 0; at = text.indexOf(lines, at + 1)) {
    const before = at === 0 ? "\n" : text[at - 1];
    const behind = text[at + lines.length] ?? "\n";
    if (before === "\n" && behind === "\n") found.push(at);
  }
  return found;
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

export const roomOf = (file: string): string => file.split("/")[1] ?? "";
