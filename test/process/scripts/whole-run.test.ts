/** What `.ci/run` prints behind the tests: the line of the run for docs/testing.md, and the line with which it closes. */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rowOf } from "../../../scripts/test-run/whole-run.ts";
import { ended, failing, folderWith, lateOnce, passing, REPO, start } from "./fixtures.ts";

/** A clone whose `npm test` has only the tests of `files`. */
function cloneWith(files: Readonly<Record<string, string>>, before = ""): string {
  const scripts = { test: `${before}node scripts/test.ts` };
  const folder = folderWith({ "package.json": JSON.stringify({ type: "module", scripts }), ...files });
  mkdirSync(join(folder, ".ci"));
  copyFileSync(join(REPO, ".ci/run"), join(folder, ".ci/run"));
  chmodSync(join(folder, ".ci/run"), 0o755);
  for (const name of ["scripts", "node_modules"]) symlinkSync(join(REPO, name), join(folder, name));
  return folder;
}

const runCi = (folder: string) => ended(start(folder, join(folder, ".ci/run"), []));

test(".ci/run closes with one line, behind the line of the run and what passed the second time", async () => {
  const run = await runCi(cloneWith({ "late.test.js": lateOnce("late"), "fine.test.js": passing("fine") }));

  const [row, close] = run.output.trimEnd().split("\n").slice(-2);
  expect([run.code, close]).toEqual([0, "2 passed, 0 failed"]);
  // There is no bench in this clone, and no repository.
  expect(row).toMatch(
    /^\| unknown \| - \| (?:[\d.]+ of \d+|-) \| 0 min \d+ s \| 0 \| late\.test\.js: late \|$/,
  );
  expect(run.output).toContain("Passed the second time");
});

test(".ci/run counts a failure as one, also where no test ran", async () => {
  const wrong = await runCi(cloneWith({ "wrong.test.js": failing("wrong") }));
  expect([wrong.code, wrong.lastLine]).toEqual([1, "0 passed, 1 failed"]);

  const untyped = await runCi(cloneWith({ "fine.test.js": passing("fine") }, "exit 2 && "));
  expect([untyped.code, untyped.lastLine]).toEqual([2, "0 passed, 1 failed"]);

  const half = `half() { printf '{' > "\${3#--summary=}"; exit 3; }; half `;
  const fullDisk = await runCi(cloneWith({ "fine.test.js": passing("fine") }, half));
  expect([fullDisk.code, fullDisk.lastLine]).toEqual([3, "0 passed, 1 failed"]);
});

test("a run's line names what passed the second time so that it fits into a table", () => {
  const run = {
    ...{ passed: 14_200, failed: 1, skipped: 3, seconds: 1_083.6, processorsBeside: 0.94 },
    passedSecondTime: [
      { project: "tests", file: "test/a.test.ts", tests: ["is | late", "is\nearly"] },
      { project: "cells", file: "test/b.test.ts", tests: [] },
    ],
  };
  expect(rowOf(run, { commit: "8c0a77cd", pipeUs: 45.23 })).toMatch(
    /^\| 8c0a77cd \| 45\.2 \| 0\.9 of \d+ \| 18 min 3 s \| 1 \| test\/a\.test\.ts: is \\\| late; is early<br>\[cells\] test\/b\.test\.ts \|$/,
  );
});
