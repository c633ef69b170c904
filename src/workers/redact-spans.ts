/** The spans of a text that are redacted, and the marks that replace them. */

export interface Span {
  readonly start: number;
  readonly end: number;
  /** The text that replaces it. */
  readonly mark: string;
}

/** Finds the spans of a text to redact, in order and without overlap. */
export type FindSpans = (text: string) => Span[];

/** Merges overlapping spans under the mark of the earliest; of two with the same start, of the longer. */
export function withoutOverlap(spans: Span[]): Span[] {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Span[] = [];
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
