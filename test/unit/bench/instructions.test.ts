/** The gate for cost: the file that keeps the figures, what a run is told beside it, and the time by which the counted gateway runs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  CHECK,
  type CountedOn,
  compareWithKept,
  type Figures,
  type KeptFigures,
  REWRITE,
  readKept,
  writeKept,
} from "../../../bench/instructions/kept.ts";
import { figureLines, figuresOf, readQuickOptions, type Windows } from "../../../bench/instructions/quick.ts";
import { VirtualTimers } from "../../../bench/instructions/virtual-timers.ts";

const repoDir = resolve(import.meta.dirname, "../../..");
const ON: CountedOn = { node: "v22.23.3", v8: "12.4.254.21", architecture: "x64" };
const KEPT: KeptFigures = {
  rewrite: REWRITE,
  commit: "0123456789ab",
  date: "2026-11-27",
  ...ON,
  figures: { "json-1k": 400_000, "burst-64": 800_000, "streamed-event": 10_000 },
  heapBytes: { "json-1k": 40_000, "burst-64": 100_000, "streamed-event": 1_500 },
};

function file(text?: string): string {
  const folder = mkdtempSync(join(tmpdir(), "weir-kept-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "instructions.json");
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

describe("the kept figures", () => {
  test("are in the repository, with the commit, Node, V8 and processor they were counted with, and the command that rewrites them", () => {
    const kept = readKept(join(repoDir, "bench/instructions.json"));
    expect(kept.rewrite).toBe("npm run bench -- instructions --quick");
    expect(kept.commit).toMatch(/^[0-9a-f]{7,40}$/);
  });

  test("are read as they were written", () => {
    const path = file();
    writeKept(path, KEPT);
    expect(readKept(path)).toEqual(KEPT);
    expect(readFileSync(path, "utf8")).toMatch(/^\{\n {2}"rewrite": .*\n\}\n$/s);
  });

  test.each([
    ["no JSON", "{"],
    ["no figure of a burst", JSON.stringify({ ...KEPT, figures: { "json-1k": 1, "streamed-event": 1 } })],
    ["no bytes", JSON.stringify({ ...KEPT, heapBytes: undefined })],
    ["a figure that is none", JSON.stringify({ ...KEPT, figures: { ...KEPT.figures, "burst-64": 0 } })],
    ["a member too many", JSON.stringify({ ...KEPT, machine: "one" })],
    ["no commit", JSON.stringify({ ...KEPT, commit: "main" })],
  ])("with %s are refused, with the command that writes them anew", (_, text) => {
    const path = file(text);
    expect(() => readKept(path)).toThrow(`${path} is damaged: ${REWRITE} writes it anew`);
  });

  test("that are missing are asked for", () => {
    const path = file();
    expect(() => readKept(path)).toThrow(`${path} does not exist: ${REWRITE} writes it`);
  });
});

describe("a run beside the kept figures", () => {
  const compared = (changed: Partial<Figures>, bytes: Partial<Figures> = {}) =>
    compareWithKept(
      KEPT,
      { figures: { ...KEPT.figures, ...changed }, heapBytes: { ...KEPT.heapBytes, ...bytes } },
      ON,
    );

  test("passes where each figure is within 1 %, and says all of them", () => {
    expect(compared({ "json-1k": 403_999, "burst-64": 793_000 })).toEqual({
      isWorse: false,
      lines: [
        "json-1k: 403999 instructions, kept 400000, ratio 1.0100: within 1 %",
        "burst-64: 793000 instructions, kept 800000, ratio 0.9912: within 1 %",
        "streamed-event: 10000 instructions, kept 10000, ratio 1.0000: within 1 %",
        "json-1k: 40000 bytes in the heap, kept 40000, ratio 1.0000: within 2 %",
        "burst-64: 100000 bytes in the heap, kept 100000, ratio 1.0000: within 2 %",
        "streamed-event: 1500 bytes in the heap, kept 1500, ratio 1.0000: within 2 %",
      ],
    });
  });

  test.each(["json-1k", "burst-64", "streamed-event"] as const)("fails where %s is 1.1 % above", (name) => {
    const kept = KEPT.figures[name];
    const { isWorse, lines } = compared({ [name]: kept * 1.011 });
    expect(isWorse).toBe(true);
    expect(lines).toContain(
      `${name}: ${Math.round(kept * 1.011)} instructions, kept ${kept}, ratio 1.0110: WORSE`,
    );
    expect(lines.at(-1)).toBe(
      `Too far above the kept figures of commit ${KEPT.commit}. Find the cause; where the cost is meant, ${REWRITE} keeps the new figures.`,
    );
  });

  test("fails where one figure is above, however far the others are below", () => {
    expect(compared({ "json-1k": 200_000, "burst-64": 810_000 }).isWorse).toBe(true);
  });

  test("fails where a call allocates more, though its instructions are fewer", () => {
    const { isWorse, lines } = compared({ "json-1k": 390_000 }, { "json-1k": 40_900 });
    expect(isWorse).toBe(true);
    expect(lines).toContain("json-1k: 40900 bytes in the heap, kept 40000, ratio 1.0225: WORSE");
  });

  test("fails where there is no figure", () => {
    expect(compared({ "burst-64": Number.NaN }).isWorse).toBe(true);
  });

  test("passes where one is more than 1 % below, and asks to keep it", () => {
    const { isWorse, lines } = compared({ "json-1k": 390_000 });
    expect(isWorse).toBe(false);
    expect(lines[0]).toMatch(/ratio 0\.9750: better$/);
    expect(lines.at(-1)).toBe(`Cheaper than what is kept: keep it with ${REWRITE}, and commit the file.`);
  });

  test.each([
    ["node", "v22.24.0", "node v22.23.3 there, v22.24.0 here"],
    ["v8", "13.1", "v8 12.4.254.21 there, 13.1 here"],
    ["architecture", "arm64", "architecture x64 there, arm64 here"],
  ])("cannot be compared with another %s: the instructions are others", (name, value, message) => {
    expect(() => compareWithKept(KEPT, KEPT, { ...ON, [name]: value })).toThrow(message);
  });
});

describe("what is asked for", () => {
  test("is to count and keep, or to compare", () => {
    expect(readQuickOptions(["--quick"])).toEqual({ isCheck: false, windows: 3 });
    expect(readQuickOptions(["--quick", "--check"])).toEqual({ isCheck: true, windows: 3 });
    expect(CHECK).toBe(`${REWRITE} --check`);
  });

  test.each([
    [["--quick", "--windows", "0"], '--windows: "0"'],
    [["--quick", "--windows", "1.5"], '--windows: "1.5"'],
    [["--quick", "--case", "json-1k"], "'--case'"],
    [["--quick", "twice"], "'twice'"],
  ])("%j is refused by name", (args, message) => {
    expect(() => readQuickOptions(args)).toThrow(message);
  });
});

describe("figures", () => {
  const windows: Windows = new Map([
    ["json-1k", [400_100, 399_900, 700_000]],
    ["burst-64", [800_000, 800_100, 800_200]],
    ["stream-16", [560_000, 560_000, 570_000]],
    ["stream-272", [3_120_000, 3_122_560, 3_000_000]],
  ]);

  test("are medians of the windows; an event's is what the longer stream costs more, by the events that it has more", () => {
    expect(figuresOf(windows)).toEqual({ "json-1k": 400_100, "burst-64": 800_100, "streamed-event": 10_000 });
  });

  test("are printed with those of each window", () => {
    const lines = figureLines(windows);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/^streamed-event +10000 {3}one more event .*\(windows: 10000, 10010, 9492\)$/);
  });

  test("of no window are none", () => {
    expect(figuresOf(new Map())).toEqual({
      "json-1k": Number.NaN,
      "burst-64": Number.NaN,
      "streamed-event": Number.NaN,
    });
  });
});

describe("time that passes with the calls", () => {
  function installed(): { timers: VirtualTimers; ran: string[]; note: (what: string) => () => void } {
    const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
    const { now } = Date;
    const monotonic = performance.now;
    onTestFinished(() => {
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
      Date.now = now;
      performance.now = monotonic;
    });
    const timers = new VirtualTimers();
    timers.install();
    const ran: string[] = [];
    return { timers, ran, note: (what) => () => void ran.push(`${what} at ${performance.now()}`) };
  }

  test("runs timers in the order in which they are due, at their own times", () => {
    const { timers, ran, note } = installed();
    setTimeout(note("late"), 30);
    setInterval(note("again"), 10);
    expect(timers.advance(9)).toBe(false);
    expect(timers.advance(21)).toBe(true);
    expect(ran).toEqual(["again at 10", "again at 20", "late at 30", "again at 30"]);
    expect(performance.now()).toBe(30);
    expect(new Date(Date.now()).toISOString()).toBe("2026-06-01T00:00:00.030Z");
  });

  test("runs no timer that was cleared, nor one before its time once it was begun anew", () => {
    const { timers, ran, note } = installed();
    clearTimeout(setTimeout(note("cleared"), 5));
    const timer = setTimeout(note("anew"), 5);
    timers.advance(4);
    timer.refresh();
    timers.advance(4);
    expect(ran).toEqual([]);
    timers.advance(1);
    expect(ran).toEqual(["anew at 9"]);
  });

  test("passes arguments on, and runs what a timer sets for the same time", () => {
    const { timers, ran } = installed();
    setTimeout((what: string) => setTimeout(() => ran.push(what), 1), 1, "said");
    timers.advance(2);
    expect(ran).toEqual(["said"]);
  });
});
