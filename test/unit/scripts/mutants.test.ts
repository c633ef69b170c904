/** Which faults `scripts/mutants.ts` makes of a source, which of them it chooses, and how one that was kept is made again. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { chooseMutants } from "../../../scripts/mutants/choose.ts";
import { testFiles } from "../../../scripts/mutants/lanes.ts";
import { type Mutant, mutantOf, place } from "../../../scripts/mutants/mutant.ts";
import { changesOf } from "../../../scripts/mutants/operators.ts";
import { readTree, type Tree } from "../tidy/tree.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function treeOf(files: Readonly<Record<string, string>>): Tree {
  const folder = mkdtempSync(join(tmpdir(), "weir-mutants-test-"));
  folders.push(folder);
  const config = {
    "tsconfig.json": '{"compilerOptions":{"noLib":true,"types":[]},"include":["src","test"]}',
  };
  for (const [path, text] of Object.entries({ ...config, ...files })) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return readTree(folder);
}

const FILE = "src/credits/window.ts";

/** Every fault in the body of a function, as `operator: body`, with the body in one line. */
function faultsOf(body: string): string[] {
  const text = `export function f(a, b) { ${body} }\n`;
  const source = treeOf({ [FILE]: text }).sources[0];
  if (source === undefined) throw new Error("no source");
  return changesOf(source).map((change) => {
    const { replacement } = mutantOf(FILE, text, change);
    return `${change.operator}: ${replacement.slice("export function f(a, b) {".length, -1).trim()}`;
  });
}

describe("faults", () => {
  test.each([
    ["return a < b;", ["comparison: return a <= b;"]],
    ["return a >= b;", ["comparison: return a > b;"]],
    ["return a !== b;", ["comparison: return a === b;"]],
    ["return a && b;", ["and/or: return a || b;"]],
    ["return a || b;", ["and/or: return a && b;"]],
    ["return a + b;", ["arithmetic: return a - b;"]],
    ["return a * b;", ["arithmetic: return a / b;"]],
    ["return !a;", ["negation left out: return a;"]],
    ["return 1_000;", ["off by one: return 1001;"]],
    ["return true;", ["constant: return false;"]],
    ["return 'usage';", ['constant: return "other";']],
    ["return Math.min;", ["bound: return Math.max;"]],
    ["return a ? b : a;", ["negated condition: return !(a) ? b : a;"]],
    [
      "if (a) return b; return a;",
      [
        "negated condition: if (!(a)) return b; return a;",
        "condition never true: if (false) return b; return a;",
      ],
    ],
    ["a(); return b;", ["dropped statement: ; return b;"]],
    ["a.b = b; return b;", ["dropped statement: ; return b;"]],
    ["a(b);", ["early return: return; a(b);", "dropped statement: ;"]],
  ])("of %s", (body, faults) => {
    expect(faultsOf(body)).toEqual(faults);
  });

  test.each([
    ["texts that are put together", "return a + ' of ' + b;"],
    ["texts for people", "return 'there is no such key';"],
    ["names of members", "return { 'max-tokens': a };"],
    ["types", "const c: 'text' | 5 = a; return c;"],
    ["what is logged", "a.log.warn(b); return b;"],
  ])("none of %s", (_, body) => {
    expect(faultsOf(body)).toEqual([]);
  });

  test("an awaited call is dropped whole, and a function that returns a value does not return early", () => {
    const source = treeOf({ [FILE]: "export async function f(a) { await a(); return a; }\n" }).sources[0];
    const found = source === undefined ? [] : changesOf(source);
    expect(found.map(({ operator }) => operator)).toEqual(["dropped statement"]);
  });

  test("what runs when a module is loaded is left as it is: no coverage says who would notice", () => {
    const text =
      "export const limit = 1 + 2;\nexport class Window { size = 5; }\nexport function f(a = 1) {}\n";
    const source = treeOf({ [FILE]: text }).sources[0];
    expect(source === undefined ? undefined : changesOf(source)).toEqual([]);
  });
});

/** Eight functions, each with a fault of seven kinds. */
const many = (name: string): string =>
  Array.from(
    { length: 8 },
    (_, i) =>
      `export function ${name}${i}(a, b) {\n  if (a < ${i}) return true;\n  b.${name}${i}();\n  return a + b === ${i} && !b;\n}\n`,
  ).join("\n");

const files = (): Record<string, string> => ({
  "src/credits/one.ts": many("one"),
  "src/credits/two.ts": many("two"),
  "src/credits/three.ts": many("three"),
  "src/wire/four.ts": many("four"),
});

const choose = (
  tree: Tree,
  seed: number,
  isRun: (file: string, offset: number) => boolean = () => true,
): Mutant[] => chooseMutants(tree.sources, ["credits", "wire"], { seed, count: 5, isRun });

