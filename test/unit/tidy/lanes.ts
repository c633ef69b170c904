/**
 * Rules over the lanes of the tests: where a test is says what it starts, so that a quick run starts nothing dear, and what fails there
 * does not fail for want of it.
 */
import * as ast from "typescript/unstable/ast";
import { LANES } from "../../../scripts/test-run/lanes.ts";
import { ALL_FOR_ANY_CELL } from "../../cells/any-cell.ts";
import type { Finding, Rule } from "./rule.ts";
import { lineOf, type Source } from "./tree.ts";

/** Rooms of tests that are no room of src: what is beside src, and what whole gateways are asked. */
const OTHER_ROOMS = [
  "support",
  "simulator",
  "bench",
  "scripts",
  "fuzz",
  "docs",
  "tidy",
  "agents",
  "chat",
  "conformance",
  "console",
  "deploy",
  "erasure",
  "extras",
  "faults",
  "field",
  "inquire",
  "kept",
  "money",
  "routes",
  "sdk",
  "settle",
  "shapes",
];

type Thing = "a gateway" | "ClickHouse" | "a process" | "Redis" | "a browser";

const DEAR: readonly Thing[] = ["a gateway", "ClickHouse", "a process"];
const MAY_START: Readonly<Record<string, readonly Thing[]>> = {
  unit: [],
  gateway: ["a gateway"],
  engine: DEAR,
  process: DEAR,
  cells: [...DEAR, "Redis", "a browser"],
  crash: [...DEAR, "Redis"],
  browser: [...DEAR, "a browser"],
  timed: [...DEAR, "Redis", "a browser"],
};

