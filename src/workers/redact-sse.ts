/**
 * Redaction of a stored SSE answer. A secret may be split over events, one token each. So the pieces of each string that
 * grows by deltas are joined, searched, and redacted in their own events. Events without a match stay as they were
 * delivered.
 */
import { jsonIn } from "../base/json.ts";
import { redactJson } from "./redact-json.ts";
import { type FindSpans, replaceSpans, type Span } from "./redact-spans.ts";

/** A piece of a growing string, with the object that holds it, so that it can be changed in place. */
interface Piece {
  readonly event: Event;
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly text: string;
}

interface Event {
  readonly json: unknown;
  changed: boolean;
}

const DATA = /^data: ?/;

export function redactSse(text: string, spans: FindSpans): string {
  const lines = text.split("\n");
  const strings = new Map<string, Piece[]>();
  /** By the index of their line. */
  const events = new Map<number, Event>();
  for (const [at, line] of lines.entries()) {
    const json = parse(line);
    if (json === undefined) continue;
    const event: Event = { json, changed: false };
    events.set(at, event);
    collect(json, "", false, event, strings);
  }
  for (const pieces of strings.values()) redactPieces(pieces, spans);
  const redacted = lines.map((line, at) => {
    const event = events.get(at);
    if (event === undefined) return replaceSpans(line, spans(line));
    const end = line.endsWith("\r") ? "\r" : "";
    return redactJson(event.changed ? `data: ${JSON.stringify(event.json)}${end}` : line, spans);
  });
  return redacted.join("\n");
}

function parse(line: string): unknown {
  if (!DATA.test(line)) return undefined;
  const json = jsonIn(line.replace(DATA, ""));
  return typeof json === "object" && json !== null ? json : undefined;
}

/**
 * Collects the strings that grow from event to event: those below a `delta`, and a completion's `text`. Pieces of one string
 * have the same path.
 */
function collect(
  value: unknown,
  path: string,
  inDelta: boolean,
  event: Event,
  strings: Map<string, Piece[]>,
): void {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const index =
        typeof item === "object" && item !== null ? (item as { index?: unknown }).index : undefined;
      collect(item, `${path}[${index ?? at}]`, inDelta, event, strings);
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    const below = `${path}.${key}`;
    if (typeof child !== "string") collect(child, below, inDelta || key === "delta", event, strings);
    else if (inDelta || key === "text" || key === "delta") {
      const pieces = strings.get(below) ?? [];
      pieces.push({ event, holder: value as Record<string, unknown>, key, text: child });
      strings.set(below, pieces);
    }
  }
}

/** Puts the mark where a match begins, and removes the rest of the match from the following pieces. */
function redactPieces(pieces: readonly Piece[], spans: FindSpans): void {
  const found = spans(pieces.map((p) => p.text).join(""));
  if (found.length === 0) return;
  let offset = 0;
  for (const { event, holder, key, text } of pieces) {
    const end = offset + text.length;
    const here: Span[] = [];
    for (const span of found) {
      if (span.end <= offset || span.start >= end) continue;
      here.push({
        start: Math.max(span.start, offset) - offset,
        end: Math.min(span.end, end) - offset,
        mark: span.start >= offset ? span.mark : "",
      });
    }
    if (here.length > 0) {
      holder[key] = replaceSpans(text, here);
      event.changed = true;
    }
    offset = end;
  }
}
