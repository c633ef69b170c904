/** Runs one load against one target and measures what it costs: what rounds, rates and pauses are made of. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Case, requestBody, UPSTREAM_MODEL } from "./cases.ts";
import { type Content, readContent } from "./fidelity.ts";
import { FORMATS } from "./formats.ts";
import type { LoadClient } from "./load-client.ts";
import type { CallsJob, LoadJob, LoadResult, RateJob } from "./load-job.ts";
import { type CpuTime, cpuTime, forgetPeak, memory, processStat, settle } from "./measure.ts";
import type { RunningTarget } from "./targets/target.ts";

/** Most connections of an open loop: calls beyond wait, and their wait counts. */
const RATE_CONNECTIONS = 512;
const MEMORY_EVERY_MS = 200;
const MIN_TIMEOUT_MS = 15_000;
const MB_IN_KB = 1_024;
/** Long enough for a dozen ticks of the kernel's clock, should a target need a hundredth of a core. */
const REST_MS = 10_000;

export interface Measured {
  readonly result: LoadResult;
  /** CPU of all threads of the process; undefined without a process. */
  readonly ownUs?: number;
  readonly childrenUs?: number;
  /** Maximum of the samples taken under load. */
  readonly residentMb?: number;
  /** The kernel's own high-water mark. */
  readonly peakMb?: number;
}

export class Driver {
  readonly #load: LoadClient;
  readonly #expected: ReadonlyMap<string, Content>;
  /** What targets cost while nothing is asked of them, by process: microseconds a millisecond. */
  readonly #atRest = new Map<number, CpuTime>();

  private constructor(load: LoadClient, expected: ReadonlyMap<string, Content>) {
    this.#load = load;
    this.#expected = expected;
  }

  /** Asks the upstream for every case's answer. @throws Error where it is not the case's */
  static async start(load: LoadClient, cases: readonly Case[], upstreamUrl: string): Promise<Driver> {
    const expected = new Map<string, Content>();
    for (const benchCase of cases) expected.set(benchCase.name, await reference(benchCase, upstreamUrl));
    return new Driver(load, expected);
  }

  /** Load without figures. */
  run(job: LoadJob): Promise<LoadResult> {
    return this.#load.run(job);
  }

  /** Measures what a target costs at rest, so that `measure` can take it off. @throws ProcessGone */
  async observeRest({ pid, laterMs = 0 }: RunningTarget, settleMs: number): Promise<void> {
    if (pid === undefined || laterMs === 0 || settleMs === 0) return;
    await this.#rest(pid, laterMs, settleMs);
    const before = cpuTime(pid);
    const startMs = performance.now();
    await sleep(REST_MS);
    const spent = minus(cpuTime(pid), before);
    const ms = performance.now() - startMs;
    this.#atRest.set(pid, { ownUs: spent.ownUs / ms, childrenUs: spent.childrenUs / ms });
  }

  /**
   * Work that follows calls (records, garbage collection) is included, as far as it ends within `settleMs`, or begins within
   * the target's `laterMs` and ends within another `settleMs`. What the target costs at rest is taken off for that time.
   * @param settleMs with 0 the figures cover the time of the load only
   * @throws ProcessGone
   */
  async measure(
    job: LoadJob,
    { pid, laterMs = 0 }: Pick<RunningTarget, "pid" | "laterMs">,
    settleMs: number,
  ): Promise<Measured> {
    if (pid === undefined) return { result: await this.#load.run(job) };
    forgetPeak(pid);
    let residentKb = 0;
    const look = (): void => {
      residentKb = Math.max(residentKb, memory(pid).residentKb);
    };
    const sampling = setInterval(() => {
      // If the process has ended, the next reading outside this timer reports it.
      if (processStat(pid) !== undefined) look();
    }, MEMORY_EVERY_MS);
    try {
      const before = cpuTime(pid);
      const result = await this.#load.run(job);
      look();
      const endMs = performance.now();
      await this.#rest(pid, laterMs, settleMs);
      const restMs = performance.now() - endMs;
      const spent = minus(cpuTime(pid), before);
      const atRest = this.#atRest.get(pid) ?? { ownUs: 0, childrenUs: 0 };
      return {
        result,
        ownUs: spent.ownUs - atRest.ownUs * restMs,
        childrenUs: Math.max(0, spent.childrenUs - atRest.childrenUs * restMs),
        residentMb: residentKb / MB_IN_KB,
        peakMb: memory(pid).peakKb / MB_IN_KB,
      };
    } finally {
      clearInterval(sampling);
    }
  }

  async #rest(pid: number, laterMs: number, settleMs: number): Promise<void> {
    await settle(pid, settleMs);
    if (laterMs === 0 || settleMs === 0) return;
    await sleep(laterMs);
    await settle(pid, settleMs);
  }

  /** The case as it is: a closed loop, or streams. */
  job(
    benchCase: Case,
    target: RunningTarget,
    size: Pick<CallsJob, "seconds" | "amount">,
  ): Exclude<LoadJob, RateJob> {
    const job = this.#common(benchCase, target, size.seconds);
    if (benchCase.paceMs === 0)
      return { kind: "calls", ...job, ...size, hasKeys: benchCase.hasKeys === true };
    const callsEach = Math.max(1, Math.round((size.seconds * 1_000) / benchCase.paceMs));
    const rampMs = Math.min(benchCase.paceMs, size.seconds * 1_000);
    return { kind: "streams", ...job, callsEach, rampMs };
  }

  /** The case's calls at a fixed rate. */
  rate(benchCase: Case, target: RunningTarget, callsPerSecond: number, seconds: number): RateJob {
    const job = this.#common(benchCase, target, seconds);
    return { kind: "rate", ...job, connections: RATE_CONNECTIONS, callsPerSecond, seconds };
  }

  #common(benchCase: Case, target: RunningTarget, seconds: number) {
    const { path, headers } = FORMATS[benchCase.format];
    return {
      url: `${target.baseUrl}${path}`,
      headers: { "content-type": "application/json", ...headers, ...target.headers },
      body: requestBody(benchCase, target.model),
      connections: benchCase.connections,
      format: benchCase.format,
      expected: this.#expected.get(benchCase.name) ?? { text: "", events: 0 },
      timeoutMs: Math.max(MIN_TIMEOUT_MS, seconds * 6_000),
    };
  }
}

const minus = (a: CpuTime, b: CpuTime): CpuTime => ({
  ownUs: a.ownUs - b.ownUs,
  childrenUs: a.childrenUs - b.childrenUs,
});

/** The upstream's own answer: what every target must deliver. */
async function reference(benchCase: Case, upstreamUrl: string): Promise<Content> {
  const { path, headers } = FORMATS[benchCase.format];
  const response = await fetch(`${upstreamUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: requestBody(benchCase, UPSTREAM_MODEL),
    signal: AbortSignal.timeout(30_000),
  });
  const body = await response.text();
  if (!response.ok)
    throw new Error(`the upstream answers ${response.status} to ${benchCase.name}: ${body.slice(0, 300)}`);
  const content = readContent(body, benchCase.stream, benchCase.format);
  if (content.events !== benchCase.events || content.text.length < benchCase.minText) {
    throw new Error(
      `the upstream's ${benchCase.name} has ${content.events} events and ${content.text.length} characters, ` +
        `expected ${benchCase.events} and at least ${benchCase.minText}`,
    );
  }
  return content;
}
