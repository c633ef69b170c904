/**
 * `node scripts/whole-run.ts QUICK REST [PIPE]` prints the line of a whole run for the table of docs/testing.md, from the summaries that
 * `scripts/test.ts` wrote of its two parts and what `npm run bench -- --targets pipe --json PIPE` wrote. `.ci/run` calls it.
 */
import { existsSync, readFileSync } from "node:fs";
import { commit, rowOf, type Summary } from "./test-run/whole-run.ts";

const [, , quickFile = "", restFile = "", pipeFile = ""] = process.argv;
const summaryOf = (file: string): Summary => JSON.parse(readFileSync(file, "utf8"));
console.log("The line of this run for the table of docs/testing.md:");
console.log(rowOf(summaryOf(quickFile), summaryOf(restFile), { commit: commit(), pipeUs: pipeFigure() }));

/** Processor time of a small JSON call, microseconds; undefined where the bench could not run. */
function pipeFigure(): number | undefined {
  if (!existsSync(pipeFile)) return undefined;
  const { rows } = JSON.parse(readFileSync(pipeFile, "utf8")) as {
    rows: { target: string; cpuUs?: number }[];
  };
  return rows.find(({ target }) => target === "pipe")?.cpuUs;
}
