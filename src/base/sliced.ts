/** Long lists in parts. */

/** Slices of at most so many; lazily. */
export function* sliced<T>(items: Iterable<T>, most: number): Generator<T[]> {
  let slice: T[] = [];
  for (const item of items) {
    if (slice.push(item) < most) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}
