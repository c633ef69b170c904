/** A start keeps the sources without their types for the next one: these tests show that each start runs what its own sources say. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseAst } from "vitest/node";
import { withoutComments } from "../../../../src/base/process/stripped-sources.mjs";

const MODULE = new URL("../../../../src/base/process/stripped-sources.mjs", import.meta.url).href;

const REPO = fileURLToPath(new URL("../../../..", import.meta.url));

/** What a program does, without where each part of it is. */
const programOf = (source: string): string =>
  JSON.stringify(parseAst(source), (key, value) => {
    if (key === "start" || key === "end") return undefined;
    return typeof value === "bigint" ? String(value) : value;
  });

let folder: string;
let file: string;
let source: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-stripped-test-"));
  mkdirSync(join(folder, "src"));
  file = join(folder, "stripped.json");
  source = join(folder, "src/value.ts");
  writeFileSync(source, 'export const value: string = "first";\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const root = () => pathToFileURL(join(folder, "src/")).href;

/** A process that imports a module; what the module exports, and all that the process prints. */
function start(path = source, into = file): string {
  const script = `
    import { keepStripped } from ${JSON.stringify(MODULE)};
    const hasLoaded = keepStripped(${JSON.stringify(into)}, ${JSON.stringify(root())});
    console.log((await import(${JSON.stringify(pathToFileURL(path).href)})).value);
    hasLoaded();
  `;
  return execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
}

const kept = () => JSON.parse(readFileSync(file, "utf8"));
/** Has the kept form say something else, so that a run shows whether it is taken. */
const mark = () => writeFileSync(file, readFileSync(file, "utf8").replaceAll("first", "kept"));

test("what was stripped once is taken from the file, which only its user can read", () => {
  expect(start()).toBe("first");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  mark();
  expect(start()).toBe("kept");
});

test("a source that changed is stripped again, and kept", () => {
  start();
  mark();
  writeFileSync(source, 'export const value: string = "other";\n');
  expect(start()).toBe("other");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll("other", "kept"));
  expect(start()).toBe("kept");
});

test("what another Node stripped is not taken", () => {
  start();
  mark();
  writeFileSync(file, JSON.stringify({ ...kept(), node: "v22.0.0" }));
  expect(start()).toBe("first");
  expect(kept().node).toBe(process.version);
});

test.each(["", "{", "null", '{"node":1}', JSON.stringify({ node: process.version, sources: 7 })])(
  "a file that is damaged is as none: %j",
  (text) => {
    writeFileSync(file, text);
    expect(start()).toBe("first");
    expect(Object.keys(kept().sources)).toHaveLength(1);
  },
);

test("the file's folder is made, for its user alone", () => {
  expect(start(source, join(folder, "missing/stripped.json"))).toBe("first");
  expect(statSync(join(folder, "missing")).mode & 0o777).toBe(0o700);
});

test("where nothing can be written nothing is kept, and nothing said", () => {
  // It may not even be looked there, as in a folder of another user.
  expect(start(source, join(source, "stripped.json"))).toBe("first");
});

test("zod's languages are not loaded, and its English is", () => {
  const using = `
    import { z } from "zod";
    const { error } = z.string().safeParse(7);
    export const value = JSON.stringify([Object.keys(z.locales), error.issues[0].message]);
  `;
  symlinkSync(join(REPO, "node_modules"), join(folder, "node_modules"), "junction");
  const other = join(folder, "using.mjs");
  writeFileSync(other, using);
  expect(JSON.parse(start(other))).toEqual([[], "Invalid input: expected string, received number"]);
});

test("what is outside of the root is left to Node", () => {
  const other = join(folder, "other.ts");
  writeFileSync(other, 'export const value: string = "outside";\n');
  expect(start(other)).toBe("outside");
  expect(() => statSync(file)).toThrow("ENOENT");
});

test("a start that changes nothing does not write", () => {
  start();
  chmodSync(file, 0o400);
  const before = statSync(file);
  start();
  expect([statSync(file).ino, statSync(file).mtimeMs]).toEqual([before.ino, before.mtimeMs]);
});

test("our own sources are the same programs without their comments", () => {
  const sources = globSync("src/**/*.ts", { cwd: REPO }).map((path) =>
    readFileSync(join(REPO, path), "utf8"),
  );
  let saved = 0;
  for (const source of sources) {
    const types = stripTypeScriptTypes(source);
    const bare = withoutComments(types);
    expect(bare.split("\n")).toHaveLength(types.split("\n").length);
    expect(programOf(bare) === programOf(types)).toBe(true);
    saved += types.length - bare.length;
  }
  expect(sources.length).toBeGreaterThan(1000);
  expect(saved).toBeGreaterThan(1_000_000);
});

test.each([
  ["a template over several lines", "const a = `\n// text\n`;\n// comment\n"],
  ["a comment with code behind it", "/* a\n b */ run();\n// comment\n"],
])("a source with %s stays as it is", (_, source) => {
  expect(withoutComments(source)).toBe(source);
});

test("comments go where they are whole lines", () => {
  const source = [
    "a(); // stays",
    "  // goes",
    "/** goes */",
    'const b = "// stays";   ',
    "  /*",
    "   * `goes",
    "   */",
    "c(`a\\``, `b`);",
  ];
  const bare = ["a(); // stays", "", "", 'const b = "// stays";', "", "", "", source[7]];
  expect(withoutComments(source.join("\n"))).toBe(bare.join("\n"));
});
