/**
 * Runs the cases against the targets in interleaved rounds and measures each. Interleaved, because a machine's speed
 * drifts over minutes: a ratio is only taken between figures of the same round.
 */
import type { Case } from "./cases.ts";
import type { Driver } from "./driver.ts";
import type { Percentiles } from "./load-job.ts";
import { ProcessGone, settle } from "./measure.ts";
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

const NO_LATENCY: Percentiles = { p50: Number.NaN, p90: Number.NaN, p99: Number.NaN, p999: Number.NaN };

export class Rounds {
  readonly #driver: Driver;
  readonly #options: Options;
  readonly #targets: ReadonlyMap<string, RunningTarget>;
  readonly #say: (line: string) => void;
  /** Number of calls that fill a round of the wanted length. */
  readonly #amounts = new Map<string, number>();
  readonly samples: Sample[] = [];
  /** Targets whose process ended under load, and in which case. */
  readonly died = new Map<string, string>();

  constructor(
    driver: Driver,
    options: Options,
    targets: ReadonlyMap<string, RunningTarget>,
    say: (line: string) => void,
  ) {
    this.#driver = driver;
    this.#options = options;
    this.#targets = targets;
    this.#say = say;
  }

  /** @throws Error when the upstream or the load process is broken; a target that ends is omitted from then on. */
  async run(): Promise<void> {
    await this.#each("warm-up", (benchCase, name, target) => this.#warmUp(benchCase, name, target));
    for (const [name, target] of this.#targets) {
      if (!this.died.has(name))
        await this.#guarded(name, "rest", () => this.#driver.observeRest(target, this.#options.settleMs));
    }
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
        if (!this.died.has(name))
          await this.#guarded(name, benchCase.name, () => act(benchCase, name, target));
      }
    }
  }

  /** A target that ends is noted and left out from then on. */
  async #guarded(name: string, during: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ProcessGone)) throw error;
      this.died.set(name, `${error.message} in ${during}`);
    }
  }

  /** Warms up just-in-time compilers and connection pools, and determines how many calls fill a round. */
  async #warmUp(benchCase: Case, name: string, target: RunningTarget): Promise<void> {
    const { warmUpSeconds, seconds } = this.#options;
    const { connections } = benchCase;
    // One stream takes longer than the whole warm-up, and the number of calls is known.
    if (benchCase.paceMs > warmUpSeconds * 1_000) return;
    const size = benchCase.paceMs > 0 ? 0 : await this.#warmUpAmount(benchCase, target);
    const result = await this.#driver.run(
      this.#driver.job(benchCase, target, { seconds: warmUpSeconds, amount: size }),
    );
    const rate = result.intact > 0 ? result.calls / result.seconds : 0;
    this.#amounts.set(`${benchCase.name} ${name}`, Math.max(connections, Math.ceil(rate * seconds)));
    if (rate === 0) this.#say(`  ${name} fails ${benchCase.name}: ${result.fault}`);
    if (target.pid !== undefined) await settle(target.pid, this.#options.settleMs);
  }

  /** Number of warm-up calls; 0: by time. Slow cases need a number, or all their calls would be cut off. */
  async #warmUpAmount(benchCase: Case, target: RunningTarget): Promise<number> {
    const { connections } = benchCase;
    const probe = await this.#driver.run(
      this.#driver.job(benchCase, target, { seconds: 0, amount: connections }),
    );
    const calls = Math.ceil((probe.calls / probe.seconds) * this.#options.warmUpSeconds) || 0;
    return calls > 8 * connections ? 0 : Math.max(connections, calls);
  }

  async #measure(round: number, benchCase: Case, name: string, target: RunningTarget): Promise<void> {
    const { seconds, latencySeconds, settleMs } = this.#options;
    const amount = this.#amounts.get(`${benchCase.name} ${name}`) ?? 0;
    const job = this.#driver.job(benchCase, target, { seconds, amount });
    const loaded = await this.#driver.measure(job, target, settleMs);
    const { result } = loaded;
    let latencyMs = result.firstMs;
    if (job.kind === "calls") {
      const alone = { ...job, connections: 1, amount: 0, seconds: latencySeconds };
      const timed = await this.#driver.run(alone);
      // A slow machine may not finish one call in that time.
      latencyMs = (timed.calls > 0 ? timed : await this.#driver.run({ ...alone, amount: 1 })).latencyMs;
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
      latencyMs: latencyMs ?? NO_LATENCY,
      loadedMs: result.latencyMs,
      fault: result.fault,
    });
  }
}
