/**
 * Redaction of payloads by presets and by an org's own patterns. Works on text; in JSON only inside string literals (and on
 * bare card or Aadhaar numbers), so that JSON stays JSON. Takes linear time for any text, because clients send it.
 */
import { RE2JS } from "re2js";
import type { Redaction } from "../record.ts";
import type { PresetName } from "../redaction.ts";
import { redactJson } from "./redact-json.ts";
import { type Finder, HINTS, PRESETS } from "./redact-presets.ts";
import { replaceSpans, type Span, withoutOverlap } from "./redact-spans.ts";
import { redactSse } from "./redact-sse.ts";

/** Compiled redaction rules. */
export interface Redactor {
  text(text: string): string;
  /** A JSON document, an SSE stream of JSON events, or else plain text. */
  payload(text: string): string;
  /** A payload as stored: the same bytes if nothing in it is redacted. */
  bytes(payload: Uint8Array): Uint8Array;
  /** True if a quick check shows that a payload has nothing to redact; takes about 2 ns per byte. */
  clean(payload: Uint8Array): boolean;
  /** The spans to redact, in order and without overlap. */
  spans(text: string): Span[];
}

/** Compiled rules by their JSON text: there are few orgs compared with calls. */
const byRules = new Map<string, Redactor>();
const MAX_COMPILED = 500;

/** The same by the rules' object, without making the text: the rules of an org are replaced, never changed. */
const byRedaction = new WeakMap<Redaction, Redactor>();

/** @throws Error if a preset is unknown or a pattern is not RE2: nothing may then be stored */
export function redactor(redaction: Redaction): Redactor {
  let found = byRedaction.get(redaction);
  if (found === undefined) {
    found = redactorOf(JSON.stringify([redaction.presets, redaction.patterns]));
    byRedaction.set(redaction, found);
  }
  return found;
}

/** The same from `[presets, patterns]` as JSON, as outbox rows contain them. */
export function redactorOf(rules: string): Redactor {
  let found = byRules.get(rules);
  if (found === undefined) {
    if (byRules.size >= MAX_COMPILED) byRules.clear();
    const [presets, patterns] = JSON.parse(rules) as [string[], string[]];
    found = compile({ presets, patterns });
    byRules.set(rules, found);
  }
  return found;
}

function compile({ presets, patterns }: Redaction): Redactor {
  const finders: { find: Finder; mark: string }[] = presets.map((name) => {
    if (!Object.hasOwn(PRESETS, name)) throw new Error(`unknown redaction preset: ${name}`);
    return { find: PRESETS[name as PresetName], mark: `[REDACTED:${name}]` };
  });
  for (const pattern of patterns) {
    const re = RE2JS.compile(pattern);
    finders.push({ find: (text) => matches(re, text), mark: "[REDACTED:pattern]" });
  }
  const spans = (text: string): Span[] => {
    const found: Span[] = [];
    for (const { find, mark } of finders) {
      for (const [start, end] of find(text)) if (end > start) found.push({ start, end, mark });
    }
    return found.length < 2 ? found : withoutOverlap(found);
  };
  const redact = (text: string) => replaceSpans(text, spans(text));
  const hints = [...new Set(presets.map((name) => HINTS[name as PresetName]))];
  /**
   * Most payloads have nothing to redact, which a check of their bytes as Latin-1 shows. Not if escapes may hide a match,
   * nor in SSE, where a match may be split over events.
   */
  const clean = (payload: Uint8Array): boolean => {
    if (patterns.length > 0) return false;
    const latin1 = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString("latin1");
    return !isSse(latin1) && !latin1.includes("\\u") && !hints.some((hint) => hint(latin1));
  };
  if (finders.length === 0) {
    return { text: (t) => t, payload: (t) => t, bytes: (b) => b, clean: () => true, spans: () => [] };
  }
  const self: Redactor = {
    text: redact,
    clean,
    spans,
    payload(text) {
      if (isJson(text)) return redactJson(text, spans);
      return isSse(text) ? redactSse(text, spans) : redact(text);
    },
    bytes(payload) {
      if (clean(payload)) return payload;
      const before = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString();
      const after = self.payload(before);
      return after === before ? payload : Buffer.from(after);
    },
  };
  return self;
}

/** A truncated document is not JSON: its quotes may not pair, so it is searched as plain text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const isSse = (text: string): boolean =>
  !text.startsWith("{") && /^(?:data|event|id|retry)?:/m.test(text.slice(0, 1024));

function matches(re: RE2JS, text: string): [number, number][] {
  const found: [number, number][] = [];
  const matcher = re.matcher(text);
  while (matcher.find()) found.push([matcher.start(), matcher.end()]);
  return found;
}
