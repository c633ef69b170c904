/** Runs the cases against the groups in turns, as `bench/rounds.ts` does for single targets. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Case } from "../cases.ts";
import type { Driver } from "../driver.ts";
import type { LoadResult, Percentiles } from "../load-job.ts";
import { cpuTime } from "../measure.ts";
import { NOTHING, plus, residentMb, type Spent, settled, spentBy } from "./cost.ts";
import { type Group, REFERENCE } from "./groups.ts";

export interface CellsOptions {
  readonly cases: readonly Case[];
  /** Rounds with each pair. */
  readonly rounds: number;
  /** Seconds of load for each case, group and round. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Longest wait for what follows calls; 0: none. */
  readonly settleMs: number;
}

export interface CellsSample {
  /** Number of the processes: the gateways of a pair are the same ones. */
  readonly pair: number;
  readonly round: number;
  readonly caseName: string;
  readonly group: string;
  readonly cells: number;
  readonly calls: number;
  readonly intact: number;
  readonly failed: number;
  readonly callsPerSecond: number;
  /** A call. */
  readonly spent: Spent;
  /** CPU of generator and simulator a call. */
  readonly othersUs: number;
  /** One call at a time. */
  readonly aloneMs: Percentiles;
  /** At a fixed rate, the same for all groups; undefined for cases that have none. */
  readonly ratedMs: Percentiles | undefined;
  readonly residentMb: { readonly gateways: number; readonly redis: number };
  readonly fault: string;
}

/** The fixed rate is this part of what the gateway without Redis answers in a closed loop. */
const RATE_SHARE = 0.4;
const REST_MS = 10_000;

export class CellsRounds {
  readonly #driver: Driver;
  readonly #options: CellsOptions;
  readonly #pair: number;
  readonly #groups: readonly Group[];
  /** Generator and simulator. */
  readonly #others: readonly number[];
  readonly #say: (line: string) => void;
  /** Calls a second in the warm-up, by case and group. */
  readonly #warm = new Map<string, number>();
  /** What each group costs a millisecond while nothing is asked of it. */
  readonly atRest = new Map<Group, Spent>();
  readonly samples: CellsSample[] = [];

  constructor(
    driver: Driver,
    options: CellsOptions,
    pair: number,
    groups: readonly Group[],
    others: readonly number[],
    say: (line: string) => void,
  ) {
    this.#driver = driver;
    this.#options = options;
    this.#pair = pair;
    this.#groups = groups;
    this.#others = others;
    this.#say = say;
  }

  /** @throws Error when a process of the bench or a gateway ended */
  async run(): Promise<void> {
    const { cases, rounds, settleMs } = this.#options;
    for (const benchCase of cases) for (const group of this.#groups) await this.#warmUp(benchCase, group);
    if (settleMs > 0) for (const group of this.#groups) await this.#rest(group);
    for (let round = 1; round <= rounds; round++) {
      for (const benchCase of cases) {
        this.#say(`round ${round} of ${rounds}: ${benchCase.name}`);
        const inTurn = round % 2 === 0 ? this.#groups.toReversed() : this.#groups;
        for (const group of inTurn) await this.#measure(round, benchCase, group);
      }
    }
  }

  async #warmUp(benchCase: Case, group: Group): Promise<void> {
    this.#say(`warm-up: ${benchCase.name}, ${group.name}`);
    const size = { seconds: this.#options.warmUpSeconds, amount: 0 };
    const result = await this.#driver.run(this.#driver.job(benchCase, group, size));
    if (result.intact === 0) this.#say(`  ${group.name} fails ${benchCase.name}: ${result.fault}`);
    this.#warm.set(`${benchCase.name} ${group.name}`, result.calls / result.seconds);
    await settled(group, this.#options.settleMs);
  }

  async #rest(group: Group): Promise<void> {
    const before = await spentBy(group);
    const startMs = performance.now();
    await sleep(REST_MS);
    const spent = plus(await spentBy(group), before, -1);
    this.atRest.set(group, plus(NOTHING, spent, 1 / (performance.now() - startMs)));
  }

  async #measure(round: number, benchCase: Case, group: Group): Promise<void> {
    const { seconds, settleMs } = this.#options;
    const rate = this.#warm.get(`${benchCase.name} ${group.name}`) ?? 0;
    const amount = Math.max(benchCase.connections, Math.ceil(rate * seconds));
    const job = this.#driver.job(benchCase, group, { seconds, amount });
    const before = await spentBy(group);
    const othersBefore = this.#othersUs();
    const startMs = performance.now();
    const result = await this.#driver.run(job);
    const othersUs = this.#othersUs() - othersBefore;
    const resident = residentMb(group);
    await settled(group, settleMs);
    const ms = performance.now() - startMs;
    const spent = plus(await spentBy(group), before, -1);
    const own = plus(spent, this.atRest.get(group) ?? NOTHING, -ms);
    this.samples.push({
      pair: this.#pair,
      round,
      caseName: benchCase.name,
      group: group.name,
      cells: group.cells,
      calls: result.calls,
      intact: result.intact,
      failed: result.failed,
      fault: result.fault,
      callsPerSecond: result.calls / result.seconds,
      spent: plus(NOTHING, own, 1 / result.calls),
      othersUs: othersUs / result.calls,
      aloneMs: (await this.#oneAtATime(benchCase, group)).latencyMs,
      ratedMs: (await this.#atRate(benchCase, group))?.latencyMs,
      residentMb: resident,
    });
  }

  async #oneAtATime(benchCase: Case, group: Group): Promise<LoadResult> {
    const size = { seconds: Math.min(2, this.#options.seconds / 2), amount: 0 };
    const job = this.#driver.job(benchCase, group, size);
    return await this.#driver.run({ ...job, connections: 1 });
  }

  /** The generator of fixed rates sends all calls alike: not those that need a key each. */
  async #atRate(benchCase: Case, group: Group): Promise<LoadResult | undefined> {
    if (benchCase.hasKeys === true) return undefined;
    const alone = this.#warm.get(`${benchCase.name} ${REFERENCE}`) ?? 0;
    const perSecond = Math.max(1, alone * RATE_SHARE);
    return await this.#driver.run(this.#driver.rate(benchCase, group, perSecond, this.#options.seconds / 2));
  }

  #othersUs(): number {
    return this.#others.reduce((sum, pid) => sum + cpuTime(pid).ownUs, 0);
  }
}
