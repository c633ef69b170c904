/** How `scripts/mutants.ts` has tests run for a mutant, and when it says that one of them caught it: real runs of vitest in a folder. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  affordable,
  filesThatRun,
  measureCoverage,
  readCoverage,
  type TestFile,
} from "../../../scripts/mutants/coverage.ts";
import { fateOf, likeliestFirst, lineOf, summaryOf } from "../../../scripts/mutants/fate.ts";
import type { Mutant } from "../../../scripts/mutants/mutant.ts";
import { measureFiles, type Outcome, runUntilFailure } from "../../../scripts/mutants/run.ts";
import { REPO } from "./fixtures.ts";

const SOURCE = "src/credits/limits/window.ts";
const WINDOW = `export function used(from: number, to: number): number {
  return to - from;
}
export function left(size: number, taken: number): number {
  return size > taken ? size - taken : 0;
}
`;
const testOf = (body: string): string =>
  `import { expect, test } from "vitest";\nimport { left, used } from "../src/credits/limits/window.ts";\n${body}\n`;

/** What a checkout has of it, and tests of its own. */
const FILES = {
  "package.json": '{"type":"module"}',
  [SOURCE]: WINDOW,
  "test/used.test.ts": testOf(`test("used", () => expect(used(1, 3)).toBe(2));`),
  "test/left.test.ts": testOf(`test("left", () => expect(left(1, 3)).toBe(0));\nvoid used;`),
  "test/fails.test.ts": testOf(`test("fails", () => expect(left(1, 3)).toBe(1));\nvoid used;`),
  "test/hangs.test.ts": testOf(`test("hangs", () => { for (;;) used(1, 3); });\nvoid left;`),
  "test/ends.test.ts": testOf(
    `test("ends", () => { process.kill(process.pid, "SIGKILL"); });\nvoid [used, left];`,
  ),
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-mutants-run-"));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const path of ["node_modules", "scripts", "test/stripped.mjs"]) {
    symlinkSync(join(REPO, path), join(folder, path));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const files = (...names: string[]): TestFile[] =>
  names.map((name) => ({ path: `test/${name}.test.ts`, ms: 0, spans: {} }));

describe("a run", () => {
  test("of files that pass has passed", async () => {
    expect(await runUntilFailure(folder, files("used", "left"))).toEqual({ kind: "passed" });
  });

  test("ends with the first failure, in the order that was asked for", async () => {
    const outcome = await runUntilFailure(folder, files("used", "fails", "hangs"));
    expect(outcome).toEqual({ kind: "failed", file: "test/fails.test.ts", why: "fails" });
  });

  test("of a loop that never ends is ended, and said to have had its time", async () => {
    // A late machine may take long for the first file, too.
    const slow = files("used").map((file) => ({ ...file, ms: 60_000 }));
    const bounds = { timesAsLong: 1, leastMs: 5000 };
    const outcome = await runUntilFailure(folder, [...slow, ...files("hangs")], bounds);
    expect(outcome).toMatchObject({ kind: "out of time", file: "test/hangs.test.ts" });
  });

  test("whose process is killed, or that runs nothing, has failed", async () => {
    expect(await runUntilFailure(folder, files("ends"))).toMatchObject({
      kind: "failed",
      file: "test/ends.test.ts",
    });
    expect(await runUntilFailure(folder, files("used", "nowhere"))).toMatchObject({
      kind: "failed",
      file: "test/nowhere.test.ts",
    });
  });
});

describe("coverage", () => {
  test("is of each file what it ran itself, though one process ran them all; files that fail have none", async () => {
    const kept = join(folder, "kept");
    const paths = ["used", "left", "fails"].map((name) => `test/${name}.test.ts`);
    const tests = await measureCoverage(kept, (into) => measureFiles(folder, paths, into, () => {}));
    const whoRun = (text: string): string[] => {
      const start = WINDOW.indexOf(text);
      return filesThatRun(tests, SOURCE, start, start + text.length).map(({ path }) => path);
    };
    expect(whoRun("to - from")).toEqual(["test/used.test.ts"]);
    expect(whoRun("size > taken")).toEqual(["test/left.test.ts"]);
    expect(whoRun("size - taken")).toEqual([]);
    expect(readCoverage(kept)).toEqual(tests);
  });

  test("names the cheapest files first", () => {
    const tests = [3, 1, 2].map((ms) => ({ path: `${ms}`, ms, spans: { [SOURCE]: [[10, 20]] as const } }));
    expect(filesThatRun(tests, SOURCE, 19, 30).map(({ path }) => path)).toEqual(["1", "2", "3"]);
    expect(filesThatRun(tests, SOURCE, 20, 30)).toEqual([]);
    expect(filesThatRun(tests, "src/credits/limits/other.ts", 10, 20)).toEqual([]);
  });
});

test("as many files are run as a time allows, the cheapest, and those of the matrix", () => {
  const tests = ["a", "b", "gateway/conformance/chat", "d"].map((name, i) => ({
    ...files(name)[0],
    ms: i + 1,
  }));
  const paths = (ms: number) => affordable(tests as TestFile[], ms).map(({ path }) => path);
  expect(paths(3)).toEqual(files("a", "b", "gateway/conformance/chat").map(({ path }) => path));
  expect(paths(7)).toHaveLength(4);
});

describe("a mutant", () => {
  const mutant: Mutant = {
    room: "limits",
    file: SOURCE,
    line: 2,
    operator: "arithmetic",
    original: "  return to - from;",
    replacement: "  return to + from;",
  };
  /** Answers one after the other; each call's files are kept. */
  function script(...outcomes: readonly Outcome[]) {
    const asked: string[][] = [];
    const run = async (some: readonly TestFile[]): Promise<Outcome> => {
      asked.push(some.map(({ path }) => path));
      return outcomes[asked.length - 1] ?? { kind: "passed" };
    };
    return { asked, run };
  }
  const fails = (name: string, kind: "failed" | "out of time" = "failed"): Outcome => ({
    kind,
    file: `test/${name}.test.ts`,
    why: name,
  });

  test("is caught where a file fails, and fails again alone", async () => {
    const { asked, run } = script(fails("left"), fails("left"));
    expect(await fateOf(mutant, files("used", "left", "more"), run)).toMatchObject({
      kind: "caught",
      by: { file: "test/left.test.ts", why: "left" },
    });
    expect(asked).toEqual(
      [files("used", "left", "more"), files("left")].map((of) => of.map(({ path }) => path)),
    );
  });

  test("is not caught by a file that passes then; the files behind it are run", async () => {
    const { asked, run } = script(fails("left"), { kind: "passed" }, { kind: "passed" });
    const fate = await fateOf(mutant, files("used", "left", "more"), run);
    expect(fate).toMatchObject({ kind: "survived", files: 3, unsteady: ["test/left.test.ts"] });
    expect(asked[2]).toEqual(["test/more.test.ts"]);
    expect(lineOf(fate)).toContain("-   return to - from;\n");
  });

  test("is caught by time where a file does not end, twice", async () => {
    const { run } = script(fails("left", "out of time"), fails("left", "out of time"));
    expect((await fateOf(mutant, files("left"), run)).kind).toBe("caught by time");
  });

  test("is tried first on the file that caught it earlier", async () => {
    const { run } = script(fails("left"), fails("left"));
    const before = await fateOf(mutant, files("used", "left"), run);
    const names = (of: Mutant) => likeliestFirst(files("used", "left"), of, [before]).map(({ path }) => path);
    expect(names(mutant)).toEqual(["test/left.test.ts", "test/used.test.ts"]);
    expect(names({ ...mutant, replacement: "  return from;" })).toEqual([
      "test/used.test.ts",
      "test/left.test.ts",
    ]);
  });

  test("that no file runs survived", async () => {
    const { asked, run } = script();
    expect((await fateOf(mutant, [], run)).kind).toBe("survived");
    expect(asked).toEqual([]);
  });

  test("is counted: the last line says how many were caught", () => {
    const fate = { mutant, files: 1, unsteady: [], seconds: 1 };
    const text = summaryOf([
      { ...fate, kind: "caught" },
      { ...fate, kind: "survived" },
      { ...fate, kind: "caught by time", mutant: { ...mutant, room: "wire" } },
    ]);
    expect(text).toContain("| limits | 2 | 1 | 1 |\n| wire | 1 | 1 | 0 |");
    expect(text.split("\n").at(-1)).toBe("2 of 3 caught, 1 of them by time");
  });
});
