/** Long lists in parts, and short ones that take no more memory than they need. */

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

/** The first item, if there is one. Unlike `next()` alone it ends what the items are read with: a read of the store that is not ended keeps a place among the few that LMDB has. */
export function firstOf<T>(items: Iterable<T>): T | undefined {
  for (const item of items) return item;
  return undefined;
}

/** Two lists in the same order as one; lazily. Whoever stops early ends both. @param isBefore whether the item of `a` comes first */
export function* merged<T>(
  a: Iterable<T>,
  b: Iterable<T>,
  isBefore: (a: T, b: T) => boolean,
): Generator<T, undefined> {
  const others = b[Symbol.iterator]();
  try {
    let other = others.next();
    for (const item of a) {
      for (; !other.done && !isBefore(item, other.value); other = others.next()) yield other.value;
      yield item;
    }
    for (; !other.done; other = others.next()) yield other.value;
  } finally {
    others.return?.();
  }
}

/** One for all that have nothing yet. Not frozen: V8 would make an iterator for each look through it. */
export const NONE: readonly never[] = [];

/** The list with one more item: a list of its own. */
export const withItem = <T>(list: readonly T[], item: T): readonly T[] =>
  list.length === 0 ? [item] : [...list, item];

/** The list without an item that is in it. */
export const withoutItem = <T>(list: readonly T[], item: T): readonly T[] =>
  list.length === 1 ? NONE : list.filter((other) => other !== item);

/**
 * Adds an item to a list that is made with its first one. An empty list that grows takes room for seventeen items, and most lists of a call
 * get one or two.
 * @returns the list
 */
export function grown<T>(list: T[] | undefined, item: T): T[] {
  if (list === undefined) return [item];
  list.push(item);
  return list;
}
