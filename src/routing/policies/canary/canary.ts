/**
 * Canary trials: the results of an endpoint's share of the calls, and when the trial has failed. The state changes in
 * memory before `result` returns, so the next plan sees it; the stored row follows. Red is final for a policy's
 * version.
 */
import type { Clock } from "../../../base/clock.ts";
import type { Canary, CanaryState } from "../../planner/decision.ts";
import type { PolicyTables, VersionKey } from "../policy-tables.ts";
import { type CanaryResults, type CanaryRow, withResults } from "./canary-row.ts";
import type { SharedCanaries } from "./shared-canaries.ts";

export interface CanaryRed extends VersionKey {
  readonly endpointId: string;
  /** 0 to 1. */
  readonly errorRate: number;
  readonly samples: number;
}

export interface CanaryDeps {
  readonly tables: PolicyTables;
  readonly clock: Clock;
  /** Called once, when a canary turns red in memory: its row follows. */
  readonly onCanaryRed: (event: CanaryRed) => void;
  /** Called in the act that stores that a canary is red, once: puts what follows from it. */
  readonly putCanaryRed: (event: CanaryRed) => void;
  /** Called when results could not be saved; the next result tries again. */
  readonly onFailure: (error: unknown) => void;
  /** Other processes count the same trials; undefined: there are none. */
  readonly shared?: SharedCanaries | undefined;
}

/** What is told of a canary whose row is red. */
export const redOf = (
  { orgId, policy, version }: VersionKey,
  { endpointId, samples, failures }: CanaryRow,
): CanaryRed => ({ orgId, policy, version, endpointId, errorRate: failures / samples, samples });

/** The trial of one endpoint under one version of a policy. */
export class Trial {
  readonly #deps: CanaryDeps;
  readonly #key: VersionKey;
  /** Includes the unsaved results. */
  #row: CanaryRow;
  /** Results not yet in the store. */
  #unsaved: CanaryResults;
  #saving: Promise<void> | undefined;
  /** Red by the results of all processes. */
  #isJudged: boolean;

  constructor(deps: CanaryDeps, key: VersionKey, { endpoint, maxErrorRate, minSamples }: Canary) {
    const saved = deps.tables.canary(key, endpoint);
    this.#deps = deps;
    this.#key = key;
    this.#unsaved = {
      endpointId: endpoint,
      samples: 0,
      failures: 0,
      maxErrorRate,
      minSamples,
      evaluatedAtMs: saved?.evaluatedAtMs ?? 0,
    };
    this.#row = { ...(saved ?? { ...this.#unsaved, state: "warming" }), maxErrorRate, minSamples };
    this.#isJudged = this.#row.state === "red";
  }

  get row(): CanaryRow {
    return this.#row;
  }

  get state(): CanaryState {
    return this.#row.state;
  }

  /** Resolves once the results are in the store, or saving them failed. */
  async save(): Promise<void> {
    if (this.#deps.shared !== undefined) return await this.#deps.shared.settled();
    if (this.#unsaved.samples > 0) this.#saving ??= this.#save();
    await this.#saving;
  }

  /** Whether the trial can be reloaded from the store without losing results. */
  get isAtRest(): boolean {
    return this.#saving === undefined && this.#unsaved.samples === 0;
  }

  /**
   * One call of the canary's share has ended. After red only calls that were already in flight report; they change
   * nothing.
   */
  result(failed: boolean): void {
    if (this.#row.state === "red") {
      // The results that turned it red may still be unsaved.
      if (this.#deps.shared === undefined) void this.save();
      return;
    }
    const { maxErrorRate, minSamples, endpointId } = this.#unsaved;
    const evaluatedAtMs = this.#deps.clock.now();
    const one = { endpointId, maxErrorRate, minSamples, samples: 1, failures: failed ? 1 : 0, evaluatedAtMs };
    this.#row = withResults(this.#row, one);
    const { shared } = this.#deps;
    // The verdict comes from the results of all: until then this process alone keeps to what it saw.
    if (shared !== undefined) {
      shared.add(this.#key, one, failed);
      return;
    }
    this.#unsaved = sum(this.#unsaved, one);
    void this.save();
    if (this.#row.state === "red") this.#deps.onCanaryRed(redOf(this.#key, this.#row));
  }

  /** Results of all processes. An act may end behind the news of another process's verdict, which is final: its row counts no more. */
  heard(row: CanaryRow): void {
    const wasJudged = this.#isJudged;
    if (wasJudged && row.state !== "red") return;
    this.#row = row;
    this.#isJudged = row.state === "red";
    if (this.#isJudged && !wasJudged) this.#deps.onCanaryRed(redOf(this.#key, row));
  }

  /** One act of the store at a time: results that arrive meanwhile go with the next one, so a burst takes few writes. */
  async #save(): Promise<void> {
    // Results of one turn of the event loop are added together.
    await Promise.resolve();
    let added: CanaryResults | undefined;
    try {
      while (this.#unsaved.samples > 0) {
        added = this.#unsaved;
        this.#unsaved = { ...added, samples: 0, failures: 0 };
        await this.#deps.tables.addToCanary(this.#key, added, (row) =>
          this.#deps.putCanaryRed(redOf(this.#key, row)),
        );
        added = undefined;
      }
    } catch (error) {
      if (added !== undefined) this.#unsaved = sum(added, this.#unsaved);
      this.#deps.onFailure(error);
    } finally {
      this.#saving = undefined;
    }
  }
}

const sum = (earlier: CanaryResults, later: CanaryResults): CanaryResults => ({
  ...later,
  samples: earlier.samples + later.samples,
  failures: earlier.failures + later.failures,
});

const idOf = ({ orgId, policy, version }: VersionKey, endpointId: string): string =>
  `${orgId} ${policy} ${version} ${endpointId}`;

/** Above this number, trials without unsaved results are dropped from memory. */
const MANY_TRIALS = 10_000;

/** Holds one `Trial` object per trial, so that its counts exist once. Ask for it each time; do not keep a reference. */
export class Canaries {
  readonly #deps: CanaryDeps;
  readonly #trials = new Map<string, Trial>();

  constructor(deps: CanaryDeps) {
    this.#deps = deps;
    const heard = (key: VersionKey, row: CanaryRow) =>
      this.#trials.get(idOf(key, row.endpointId))?.heard(row);
    deps.shared?.onCounts(heard);
    if (deps.shared !== undefined) deps.tables.watchReds(heard);
  }

  trial(key: VersionKey, canary: Canary): Trial {
    const id = idOf(key, canary.endpoint);
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
    if (this.#deps.shared !== undefined) return await this.#deps.shared.saved();
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