/** By the words of a file that starts it. */
const SIGNS: readonly (readonly [Thing, RegExp])[] = [
  ["a gateway", /\b(?:testGateway|startGateway)\(/],
  [
    "ClickHouse",
    /\b(?:startEngine|openBench|putAnalyticsTables)\(|\bEngineRunner\.open\(|\bengine: true\b|(?:from |import\()"chdb"/,
  ],
  ["a process", /\bspawnGateway\(|(?:from |import\()"node:child_process"/],
  ["Redis", /\b(?:startRedis|startCells)\(|\bcells: (?:[1-9]|[A-Z]+\b)|(?:from |import\()"ioredis"/],
  ["a browser", /(?:from |import\()"playwright-core"/],
];

/** What these start is told by the calls of their functions: not every file that imports them has it started. */
const BY_CALL = [
  "test/support/gateway.ts",
  "test/support/start-cells.ts",
  "test/support/analytics/bench.ts",
  "test/support/analytics-folder.ts",
];

const testRooms: Rule = {
  name: "a test is in test/<lane>/<room>",
  cure: "move it: test/README.md says what each lane is for; a room is a folder of src, or in OTHER_ROOMS of test/unit/tidy/lanes.ts",
  find(tree) {
    const rooms = new Set(OTHER_ROOMS);
    for (const { path } of tree.sources) {
      if (path.startsWith("src/")) for (const folder of foldersOf(path)) rooms.add(folder);
    }
    return tree.sources.flatMap(({ path }) => {
      if (!path.endsWith(".test.ts")) return [];
      const lane = path.split("/")[1];
      return rooms.has(foldersOf(path.slice("test/".length))[0] ?? "") &&
        LANES.some(({ name }) => name === lane)
        ? []
        : [{ file: path, line: 1, what: "is in no lane, or in no room of it" }];
    });
  },
};

/** The folders of a path below its first one, deepest first: `a/b/c/d.ts` is in `b/c` and in `b`. */
function foldersOf(path: string): string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_, i) => names.slice(0, names.length - i).join("/"));
}

const anyCell: Rule = {
  name: "a test that any cell runs exists",
  cure: "name it as it is called now in test/cells/any-cell.ts, or take it off the list",
  find: (tree) =>
    ALL_FOR_ANY_CELL.filter((path) => !tree.paths.includes(path)).map((path) => ({
      file: "test/cells/any-cell.ts",
      line: 1,
      what: `lists ${path}`,
    })),
};

const starts: Rule = {
  name: "a test starts what its lane may",
  cure: "move it to a lane that may, or have it start less (test/README.md)",
  find(tree) {
    const byPath = new Map(tree.sources.map((source) => [source.path, source]));
    return tree.sources.flatMap((source): Finding[] => {
      const may = MAY_START[source.path.split("/")[1] as string];
      // The tidy tests write down what others must not.
      if (!source.path.endsWith(".test.ts") || may === undefined || isTidy(source)) return [];
      return startedBy(source, byPath)
        .filter(([thing]) => !may.includes(thing))
        .map(([thing, by]) => ({
          file: source.path,
          line: 1,
          what: `starts ${thing}, by ${by}; lanes that may: ${lanesFor(thing)}`,
        }));
    });
  },
};

const lanesFor = (thing: Thing): string =>
  Object.keys(MAY_START)
    .filter((lane) => MAY_START[lane]?.includes(thing))
    .join(", ");

const isTidy = ({ path }: Source): boolean => path.startsWith("test/unit/tidy/");

/** What a test starts, by itself or by a file of `test` that it imports, and the file that starts it. */
function startedBy(test: Source, byPath: ReadonlyMap<string, Source>): (readonly [Thing, string])[] {
  const found = new Map<Thing, string>();
  const seen = new Set<Source>();
  const look = (source: Source): void => {
    if (seen.has(source)) return;
    seen.add(source);
    for (const [thing, sign] of SIGNS) {
      if (sign.test(source.text) && !found.has(thing)) found.set(thing, source.path);
    }
    for (const { file = "", typeOnly } of source.imports) {
      const imported = byPath.get(file);
      if (imported === undefined || typeOnly || !file.startsWith("test/") || BY_CALL.includes(file)) continue;
      look(imported);
    }
  };
  look(test);
  return [...found];
}

/** The ways to wait and to take time by design, what measures for the timed lane, and the time limit of a call. */
const TIMERS = [
  "test/support/wait.ts",
  "test/support/pace.ts",
  "test/support/http-client.ts",

  "test/support/processor-time.fixtures.ts",
  "test/support/healthz.probe.ts",
  "test/support/event-loop.witness.ts",
  // Timers and clocks that it has replaced: nothing waits.
  "test/unit/bench/instructions.test.ts",
];

const isQuick = ({ path }: Source): boolean =>
  path.startsWith("test/") && !path.startsWith("test/timed/") && !TIMERS.includes(path);

/** What `complaint` says of the nodes of tests outside of `test/timed`. */
const nodeRule = (
  name: string,
  cure: string,
  applies: (source: Source) => boolean,
  complaint: (node: ast.Node) => string | undefined,
): Rule => ({
  name,
  cure,
  find: (tree) =>
    tree.sources.filter(applies).flatMap((source) =>
      source.nodes.flatMap((node): Finding[] => {
        const what = complaint(node);
        return what === undefined ? [] : [{ file: source.path, line: lineOf(source, node), what }];
      }),
    ),
});

const pauses = nodeRule(
  "no test pauses",
  "wait for a condition with `until` of test/support/wait.ts; name what takes time by design with test/support/pace.ts",
  isQuick,
  (node) => {
    if (ast.isCallExpression(node)) {
      // A chain is broken over lines.
      const callee = node.expression
        .getText()
        .replace(/\s+/g, "")
        .replace(/^globalThis\./, "");
      if (callee === "promisify" && node.arguments[0]?.getText() === "setTimeout")
        return "makes a pause of setTimeout";
      return /^(?:setTimeout|setInterval|(?:vi|expect)\.(?:waitFor|waitUntil|poll)|Atomics\.wait(?:Async)?)$|\.waitForTimeout$/.test(
        callee,
      )
        ? `calls ${callee}`
        : undefined;
    }
    if (
      !ast.isImportDeclaration(node) ||
      !/"(?:node:)?timers(?:\/promises)?"/.test(node.moduleSpecifier.getText())
    )
      return undefined;
    const names = node.importClause?.getText() ?? "";
    // Under a name of its own the whole module comes.
    return /\b(?:setTimeout|setInterval|scheduler)\b|\*|^\w+(?:,|$)/.test(names)
      ? `imports ${names} of timers`
      : undefined;
  },
);

const replacements = nodeRule(
  "no test replaces a module",
  "run the real part, or replace one of its functions and put it back: Node loads the tests, and vi.mock does nothing then",
  ({ path }) => path.startsWith("test/"),
  (node) => {
    if (!ast.isCallExpression(node)) return undefined;
    const callee = node.expression.getText();
    return /^vi\.(?:mock|doMock|hoisted)$/.test(callee) ? `calls ${callee}` : undefined;
  },
);

const COMPARISONS = new Set([
  ast.SyntaxKind.LessThanToken,
  ast.SyntaxKind.LessThanEqualsToken,
  ast.SyntaxKind.GreaterThanToken,
  ast.SyntaxKind.GreaterThanEqualsToken,
]);

/** A stopwatch has no other use; a date is compared where a reading is an operand, or what a matcher of order is given or called on. */
const clocks = nodeRule(
  "no test outside of test/timed measures time by a clock",
  "show the order of events (test/support/pace.ts: `sooner`), count, move a clock of the test's own, or bound processor time",
  isQuick,
  (node) => {
    if (!ast.isCallExpression(node)) return undefined;
    const callee = node.expression.getText();
    if (/^performance\.now$|^process\.hrtime\b/.test(callee)) return `calls ${callee}`;
    if (!/^(?:Date\.now|systemClock\.(?:now|monotonic))$/.test(callee) || node.arguments.length > 0)
      return undefined;
    return isCompared(node) ? `compares ${callee}()` : undefined;
  },
);

function isCompared(reading: ast.Node): boolean {
  let node = reading;
  const isSum = () => ast.isBinaryExpression(node.parent) || ast.isParenthesizedExpression(node.parent);
  for (; isSum(); node = node.parent) {
    if (ast.isBinaryExpression(node.parent) && COMPARISONS.has(node.parent.operatorToken.kind)) return true;
  }
  const call = node.parent;
  if (!ast.isCallExpression(call)) return false;
  const callee = call.expression.getText();
  return callee === "expect" ? isOrder(call.parent.getText()) : isOrder(callee);
}

const isOrder = (text: string): boolean => /\.toBe(?:Less|Greater)Than(?:OrEqual)?$/.test(text);

export const laneRules: readonly Rule[] = [testRooms, starts, anyCell, pauses, replacements, clocks];
