/** `npm test` examines a failure before it counts: docs/testing.md. Real runs of vitest over small folders. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../support/wait.ts";
import {
  configWith,
  type Ended,
  ended,
  failing,
  folderWith,
  lateOnce,
  passing,
  runTests,
  startTests,
  TWO_PROJECTS,
} from "./fixtures.ts";

const LIST = "test-results/passed-second-time.md";

/** How often vitest began. */
const runsOf = (output: string): number => output.match(/^ *RUN /gm)?.length ?? 0;

/** What is printed behind the last run. */
const closing = (output: string): string => output.slice(output.lastIndexOf("Duration"));

describe("five failed files are each run once more, alone", () => {
  let folder: string;
  let run: Ended;
  let failedTwice: string;
  let passedThen: string;
  beforeAll(async () => {
    folder = folderWith({
      "vitest.config.js": TWO_PROJECTS,
      "fine.test.js": passing("fine"),
      "late.test.js": `${lateOnce("answers within 50 ms")}${passing("beside it")}`,
      "both/late.test.js": lateOnce("late in a process of its own", "own process"),
      "hook.test.js": `
import { existsSync, writeFileSync } from "node:fs";
beforeAll(() => {
  if (existsSync("hook.mark")) return;
  writeFileSync("hook.mark", "");
  throw new Error("no start within 10 s");
});
${passing("started")}`,
      "gone.test.js": `
import { existsSync, writeFileSync } from "node:fs";
const isSecond = existsSync("gone.mark");
writeFileSync("gone.mark", "");
test.skipIf(isSecond)("needs what is gone", () => expect(1).toBe(2));
${passing("still there")}`,
      "wrong.test.js": `${failing("is wrong")}test.skip("is not run", () => {});\n`,
    });
    run = await runTests(folder);
    [failedTwice = "", passedThen = ""] = closing(run.output).split("Passed the second time");
  });

  test("what fails twice fails the run, and is shown with its failure", () => {
    expect(run.code).toBe(1);
    expect(runsOf(run.output)).toBe(6);
    expect(failedTwice).toMatch(/Failed twice \(2 files\)/);
    expect(failedTwice).toMatch(/wrong\.test\.js\n +is wrong\n +AssertionError: expected 1 to be 2/);
    expect(failedTwice).not.toMatch(/late|hook/);
  });

  test("a test that failed and is skipped the second time has not passed", () => {
    expect(failedTwice).toMatch(/gone\.test\.js\n +needs what is gone\n/);
  });

  test("a file that passes the second time is listed with its tests and the first failure, at the end and in a file", () => {
    expect(passedThen).toContain(LIST);
    const list = readFileSync(join(folder, LIST), "utf8");
    for (const text of [passedThen, list]) {
      expect(text).toContain("[tests] late.test.js");
      expect(text).toContain("answers within 50 ms");
      expect(text).toContain("expected 53 to be less than 50");
      expect(text).not.toMatch(/beside it|fine|wrong|gone/);
    }
    expect(list).toMatch(/at .*late\.test\.js:\d+:\d+/);
  });

  test("a file of two projects is run again in the one where it failed", () => {
    expect(passedThen).toContain("[own process] both/late.test.js");
    expect(passedThen).not.toContain("[tests] both/late.test.js");
  });

  test("a hook that fails is a failure of its file", () => {
    expect(passedThen).toMatch(/hook\.test\.js\n +Error: no start within 10 s/);
  });

  test("the last line counts the tests of such a file by their second run", () => {
    // Passed: fine, late and beside it, both twice, started, still there. Failed: is wrong, and the file with what is gone.
    expect(run.lastLine).toBe("7 passed, 2 failed, 2 skipped");
  });
});

test("filters and options reach vitest, also in the second run; all passes then, and the summary says so", async () => {
  const folder = folderWith({
    "late.test.js": `${lateOnce("chosen")}${failing("not chosen")}`,
    "wrong.test.js": failing("chosen, in a file that is not"),
  });
  const run = await runTests(folder, "late", "-t", "^chosen", "--summary=summary.json");

  expect([run.code, runsOf(run.output), run.lastLine]).toEqual([0, 2, "1 passed, 0 failed, 1 skipped"]);
  expect(JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"))).toMatchObject({
    passed: 1,
    failed: 0,
    skipped: 1,
    passedSecondTime: [{ project: "", file: "late.test.js", tests: ["chosen"] }],
  });
});

describe("a part of the tests:", () => {
  let folder: string;
  beforeAll(() => {
    folder = folderWith({
      "part.test.js": 'test("says its part", () => console.log("part", process.env.WEIR_TEST_PART));\n',
    });
  });

  test.each([
    { args: [], part: "quick" },
    { args: ["--reporter=verbose"], part: "quick" },
    { args: ["part"], part: "all" },
    { args: ["-t", "says"], part: "all" },
    { args: ["--part=rest"], part: "rest" },
    { args: ["--part=all"], part: "all" },
  ])("$args is $part", async ({ args, part }) => {
    const run = await runTests(folder, ...args);
    expect([run.code, run.lastLine]).toEqual([0, "1 passed, 0 failed"]);
    expect(run.output).toContain(`part ${part}\n`);
    expect(run.output.includes("npm run test:all")).toBe(part === "quick");
  });

  test("that there is not is an error that names the parts", async () => {
    const run = await runTests(folder, "--part=some");
    expect(run.code).toBe(1);
    expect(run.output).toContain("it is quick, rest or all");
  });

  test("--help is vitest's", async () => {
    const run = await runTests(folder, "--help");
    expect(run.code).toBe(0);
    expect(run.output).toContain("--testNamePattern");
  });
});

