/** The budget of a call: what is read of callgrind, of V8's log, of valgrind and of strace, and how work finds the step that it was done for. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Attribution } from "../../../bench/budget/attribution.ts";
import { CodeLog } from "../../../bench/budget/code-log.ts";
import { readBudgetOptions } from "../../../bench/budget/main.ts";
import { outsideFigures } from "../../../bench/budget/outside-counts.ts";
import { budgetText } from "../../../bench/budget/report.ts";
import { stepOfFile, stepOfFunction } from "../../../bench/budget/steps.ts";
import { readSummary } from "../../../bench/budget/system-calls.ts";
import { Tally } from "../../../bench/budget/tally.ts";
import { type CallgrindFile, readCallgrind } from "../../../bench/instructions/callgrind-file.ts";
import { placesOfWindows } from "../../../bench/instructions/heap-meter.ts";

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-budget-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file");
  writeFileSync(path, text);
  return path;
}

const REPO = "/repo";
const SETTLE = "src/inference/exchange/settle.ts";
const HELPER = "src/base/money.ts";

/** `settle` has `helper` inlined from offset 16 on; `helper` is also code of its own. */
const LOG = [
  `code-creation,JS,9,1,0x100,16,helper file:///repo/${HELPER}:7:1,0xa1,~`,
  `code-creation,JS,12,2,0x1000,64,settle file:///repo/${SETTLE}:3:1,0xa2,*`,
  "code-source-info,0x1000,5,1,90,C0O10C16O20I0C32O30,F0O15,S0xa1",
  `code-creation,JS,12,3,0x2000,64,helper file:///repo/${HELPER}:7:1,0xa1,*`,
  "code-source-info,0x2000,6,1,90,C0O10,,",
].join("\n");

describe("callgrind's file", () => {
  test("gives instructions by address and calls with their callers, names and addresses in short", () => {
    const read = readCallgrind(
      file(
        [
          "ob=(1) /bin/node",
          "fl=(1) ???",
          "fn=(7) Builtins_Add",
          "0x10 5 100",
          "+4 * 20",
          "cfn=(8) malloc",
          "calls=3 0x900 7",
          "* 5 60",
          "fn=(9) 0x0000000000001000",
          "cob=(1)",
          "cfn=(7)",
          "calls=2 0x10 0",
          "0x1008 0 180",
          "totals: 120",
        ].join("\n"),
      ),
    );
    expect(read.total).toBe(120);
    expect(read.costs).toEqual([
      { address: 0x10, fn: "Builtins_Add", instructions: 100 },
      { address: 0x14, fn: "Builtins_Add", instructions: 20 },
    ]);
    expect(read.calls).toEqual([
      { address: 0x14, fn: "Builtins_Add", called: "malloc", calledAddress: 0x900, count: 3, inclusive: 60 },
      {
        address: 0x1008,
        fn: "0x0000000000001000",
        called: "Builtins_Add",
        calledAddress: 0x10,
        count: 2,
        inclusive: 180,
      },
    ]);
    expect(read.objectOf.get("Builtins_Add")).toBe("/bin/node");
  });
});

describe("V8's log of its code", () => {
  const namesAt = (log: CodeLog, address: number): string[] => {
    const code = log.at(address);
    return code === undefined ? [] : log.functions(code, address).map(({ name }) => name);
  };

  test("says from which functions an instruction comes, the innermost first", async () => {
    const log = await CodeLog.read(file(LOG));
    expect(namesAt(log, 0x1000)).toEqual(["settle"]);
    expect(namesAt(log, 0x1000 + 16)).toEqual(["helper", "settle"]);
    expect(namesAt(log, 0x1000 + 33)).toEqual(["settle"]);
    expect(namesAt(log, 0x1000 + 64)).toEqual([]);
    expect(log.at(0x2000)?.fn).toEqual({ name: "helper", url: `file:///repo/${HELPER}`, line: 7 });
  });

  test("has the last code where several were at one address, and code that moved where it is", async () => {
    const log = await CodeLog.read(
      file(
        `${LOG}\ncode-creation,JS,12,9,0x1010,8,later file:///repo/a\\x2Cb.ts:1:1,0xa9,*\ncode-move,0x2000,0x3000`,
      ),
    );
    expect(log.at(0x1010)?.fn).toEqual({ name: "later", url: "file:///repo/a,b.ts", line: 1 });
    expect(namesAt(log, 0x1000)).toEqual([]);
    expect(namesAt(log, 0x3008)).toEqual(["helper"]);
  });
});

