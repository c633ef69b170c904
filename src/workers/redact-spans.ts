/** The spans of a text that are redacted, and the marks that replace them. */

export interface Span {
  readonly start: number;
  readonly end: number;
  /** The text that replaces it. */
  readonly mark: string;
}

/** Finds the spans of a text to redact, in order and without overlap. */
export type FindSpans = (text: string) => Span[];

/** Start and end of each match, in any order. */
export type Finder = (text: string) => Iterable<readonly [number, number]>;

/**
 * Begins an expression whose match may not follow a character of `word`, nor begin inside an escape (`\n`, `\u00e9`). Directly
 * after such an escape it may, as after a space: a text may contain JSON (tool arguments), which must stay JSON.
 * @param first the characters with which a match can begin, which are quicker to test
 */
export const starts = (word: string, first: string): string =>
  String.raw`(?=[${first}])(?<!\\)(?<!\\u[\da-fA-F]{0,3})(?:(?<![${word}])|(?<=\\[bfnrt])|(?<=\\u[\da-fA-F]{4}))`;

/** Matches of each expression; of one with a group `secret`, which ends the match, only the group. */
export function* regexSpans(text: string, patterns: readonly RegExp[]): Generator<readonly [number, number]> {
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      const end = match.index + match[0].length;
      yield [end - (match.groups?.secret ?? match[0]).length, end];
    }
  }
}

/** Merges overlapping spans under the mark of the earliest; of two with the same start, of the longer. */
export function withoutOverlap<S extends Span>(spans: S[]): S[] {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: S[] = [];
  for (const span of spans) {
    const before = kept.at(-1);
    if (before === undefined || span.start >= before.end) kept.push(span);
    // The earlier span is extended to the end of the later one, so that no end of a secret remains.
    else if (span.end > before.end) kept[kept.length - 1] = { ...before, end: span.end };
  }
  return kept;
}

export function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let out = "";
  let at = 0;
  for (const { start, end, mark } of spans) {
    out += text.slice(at, start) + mark;
    at = end;
  }
  return out + text.slice(at);
}
