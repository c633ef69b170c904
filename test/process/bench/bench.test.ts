/**
 * The bench cannot rot: a tiny run of `bench/main.ts` against the bare pipe, and against the product, must deliver
 * every answer exactly, have a figure for everything, and leave no process behind. What the figures say is not tested.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Baseline, compare } from "../../../bench/baseline.ts";
import { type Content, isIntact, readContent } from "../../../bench/fidelity.ts";
import { readInstructionsOptions } from "../../../bench/instructions.ts";
import { percentiles } from "../../../bench/load-job.ts";
import { readOptions } from "../../../bench/options.ts";
import { GOAL_US, measurePlanning, type PlanningCost, planningTable } from "../../../bench/planning.ts";
import { type Row, summarise } from "../../../bench/report.ts";
import type { Sample } from "../../../bench/rounds.ts";
import { equals, until } from "../../support/wait.ts";

const repoDir = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);
/** A tiny run takes some seconds; a late machine makes a minute or two of them. */
const HANGS_MS = 250_000;

const finite = z.number().refine(Number.isFinite);
const percentilesShape = z.object({ p50: finite, p90: finite, p99: finite, p999: finite });
const reportShape = z.object({
  missing: z.record(z.string(), z.string()),
  pids: z.array(z.int().positive()).min(3),
  pauses: z.array(z.object({ target: z.string(), after: z.enum(["start", "pause"]), cpuUs: finite })),
  rates: z.array(
    z.object({
      target: z.string(),
      share: finite,
      offered: finite,
      answered: finite,
      latencyMs: percentilesShape,
      calls: z.int().positive(),
      intact: z.int(),
      failed: z.int(),
      fault: z.string(),
    }),
  ),
  samples: z.array(
    z.object({
      caseName: z.string(),
      target: z.string(),
      calls: z.int().positive(),
      intact: z.int(),
      failed: z.int(),
      callsPerSecond: finite,
      cpuUs: finite.optional(),
      childrenCpuUs: finite.optional(),
      residentMb: finite.optional(),
      peakMb: finite.optional(),
      latencyMs: percentilesShape,
      loadedMs: percentilesShape,
      fault: z.string(),
    }),
  ),
});

