/**
 * Endpoints on trial: what their share of the calls showed, and when a trial has failed. The state turns in memory before
 * `result` returns, so that the next plan sees it; the row in the store follows. Red is final for a policy's version.
 */
import type { Clock } from "../clock.ts";
import type { Canary, CanaryState } from "../routing/decision.ts";
import type { CanaryRow, PolicyTables, VersionKey } from "./policy-tables.ts";
import { ENOUGH_EVIDENCE, errorRateTest, type SequentialTest } from "./sequential-test.ts";

export interface CanaryRed {
  readonly orgId: string;
  readonly policy: string;
  readonly version: number;
  readonly endpointId: string;
  /** 0 to 1. */
  readonly errorRate: number;
  readonly samples: number;
}

export interface CanaryDeps {
  readonly tables: PolicyTables;
  readonly clock: Clock;
  /** Told once, when a canary turns red. */
  readonly onCanaryRed: (event: CanaryRed) => void;
  /** Told of a state that could not be saved; the next result tries again. */
  readonly onFailure: (error: unknown) => void;
}

/** One endpoint on trial under one version of a policy. */
export class Trial {
  readonly #deps: CanaryDeps;
  readonly #key: VersionKey;
  readonly #test: SequentialTest;
  #row: CanaryRow;
  /** The store does not have the row as it is. */
  #isUnsaved = false;
  #saving: Promise<void> | undefined;

  constructor(deps: CanaryDeps, key: VersionKey, canary: Canary) {
    const { endpoint, maxErrorRate, minSamples } = canary;
    const saved = deps.tables.canary(key, endpoint);
    this.#deps = deps;
    this.#key = key;
    this.#test = errorRateTest(maxErrorRate);
    this.#row = {
      endpointId: endpoint,
      state: saved?.state ?? "warming",
      samples: saved?.samples ?? 0,
      failures: saved?.failures ?? 0,
      maxErrorRate,
      minSamples,
      evaluatedAtMs: saved?.evaluatedAtMs ?? 0,
    };
  }

  get row(): CanaryRow {
    return this.#row;
  }

  get state(): CanaryState {
    return this.#row.state;
  }

  /** Resolves once the row is in the store, or could not be brought there. */
  async save(): Promise<void> {
    if (this.#isUnsaved) this.#saving ??= this.#save();
    await this.#saving;
  }

  /** Whether nothing would be lost by reading the trial anew from the store. */
  get isAtRest(): boolean {
    return this.#saving === undefined && !this.#isUnsaved;
  }

  /** One call of the canary's share has ended. After red only calls that were under way report: they change nothing. */
  result(failed: boolean): void {
    const before = this.#row;
    if (before.state === "red") {
      // The row may still have to be saved.
      void this.save();
      return;
    }
    const samples = before.samples + 1;
    const failures = before.failures + (failed ? 1 : 0);
    const state = this.#judge(failures, samples);
    this.#row = { ...before, samples, failures, state, evaluatedAtMs: this.#deps.clock.now() };
    this.#isUnsaved = true;
    void this.save();
    if (state !== "red") return;
    const { orgId, policy, version } = this.#key;
    const errorRate = failures / samples;
    this.#deps.onCanaryRed({ orgId, policy, version, endpointId: before.endpointId, errorRate, samples });
  }

  #judge(failures: number, samples: number): CanaryState {
    if (samples < this.#row.minSamples) return "warming";
    return this.#test.logEvidence(failures, samples) >= ENOUGH_EVIDENCE ? "red" : "green";
  }

  /** One commit at a time: what comes while it runs goes with the next, so a burst of results is a few writes. */
  async #save(): Promise<void> {
    // Results of one turn share a row.
    await Promise.resolve();
    try {
      while (this.#isUnsaved) {
        this.#isUnsaved = false;
        await this.#deps.tables.saveCanary(this.#key, this.#row);
      }
    } catch (error) {
      this.#isUnsaved = true;
      this.#deps.onFailure(error);
    } finally {
      this.#saving = undefined;
    }
  }
}

/** Trials in memory above which those at rest are dropped: the store has them. */
const MANY_TRIALS = 10_000;

/** Every trial once, whoever asks for it, so that its counts have one place. Ask anew each time; do not keep a trial. */
export class Canaries {
  readonly #deps: CanaryDeps;
  readonly #trials = new Map<string, Trial>();

  constructor(deps: CanaryDeps) {
    this.#deps = deps;
  }

  trial(key: VersionKey, canary: Canary): Trial {
    const id = `${key.orgId} ${key.policy} ${key.version} ${canary.endpoint}`;
    let trial = this.#trials.get(id);
    if (trial === undefined) {
      if (this.#trials.size >= MANY_TRIALS) this.#dropResting();
      trial = new Trial(this.#deps, key, canary);
      this.#trials.set(id, trial);
    }
    return trial;
  }

  /** Resolves once every row is in the store. Call before the store closes. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#trials.values(), (trial) => trial.save()));
  }

  #dropResting(): void {
    for (const [id, trial] of this.#trials) if (trial.isAtRest) this.#trials.delete(id);
  }
}

/** Why a canary is in its state, in plain words. */
export function canaryReason({ state, samples, failures, maxErrorRate, minSamples }: CanaryRow): string {
  if (state === "warming") {
    return `${samples} of the ${minSamples} results are in that it is judged by; ${failures} of them failed`;
  }
  const seen = `${failures} of ${samples} calls failed`;
  return state === "green"
    ? `${seen}: no proof of an error rate above ${percent(maxErrorRate)}`
    : `${seen}: an error rate of at most ${percent(maxErrorRate)} would hardly do that. It gets no share until a new version is activated`;
}

const percent = (rate: number): string => `${Number((rate * 100).toPrecision(4))} %`;
