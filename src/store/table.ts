/** What a room sees of a table of the store. */
import type { Key } from "lmdb";

export type StoreKey = Key;

/** LMDB's bound for a key, 1978 bytes, as UTF-16 units: of three bytes each, with room for what stands between parts. */
const LONGEST_KEY = 640;

/** A key as JSON, the same for all forms that LMDB takes for one key: a list of one part is that part. */
export const keyText = (key: StoreKey): string =>
  Array.isArray(key) && key.length === 1 ? keyText(key[0] as StoreKey) : JSON.stringify(key);

/** Whether LMDB can hold a row under this key. */
export function fits(key: StoreKey): boolean {
  if (typeof key === "string") return key.length <= LONGEST_KEY;
  if (!Array.isArray(key)) return true;
  let length = 0;
  for (const part of key) length += typeof part === "string" ? part.length : 1;
  return length <= LONGEST_KEY;
}

export interface Range {
  readonly start?: StoreKey;
  readonly end?: StoreKey;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/**
 * How the rows of a table have changed since they were first written: each row says of which version it is, and is read by that. So
 * nothing needs to be rewritten when a release changes a row, and readers know one shape only.
 */
export interface RowVersions<V> {
  /** Of rows that are written now: 2 to 255. Rows of the first release have version 1. */
  readonly version: number;
  /** A row of an earlier version as one of this. Pure. */
  upgrade(row: unknown, version: number): V;
}

/** Reads are synchronous and see every act that is committed; in an act also those that wait to be, and its own puts. */
export interface Table<V> {
  /** Undefined also for a key longer than any can be (640 characters): it may be a client's. */
  get(key: StoreKey): V | undefined;
  /** In key order; `start` is inclusive, `end` exclusive, both also when reversed (start then is the greater). */
  range(range?: Range): Iterable<{ key: StoreKey; value: V }>;
  /** Only in an act. @throws RangeError for a key of more than 640 characters. */
  put(key: StoreKey, value: V): void;
  /** Only in an act. */
  remove(key: StoreKey): void;
  /**
   * Tells of each row that changed, in order: once its act is committed, so that reads see the change, and before the act
   * resolves. A cache drops there what it made of the row, and nowhere else. It is told to the end of the process.
   * @param changed gets the row as it is now, undefined where it was removed
   */
  watch(changed: (key: StoreKey, row: V | undefined) => void): void;
}

/**
 * A table whose rows grow by what acts add to them, such as sums and maxima: whoever adds to a row need not know what others have
 * added, and overwrites nothing of theirs.
 */
export interface MergedTable<V, I> extends Pick<Table<V>, "get" | "range"> {
  /** Only in an act. Returns the row with the increment in it. @throws RangeError for a key of more than 640 characters. */
  add(key: StoreKey, increment: I): V;
}

/** @param merge the row with one more increment in it; pure */
export function mergedTable<V, I>(
  table: Table<V>,
  merge: (row: V | undefined, increment: I) => V,
): MergedTable<V, I> {
  return {
    get: table.get,
    range: table.range,
    add(key, increment) {
      const row = merge(table.get(key), increment);
      table.put(key, row);
      return row;
    },
  };
}
