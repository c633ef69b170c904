/**
 * What redaction rules make of a sample, for people who choose them. A pure function; the pool runs it in its thread, because the
 * first run of an expression compiles it, and 32 KB made of digits may then take the event loop more than 5 ms.
 */
import { randomBytes } from "node:crypto";
import { fail } from "../base/errors.ts";
import type { Redaction } from "../record/record.ts";
import { TooMuchWork } from "./metered-text.ts";
import { redactor, redactWith } from "./redact.ts";
import { isPreset } from "./redact-presets.ts";
import { type FindSpans, type Span, withoutOverlap } from "./redact-spans.ts";
import { PRESET_NAMES, type PresetName } from "./redaction.ts";

/** In UTF-8. */
export const MAX_SAMPLE_BYTES = 32 * 1024;
/** Parts that say what found them; what is found beyond these is part of the last. */
export const MAX_FOUND_PARTS = 500;

/** A piece of the output: text that stays, or the mark of a span. */
export interface PreviewPart {
  readonly text: string;
  /** What found the span; absent where the text stays. */
  readonly rule?: PresetName | "pattern";
  /** Place of the own pattern in the list. */
  readonly pattern?: number;
  /** What the mark replaces. */
  readonly found?: string;
}

export interface RedactionPreview {
  readonly output: string;
  /** Spans replaced. */
  readonly redactions: number;
  /** They make the output. */
  readonly parts: readonly PreviewPart[];
}

/** @throws WeirError `invalid_value` for a preset that does not exist, or a sample above `MAX_SAMPLE_BYTES` */
export function checkPreview({ presets }: Redaction, sample: string): void {
  if (Buffer.byteLength(sample) > MAX_SAMPLE_BYTES) {
    throw fail("invalid_value", `A sample may have ${MAX_SAMPLE_BYTES} bytes.`, { param: "/sample" });
  }
  const unknown = presets.findIndex((name) => !isPreset(name));
  if (unknown < 0) return;
  throw fail("invalid_value", `The presets are ${PRESET_NAMES.join(", ")}.`, {
    param: `/presets/${unknown}`,
  });
}

/**
 * Redacts a sample as a payload: inside the strings of JSON, across the events of SSE, or as plain text. Without rules it
 * stays as it is.
 * @param patterns that compile
 * @returns undefined where the patterns take too long on the sample: such a payload would not be kept
 * @throws what `checkPreview` throws
 */
export function previewRedaction(
  { presets, patterns }: Redaction,
  sample: string,
): RedactionPreview | undefined {
  checkPreview({ presets, patterns }, sample);
  // In the order of the list: not each order of names is compiled and kept.
  const names = PRESET_NAMES.filter((name) => presets.includes(name));
  try {
    const { output, redactions } = redactor({ presets: names, patterns }).counted(sample);
    return { output, redactions, parts: partsOf({ names, patterns }, sample, output) };
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}

interface Rules {
  readonly names: readonly PresetName[];
  readonly patterns: readonly string[];
}

type Found = Required<Pick<PreviewPart, "text" | "rule" | "found">> & Pick<PreviewPart, "pattern">;

/**
 * Which rule made which mark: the sample is redacted again with a mark of its own for each span. Its letters are random, because
 * the sample may have marks in it already.
 */
function partsOf(rules: Rules, sample: string, output: string): readonly PreviewPart[] {
  const secret = Array.from(randomBytes(16), (byte) => LETTERS.charAt(byte % LETTERS.length)).join("");
  const found: Found[] = [];
  const find = finderOf(rules);
  const marking: FindSpans = (text) =>
    find(text).map(({ start, end, rule, pattern }) => {
      const mark = `[REDACTED:${rule}]`;
      const at = found.push({
        text: mark,
        rule,
        ...(pattern !== undefined && { pattern }),
        found: text.slice(start, end),
      });
      return { start, end, mark: `[REDACTED:${rule} ${secret}${at - 1}]` };
    });
  const pieces = redactWith(sample, marking).split(new RegExp(`\\[REDACTED:\\w+ ${secret}(\\d+)\\]`));
  const parts = pieces.map(
    (text, at): PreviewPart => (at % 2 === 0 ? { text } : (found[Number(text)] ?? { text })),
  );
  const shown = parts.filter(({ text }) => text !== "");
  // A pattern may find something in a mark of a stream, and finds something else in one of these: then nothing is said of rules.
  if (shown.map(({ text }) => text).join("") !== output) return output === "" ? [] : [{ text: output }];
  return bounded(shown);
}

/** No preset and hardly a pattern finds something in these. */
const LETTERS = "ghjkmnpqrvwxyz";

function bounded(parts: readonly PreviewPart[]): readonly PreviewPart[] {
  const [kept, rest] = [parts.slice(0, 2 * MAX_FOUND_PARTS), parts.slice(2 * MAX_FOUND_PARTS)];
  return rest.length === 0 ? kept : [...kept, { text: rest.map(({ text }) => text).join("") }];
}

type FoundSpan = Span & Pick<Found, "rule" | "pattern">;

/** The spans of all rules, each with its rule. */
function finderOf({ names, patterns }: Rules): (text: string) => FoundSpan[] {
  const each = [
    ...names.map((rule) => ({ rule, spans: redactor({ presets: [rule], patterns: [] }).spans })),
    ...patterns.map((expression, pattern) => ({
      rule: "pattern" as const,
      pattern,
      spans: redactor({ presets: [], patterns: [expression] }).spans,
    })),
  ];
  return (text) =>
    withoutOverlap(each.flatMap(({ spans, ...rule }) => spans(text).map((span) => ({ ...span, ...rule }))));
}
