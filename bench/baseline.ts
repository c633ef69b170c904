/**
 * Weir's figures in the repository (`bench/baseline.json`), with which a run can be compared. Only ratios to the pipe of
 * the same round and memory are kept: microseconds depend on the machine.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Row } from "./report.ts";

const FILE = join(import.meta.dirname, "baseline.json");
const TARGET = "weir";
/** Differences below this are taken as noise, however quiet the rounds were. */
const LEAST_NOISE = 0.02;

const figure = z.object({
  ratio: z.number().positive(),
  noise: z.number().nonnegative(),
  residentMb: z.number().positive(),
});
const document = z.object({ date: z.string(), machine: z.string(), cases: z.record(z.string(), figure) });
export type Baseline = z.infer<typeof document>;

/** @throws Error where the file is missing or damaged */
export function readBaseline(): Baseline {
  if (!existsSync(FILE)) throw new Error(`${FILE} does not exist: --save-baseline writes it`);
  return document.parse(JSON.parse(readFileSync(FILE, "utf8")));
}

export function saveBaseline(machine: string, rows: readonly Row[]): void {
  const round = (value: number): number => Math.round(value * 1_000) / 1_000;
  const cases: Baseline["cases"] = {};
  for (const { caseName, target, ratio, noise, residentMb } of rows) {
    if (target !== TARGET || ratio === undefined || residentMb === undefined) continue;
    cases[caseName] = { ratio: round(ratio), noise: round(noise), residentMb: round(residentMb) };
  }
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(FILE, `${JSON.stringify({ date, machine, cases }, null, 2)}\n`);
}

export interface Comparison {
  readonly line: string;
  readonly worse: boolean;
}

/** A line for each figure of the baseline; cases that did not run are left out. */
export function compare(baseline: Baseline, rows: readonly Row[]): Comparison[] {
  return rows.flatMap(({ caseName, target, ratio, noise, residentMb }) => {
    const before = target === TARGET ? baseline.cases[caseName] : undefined;
    if (before === undefined) return [];
    const allowed = Math.max(LEAST_NOISE, Math.hypot(noise, before.noise));
    return [
      comparison(`${caseName}, CPU over the pipe's`, ratio, before.ratio, allowed),
      comparison(`${caseName}, resident MB`, residentMb, before.residentMb, LEAST_NOISE),
    ];
  });
}

/** A figure that is missing is worse. */
function comparison(what: string, now: number | undefined, before: number, allowed: number): Comparison {
  if (now === undefined) return { line: `${what}: no figure, baseline ${before}`, worse: true };
  const change = now / before - 1;
  const worse = !(change <= allowed);
  const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
  const verdict = worse ? "WORSE" : change < -allowed ? "better" : "the same";
  const figures = `${now.toFixed(2)}, baseline ${before.toFixed(2)}: ${change < 0 ? "−" : "+"}${percent(Math.abs(change))}`;
  return { line: `${what}: ${figures}, noise ${percent(allowed)}: ${verdict}`, worse };
}
