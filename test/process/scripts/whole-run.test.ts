/** What `.ci/run` prints behind the tests: the line of the run for docs/testing.md, and the line with which it closes. */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultsOf, rowOf } from "../../../scripts/test-run/whole-run.ts";
import { ended, failing, folderWith, lateOnce, passing, REPO, start, TWO_PARTS } from "./fixtures.ts";

/** A clone whose `npm test` has only the tests of `files`. */
function cloneWith(files: Readonly<Record<string, string>>, before = ""): string {
  const scripts = { test: `${before}node scripts/test.ts`, "test:rest": "node scripts/test.ts --part=rest" };
  const folder = folderWith({
    "package.json": JSON.stringify({ type: "module", scripts }),
    "vitest.config.js": TWO_PARTS,
    "rest/fine.test.js": passing("in the rest"),
    ...files,
  });
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
  expect([run.code, close]).toEqual([0, "3 passed, 0 failed"]);
  // There is no bench in this clone, and no repository.
  expect(row).toMatch(
    /^\| unknown \| - \| (?:[\d.]+ of \d+|-) \| \d+ min \d+ s \| \d+ min \d+ s \| 0 \| late\.test\.js: late \|$/,
  );
  expect(run.output).toContain("Passed the second time");
});

test(".ci/run counts a failure as one, also where no test ran", async () => {
  const wrong = await runCi(cloneWith({ "wrong.test.js": failing("wrong") }));
  expect([wrong.code, wrong.lastLine]).toEqual([1, "1 passed, 1 failed"]);
  const late = await runCi(
    cloneWith({ "fine.test.js": passing("fine"), "rest/wrong.test.js": failing("wrong") }),
  );
  expect([late.code, late.lastLine]).toEqual([1, "2 passed, 1 failed"]);
  // Whoever sees only the end of the output sees what failed, and why.
  const end = late.output.slice(late.output.lastIndexOf("What failed:"));
  expect(end).toContain("### rest/wrong.test.js\n\n- wrong");
  expect(end).toContain("AssertionError");

  const untyped = await runCi(cloneWith({ "fine.test.js": passing("fine") }, "exit 2 && "));
  expect([untyped.code, untyped.lastLine]).toEqual([2, "1 passed, 1 failed"]);

  const half = `half() { printf '{' > "\${3#--summary=}"; exit 3; }; half `;
  const fullDisk = await runCi(cloneWith({ "fine.test.js": passing("fine") }, half));
  expect([fullDisk.code, fullDisk.lastLine]).toEqual([3, "1 passed, 1 failed"]);
});

test("a run's line has both parts, and names what passed the second time so that it fits into a table", () => {
  const quick = {
    passed: 11_000,
    failed: 0,
    skipped: 1,
    seconds: 200.2,
    processorsBeside: 0,
    faults: [],
    passedSecondTime: [{ project: "unit", file: "test/unit/a.test.ts", tests: ["is | late", "is\nearly"] }],
  };
  const rest = {
    passed: 3_200,
    failed: 1,
    skipped: 2,
    seconds: 600.6,
    processorsBeside: 1.2,
    faults: ["one"],
    passedSecondTime: [{ project: "any cell", file: "test/gateway/b.test.ts", tests: [] }],
  };
  expect(rowOf(quick, rest, { commit: "8c0a77cd", pipeUs: 45.23 })).toMatch(
    /^\| 8c0a77cd \| 45\.2 \| 0\.9 of \d+ \| 3 min 20 s \| 13 min 20 s \| 1 \| test\/unit\/a\.test\.ts: is \\\| late; is early<br>\[any cell\] test\/gateway\/b\.test\.ts \|$/,
  );
});

test("what failed is told once more in a bounded length", () => {
  const part = (faults: readonly string[]) => ({
    passed: 0,
    failed: faults.length,
    skipped: 0,
    seconds: 1,
    processorsBeside: undefined,
    passedSecondTime: [],
    faults,
  });
  expect(faultsOf(part([]), part([]))).toBe("");
  expect(faultsOf(part(["one"]), part(["two"]))).toBe("What failed:\n\none\n\ntwo\n\n");
  const many = faultsOf(part(Array.from({ length: 500 }, () => "x".repeat(100_000))), part([]));
  expect(many.length).toBeLessThan(50_000);
  expect(many).toContain("and 490 more");
});
