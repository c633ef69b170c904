/**
 * The house rules, held against the whole repository; and each rule held against a small tree that breaks it, because a
 * rule that finds nothing proves nothing.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALL_FOR_ANY_CELL } from "../../cells/any-cell.ts";
import { folderCycles } from "./folders.ts";
import { importRules } from "./imports.ts";
import { laneRules } from "./lanes.ts";
import { lengthRules } from "./lengths.ts";
import { pictureRules } from "./pictures.ts";
import type { Rule } from "./rule.ts";
import { styleRules } from "./style.ts";
import { readTree, type Tree } from "./tree.ts";

const rules = [...importRules, folderCycles, ...lengthRules, ...styleRules, ...laneRules, ...pictureRules];

describe("the repository", () => {
  let tree: Tree;
  beforeAll(() => {
    tree = readTree(resolve(import.meta.dirname, "../../.."));
  });

  test("is read whole", () => {
    const paths = tree.sources.map((source) => source.path);
    expect(paths).toEqual(
      expect.arrayContaining(["src/main.ts", "src/base/money.ts", "test/unit/tidy/tidy.test.ts"]),
    );
    expect(
      tree.sources
        .find((s) => s.path === "test/unit/tidy/tidy.test.ts")
        ?.imports.map((i) => i.file ?? i.library),
    ).toEqual([
      "vitest",
      "test/cells/any-cell.ts",
      ...["folders", "imports", "lanes", "lengths", "pictures", "rule", "style", "tree"].map(
        (name) => `test/unit/tidy/${name}.ts`,
      ),
    ]);
  });

  test.each(rules.map((rule) => [rule.name, rule] as const))("%s", (_, rule) => {
    const findings = rule.find(tree);
    const lines = findings.map(({ file, line, what }) => `  ${file}:${line} ${what}`);
    if (lines.length > 0) expect.fail(`${rule.name}:\n${lines.join("\n")}\nCure: ${rule.cure}.`);
  });
});

/** Each sin once, with the line it is on; words that the rules look for are cut so that this file stays clean. */
const SINS: Readonly<Record<string, string>> = {
  "tsconfig.json": '{"compilerOptions":{"noLib":true,"types":[]},"include":["src","test","bench"]}',
  "package.json": '{"dependencies":{"zod":"4"},"devDependencies":{"openai":"7"}}',
  "src/main.ts": '#!/usr/bin/env node\n// Wires.\nimport { serve } from "./edge/server.ts";\nserve();\n',
  "src/base/money.ts":
    '/** Money. */\nimport { open } from "../store/store.ts";\nexport const half = open;\n',
  "src/store/store.ts":
    '/** Store. */\nimport lmdb from "lmdb";\nimport "yaml";\nexport const open = () => lmdb;\nexport const at = Date.now();\n',
  "src/edge/server.ts":
    '// Edge.\nimport type { Key } from "../account/keyring.ts";\nimport { row } from "../account/tables.ts";\nimport type { ops } from "../account/key-operations.ts";\nexport const serve = (key: Key, o: typeof ops) => [key, row, o, new Date(1), new Date()];\n',
  "src/account/keyring.ts":
    '// Keys.\nimport type { row } from "./tables.ts";\nimport type OpenAI from "openai";\nimport "openai";\nexport type Key = [typeof row, OpenAI];\n',
  "src/account/tables.ts":
    '// Rows.\nimport { type Key } from "./keyring.ts";\nexport const row = (key: Key) => key;\n',
  "src/account/key-operations.ts":
    "// Operations.\nconst late = () => import('zod');\nexport const ops: any = late;\nexport default ops;\n",
  "src/credits/ledger/ledger.ts": `// Long.\nexport function post() {\n  if (1) void 0;\n${"  void 0;\n".repeat(69)}}\nexport enum Kind { A }\n`,
  "src/host/gateway/spread.ts":
    "// Spread.\nexport const spread = (a: number[]) => [{ ...{ a }, a }, ...([1] as const), ...a];\nconst DAY_MS = 1;\n",
  "src/host/gateway/long.ts": `// Declares.\nexport function longTable() {\n  return [\n${"    1,\n".repeat(80)}  ];\n}\n`,
  "src/edge/calls.ts":
    '// Calls.\nimport type { Agent } from "node:http";\nimport { type Server, request } from "node:http";\nexport const call = (agent: Agent, server: Server) => request({ agent, host: String(server) });\n',
  "console/tsconfig.json": '{"compilerOptions":{"noLib":true,"types":[],"jsx":"preserve"},"include":["."]}',
  "console/page.tsx":
    '// A page.\nimport { half } from "../src/base/money.ts";\nimport "zod";\nimport "preact";\nexport const page = half;\n',
  "src/attic/old.ts": 'export { post } from "../credits/ledger/ledger.ts";\n',
  "src/wire/dialects.ts":
    '// Dialects.\nimport { oldDialect } from "./old/dialect.ts";\nexport const all = oldDialect;\n',
  "src/wire/old/dialect.ts": "// Old.\nexport const oldDialect = 1;\nexport const readOldUsage = 2;\n",
  "src/wire/old/write-request.ts":
    "// Old.\nexport function writeOldRequest() {}\nexport class OldStreamReader {}\n",
  "src/store/lanes/first.ts":
    '// First.\nimport { second } from "../rows/second.ts";\nexport const first = second;\n',
  "src/store/rows/second.ts":
    '// Second.\nimport type { third } from "../lanes/deep/third.ts";\nexport const second = {} as typeof third;\n',
  "src/store/lanes/deep/third.ts": "// Third.\nexport const third = 3;\n",
  ...Object.fromEntries(
    Array.from({ length: 26 }, (_, i) => [
      `src/outbound/part-${i}.ts`,
      `// Part.\nexport const part = ${i};\n`,
    ]),
  ),
  "src/credits/README.md": `\`purse.ts\` \`ledger/ledger.ts\` \`src/main.ts\`\n${"line\n".repeat(40)}`,
  "bench/string-utils.ts": `// Bench.\nimport "undici";\n\n// ${"TO"}DO later\n${"//\n".repeat(400)}`,
  "test/pay.test.ts": `// @ts-${"ignore"}\ntest("T24, T1: one admitted", () => "T25");\ntest.each([1])(\`T26, O8: \${1}\`, () => {});\n`,
  "test/unit/attic/pay.test.ts": "// Whole.\nawait testGateway();\n",
  "test/unit/attic/redis.test.ts": 'import { lend } from "../../support/lend.ts";\nlend();\n',
  "test/unit/nowhere/pay.test.ts": "// Of no room.\n",
  "test/gateway/attic/charts.test.ts": "await testGateway({ engine: true });\n",
  "test/timed/attic/mock.test.ts": 'vi.spyOn(disk, "flush");\nvi.mock("node:fs");\n',
  "test/gateway/attic/quiet.test.ts":
    'import type { lend } from "../../support/lend.ts";\nawait testGateway();\n',
  "test/crash/attic/pay.test.ts": "// Killed.\nawait spawnGateway({ cells: 3 });\n",
  "test/support/lend.ts":
    'import { execFile } from "node:child_process";\nexport const lend = () => startRedis(execFile);\n',
  "test/cells/attic/sleepy.ts":
    'import { setTimeout as sleep } from "node:timers/promises";\nimport { setImmediate as turn } from "node:timers/promises";\nawait new Promise((done) => setTimeout(done, 5));\nawait expect\n.poll(() => 1).toBe(1);\nsetImmediate(turn, sleep);\n',
  "test/cells/attic/timing.ts":
    "const from = performance.now();\nif (Date.now() + 5 < from) throw 0;\nexpect(systemClock.now() - from).toBeLessThan(7);\nexpect(1).toBeGreaterThan(2 * Date.now());\nexport const row = { at: Date.now(), of: expect(Date.now()).toBe(1) };\n",
  "test/timed/attic/timing.ts": "await new Promise((done) => setTimeout(done, performance.now()));\n",
  "docs/traps.md": "- **T24** One is admitted.\n",
  "docs/pictures/wings.dot":
    'digraph { record wire store outbound workers credits routing analytics catalog billing inference cluster attic edge [style=dashed]; "edge" -> { account base } "edge" -> account }\n',
  "docs/pictures/call.dot":
    'digraph { edge [style=dashed]; "src/edge/server.ts" -> { "src/account"; "src/wire" } "src/gone" }\n',
  "docs/architecture.md":
    "# Walks\n`src/edge` `src/gone.ts`\n1. `src/main.ts`\n2. `src/main.ts`\n## Again\n1. `src/main.ts`\n",
  "docs/decisions.md": "T57 is answered by design: `gone.test.ts`, `attic/redis.test.ts`.\n",
};

