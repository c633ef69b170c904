/**
 * A mean whose samples lose half their weight every half-life, so that it follows recent behaviour; optionally also
 * after a given number of further samples, so that heavy traffic does not bury recent changes. O(1) per sample and per
 * reading.
 */

/** Weight and sum at the last sample, and how long ago that was, milliseconds. */
export type DecayedMean = readonly [weight: number, sum: number, ageMs: number];

/** The mean is defined while its weight is at least that of one sample this many half-lives old. */
const REMEMBERED_HALF_LIVES = 4;

export class DecayingMean {
  #weight = 0;
  #sum = 0;
  #atMs = 0;
  readonly #halfLifeMs: number;
  /** Factor by which each further sample reduces the weight of earlier ones. */
  readonly #keeps: number;

  constructor(halfLifeMs: number, halfLifeSamples = Number.POSITIVE_INFINITY) {
    this.#halfLifeMs = halfLifeMs;
    this.#keeps = 2 ** (-1 / halfLifeSamples);
  }

  add(value: number, nowMs: number): void {
    const left = this.#left(nowMs) * this.#keeps;
    this.#weight = this.#weight * left + 1;
    this.#sum = this.#sum * left + value;
    this.#atMs = nowMs;
  }

  /** Total weight, in samples taken just now. */
  weight(nowMs: number): number {
    return this.#weight === 0 ? 0 : this.#weight * this.#left(nowMs);
  }

  /** Undefined when there was no recent sample. */
  mean(nowMs: number): number | undefined {
    if (this.#weight === 0) return undefined;
    // Within this span the last sample alone weighs enough: this saves a power on the planner's path.
    const isRecent = nowMs - this.#atMs <= REMEMBERED_HALF_LIVES * this.#halfLifeMs;
    if (!isRecent && this.weight(nowMs) < 2 ** -REMEMBERED_HALF_LIVES) return undefined;
    return this.#sum / this.#weight;
  }

  /** Since the last sample; infinite without one. */
  ageMs(nowMs: number): number {
    return this.#weight === 0 ? Number.POSITIVE_INFINITY : nowMs - this.#atMs;
  }

  forget(): void {
    this.#weight = 0;
    this.#sum = 0;
  }

  faded(nowMs: number): DecayedMean {
    return [this.#weight, this.#sum, nowMs - this.#atMs];
  }

  /** Restores what another process saved. */
  restore([weight, sum, ageMs]: DecayedMean, nowMs: number): void {
    this.#weight = weight;
    this.#sum = sum;
    this.#atMs = nowMs - ageMs;
  }

  #left(nowMs: number): number {
    return 2 ** ((this.#atMs - nowMs) / this.#halfLifeMs);
  }
}
