/** The scale on which estimates with their intervals are drawn, and where a value stands on it. Pure. */

export interface Estimate {
  readonly estimate: number;
  /** Undefined: there are too few values for one. */
  readonly interval: { readonly low: number; readonly high: number } | undefined;
}

export interface Scale {
  readonly low: number;
  readonly high: number;
  /** From the first to the last, evenly. */
  readonly ticks: readonly number[];
}

/** Steps between ticks, times a power of ten. */
const STEPS = [1, 2, 5, 10];
const TICKS = 4;

/**
 * A scale that has room for all estimates, their intervals, and what they are compared with.
 * @param bound what they are compared with
 * @param most no value is above it, as 1 of shares
 */
export function scaleOf(
  estimates: readonly Estimate[],
  bound: number | undefined,
  most = Number.POSITIVE_INFINITY,
): Scale {
  const values = [
    0,
    ...(bound === undefined ? [] : [bound]),
    ...estimates.flatMap(({ estimate, interval }) =>
      interval === undefined ? [estimate] : [estimate, interval.low, interval.high],
    ),
  ].filter(Number.isFinite);
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const step = stepFor(greatest - least);
  const low = Math.floor(least / step) * step;
  const high = Math.min(most, Math.max(low + step, Math.ceil(greatest / step) * step));
  const count = Math.round((high - low) / step);
  const ticks = Array.from({ length: count + 1 }, (_, at) => rounded(low + at * step));
  return { low: rounded(low), high: rounded(high), ticks };
}

function stepFor(span: number): number {
  if (span <= 0) return 1;
  const rough = span / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * (STEPS.find((step) => step * power >= rough) ?? 10);
}

/** Sums of steps have no digits beyond those that steps have. */
const rounded = (n: number): number => Number(n.toPrecision(12));

/** 0 to 100: where a value is on the scale; what is beyond its ends is at them. */
export function placeOf(value: number, { low, high }: Scale): number {
  const share = (value - low) / (high - low);
  return Math.round(Math.min(1, Math.max(0, share)) * 10_000) / 100;
}

/** Whether an interval lies on one side of a value: `above`, `below`, or it encloses the value. */
export function sideOf(interval: Estimate["interval"], value: number): "above" | "below" | "around" {
  if (interval === undefined) return "around";
  if (interval.low > value) return "above";
  return interval.high < value ? "below" : "around";
}

/** Whether two intervals have nothing in common, and which of them is the lower one. */
export function apart(a: Estimate["interval"], b: Estimate["interval"]): "lower" | "higher" | "no" {
  if (a === undefined || b === undefined) return "no";
  if (a.high < b.low) return "lower";
  return a.low > b.high ? "higher" : "no";
}
