/**
 * `node scripts/whole-run.ts SUMMARY [PIPE]` prints the line of a whole run for the table of docs/testing.md, from the summary of
 * `scripts/test.ts` and what `npm run bench -- --targets pipe --json PIPE` wrote. `.ci/run` calls it.
 */
import { existsSync, readFileSync } from "node:fs";
import { commit, rowOf, type Summary } from "./test-run/whole-run.ts";

const [, , summaryFile = "", pipeFile = ""] = process.argv;
const summary = JSON.parse(readFileSync(summaryFile, "utf8")) as Summary;
console.log("The line of this run for the table of docs/testing.md:");
console.log(rowOf(summary, { commit: commit(), pipeUs: pipeFigure() }));

/** Of small JSON calls. Undefined where the bench could not run. */
function pipeFigure(): number | undefined {
  if (!existsSync(pipeFile)) return undefined;
  const { rows } = JSON.parse(readFileSync(pipeFile, "utf8")) as {
    rows: { target: string; cpuUs?: number }[];
  };
  return rows.find(({ target }) => target === "pipe")?.cpuUs;
}
