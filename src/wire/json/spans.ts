/** Elements of a JSON array by position in its text: found and removed without building their values. */
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./characters.ts";
import type { Edit } from "./json.ts";
import { closingQuote } from "./json-string.ts";

/** Where an item of an array stands: `[start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The items of an array.
 * @param text valid JSON of the array, its brackets included.
 */
export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let depth = 0;
  let start = 0;
  const add = (end: number) => {
    const inside = text.slice(start, end);
    const from = start + inside.length - inside.trimStart().length;
    if (inside.trim() !== "") spans.push({ start: from, end: from + inside.trim().length });
  };
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = closingQuote(text, i + 1);
    else if (c === OPEN_ARRAY || c === OPEN_OBJECT) {
      if (++depth === 1) start = i + 1;
    } else if (c === CLOSE_ARRAY || c === CLOSE_OBJECT) {
      if (--depth === 0) add(i);
    } else if (c === COMMA && depth === 1) {
      add(i);
      start = i + 1;
    }
  }
  return spans;
}

/** Removes the spans for which `goes` is true, each run of them with one of the commas around it. */
export function removeSpans(spans: readonly Span[], goes: readonly boolean[]): Edit[] {
  const edits: Edit[] = [];
  for (let first = 0; first < spans.length; first++) {
    if (goes[first] !== true) continue;
    let last = first;
    while (last + 1 < spans.length && goes[last + 1] === true) last++;
    const next = spans[last + 1];
    const before = next === undefined ? spans[first - 1]?.end : undefined;
    edits.push({
      start: before ?? (spans[first] as Span).start,
      end: next?.start ?? (spans[last] as Span).end,
      text: "",
    });
    first = last;
  }
  return edits;
}
