/**
 * Two-sided 95 % confidence intervals, each by a textbook method, from sums that a query returns. They hold for one look
 * at a time that was fixed beforehand: an experiment that is stopped as soon as two intervals do not overlap gives a
 * wrong result more often.
 */

export const CONFIDENCE = 0.95;

/** 0.975 quantile of the standard normal distribution. */
const Z = 1.959963984540054;

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** A value and how often it occurs; lists of them are sorted by value. */
export type ValueCount = readonly [value: number, times: number];

/**
 * Interval of a proportion, `hits` of `total` ≥ 1: Wilson's score interval,
 * (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n). Correct also for few calls and for proportions near 0, where the usual
 * p ± z √(p(1−p)/n) gives "0 to 0".
 * E. B. Wilson, "Probable inference", JASA 22 (1927), 209–212.
 */
export function wilson(hits: number, total: number): Interval {
  const share = hits / total;
  const z2 = Z * Z;
  const middle = share + z2 / (2 * total);
  const half = Z * Math.sqrt((share * (1 - share)) / total + z2 / (4 * total * total));
  const scale = 1 + z2 / total;
  return {
    low: hits === 0 ? 0 : (middle - half) / scale,
    high: hits === total ? 1 : (middle + half) / scale,
  };
}

/**
 * Interval of a mean: mean ± t × s/√n with Student's t of n − 1 degrees of freedom, not below 0. Costs are skewed, so it
 * holds by the central limit theorem: for hundreds of calls, not for ten. Undefined for fewer than two values.
 * "Student", "The probable error of a mean", Biometrika 6 (1908), 1–25.
 *
 * @param deviation s, the sample standard deviation (divided by n − 1)
 */
export function meanInterval(mean: number, deviation: number, count: number): Interval | undefined {
  const interval = differenceInterval(mean, deviation, count);
  return interval && { low: Math.max(0, interval.low), high: interval.high };
}

/** As `meanInterval`, of values that may be below 0: differences of pairs. */
export function differenceInterval(mean: number, deviation: number, count: number): Interval | undefined {
  if (count < 2) return undefined;
  const half = (studentT(count - 1) * deviation) / Math.sqrt(count);
  return { low: mean - half, high: mean + half };
}

/**
 * 0.975 quantile of Student's t: closed forms for one and two degrees of freedom, for more the expansion in powers of 1/ν of
 * Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 26.7.5. It is 0.12 % too low at three degrees of
 * freedom, closer at more.
 */
export function studentT(degrees: number): number {
  const p = (1 + CONFIDENCE) / 2;
  if (degrees === 1) return Math.tan(Math.PI * (p - 0.5));
  if (degrees === 2) return (2 * p - 1) / Math.sqrt(2 * p * (1 - p));
  const [z3, z5, z7, z9] = [Z ** 3, Z ** 5, Z ** 7, Z ** 9];
  const terms = [
    (z3 + Z) / 4,
    (5 * z5 + 16 * z3 + 3 * Z) / 96,
    (3 * z7 + 19 * z5 + 17 * z3 - 15 * Z) / 384,
    (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * Z) / 92160,
  ];
  return terms.reduce((sum, term, at) => sum + term / degrees ** (at + 1), Z);
}

/**
 * Interval of a median, for any distribution: the values of rank r and n + 1 − r, where r is the highest rank at which a
 * Binomial(n, ½) falls below r with a probability of at most 2.5 %. Undefined for fewer than six values: there is no such r.
 * W. R. Thompson, Annals of Mathematical Statistics 7 (1936), 122–128; W. J. Conover, "Practical Nonparametric
 * Statistics", 3rd ed. (1999), 3.2.
 */
export function medianInterval(values: readonly ValueCount[]): Interval | undefined {
  const count = values.reduce((sum, [, times]) => sum + times, 0);
  const rank = medianRank(count);
  if (rank === 0) return undefined;
  return { low: valueAt(values, rank), high: valueAt(values, count + 1 - rank) };
}

/** The lower rank, from 1; 0 if there is none. */
export function medianRank(count: number): number {
  // Above this 2^-n underflows. The normal approximation is at most one rank off; rounding down is the safe direction.
  if (count > 1000) return Math.floor((count - Z * Math.sqrt(count)) / 2);
  let exactly = 0.5 ** count;
  let below = exactly;
  let rank = 0;
  while (below <= (1 - CONFIDENCE) / 2) {
    exactly *= (count - rank) / (rank + 1);
    rank += 1;
    below += exactly;
  }
  return rank;
}

/**
 * The value of rank ⌈share × n⌉: a proportion of `share` (above 0) of all values does not exceed it. 0 if there are
 * none.
 */
export function quantile(values: readonly ValueCount[], share: number): number {
  const count = values.reduce((sum, [, times]) => sum + times, 0);
  return valueAt(values, Math.ceil(share * count));
}

/** @param rank from 1 */
function valueAt(values: readonly ValueCount[], rank: number): number {
  let reached = 0;
  for (const [value, times] of values) {
    reached += times;
    if (reached >= rank) return value;
  }
  return 0;
}
