/** Error rates that other processes of the installation saw. For people alone: calls go by what their own process sees. */
import { type DecayedMean, DecayingMean } from "./decaying-mean.ts";
import { ERROR_HALF_LIFE_MS } from "./observed.ts";

/** Endpoints of all processes that are remembered; further ones are not. */
const MOST = 20_000;

export class OthersErrors {
  /** By endpoint, then by process. */
  readonly #heard = new Map<string, Map<string, DecayingMean>>();
  #count = 0;

  /** Takes the place of what the process said of the endpoint before. */
  heard(from: string, endpointId: string, errors: DecayedMean, nowMs: number): void {
    const means = this.#heard.get(endpointId) ?? new Map<string, DecayingMean>();
    let mean = means.get(from);
    if (mean === undefined) {
      if (this.#count >= MOST) return;
      mean = new DecayingMean(ERROR_HALF_LIFE_MS);
      means.set(from, mean);
      this.#heard.set(endpointId, means);
      this.#count++;
    }
    mean.restore(errors, nowMs);
  }

  /** Over all processes, by their weights; undefined without a recent result anywhere. */
  errorRate(endpointId: string, own: DecayingMean | undefined, nowMs: number): number | undefined {
    let weight = 0;
    let sum = 0;
    for (const mean of [own, ...(this.#heard.get(endpointId)?.values() ?? [])]) {
      const rate = mean?.mean(nowMs);
      if (mean === undefined || rate === undefined) continue;
      weight += mean.weight(nowMs);
      sum += rate * mean.weight(nowMs);
    }
    return weight === 0 ? undefined : sum / weight;
  }
}