describe("is never forgiven, and nothing is run once more:", () => {
  const late = { "late.test.js": lateOnce("late") };
  const wrong = [1, 2, 3, 4, 5].map((i) => [`wrong${i}.test.js`, failing("wrong")] as const);

  test.each<[string, Record<string, string>, string[]]>([
    [
      "a file that does not load",
      {
        "broken.test.js": 'import "./missing.js";\n',
        "throws.test.js": `${passing("fine")}describe("x", () => { throw new Error("no"); });\n`,
        "empty.test.js": "",
      },
      ["broken", "throws", "empty"].map((name) => `${name}.test.js did not load, or has no test`),
    ],
    [
      "an error outside of tests",
      { "stray.test.js": `${passing("fine")}Promise.reject(new Error("stray"));\n` },
      ["1 error outside of tests"],
    ],
    [
      "a process that ends",
      { "ends.test.js": 'test("ends", () => process.kill(process.pid, "SIGKILL"));\n' },
      ["1 error outside of tests"],
    ],
    [
      "a test with a retry of its own",
      { "retries.test.js": 'test("again", { retry: 1 }, () => {});\n' },
      ["retries.test.js: again"],
    ],
    ["a run of more than five failed files", Object.fromEntries(wrong), ["6 files failed"]],
    [
      "a set-up of the whole run that fails",
      {
        "vitest.config.js": configWith('globalSetup: "./set-up.js"'),
        "set-up.js": 'export function setup() { throw new Error("no set-up"); }',
      },
      ["no set-up", "no test ran: no file has that name, or the set-up of the run failed"],
    ],
    [
      "a run that is cut short",
      { "vitest.config.js": configWith("bail: 1"), "zz.test.js": failing("not run") },
      ["the run was cut short"],
    ],
    [
      "a failed run whose process says that it passed",
      {
        "vitest.config.js": configWith('globalSetup: "./set-up.js"'),
        "set-up.js": "export function teardown() { process.exitCode = 0; }",
      },
      ["vitest ended with exit code 0"],
    ],
    [
      "a process that leaves without a word",
      { "leaves.test.js": 'test("leaves", () => process.reallyExit(0));\n' },
      ["1 error outside of tests"],
    ],
    [
      "a configuration that does not load",
      { "vitest.config.js": "export default {" },
      ["vitest ended before its tests did (exit code 1)"],
    ],
  ])("%s", async (_, files, reasons) => {
    const folder = folderWith({ ...late, ...files });
    const run = await runTests(folder);

    expect(run.code).toBe(1);
    for (const reason of reasons) expect(run.output).toContain(reason);
    expect(runsOf(run.output)).toBeLessThan(2);
    expect(run.lastLine).toMatch(/^\d+ passed, [1-9]\d* failed/);
    expect(existsSync(join(folder, LIST))).toBe(false);
  });

  test("a retry fails a run that passes, too", async () => {
    const run = await runTests(folderWith({ "fine.test.js": passing("fine") }), "--retry", "2");

    expect([run.code, run.lastLine]).toEqual([1, "1 passed, 1 failed"]);
    expect(run.output).toContain("fine.test.js: fine");
  });

  test("a filter that names no file", async () => {
    const run = await runTests(folderWith(late), "nothing-of-this-name");

    expect([run.code, run.lastLine]).toEqual([1, "0 passed, 1 failed"]);
  });
});

test("one of two tests of one name that failed and is skipped the second time has not passed", async () => {
  const folder = folderWith({
    "twins.test.js": `
import { existsSync, writeFileSync } from "node:fs";
const isSecond = existsSync("twins.mark");
writeFileSync("twins.mark", "");
test.skipIf(isSecond)("twin", () => expect(1).toBe(2));
test("twin", () => {});
test.skip("twin", () => {});
`,
  });
  const run = await runTests(folder);

  expect([run.code, run.lastLine]).toEqual([1, "1 passed, 1 failed, 2 skipped"]);
});

// They wait, most of the time, for vitest to end the process of the test.
test.concurrent.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s ends the run with all its processes, and nothing is run once more", async (signal, code) => {
  const folder = folderWith({
    "late.test.js": lateOnce("late"),
    "waits.test.js": `
import { writeFileSync } from "node:fs";
test("waits", async () => {
  writeFileSync("waiting", "");
  await new Promise(() => setInterval(() => {}, 1_000));
});
`,
  });
  const child = startTests(folder);
  const end = ended(child);
  await until("the run waits", () => existsSync(join(folder, "waiting")));
  child.kill(signal);
  const run = await end;

  expect([run.code, runsOf(run.output)]).toEqual([code, 1]);
});