describe("work", () => {
  const SETTLE_CODE = "0x0000000000001000";
  const HELPER_CODE = "0x0000000000002000";
  const called = (fn: string, address: number, to: string, count: number, inclusive: number) => ({
    fn,
    address,
    called: to,
    calledAddress: to.startsWith("0x") ? Number(to) : 0x10,
    count,
    inclusive,
  });
  async function attributed(counted: Partial<CallgrindFile>): Promise<Attribution> {
    const whole = { total: 0, costs: [], calls: [], objectOf: new Map(), ...counted };
    return new Attribution(whole, await CodeLog.read(file(LOG)), REPO);
  }

  test("of a helper belongs to the step of its caller, also where it was inlined, and to the helper as a place", async () => {
    const attribution = await attributed({
      costs: [
        { address: 0x1010, fn: SETTLE_CODE, instructions: 70 },
        { address: 0x2000, fn: HELPER_CODE, instructions: 30 },
      ],
      calls: [called(SETTLE_CODE, 0x1000, HELPER_CODE, 1, 30)],
    });
    const { steps, places } = attribution.instructions().get("javascript") ?? {};
    expect(steps).toEqual(new Map([["settle, ledger, budgets", 100]]));
    expect([...(places ?? [])]).toEqual([[{ name: "helper", file: `${HELPER}:7` }, 100]]);
  });

  test("of built-ins and libraries belongs to those that called them, by what their calls took", async () => {
    const attribution = await attributed({
      costs: [
        { address: 0x10, fn: "Builtins_Add", instructions: 90 },
        { address: 0x20, fn: "memcpy", instructions: 40 },
      ],
      calls: [
        called(SETTLE_CODE, 0x1000, "Builtins_Add", 1, 90),
        called("Builtins_Add", 0x10, "memcpy", 9, 30),
        called("mdb_put", 0x30, "memcpy", 1, 10),
      ],
    });
    const found = attribution.instructions();
    expect(found.get("builtins")?.steps).toEqual(new Map([["settle, ledger, budgets", 90]]));
    expect(found.get("libraries")?.steps).toEqual(
      new Map([
        ["settle, ledger, budgets", 30],
        ["LMDB", 10],
      ]),
    );
  });

  test("of a function that seldom runs JavaScript is shared by what its calls took, not by their number", async () => {
    const attribution = await attributed({
      costs: [{ address: 0x20, fn: "checksum", instructions: 1_000 }],
      calls: [
        called(SETTLE_CODE, 0x1000, "checksum", 9, 100),
        called("mdb_put", 0x30, "checksum", 1, 900),
        called("checksum", 0x20, "sum", 10, 800),
        called("checksum", 0x20, HELPER_CODE, 1, 2),
      ],
    });
    expect(attribution.instructions().get("libraries")?.steps).toEqual(
      new Map([
        ["settle, ledger, budgets", 100],
        ["LMDB", 900],
      ]),
    );
  });

  test("of a function whose calls took nothing is shared by their number", async () => {
    const attribution = await attributed({
      costs: [{ address: 0x20, fn: "wait", instructions: 12 }],
      calls: [called(SETTLE_CODE, 0x1000, "wait", 2, 0), called("mdb_put", 0x30, "wait", 1, 0)],
    });
    expect(attribution.instructions().get("libraries")?.steps).toEqual(
      new Map([
        ["settle, ledger, budgets", 8],
        ["LMDB", 4],
      ]),
    );
  });

  test("of a function that was called before the counting is shared by what its calls took, or is the rest", async () => {
    const attribution = await attributed({
      costs: [
        { address: 0x20, fn: "loop", instructions: 12 },
        { address: 0x40, fn: "idle", instructions: 3 },
      ],
      calls: [
        called("loop", 0x20, HELPER_CODE, 1, 50),
        called(SETTLE_CODE, 0x1000, "loop", 0, 60),
        called(SETTLE_CODE, 0x1000, "idle", 0, 0),
      ],
    });
    expect(attribution.instructions().get("libraries")?.steps).toEqual(
      new Map([
        ["settle, ledger, budgets", 12],
        ["other threads, the rest", 3],
      ]),
    );
  });

  test("that no JavaScript asked for is the rest, also where functions call each other", async () => {
    const attribution = await attributed({
      costs: [{ address: 0x10, fn: "poll", instructions: 5 }],
      calls: [called("wait", 0x20, "poll", 1, 5), called("poll", 0x10, "wait", 1, 5)],
    });
    expect(attribution.instructions().get("libraries")?.steps).toEqual(
      new Map([["other threads, the rest", 5]]),
    );
  });

  test("is counted in calls, for whoever left JavaScript", async () => {
    const chain = `malloc'operator new'Json'Builtins_CEntry'${SETTLE_CODE}`;
    const attribution = await attributed({
      calls: [
        called(SETTLE_CODE, 0x1000, `Builtins_CEntry'${SETTLE_CODE}`, 4, 8),
        called(`Builtins_CEntry'${SETTLE_CODE}`, 0x50, "Json", 4, 8),
        called("operator new", 0x60, chain, 4, 8),
      ],
    });
    const blocks = attribution.calls((fn) => fn.startsWith("malloc"));
    expect([...blocks].map(([name, { steps }]) => [name, [...steps]])).toEqual([
      ["malloc", [["settle, ledger, budgets", 4]]],
    ]);
  });

  test("has a step by the longest path that fits", () => {
    expect(stepOfFile("src/store/journaled-store.ts")).toBe("journal");
    expect(stepOfFile("src/store/store.ts")).toBe("settle, ledger, budgets");
    expect(stepOfFile("src/wire/json/json.ts")).toBeUndefined();
    expect(stepOfFunction("mdb_txn_commit")).toBe("LMDB");
    expect(stepOfFunction("malloc")).toBeUndefined();
  });
});

