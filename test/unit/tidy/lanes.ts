/**
 * Rules over the lanes of the tests: where a test is says what it starts, so that a quick run starts nothing dear, and what fails there
 * does not fail for want of it.
 */
import { LANES } from "../../../scripts/test-run/lanes.ts";
import type { Finding, Rule } from "./imports.ts";
import type { Source } from "./tree.ts";

/** Rooms of tests that are no room of src: what is beside src, and what whole gateways are asked. */
const OTHER_ROOMS = [
  ...["vocabulary", "support", "simulator", "bench", "scripts", "fuzz", "docs", "tidy"],
  ...["chat", "conformance", "deploy", "erasure", "extras", "faults", "inquire", "kept", "money", "routes"],
  ...["sdk", "settle", "shapes"],
];

type Thing = "a gateway" | "ClickHouse" | "a process" | "Redis" | "a browser";

const DEAR: readonly Thing[] = ["a gateway", "ClickHouse", "a process"];
const MAY_START: Readonly<Record<string, readonly Thing[]>> = {
  unit: [],
  gateway: ["a gateway"],
  engine: DEAR,
  process: DEAR,
  cells: [...DEAR, "Redis"],
  crash: [...DEAR, "Redis"],
  browser: [...DEAR, "a browser"],
  timed: DEAR,
};

/** By the words of a file that starts it. */
const SIGNS: readonly (readonly [Thing, RegExp])[] = [
  ["a gateway", /\b(?:testGateway|startGateway)\(/],
  ["ClickHouse", /\b(?:startEngine|openBench|putAnalyticsTables)\(|\bengine: true\b|from "chdb"/],
  ["a process", /\bspawnGateway\(|from "node:child_process"/],
  ["Redis", /\b(?:startRedis|startCells)\(|\bcells: [1-9]|from "ioredis"/],
  ["a browser", /from "playwright-core"/],
];

/** What these start is told by the calls of their functions: not every file that imports them has it started. */
const BY_CALL = [
  ...["test/support/gateway.ts", "test/support/start-cells.ts", "test/support/analytics/bench.ts"],
  ...["test/support/analytics-folder.ts"],
];

const testRooms: Rule = {
  name: "a test is in test/<lane>/<room>",
  cure: "move it: test/README.md says what each lane is for; a room is one of src, or in OTHER_ROOMS of test/unit/tidy/lanes.ts",
  find(tree) {
    const rooms = new Set(OTHER_ROOMS);
    for (const { path } of tree.sources) {
      const room = /^src\/(\w+)\//.exec(path)?.[1];
      if (room !== undefined) rooms.add(room);
    }
    return tree.sources.flatMap(({ path }) => {
      if (!path.endsWith(".test.ts")) return [];
      const [, lane, room, file] = path.split("/");
      const isThere = file !== undefined && rooms.has(room as string);
      return isThere && LANES.some(({ name }) => name === lane)
        ? []
        : [{ file: path, line: 1, what: "is in no lane, or in no room of it" }];
    });
  },
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
        .map(([thing, by]) => ({ file: source.path, line: 1, what: `starts ${thing}, by ${by}` }));
    });
  },
};

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

export const laneRules: readonly Rule[] = [testRooms, starts];
