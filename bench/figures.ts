/** Statistics of measured values. */

/** The finite values, ascending. */
export const finite = (values: readonly (number | undefined)[]): number[] =>
  values
    .filter((value): value is number => value !== undefined && Number.isFinite(value))
    .sort((a, b) => a - b);

/** Median of the finite values; undefined when there are none. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const sorted = finite(values);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2;
}

/** The highest of the finite values over the lowest; undefined for fewer than two. */
export function spread(values: readonly (number | undefined)[]): number | undefined {
  const sorted = finite(values);
  return sorted.length < 2 ? undefined : (sorted.at(-1) as number) / (sorted[0] as number);
}

/**
 * How far a median of these values may be off by chance, relative to it: half of the distance between the quartiles.
 * NaN when there are no values.
 */
export function noise(values: readonly (number | undefined)[]): number {
  const sorted = finite(values);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return (at(0.75) - at(0.25)) / 2 / (median(sorted) ?? Number.NaN);
}
