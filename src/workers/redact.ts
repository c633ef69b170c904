/**
 * Redaction of payloads by presets and by an org's own patterns. Works on text; in JSON only inside string literals (and on
 * bare card or Aadhaar numbers), so that JSON stays JSON. Takes linear time for any text, because clients send it: presets by what
 * they are, an org's own patterns by a budget, beyond which a text is not redacted and so must not be stored.
 */
import { RE2JS } from "re2js";
import { jsonIn } from "../base/json.ts";
import type { Redaction } from "../record/record.ts";
import { budgetFor, matchesWithin, type WorkBudget } from "./metered-text.ts";
import { PayloadLook } from "./payload-look.ts";
import { folded, mayFold } from "./redact-fold.ts";
import { redactJson } from "./redact-json.ts";
import { findPreset, HINTS, isPreset } from "./redact-presets.ts";
import { type FindSpans, replaceSpans, type Span, withoutOverlap } from "./redact-spans.ts";
import { redactSse } from "./redact-sse.ts";
import type { PresetName } from "./redaction.ts";

/**
 * Compiled redaction rules. All but `clean` throw an Error where own patterns take too long on a text.
 * A `whole` is what the text is a part of, and may spend on own patterns altogether.
 */
export interface Redactor {
  text(text: string, whole?: WorkBudget): string;
  /** A JSON document, an SSE stream of JSON events, or else plain text. */
  payload(text: string): string;
  /** The same, with the number of spans that are replaced. */
  counted(text: string): { output: string; redactions: number };
  /** A payload as stored: the same bytes if nothing in it is redacted. */
  bytes(payload: Uint8Array, whole?: WorkBudget): Uint8Array;
  /** True if a quick check shows that a payload has nothing to redact; takes about a quarter of a nanosecond a byte. */
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
  const names = presets.map((name): PresetName => {
    if (!isPreset(name)) throw new Error(`unknown redaction preset: ${name}`);
    return name;
  });
  const own = patterns.map((pattern) => RE2JS.compile(pattern));
  const spansWithin = (text: string, budget: WorkBudget): Span[] => {
    const found: Span[] = [];
    const collect = (mark: string, matched: Iterable<readonly [number, number]>) => {
      for (const [start, end] of matched) if (end > start) found.push({ start, end, mark });
    };
    if (names.length > 0) {
      const searched = folded(text);
      const look = new PayloadLook(Buffer.from(searched));
      for (const name of names) collect(`[REDACTED:${name}]`, findPreset(name, searched, look));
    }
    for (const re of own) collect("[REDACTED:pattern]", matchesWithin(re, text, budget));
    return found.length < 2 ? found : withoutOverlap(found);
  };
  const hints = [...new Set(names.map((name) => HINTS[name]))];
  /**
   * Most payloads have nothing to redact, which a look at their bytes shows. Not if escapes or other scripts may
   * hide a match, nor in SSE, where a match may be split over events.
   */
  const clean = (payload: Uint8Array): boolean => {
    if (patterns.length > 0) return false;
    const look = new PayloadLook(payload, true);
    if (look.hasUnicodeEscape || (!look.beginsAsObject && isSse(look.latin1))) return false;
    if (!look.isAscii && (look.isBrief || mayFold(look.latin1))) return false;
    for (const hint of hints) if (hint(look)) return false;
    return true;
  };
  if (names.length + own.length === 0) return REDACTS_NOTHING;
  /** One budget for all the texts of a payload. */
  const payload = (text: string, whole?: WorkBudget): string => {
    const budget = budgetFor(text.length, whole);
    return redactWith(text, (part) => spansWithin(part, budget));
  };
  const spans = (text: string, whole?: WorkBudget) => spansWithin(text, budgetFor(text.length, whole));
  return {
    text: (text, whole) => replaceSpans(text, spans(text, whole)),
    payload: (text) => payload(text),
    clean,
    spans: (text) => spans(text),
    counted(text) {
      let redactions = 0;
      const budget = budgetFor(text.length);
      const counting: FindSpans = (part) => {
        const found = spansWithin(part, budget);
        redactions += found.length;
        return found;
      };
      return { output: redactWith(text, counting), redactions };
    },
    bytes(bytes, whole) {
      if (clean(bytes)) return bytes;
      const before = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
      const after = payload(before, whole);
      return after === before ? bytes : Buffer.from(after);
    },
  };
}

const REDACTS_NOTHING: Redactor = {
  text: (text) => text,
  payload: (text) => text,
  counted: (text) => ({ output: text, redactions: 0 }),
  bytes: (bytes) => bytes,
  clean: () => true,
  spans: () => [],
};

/** A JSON document, an SSE stream of JSON events, or else plain text, with the spans that are found in its texts replaced. */
export function redactWith(text: string, spans: FindSpans): string {
  // A truncated document is not JSON: its quotes may not pair, so it is searched as plain text.
  if (jsonIn(text) !== undefined) return redactJson(text, spans);
  return isSse(text) ? redactSse(text, spans) : replaceSpans(text, spans(text));
}

const isSse = (text: string): boolean =>
  !text.startsWith("{") && /^(?:data|event|id|retry)?:/m.test(text.slice(0, 1024));