describe("each rule finds what breaks it", () => {
  const dir = mkdtempSync(join(tmpdir(), "weir-tidy-"));
  let tree: Tree;
  beforeAll(() => {
    for (const [path, text] of Object.entries(SINS)) {
      mkdirSync(join(dir, dirname(path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    tree = readTree(dir);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const found = (start: string): string[] => {
    const rule = rules.find(({ name }) => name.startsWith(start)) as Rule;
    return rule.find(tree).map(({ file, line }) => `${file}:${line}`);
  };

  test.each([
    [
      "a room imports only",
      ["src/attic/old.ts:1", "src/base/money.ts:2", "src/edge/server.ts:3", "src/main.ts:3"],
    ],
    ["an import between wings", ["src/attic/old.ts:1", "src/base/money.ts:2"]],
    ["a library with an owner", ["src/store/store.ts:3"]],
    ["node:http is imported", ["src/edge/calls.ts:3"]],
    ["src loads only packages", ["src/account/keyring.ts:4", "src/store/store.ts:2", "src/store/store.ts:3"]],
    ["no file reaches itself", ["src/account/keyring.ts:2"]],
    ["no two folders side by side", ["src/store/lanes/first.ts:2", "src/store/rows/second.ts:2"]],
    ["time and randomness", ["src/edge/server.ts:5", "src/store/store.ts:5"]],
    ["no any", ["src/account/key-operations.ts:3"]],
    ["no default exports", ["src/account/key-operations.ts:4"]],
    ["no enums", ["src/credits/ledger/ledger.ts:74"]],
    ["no literal is spread", ["src/host/gateway/spread.ts:2", "src/host/gateway/spread.ts:2"]],
    ["spans of time", ["src/host/gateway/spread.ts:3"]],
    ["functions to", ["src/credits/ledger/ledger.ts:2"]],
    ["no barrel files", ["src/attic/old.ts:1"]],
    ["files to", ["bench/string-utils.ts:401"]],
    ["the console imports itself", ["console/page.tsx:2", "console/page.tsx:3"]],
    ["a folder of src or of the console holds", ["src/outbound/part-0.ts:1"]],
    ["a file of src opens", ["src/attic/old.ts:1"]],
    ["no file or folder is called", ["bench/string-utils.ts:1"]],
    [
      "the same slot",
      [
        // One of seven files is there.
        ...new Array<string>(7).fill("src/wire/dialects.ts:2"),
        "src/wire/old/dialect.ts:3",
        "src/wire/old/write-request.ts:3",
      ],
    ],
    ["a room's README", ["src/credits/README.md:41"]],
    ["a test is in", ["test/pay.test.ts:1", "test/unit/nowhere/pay.test.ts:1"]],
    [
      "a test starts",
      [
        "test/gateway/attic/charts.test.ts:1",
        "test/unit/attic/pay.test.ts:1",
        "test/unit/attic/redis.test.ts:1",
        "test/unit/attic/redis.test.ts:1",
      ],
    ],
    ["a test that any cell runs", ALL_FOR_ANY_CELL.map(() => "test/cells/any-cell.ts:1")],
    ["no test pauses", [1, 3, 4].map((line) => `test/cells/attic/sleepy.ts:${line}`)],
    ["no test replaces a module", ["test/timed/attic/mock.test.ts:2"]],
    ["no test outside of test/timed", [1, 2, 3, 4].map((line) => `test/cells/attic/timing.ts:${line}`)],
    ["no notes of unfinished work", ["bench/string-utils.ts:4"]],
    ["the type-checker is not silenced", ["test/pay.test.ts:1"]],
    ["a test that is named exists", ["docs/decisions.md:1"]],
    ["no sentence begins with Of", ["test/unit/nowhere/pay.test.ts:1"]],
    ["a number in a test's title", ["test/pay.test.ts:1"]],
    // It lacks a wing and an arrow, and has a folder that is no wing, an arrow that is not so, and one twice.
    ["the picture of the wings", new Array<string>(5).fill("docs/pictures/wings.dot:1")],
    ["a README of src names files", ["src/credits/README.md:1"]],
    ["a dashed arrow in the picture of a call", ["docs/pictures/call.dot:1"]],
    [
      "docs/architecture.md and its pictures name",
      ["docs/architecture.md:2", "docs/architecture.md:4", "docs/pictures/call.dot:1"],
    ],
  ])("%s", (start, expected) => {
    expect(found(start).sort()).toEqual(expected);
  });

  test("every trap and finding: those in titles and in the decisions are answered, the rest are listed", () => {
    const rule = rules.find(({ name }) => name.startsWith("every trap")) as Rule;
    const missing = rule.find(tree).map(({ what }) => what.split(" ")[0]);
    expect(missing).toContain("T25");
    expect(missing).not.toContain("T1");
    expect(missing).not.toContain("O8");
    expect(missing).toHaveLength(40 + 31 - ["T1", "T24", "T26", "T57", "O8"].length);
  });
});
