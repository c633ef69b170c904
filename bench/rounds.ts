/**
 * Runs the cases against the targets in interleaved rounds and measures each. Interleaved, because a machine's speed
 * drifts over minutes: a ratio is only taken between figures of the same round.
 */
import { type Case, requestBody, UPSTREAM_MODEL } from "./cases.ts";
import { type Content, readContent } from "./fidelity.ts";
import type { LoadClient } from "./load-client.ts";
import type { CallsJob, LoadJob, Percentiles } from "./load-job.ts";
import { cpuTime, forgetPeak, memory, ProcessGone, processStat, settle } from "./measure.ts";
import type { Options } from "./options.ts";
import type { RunningTarget } from "./targets/target.ts";

/** Results of one target in one case of one round. */
export interface Sample {
  readonly round: number;
  readonly caseName: string;
  readonly target: string;
  readonly callsPerSecond: number;
  readonly calls: number;
  readonly intact: number;
  readonly failed: number;
  /** CPU per call of all threads of the process; undefined for `direct`. */
  readonly cpuUs: number | undefined;
  readonly childrenCpuUs: number | undefined;
  /** Maximum of the samples taken under load. */
  readonly residentMb: number | undefined;
  /** The kernel's own high-water mark of the slice. */
  readonly peakMb: number | undefined;
  /** Calls: complete answer, one call at a time. Streams: first event with content, under the case's load. */
  readonly latencyMs: Percentiles;
  /** Complete answer, under the case's load. */
  readonly loadedMs: Percentiles;
  readonly fault: string;
}

const MEMORY_EVERY_MS = 200;
const MIN_TIMEOUT_MS = 15_000;
const MB_IN_KB = 1_024;

export class Rounds {
  readonly #load: LoadClient;
  readonly #options: Options;
  readonly #targets: ReadonlyMap<string, RunningTarget>;
  readonly #say: (line: string) => void;
  readonly #expected = new Map<string, Content>();
  /** Number of calls that fill a round of the wanted length. */
  readonly #amounts = new Map<string, number>();
  readonly samples: Sample[] = [];
  /** Targets whose process ended under load, and in which case. */
  readonly died = new Map<string, string>();

  constructor(
    load: LoadClient,
    options: Options,
    targets: ReadonlyMap<string, RunningTarget>,
    say: (line: string) => void,
  ) {
    this.#load = load;
    this.#options = options;
    this.#targets = targets;
    this.#say = say;
  }