// CPU and memory come from /proc.
describe.skipIf(process.platform !== "linux")("a tiny run", () => {
  const dir = mkdtempSync(join(tmpdir(), "weir-bench-test-"));
  const cases = ["json-1k", "streams-100", "messages-64", "responses-64"];
  const product = existsSync(join(repoDir, "src/main.ts")) ? ["weir"] : [];
  const targets = ["pipe", ...product];
  let report: z.infer<typeof reportShape>;
  let printed = "";

  beforeAll(async () => {
    const file = join(dir, "bench.json");
    const args = [
      "--quick",
      "--seconds",
      "0.2",
      "--targets",
      targets.join(),
      "--cases",
      cases.join(),
      "--json",
      file,
      "--csv",
      join(dir, "bench.csv"),
    ];
    const tinyRun = async () => {
      const words = [join(repoDir, "bench/main.ts"), ...args];
      printed = (await run(process.execPath, words, { timeout: HANGS_MS })).stdout;
      return JSON.parse(readFileSync(file, "utf8"));
    };
    // A machine that stands still for the fifth of a second that a case has makes no call of it: all is run once more.
    const isCalled = ({ samples, rates }: typeof report) =>
      [...samples, ...rates].every(({ calls }) => calls > 0);
    let made = await tinyRun();
    if (!isCalled(made)) made = await tinyRun();
    report = reportShape.parse(made);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test("measures every case against every target", () => {
    expect(report.missing).toEqual({});
    const seen = report.samples.map((sample) => `${sample.caseName} ${sample.target}`);
    expect(seen.sort()).toEqual(cases.flatMap((name) => targets.map((target) => `${name} ${target}`)).sort());
  });

  test("delivers every answer exactly", () => {
    for (const sample of report.samples) {
      expect(sample, sample.fault).toMatchObject({ intact: sample.calls, failed: 0, fault: "" });
    }
  });

  test("has CPU and memory of every target that is a process", () => {
    for (const target of targets) {
      // A tick of the kernel's clock is 10 ms: one case of a tiny run may need less.
      const all = report.samples.filter((sample) => sample.target === target);
      expect(
        all.reduce((sum, { cpuUs = 0 }) => sum + cpuUs, 0),
        target,
      ).toBeGreaterThan(0);
    }
    for (const sample of report.samples.filter((candidate) => candidate.target !== "direct")) {
      expect(sample.childrenCpuUs).toBeGreaterThanOrEqual(0);
      expect(sample.residentMb).toBeGreaterThan(1);
      // The kernel adds up a process's memory in batches of each thread: its peak may come out a little smaller.
      expect(sample.peakMb).toBeGreaterThan((sample.residentMb ?? Number.NaN) * 0.95);
    }
  });

  test("has the first second after a start and after a pause, and latency at three rates", () => {
    const paused = report.pauses.map(({ target, after }) => `${target} ${after}`);
    expect(paused).toEqual(["start", "pause"].flatMap((after) => targets.map((name) => `${name} ${after}`)));
    const rated = report.rates.map(({ target, share }) => `${target} ${share}`);
    expect(rated).toEqual(targets.flatMap((name) => [0.25, 0.5, 0.75].map((share) => `${name} ${share}`)));
    for (const rate of report.rates)
      expect(rate, rate.fault).toMatchObject({ intact: rate.calls, failed: 0, fault: "" });
  });

  test("writes every sample as a line of values", () => {
    const [head = "", ...lines] = readFileSync(join(dir, "bench.csv"), "utf8").trimEnd().split("\n");
    expect(head).toMatch(/^round,case,target,.*,cpu_us,.*,latency_ms_p999,/);
    expect(lines).toHaveLength(report.samples.length);
    for (const line of lines) expect(line.split(",")).toHaveLength(head.split(",").length);
  });

  test("prints a table a case, with a row a target", () => {
    for (const name of cases) expect(printed).toContain(`${name}: `);
    // A row goes on with a figure; the lines on goals, with the name of a case.
    for (const target of targets)
      expect(printed.match(new RegExp(`^${target} +[\\d-]`, "gm"))).toHaveLength(cases.length);
  });

  test("leaves no process behind", async () => {
    // A killed grandchild is in the table until its new parent has noticed.
    const left = () => report.pids.filter((pid) => existsSync(`/proc/${pid}`));
    await until("the processes are gone", left, equals([]));
  });
});

describe("arguments", () => {
  test.each([
    [["--cases", "json-1k,nope"], '--cases: "nope"'],
    [["--targets", "ngnix"], '--targets: "ngnix"'],
    [["--rounds", "0"], '--rounds: "0"'],
    [["--bogus"], "--bogus"],
    [["plan"], "'plan'"],
    [["planning", "--rounds", "2"], "'planning'"],
  ])("%j is refused by name", (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  test("peers take part only when asked for", () => {
    const named = (args: string[]) => {
      const options = readOptions(args);
      return typeof options === "string" ? [] : options.targets.map((target) => target.name);
    };
    expect(named([])).toEqual(["direct", "pipe", "weir", "nginx"]);
    expect(named(["--peers"]).slice(0, 5)).toEqual(["direct", "pipe", "weir", "nginx", "portkey"]);
    expect(named(["--targets", "litellm,pipe"])).toEqual(["pipe", "litellm"]);
  });
});

describe("planning", () => {
  test("costs a call some microseconds, also where everything is on and machines are busy", () => {
    const isDear = ({ decideUs, planUs }: PlanningCost) => decideUs + planUs >= 6 * GOAL_US;
    let costs = measurePlanning(2_000);
    // What threads of this process do beside it counts: of three tries one must be cheap.
    for (let tries = 1; tries < 3 && costs.some(isDear); tries++) costs = measurePlanning(2_000);
    for (const { name, decideUs, planUs } of costs) {
      expect(decideUs, name).toBeGreaterThan(0);
      expect(planUs, name).toBeGreaterThan(0);
      expect(decideUs + planUs, name).toBeLessThan(6 * GOAL_US);
    }
    const lines = planningTable(costs).split("\n");
    for (const { name } of costs)
      expect(lines.filter((line) => line.startsWith(`${name}  `))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(/^goal, both: 10 µs: (met|missed by [\d.]+ µs)$/);
  });

  test("is asked for by name, alone", () => {
    expect(readOptions(["planning"])).toBe("planning");
  });
});

describe("instructions", () => {
  test("are counted of calls in a closed loop, 60,000 of warm-up before", () => {
    const { benchCase, ...others } = readInstructionsOptions(["--calls", "9"]);
    expect([benchCase.name, others]).toEqual(["json-1k", { warmUp: 60_000, calls: 9, windows: 6 }]);
  });

  test.each([
    [["--case", "streams-100"], 'streams-100" is none of json-1k'],
    [["--warm-up", "0"], '--warm-up: "0"'],
    [["--windows", "1.5"], '--windows: "1.5"'],
    [["--rounds", "2"], "'--rounds'"],
  ])("%j is refused by name", (args, message) => {
    expect(() => readInstructionsOptions(args)).toThrow(message);
  });
});

describe("fidelity", () => {
  const event = (content: string) =>
    `data: {"id":"x","choices":[{"delta":{"content":${JSON.stringify(content)}}}]}\n\n`;
  const role = 'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n';
  const end = 'data: {"choices":[],"usage":{"total_tokens":3}}\n\ndata: [DONE]\n\n';
  const expected: Content = { text: 'say "hé" ', events: 2 };

  test("takes only events with content, whatever the spacing", () => {
    const stream = `: comment\n\n${role}${event('say "')}data: {"choices": [{"delta": {"content": "hé\\" "}}]}\n\n${end}`;
    expect(readContent(stream, true, "chat")).toEqual(expected);
  });

  test.each([
    ["an event lost", `${role}${event('say "')}${end}`],
    ["two events in one", `${event('say "hé" ')}${end}`],
    ["a character broken", `${event('say "')}${event('h\ufffd" ')}${end}`],
    ["the end missing", `${event('say "')}${event('hé" ')}`],
    ["an error instead", '{"error":{"message":"no"}}'],
  ])("sees %s", (_, stream) => {
    expect(isIntact(stream, expected, "chat")).toBe(false);
  });

  test("compares a JSON answer's text", () => {
    const body = (content: string) => JSON.stringify({ choices: [{ message: { content } }] }, null, 1);
    expect(isIntact(body("a\nb"), { text: "a\nb", events: 0 }, "chat")).toBe(true);
    expect(isIntact(body("a\nb"), { text: "a\nc", events: 0 }, "chat")).toBe(false);
    expect(isIntact("not json", { text: "a", events: 0 }, "chat")).toBe(false);
  });
});

describe("figures", () => {
  const sample = (
    round: number,
    target: string,
    cpuUs: number | undefined,
    p50: number,
    broken = 0,
  ): Sample => ({
    round,
    caseName: "json-1k",
    target,
    callsPerSecond: 100,
    calls: 100,
    intact: 100 - broken,
    failed: 0,
    cpuUs,
    childrenCpuUs: cpuUs === undefined ? undefined : 10,
    residentMb: cpuUs === undefined ? undefined : 50 + round,
    peakMb: cpuUs === undefined ? undefined : 60 + round,
    latencyMs: { p50, p90: p50, p99: 2 * p50, p999: 3 * p50 },
    loadedMs: { p50, p90: p50, p99: p50, p999: p50 },
    fault: broken > 0 ? "wrong answer" : "",
  });
  const row = (samples: Sample[], target: string): Row => {
    const found = summarise(samples).find((candidate) => candidate.target === target);
    if (found === undefined) throw new Error(`no row for ${target}`);
    return found;
  };

  test("a ratio is the median of the rounds' own ratios, not the ratio of medians", () => {
    // The machine halves its speed in round 2: the ratios stay 2, 3, 2.
    const samples = [
      sample(1, "direct", undefined, 1),
      sample(1, "pipe", 30, 2),
      sample(1, "weir", 60, 3),
      sample(2, "direct", undefined, 2),
      sample(2, "pipe", 60, 4),
      sample(2, "weir", 180, 6),
      sample(3, "direct", undefined, 1),
      sample(3, "pipe", 40, 2),
      sample(3, "weir", 80, 3),
    ];
    expect(row(samples, "weir")).toMatchObject({
      cpuUs: 80,
      ratio: 2,
      ratioWithChildren: 70 / 30,
      addedP50Ms: 2,
      addedP99Ms: 4,
      residentMb: 52,
      peakMb: 63,
      calls: 300,
    });
    expect(row(samples, "direct")).toMatchObject({
      ratio: undefined,
      addedP50Ms: undefined,
      residentMb: undefined,
    });
  });

  test("what did not deliver has no figures, and is not compared with", () => {
    const samples = [sample(1, "pipe", 30, 2, 50), sample(1, "weir", 60, 3)];
    expect(row(samples, "pipe")).toMatchObject({
      cpuUs: undefined,
      callsPerSecond: undefined,
      fault: "wrong answer",
    });
    expect(row(samples, "weir")).toMatchObject({ cpuUs: 60, ratio: undefined });
  });

  test("percentiles are of the values, by nearest rank", () => {
    const values = Array.from({ length: 200 }, (_, i) => 200 - i);
    expect(percentiles(values)).toEqual({ p50: 100, p90: 180, p99: 198, p999: 200 });
    const none = Number.NaN;
    expect(percentiles([])).toEqual({ p50: none, p90: none, p99: none, p999: none });
  });

  test("the spread and the noise of a ratio are those of its rounds", () => {
    const ratios = [2, 2.2, 2.4, 2.6, 4];
    const samples = ratios.flatMap((ratio, i) => [
      sample(i + 1, "pipe", 100, 1),
      sample(i + 1, "weir", ratio * 100, 1),
    ]);
    const { spread, noise } = row(samples, "weir");
    expect(spread).toBeCloseTo(2, 6);
    expect(noise).toBeCloseTo((2.6 - 2.2) / 2 / 2.4, 6);
  });

  describe("beside the baseline", () => {
    const baseline = (ratio: number, noise: number, residentMb = 51): Baseline => ({
      date: "2026-01-01",
      machine: "one",
      cases: { "json-1k": { ratio, noise, residentMb } },
    });
    const samples = [sample(1, "pipe", 30, 2), sample(1, "weir", 60, 3)];
    const worse = (against: Baseline, rows = summarise(samples)) =>
      compare(against, rows).map((comparison) => comparison.worse);

    test.each([
      ["a ratio as it was", baseline(2, 0), [false, false]],
      ["a ratio above it by 1 %", baseline(1.98, 0), [false, false]],
      ["a ratio above it by 5 %", baseline(1.9, 0), [true, false]],
      ["a ratio above it by 5 %, in a noise of 8 %", baseline(1.9, 0.08), [false, false]],
      ["a ratio below it", baseline(3, 0), [false, false]],
      ["more memory", baseline(2, 0, 48), [false, true]],
    ])("%s", (_, against, expected) => {
      expect(worse(against)).toEqual(expected);
    });

    test("a case without a figure is worse, and one that did not run is left out", () => {
      const broken = summarise([sample(1, "pipe", 30, 2), sample(1, "weir", 60, 3, 50)]);
      expect(worse(baseline(2, 0), broken)).toEqual([true, true]);
      expect(compare({ ...baseline(2, 0), cases: {} }, summarise(samples))).toEqual([]);
    });
  });
});
