/** Durations of what the thread does at once, by kind, in buckets that double from 1 ms to 1 s. */

/** Upper bounds of the buckets, seconds; a last bucket without a bound follows. */
export const TURN_BUCKETS_S: readonly number[] = [
  0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1,
];

interface Series {
  readonly counts: number[];
  sumMs: number;
}

export class Durations<K extends string> {
  readonly #series = new Map<K, Series>();

  add(kind: K, ms: number): void {
    let series = this.#series.get(kind);
    if (series === undefined) {
      series = { counts: new Array(TURN_BUCKETS_S.length + 1).fill(0), sumMs: 0 };
      this.#series.set(kind, series);
    }
    let bucket = 0;
    while (bucket < TURN_BUCKETS_S.length && ms > (TURN_BUCKETS_S[bucket] as number) * 1000) bucket++;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sumMs += ms;
  }

  /** As `/metrics` takes them. @param label the name of the kinds' label */
  *read(label: string) {
    for (const [kind, { counts, sumMs }] of this.#series)
      yield { labels: { [label]: kind }, counts, sum: sumMs / 1000 };
  }
}
