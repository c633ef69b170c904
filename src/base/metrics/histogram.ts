/**
 * Durations in buckets. Bounds double from 2⁻¹³ s (0.12 ms) to 2⁹ s (512 s), as in Prometheus' native histograms with schema 0, so that
 * all series have the same buckets.
 */
const FIRST_EXPONENT = -13;
const LAST_EXPONENT = 9;

/** Upper bounds of the buckets, seconds; a last bucket without a bound follows. */
export const BUCKETS_S: readonly number[] = Array.from(
  { length: LAST_EXPONENT - FIRST_EXPONENT + 1 },
  (_, i) => 2 ** (FIRST_EXPONENT + i),
);

/** Counts of one series; `counts` are not cumulative. */
export class Histogram {
  readonly counts: number[] = new Array(BUCKETS_S.length + 1).fill(0);
  sumS = 0;

  observe(ms: number): void {
    const seconds = ms / 1000;
    const exponent = Math.ceil(Math.log2(seconds));
    const bucket = Math.min(Math.max(exponent - FIRST_EXPONENT, 0), BUCKETS_S.length);
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumS += seconds;
  }
}
