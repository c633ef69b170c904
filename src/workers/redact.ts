/**
 * Redaction of payloads: presets and an org's own patterns. Works on text; in JSON only inside string literals (and
 * bare card or Aadhaar numbers), so that JSON stays JSON. Linear in the text, whatever the text: it comes from clients.
 */
import { RE2JS } from "re2js";
import type { Redaction } from "../record.ts";
import { redactJson } from "./redact-json.ts";
import { type Finder, HINTS, PRESETS, type PresetName } from "./redact-presets.ts";
import { replaceSpans, type Span, withoutOverlap } from "./redact-spans.ts";
import { redactSse } from "./redact-sse.ts";

/** A set of redactions, compiled. */
export interface Redactor {
  /** Plain text. */
  text(text: string): string;
  /** A JSON document, an SSE stream of JSON events, or plain text where it is neither. */
  payload(text: string): string;
  /** A payload as stored: the very bytes where nothing in it goes. */
  bytes(payload: Uint8Array): Uint8Array;
  /** True where a quick look shows that nothing in a payload can have to go; about 2 ns a byte. */
  clean(payload: Uint8Array): boolean;
  /** The parts of a text that go, in order, none overlapping. */
  spans(text: string): Span[];
}

/** Compiled sets by their own text: orgs are few beside calls. */
const byRules = new Map<string, Redactor>();
const MAX_COMPILED = 500;

/** The same without a look at the text: the rules of an org are replaced, never changed. */
const byRedaction = new WeakMap<Redaction, Redactor>();

/** @throws Error where a preset is unknown or a pattern is not RE2: nothing may then be stored. */
export function redactor(redaction: Redaction): Redactor {
  let found = byRedaction.get(redaction);
  if (found === undefined) {
    found = redactorOf(JSON.stringify([redaction.presets, redaction.patterns]));
    byRedaction.set(redaction, found);
  }
  return found;
}

/** The same from `[presets, patterns]` as JSON, as a row of the outbox carries them. */
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
   * Most payloads hold nothing to redact, and a look at their bytes as Latin-1 tells. Not where escapes may hide
   * something, nor in SSE, where it comes in pieces.
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

/** Half a document is no JSON: its quotes do not pair, so it is searched as the text it is. */
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