  /** @throws Error when the upstream or the load process is broken; a target that ends is omitted from then on. */
  async run(upstreamUrl: string): Promise<void> {
    for (const benchCase of this.#options.cases) {
      this.#expected.set(benchCase.name, await reference(benchCase, upstreamUrl));
    }
    await this.#each("warm-up", (benchCase, name, target) => this.#warmUp(benchCase, name, target));
    for (let round = 1; round <= this.#options.rounds; round++) {
      await this.#each(`round ${round} of ${this.#options.rounds}`, (benchCase, name, target) =>
        this.#measure(round, benchCase, name, target),
      );
    }
  }

  async #each(title: string, act: (benchCase: Case, name: string, target: RunningTarget) => Promise<void>) {
    for (const benchCase of this.#options.cases) {
      this.#say(`${title}: ${benchCase.name}`);
      for (const [name, target] of this.#targets) {
        if (this.died.has(name)) continue;
        try {
          await act(benchCase, name, target);
        } catch (error) {
          if (!(error instanceof ProcessGone)) throw error;
          this.died.set(name, `${error.message} in ${benchCase.name}`);
        }
      }
    }
  }

  /** Warms up just-in-time compilers and connection pools, and determines how many calls fill a round. */
  async #warmUp(benchCase: Case, name: string, target: RunningTarget): Promise<void> {
    const { warmUpSeconds, seconds } = this.#options;
    const { connections } = benchCase;
    // One stream takes longer than the whole warm-up, and the number of calls is known.
    if (benchCase.paceMs > warmUpSeconds * 1_000) return;
    const size = benchCase.paceMs > 0 ? 0 : await this.#warmUpAmount(benchCase, target);
    const result = await this.#load.run(
      this.#job(benchCase, target, { seconds: warmUpSeconds, amount: size }),
    );
    const rate = result.intact > 0 ? result.calls / result.seconds : 0;
    this.#amounts.set(`${benchCase.name} ${name}`, Math.max(connections, Math.ceil(rate * seconds)));
    if (rate === 0) this.#say(`  ${name} fails ${benchCase.name}: ${result.fault}`);
    if (target.pid !== undefined) await settle(target.pid, this.#options.settleMs);
  }

  /** Number of warm-up calls; 0: by time. Slow cases need a number, or all their calls would be cut off. */
  async #warmUpAmount(benchCase: Case, target: RunningTarget): Promise<number> {
    const { connections } = benchCase;
    const probe = await this.#load.run(this.#job(benchCase, target, { seconds: 0, amount: connections }));
    const calls = Math.ceil((probe.calls / probe.seconds) * this.#options.warmUpSeconds) || 0;
    return calls > 8 * connections ? 0 : Math.max(connections, calls);
  }

  async #measure(round: number, benchCase: Case, name: string, target: RunningTarget): Promise<void> {
    const { seconds, latencySeconds, settleMs } = this.#options;
    const amount = this.#amounts.get(`${benchCase.name} ${name}`) ?? 0;
    const job = this.#job(benchCase, target, { seconds, amount });
    const loaded = await this.#underLoad(job, target.pid, settleMs);
    const { result } = loaded;
    let latencyMs = result.firstMs;
    if (job.kind === "calls") {
      const alone = { ...job, connections: 1, amount: 0, seconds: latencySeconds };
      const timed = await this.#load.run(alone);
      // A slow machine may not finish one call in that time.
      latencyMs = (timed.calls > 0 ? timed : await this.#load.run({ ...alone, amount: 1 })).latencyMs;
    }
    const perCall = (us: number | undefined) => (us === undefined ? undefined : us / result.calls);
    this.samples.push({
      round,
      caseName: benchCase.name,
      target: name,
      callsPerSecond: result.calls / result.seconds,
      calls: result.calls,
      intact: result.intact,
      failed: result.failed,
      cpuUs: perCall(loaded.ownUs),
      childrenCpuUs: perCall(loaded.childrenUs),
      residentMb: loaded.residentMb,
      peakMb: loaded.peakMb,
      latencyMs: latencyMs ?? { p50: Number.NaN, p99: Number.NaN },
      loadedMs: result.latencyMs,
      fault: result.fault,
    });
  }

  /** Work that follows calls (records, garbage collection) is included. */
  async #underLoad(job: LoadJob, pid: number | undefined, settleMs: number) {
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
      await settle(pid, settleMs);
      const after = cpuTime(pid);
      return {
        result,
        ownUs: after.ownUs - before.ownUs,
        childrenUs: after.childrenUs - before.childrenUs,
        residentMb: residentKb / MB_IN_KB,
        peakMb: memory(pid).peakKb / MB_IN_KB,
      };
    } finally {
      clearInterval(sampling);
    }
  }

  #job(benchCase: Case, target: RunningTarget, size: Pick<CallsJob, "seconds" | "amount">): LoadJob {
    const job = {
      url: `${target.baseUrl}/v1/chat/completions`,
      headers: { "content-type": "application/json", ...target.headers },
      body: requestBody(benchCase, target.model),
      connections: benchCase.connections,
      expected: this.#expected.get(benchCase.name) ?? { text: "", events: 0 },
      timeoutMs: Math.max(MIN_TIMEOUT_MS, size.seconds * 6_000),
    };
    if (benchCase.paceMs === 0) return { kind: "calls", ...job, ...size };
    const callsEach = Math.max(1, Math.round((size.seconds * 1_000) / benchCase.paceMs));
    const rampMs = Math.min(benchCase.paceMs, size.seconds * 1_000);
    return { kind: "streams", ...job, callsEach, rampMs };
  }
}

/** The upstream's own answer: what every target must deliver. */
async function reference(benchCase: Case, upstreamUrl: string): Promise<Content> {
  const response = await fetch(`${upstreamUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: requestBody(benchCase, UPSTREAM_MODEL),
    signal: AbortSignal.timeout(30_000),
  });
  const body = await response.text();
  if (!response.ok)
    throw new Error(`the upstream answers ${response.status} to ${benchCase.name}: ${body.slice(0, 300)}`);
  const content = readContent(body, benchCase.stream);
  if (content.events !== benchCase.events || content.text.length < benchCase.minText) {
    throw new Error(
      `the upstream's ${benchCase.name} has ${content.events} events and ${content.text.length} characters, ` +
        `expected ${benchCase.events} and at least ${benchCase.minText}`,
    );
  }
  return content;
}