test("places of the heap are those of samples between two marks", () => {
  const callFrame = (functionName: string) => ({ functionName, url: "", lineNumber: 1 });
  const head = {
    id: 1,
    callFrame: callFrame("(root)"),
    children: [{ id: 2, callFrame: callFrame("make"), children: [] }],
  };
  const samples = [
    { size: 24, nodeId: 2, ordinal: 3 },
    { size: 16, nodeId: 2, ordinal: 1 },
    { size: 8016, nodeId: 1, ordinal: 2 },
    { size: 40, nodeId: 2, ordinal: 4 },
    { size: 8016, nodeId: 1, ordinal: 5 },
    { size: 56, nodeId: 2, ordinal: 6 },
  ];
  const windows = placesOfWindows({ head, samples }, 8000);
  const frames = [
    { name: "make", url: "", line: 2 },
    { name: "(root)", url: "", line: 2 },
  ];
  expect(windows).toEqual([[{ frames, objects: 2, bytes: 64 }]]);
});

test("blocks outside of the heap are counted with their bytes, a first realloc once", () => {
  const log = [
    "--7-- malloc(24) = 0x1",
    "--7-- free(0x1)",
    "--7-- calloc(2,8) = 0x2",
    "--7-- realloc(0x0,32)malloc(32) = 0x3",
    "--7-- realloc(0x3,64) = 0x4",
    "--7-- memalign(al 16, size 48) = 0x5",
    "--7-- _Znwm(24) = 0x6",
  ].join("\n");
  const found = outsideFigures(log, 2);
  expect(found).toMatchObject({ blocks: 3, bytes: (24 + 16 + 32 + 64 + 48 + 24) / 2 });
  expect(found.sizes).toContainEqual([24, 1]);
});

test("strace's summary is read, with errors and without", () => {
  const text = [
    "% time     seconds  usecs/call     calls    errors syscall",
    "------ ----------- ----------- --------- --------- ----------------",
    " 60.00    0.001000           1      1000           write",
    " 40.00    0.000500          10        50         7 futex",
    "------ ----------- ----------- --------- --------- ----------------",
    "100.00    0.001500           1      1050         7 total",
  ].join("\n");
  expect(readSummary(text)).toEqual(
    new Map([
      ["write", 1000],
      ["futex", 50],
    ]),
  );
});

describe("the command", () => {
  test("takes cases, rows and markdown", () => {
    expect(readBudgetOptions([])).toEqual({
      figures: ["json-1k", "burst-64", "streamed-event"],
      top: 30,
      isMarkdown: false,
      hasSystemCalls: true,
    });
    expect(readBudgetOptions(["--case", "json-1k", "--top", "0", "--markdown", "--no-system-calls"])).toEqual(
      {
        figures: ["json-1k"],
        top: 0,
        isMarkdown: true,
        hasSystemCalls: false,
      },
    );
  });

  test.each([
    [["--case", "json-2k"], '--case: "json-2k"'],
    [["--top", "-1"], "--top"],
    [["--top", "1.5"], '--top: "1.5"'],
    [["--windows", "2"], "'--windows'"],
  ])("refuses %j by name", (args, message) => {
    expect(() => readBudgetOptions(args)).toThrow(message);
  });

  test("prints steps with their sum, and the largest places", () => {
    const tally = new Tally();
    tally.add("step", "record", "javascript", 700);
    tally.add("step", "key", "runtime", 300);
    tally.add("place", "recordOf src/a.ts:3", "heapBytes", 48);
    tally.add("place", "keyOf src/b.ts:9", "heapBytes", 96);
    const figure = {
      figure: "json-1k" as const,
      tally,
      heapBytes: 150,
      bufferBytes: 0,
      blocks: 1,
      blockBytes: 24,
    };
    const text = budgetText(
      { figures: [{ ...figure, blockSizes: [[24, 1]] }], systemCalls: "no strace" },
      true,
      1,
    );
    expect(text).toContain("| record | 700 | 700 | 0 | 0 | 0 | 0 | 0.0 | 0.00 | 0.00 |");
    expect(text).toContain("| all | 1000 | 700 | 0 | 300 | 0 | 0 | 0.0 | 0.00 | 0.00 |");
    expect(text).toContain("| keyOf src/b.ts:9 | 96 | 0.0 |");
    expect(text).not.toContain("recordOf");
    expect(text.endsWith("no strace")).toBe(true);
  });
});
