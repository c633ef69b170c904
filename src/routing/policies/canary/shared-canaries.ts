/**
 * Canaries over several processes: each counts the calls that it served, and hears the counts of all. The verdict is made from those,
 * once: the first process that sees that a canary failed says so in a row that all of them have.
 */

import type { PolicyTables, VersionKey } from "../policy-tables.ts";
import { type CanaryResults, type CanaryRow, withResults } from "./canary-row.ts";

/** A row's name, then its numbers: calls, failed calls, and when the newest ended. */
type Counts = readonly [name: string, ...numbers: number[]];

interface Trial extends Pick<CanaryResults, "endpointId" | "maxErrorRate" | "minSamples"> {
  readonly key: VersionKey;
}

export interface SharedCanariesDeps {
  readonly tables: PolicyTables;
  readonly now: () => number;
  /** Called in the act that says that a canary is red, once over all processes. */
  readonly turnedRed: (key: VersionKey, row: CanaryRow) => void;
  /** Port: resolves once what `take` gives out counts for all, and what the others sent is heard. */
  readonly exchange: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Trials with results that were not taken yet; more are not counted. */
const MOST_UNTAKEN = 10_000;

export class SharedCanaries {
  readonly #deps: SharedCanariesDeps;
  readonly #untaken = new Map<string, { samples: number; failures: number }>();
  #onCounts: (key: VersionKey, row: CanaryRow) => void = () => {};
  #saving: Promise<unknown> = Promise.resolve();

  constructor(deps: SharedCanariesDeps) {
    this.#deps = deps;
  }

  /** Calls it with each row over all processes that changed, and what this one did not send yet. One listener only. */
  onCounts(listener: (key: VersionKey, row: CanaryRow) => void): void {
    this.#onCounts = listener;
  }

  add(key: VersionKey, row: Omit<Trial, "key">, isFailed: boolean): void {
    const name = countsName({ key, ...row });
    const counts = this.#untaken.get(name) ?? { samples: 0, failures: 0 };
    if (this.#untaken.size >= MOST_UNTAKEN && counts.samples === 0) return;
    counts.samples += 1;
    if (isFailed) counts.failures += 1;
    this.#untaken.set(name, counts);
  }

  /** Results that the others have not been told of. */
  take(most: number): Counts[] {
    const taken = Array.from(this.#untaken).slice(0, most);
    for (const [name] of taken) this.#untaken.delete(name);
    return taken.map(([name, { samples, failures }]) => [name, samples, failures]);
  }

  /** Counts over all processes, of trials that changed. */
  heard(rows: readonly Counts[]): void {
    for (const [name, samples = 0, failures = 0] of rows) {
      const trial = trialOf(name);
      if (trial !== undefined) this.#save(trial, { samples, failures });
    }
  }

  /** Resolves once results so far count for all, and the verdict from them is in the store. */
  async settled(): Promise<void> {
    await this.#deps.exchange();
    await this.#saving;
  }

  /** Resolves once what was heard is in the store. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  #save(trial: Trial, counts: Pick<CanaryResults, "samples" | "failures">): void {
    const { tables, now, turnedRed, onFailure } = this.#deps;
    const { key, ...rest } = trial;
    const totals: CanaryResults = { ...rest, ...counts, evaluatedAtMs: now() };
    const saved = tables
      .setCanary(key, totals, (row) => turnedRed(key, row))
      .then((row) => {
        const own = this.#untaken.get(countsName(trial));
        this.#onCounts(key, own === undefined ? row : withResults(row, { ...totals, ...own }));
      });
    this.#saving = Promise.all([this.#saving, saved.catch(onFailure)]);
  }
}

/** Name of the row that counts a trial over all processes. */
export const countsName = ({ key, endpointId, maxErrorRate, minSamples }: Trial): string =>
  JSON.stringify([key.orgId, key.policy, key.version, endpointId, maxErrorRate, minSamples]);

function trialOf(name: string): Trial | undefined {
  try {
    const [orgId, policy, version, endpointId, maxErrorRate, minSamples] = JSON.parse(name);
    return { key: { orgId, policy, version }, endpointId, maxErrorRate, minSamples };
  } catch {
    return undefined;
  }
}
