/**
 * The labelled corpus of redaction (test/fixtures/redaction), and the figures of the presets on it. A label says what a person
 * would want redacted, not what the presets find.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { redactor } from "../../../src/workers/redact.ts";
import { PRESET_NAMES, type PresetName } from "../../../src/workers/redaction.ts";
import { syntheticKey } from "./corpus.keys.ts";

const FOLDER = resolve(import.meta.dirname, "../../fixtures/redaction");

export interface Label {
  readonly preset: PresetName;
  readonly start: number;
  readonly end: number;
}

export interface Sample {
  /** File and line. */
  readonly place: string;
  readonly text: string;
  readonly labels: readonly Label[];
}

/** All samples, with keys in place of `{{openai}}`. */
export const corpus: readonly Sample[] = readdirSync(FOLDER)
  .sort()
  .flatMap((file) =>
    readFileSync(join(FOLDER, file), "utf8")
      .trimEnd()
      .split("\n")
      .map((line, at) => sampleOf(line, `${file}:${at + 1}`)),
  );

function sampleOf(line: string, place: string): Sample {
  const written = JSON.parse(line) as { text: string; spans: { preset: PresetName; text: string }[] };
  const seed = [...place].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) >>> 0, 7);
  const withKeys = (text: string) =>
    text.replace(/\{\{([a-z\d-]+)\}\}/g, (_, name: string) => syntheticKey(name, seed));
  const text = withKeys(written.text);
  let from = 0;
  const labels = written.spans.map(({ preset, text: labelled }) => {
    const part = withKeys(labelled);
    const start = text.indexOf(part, from);
    if (start < 0)
      throw new Error(`${place}: "${part}" is not in the text, or not in the order of the labels`);
    from = start + part.length;
    return { preset, start, end: from };
  });
  return { place, text, labels };
}

export interface Figures {
  /** Samples with an identifier of the preset, and without. */
  readonly samplesWith: number;
  readonly samplesWithout: number;
  readonly labels: number;
  /** Spans that are exactly a label. */
  readonly exact: number;
  /** Spans found. */
  readonly found: number;
  /** Samples with the identifier in which some character of it stays. */
  readonly samplesMissed: number;
  /** Samples without the identifier in which a span is found. */
  readonly samplesWrong: number;
  /** Each label that is not found exactly, and each span that is not exactly a label, for people to read. */
  readonly faults: readonly string[];
}

/** What a preset alone finds in the corpus. */
export function figuresOf(preset: PresetName): Figures {
  const { spans } = redactor({ presets: [preset], patterns: [] });
  let [samplesWith, labelCount, exact, found, samplesMissed, samplesWrong] = [0, 0, 0, 0, 0, 0];
  const faults: string[] = [];
  for (const { place, text, labels } of corpus) {
    const wanted = labels.filter((label) => label.preset === preset);
    const got = spans(text);
    found += got.length;
    labelCount += wanted.length;
    const same = (a: { start: number; end: number }, b: typeof a) => a.start === b.start && a.end === b.end;
    const missed = wanted.filter((label) => !got.some((span) => same(span, label)));
    const wrong = got.filter((span) => !wanted.some((label) => same(span, label)));
    exact += wanted.length - missed.length;
    faults.push(...missed.map((label) => `${place} missed ${quoted(text, label)}`));
    faults.push(...wrong.map((span) => `${place} wrong ${quoted(text, span)}`));
    if (wanted.length === 0) samplesWrong += got.length > 0 ? 1 : 0;
    else {
      samplesWith++;
      samplesMissed += wanted.every((label) => isCovered(label, got)) ? 0 : 1;
    }
  }
  const samplesWithout = corpus.length - samplesWith;
  return {
    samplesWith,
    samplesWithout,
    labels: labelCount,
    exact,
    found,
    samplesMissed,
    samplesWrong,
    faults,
  };
}

const quoted = (text: string, { start, end }: { start: number; end: number }) =>
  JSON.stringify(text.slice(start, end).slice(0, 120));

/** Spans are in order and do not overlap. */
function isCovered(label: Label, spans: readonly { start: number; end: number }[]): boolean {
  let covered = label.start;
  for (const { start, end } of spans) if (start <= covered && end > covered) covered = end;
  return covered >= label.end;
}

/** Labels of which a character stays where all presets apply together, as `place: text`. */
export function leaksOfAll(): string[] {
  const { spans } = redactor({ presets: PRESET_NAMES, patterns: [] });
  return corpus.flatMap(({ place, text, labels }) => {
    const got = spans(text);
    return labels.filter((l) => !isCovered(l, got)).map((l) => `${place} ${l.preset}: ${quoted(text, l)}`);
  });
}

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

export const precision = ({ exact, found }: Figures): number => exact / found;
export const recall = ({ exact, labels }: Figures): number => exact / labels;

/** The table of docs/redaction.md. */
export function figuresTable(): string {
  const rows = PRESET_NAMES.map((preset) => {
    const f = figuresOf(preset);
    const cells = [
      `\`${preset}\``,
      f.labels,
      f.exact,
      f.labels - f.exact,
      f.found - f.exact,
      percent(f.exact, f.found),
      percent(f.exact, f.labels),
      `${f.samplesWrong} of ${f.samplesWithout} (${percent(f.samplesWrong, f.samplesWithout)})`,
      `${f.samplesMissed} of ${f.samplesWith} (${percent(f.samplesMissed, f.samplesWith)})`,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const head =
    "| preset | labels | found exactly | missed | wrong | precision | recall | false positives, by sample | false negatives, by sample |";
  return [head, "|---|---:|---:|---:|---:|---:|---:|---|---|", ...rows].join("\n");
}
