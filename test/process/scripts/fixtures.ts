/** Folders with tests of their own, and runs of `scripts/test.ts` in them. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll } from "vitest";

export const REPO = join(import.meta.dirname, "../../..");

/** A configuration of vitest, as the product's: with the report. */
export const configWith = (test: string): string => `
import { reportPlugin } from ${JSON.stringify(join(REPO, "scripts/test-run/report.ts"))};
export default {
  plugins: [reportPlugin()],
  test: { globals: true, pool: "forks", isolate: false, maxWorkers: 1, ${test} },
};`;

/** What is in `both` is in both. */
export const TWO_PROJECTS = configWith(`projects: [
  { extends: true, test: { name: "tests" } },
  { extends: true, test: { name: "own process", include: ["both/*.test.js"] } },
]`);

/** What is in `rest` is in the part of this name. */
export const TWO_PARTS = configWith(`
  include: process.env.WEIR_TEST_PART === "quick" ? ["*.test.js"] : ["rest/*.test.js"],
`);

/** A test that passes. */
export const passing = (title: string): string => `test(${JSON.stringify(title)}, () => {});\n`;

/** A test that fails always. */
export const failing = (title: string): string =>
  `test(${JSON.stringify(title)}, () => expect(1).toBe(2));\n`;

/** A test that fails in the first run, that of a project if it is named, and passes then: the first run leaves a file. */
export const lateOnce = (title: string, project?: string): string => `
import { existsSync, writeFileSync } from "node:fs";
test(${JSON.stringify(title)}, ({ task }) => {
  const mark = ${JSON.stringify(`${title}.mark`)};
  const isLate = ${project === undefined ? true : `task.file.projectName === ${JSON.stringify(project)}`} && !existsSync(mark);
  if (isLate) writeFileSync(mark, "");
  expect(isLate ? 53 : 49, "milliseconds").toBeLessThan(50);
});
`;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder with these files and a configuration of vitest, which is removed behind the last test. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-run-"));
  folders.push(folder);
  const all = { "package.json": '{"type":"module"}', "vitest.config.js": configWith(""), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Both streams, without colours. */
  readonly output: string;
  /** The last line of its standard output. */
  readonly lastLine: string;
}

/** A command in a folder, with no trace of the run that this test is part of. */
export function start(folder: string, command: string, args: readonly string[]): ChildProcess {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  return spawn(command, [...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

/** What `npm test` calls behind types and lint. */
export const startTests = (folder: string, ...args: string[]): ChildProcess =>
  start(folder, process.execPath, [join(REPO, "scripts/test.ts"), ...args]);

export async function ended(child: ChildProcess): Promise<Ended> {
  let text = "";
  // What comes over the other pipe may be read later than it was written.
  let outText = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    outText += piece;
  });
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("close", (...how) => resolve(how));
  });
  const lines = stripVTControlCharacters(outText).trimEnd().split("\n");
  return { code, signal, output: stripVTControlCharacters(text), lastLine: lines.at(-1) ?? "" };
}

/** Runs the tests of a folder to their end. */
export const runTests = (folder: string, ...args: string[]): Promise<Ended> =>
  ended(startTests(folder, ...args));
