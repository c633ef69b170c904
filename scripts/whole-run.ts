/**
 * `node scripts/whole-run.ts QUICK REST [PIPE]` prints what failed in a whole run, and its line for the table of docs/testing.md, from the
 * summaries that `scripts/test.ts` wrote of its two parts and what `npm run bench -- --targets pipe --json PIPE` wrote. `.ci/run` calls it.
 */
import { existsSync, readFileSync } from "node:fs";
import { commit, faultsOf, rowOf, type Summary } from "./test-run/whole-run.ts";

const [, , quickFile = "", restFile = "", pipeFile = ""] = process.argv;
const summaryOf = (file: string): Summary => JSON.parse(readFileSync(file, "utf8"));
console.log(lineOfRun());

/** A summary that is not whole, as on a full disk, gives no line; the run has failed then. */
function lineOfRun(): string {
  try {
    const [quick, rest] = [summaryOf(quickFile), summaryOf(restFile)];
    const row = rowOf(quick, rest, { commit: commit(), pipeUs: pipeFigure() });
    return `${faultsOf(quick, rest)}The line of this run for the table of docs/testing.md:\n${row}`;
  } catch (error) {
    return `There is no line of this run: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Processor time of a small JSON call, microseconds; undefined where the bench could not run. */
function pipeFigure(): number | undefined {
  if (!existsSync(pipeFile)) return undefined;
  const { rows } = JSON.parse(readFileSync(pipeFile, "utf8")) as {
    rows: { target: string; cpuUs?: number }[];
  };
  return rows.find(({ target }) => target === "pipe")?.cpuUs;
}
