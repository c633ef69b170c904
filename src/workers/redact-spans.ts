/** The parts of a text that go, and what stands in their place. */

export interface Span {
  readonly start: number;
  readonly end: number;
  /** What stands in its place. */
  readonly mark: string;
}

/** Finds the spans of a text, in order, none overlapping. */
export type FindSpans = (text: string) => Span[];

/** The earliest span wins, of two that start together the longer. */
export function withoutOverlap(spans: Span[]): Span[] {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Span[] = [];
  for (const span of spans) {
    const before = kept.at(-1);
    if (before === undefined || span.start >= before.end) kept.push(span);
    // What reaches beyond the one before goes with it: no tail of a secret stays.
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