describe("the choice", () => {
  test("is the same by an equal seed, and another by another", () => {
    const first = choose(treeOf(files()), 1);
    expect(first).toEqual(choose(treeOf(files()), 1));
    expect(first).not.toEqual(choose(treeOf(files()), 2));
  });

  test("is of each room as many as asked for, two of a file and three of an operator at most", () => {
    const chosen = choose(treeOf(files()), 1);
    // The files of `wire` are one.
    expect(chosen.map(({ room }) => room)).toEqual([...new Array(5).fill("credits"), "wire", "wire"]);
    for (const key of ["file", "operator"] as const) {
      for (const [value, of] of Map.groupBy(chosen, (mutant) => `${mutant.room} ${mutant[key]}`)) {
        expect(of.length, value).toBeLessThanOrEqual(key === "file" ? 2 : 3);
      }
    }
  });

  test("is of code that tests run", () => {
    const tree = treeOf(files());
    const chosen = choose(tree, 1, (file, offset) => file === "src/credits/two.ts" && offset > 200);
    const text = files()["src/credits/two.ts"] ?? "";
    expect(chosen.map(({ file }) => file)).toEqual(["src/credits/two.ts", "src/credits/two.ts"]);
    for (const mutant of chosen) expect(place(mutant, text).end).toBeGreaterThan(200);
  });

  test("does not change where lines are put before its own", () => {
    const moved = Object.fromEntries(
      Object.entries(files()).map(([path, text]) => [path, `// Moved.\n\n${text}`]),
    );
    const lines = (mutants: readonly Mutant[]) => mutants.map(({ line, ...rest }) => rest);
    const before = choose(treeOf(files()), 1);
    const after = choose(treeOf(moved), 1);
    expect(lines(after)).toEqual(lines(before));
    expect(after.map(({ line }) => line - 2)).toEqual(before.map(({ line }) => line));
  });
});

describe("a mutant that was kept", () => {
  const text = "a(1);\nif (b < c) {\n  a(1);\n}\n  a(1);\n";
  const kept = (line: number): Mutant => ({
    room: "credits",
    file: FILE,
    line,
    operator: "off by one",
    original: "  a(1);",
    replacement: "  a(2);",
  });

  test("is made at its lines, of equal ones at the nearest", () => {
    expect(place(kept(3), text)).toMatchObject({ line: 3, text: text.replace("{\n  a(1)", "{\n  a(2)") });
    expect(place(kept(9), text)).toMatchObject({ line: 5, text: text.replace("}\n  a(1)", "}\n  a(2)") });
  });

  test("says which line is changed, without its indent", () => {
    const { start, end } = place(kept(3), text);
    expect(text.slice(start, end)).toBe("a(1);");
    const two = { ...kept(2), original: "if (b < c) {\n  a(1);", replacement: "if (b < c) {\n  a(2);" };
    expect(place(two, text)).toMatchObject({ line: 3, start, end });
  });

  test("of lines that are gone is an error that names the file", () => {
    expect(() => place({ ...kept(3), original: "  a(3);" }, text)).toThrow(
      `${FILE} has no such lines any more`,
    );
    // Lines are whole.
    expect(() => place({ ...kept(3), original: "a(1)" }, text)).toThrow("no such lines");
  });
});

test("test files are those of the lanes that load a source of the rooms, by whatever way", () => {
  const tree = treeOf({
    "src/credits/window.ts": "export const window = 1;\n",
    "src/credits/types.ts": "export type Window = 1;\n",
    "src/clock.ts": "export const clock = 1;\n",
    "test/unit/credits/window.test.ts": 'import { window } from "../../../src/credits/window.ts";\nwindow;\n',
    "test/unit/credits/clock.test.ts": 'import { clock } from "../../../src/clock.ts";\nclock;\n',
    "test/unit/credits/types.test.ts": 'import type { Window } from "../../../src/credits/types.ts";\n',
    "test/timed/credits/window.test.ts": 'import "../../../src/credits/window.ts";\n',
    "test/engine/analytics/usage.test.ts": 'import "../../../src/credits/window.ts";\n',
    "test/support/gateway.ts": 'import "../../src/credits/window.ts";\n',
    "test/gateway/credits/limits.test.ts": 'import "../../support/gateway.ts";\n',
    "test/process/process/start.test.ts": 'import "../../support/gateway.ts";\n',
    "test/crash/credits/limits.test.ts": 'import "../../support/gateway.ts";\n',
  });
  expect(testFiles(tree, ["credits"])).toEqual([
    "test/gateway/credits/limits.test.ts",
    "test/unit/credits/window.test.ts",
  ]);
});
