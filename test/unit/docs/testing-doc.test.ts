/** The table of whole runs in docs/testing.md: its lines are those that `.ci/run` prints, and what it names twice was mended. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rowOf } from "../../../scripts/test-run/whole-run.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/testing.md"), "utf8");
const LAST_LINES = 10;
const ROW =
  /^\| (?:[0-9a-f]{8}\+?|unknown) \| (?:\d+\.\d|-) \| (?:\d+\.\d of \d+|-) \| (?:\d+ min \d+ s|-) \| \d+ min \d+ s \| \d+ \| (.*?) ?\|$/;

/** What each line says of files that passed the second time. @throws Error for a line of another form */
function namedIn(page: string): string[] {
  const table = page.slice(page.indexOf("| commit |")).trimEnd().split("\n").slice(2);
  return table.map((line) => {
    const named = ROW.exec(line)?.[1];
    if (named === undefined) throw new Error(`not a line that .ci/run prints: ${line}`);
    return named;
  });
}

/** Tests, and files of which only a hook failed, that more than one of the last ten lines name, unless it says that they were mended. */
function namedTwice(page: string): string[] {
  const tests = namedIn(page)
    .slice(-LAST_LINES)
    .flatMap((named) => [...new Set(testsOf(named))]);
  return [...new Set(tests.filter((name, at) => tests.indexOf(name) !== at))];
}

function testsOf(named: string): string[] {
  return named
    .split("<br>")
    .filter((text) => text !== "")
    .flatMap((text) => {
      const [file = "", tests = ""] = text.split(/\.test\.ts(?:: )?/, 2);
      return tests.split("; ").map((name) => `${file.replace(/^\[.*?\] /, "")}: ${name}`);
    })
    .filter((name) => !/ \((?:mended in|timed since) [0-9a-f]{7,}\)$/.test(name));
}

test("no test is named twice in the last ten whole runs", () => {
  expect(namedTwice(PAGE), "mend them, or have them run behind all others: see docs/testing.md").toEqual([]);
});

test("what two of the last ten lines name is found, until they say that it was mended", () => {
  const line = (file: string, ...tests: string[]): string => {
    const run = { passed: 9, failed: 0, skipped: 0, seconds: 61, processorsBeside: undefined, faults: [] };
    const named = file === "" ? [] : [{ project: "any cell", file, tests }];
    const rest = { ...run, passedSecondTime: named };
    return rowOf({ ...run, passedSecondTime: [] }, rest, { commit: "8c0a77cd", pipeUs: 45.2 });
  };
  const page = (...lines: string[]): string => ["| commit |", "| --- |", ...lines].join("\n");
  const twice = [line("test/a.test.ts", "late", "early"), line("test/a.test.ts", "late")];
  const calm = new Array<string>(8).fill(line(""));

  expect(namedTwice(page(...twice, ...calm))).toEqual(["test/a: late"]);
  expect(namedTwice(page(...twice, ...calm, line("")))).toEqual([]);
  expect(namedTwice(page(line("test/a.test.ts"), line("test/a.test.ts")))).toEqual(["test/a: "]);
  expect(namedTwice(page(line("test/a.test.ts", "late"), line("test/b.test.ts", "late")))).toEqual([]);
  expect(namedTwice(page(line("test/a.test.ts", "late (mended in 8c0a77cd)"), twice[1] as string))).toEqual(
    [],
  );
  expect(() => namedIn(page("| 8c0a77cd | 18 minutes | |"))).toThrow("not a line that .ci/run prints");
});
