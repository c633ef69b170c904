/**
 * How well the presets find what people want redacted, on the labelled corpus. Figures may only get better: raise a floor
 * with the change that allows it, and put the table that a failure shows into docs/redaction.md.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it, test } from "vitest";
import { redactor } from "../../../src/workers/redact.ts";
import { KEY_SHAPES as VENDORS } from "../../../src/workers/redact-keys.ts";
import { replaceSpans } from "../../../src/workers/redact-spans.ts";
import { PRESET_NAMES, type PresetName } from "../../../src/workers/redaction.ts";
import { KEY_SHAPES } from "./corpus.keys.ts";
import { corpus, figuresOf, figuresTable, leaksOfAll, precision, recall } from "./corpus.ts";

interface Floor {
  readonly precision: number;
  readonly recall: number;
  /** Samples, at most. */
  readonly wrong: number;
  readonly missed: number;
}

const FLOORS: Readonly<Record<PresetName, Floor>> = {
  api_key: { precision: 1, recall: 0.932, wrong: 0, missed: 8 },
  card: { precision: 0.966, recall: 0.956, wrong: 2, missed: 3 },
  aadhaar: { precision: 0.953, recall: 0.987, wrong: 3, missed: 1 },
  pan: { precision: 0.936, recall: 0.977, wrong: 6, missed: 2 },
  email: { precision: 0.969, recall: 0.969, wrong: 3, missed: 3 },
  phone: { precision: 0.9, recall: 0.961, wrong: 11, missed: 4 },
};

/** Labels of which something stays where all presets apply. */
const MAX_LEAKS = 21;

const docs = readFileSync(resolve(import.meta.dirname, "../../../docs/redaction.md"), "utf8");

describe("the corpus", () => {
  it("has 500 samples, 60 with an identifier of each preset, and 150 without any", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(500);
    expect(corpus.filter(({ labels }) => labels.length === 0).length).toBeGreaterThanOrEqual(150);
    for (const preset of PRESET_NAMES) {
      const positives = corpus.filter(({ labels }) => labels.some((label) => label.preset === preset));
      expect(positives.length, preset).toBeGreaterThanOrEqual(60);
    }
  });

  it("says nothing twice", () => {
    expect(new Set(corpus.map(({ text }) => text)).size).toBe(corpus.length);
  });

  it("has a key of every shape", () => {
    const written = readFileSync(
      resolve(import.meta.dirname, "../../fixtures/redaction/api_key.jsonl"),
      "utf8",
    );
    expect(KEY_SHAPES.filter((name) => !written.includes(`{{${name}}}`))).toEqual([]);
  });
});

describe("on the corpus", () => {
  it.each(PRESET_NAMES)("%s is as good as it was", (preset) => {
    const figures = figuresOf(preset);
    const floor = FLOORS[preset];
    const isGood =
      precision(figures) >= floor.precision &&
      recall(figures) >= floor.recall &&
      figures.samplesWrong <= floor.wrong &&
      figures.samplesMissed <= floor.missed;
    if (!isGood) expect.fail(`${preset} is worse than its floor:\n${figures.faults.join("\n")}`);
  });

  it("all presets together let no more of the labels stay than before", () => {
    const leaks = leaksOfAll();
    expect(leaks.length, leaks.join("\n")).toBeLessThanOrEqual(MAX_LEAKS);
  });

  it("nothing that is found is called clean, also as a message of a call", () => {
    const all = redactor({ presets: PRESET_NAMES, patterns: [] });
    let found = 0;
    for (const { place, text } of corpus) {
      const spans = all.spans(text);
      const document = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: text }] }));
      if (spans.length > 0) {
        found++;
        expect(all.clean(Buffer.from(text)), place).toBe(false);
        expect(all.clean(document), place).toBe(false);
      }
      const redacted = JSON.parse(Buffer.from(all.bytes(document)).toString());
      expect(redacted.messages[0].content, place).toBe(replaceSpans(text, spans));
    }
    expect(found).toBeGreaterThan(360);
  });
});

test("docs/redaction.md has the figures as measured", () => {
  const section = docs.split("## Figures\n")[1] ?? "";
  const table = section.split("\n").filter((line) => line.startsWith("|"));
  expect(table, "put the expected table there").toEqual(figuresTable().split("\n"));
});

test("docs/redaction.md names every vendor whose keys are found", () => {
  const names = VENDORS.flatMap(([vendors]) => vendors.split(", "));
  expect(names.filter((name) => !docs.includes(name))).toEqual([]);
});
