/**
 * A mean whose samples lose half their weight every half-life, so that nothing is judged on a distant past; where asked
 * for, also with so many further samples, so that much traffic does not bury what is new. O(1) a sample and a reading.
 */

/** Weight and sum as of the last sample, and how long ago that was, milliseconds. */
export type DecayedMean = readonly [weight: number, sum: number, ageMs: number];

/** A measurement counts while its weight is that of one sample this many half-lives ago. */
const REMEMBERED_HALF_LIVES = 4;

export class DecayingMean {
  #weight = 0;
  #sum = 0;
  #atMs = 0;
  readonly #halfLifeMs: number;
  /** What each further sample leaves of the weight of those before it. */
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

  /** How many samples of just now all samples together count as. */
  weight(nowMs: number): number {
    return this.#weight === 0 ? 0 : this.#weight * this.#left(nowMs);
  }

  /** Undefined when there was no sample lately. */
  mean(nowMs: number): number | undefined {
    if (this.#weight === 0) return undefined;
    // The last sample alone weighs enough in this span: no power to compute on the planner's path.
    const isRecent = nowMs - this.#atMs <= REMEMBERED_HALF_LIVES * this.#halfLifeMs;
    if (!isRecent && this.weight(nowMs) < 2 ** -REMEMBERED_HALF_LIVES) return undefined;
    return this.#sum / this.#weight;
  }

  /** Since the last sample; infinite where there was none. */
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

  /** Goes on where another process stopped. */
  restore([weight, sum, ageMs]: DecayedMean, nowMs: number): void {
    this.#weight = weight;
    this.#sum = sum;
    this.#atMs = nowMs - ageMs;
  }

  #left(nowMs: number): number {
    return 2 ** ((this.#atMs - nowMs) / this.#halfLifeMs);
  }
}
