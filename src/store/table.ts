/** What a room sees of a table of the store. */
import type { Key } from "lmdb";

export type StoreKey = Key;

export interface Range {
  readonly start?: StoreKey;
  readonly end?: StoreKey;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** Reads are synchronous and see every committed write, and inside `transact` also its own. */
export interface Table<V> {
  get(key: StoreKey): V | undefined;
  /** In key order; `start` is inclusive, `end` exclusive, both also when reversed (start then is the greater). */
  range(range?: Range): Iterable<{ key: StoreKey; value: V }>;
  /** Only inside `commit` or `transact`. */
  put(key: StoreKey, value: V): void;
  /** Only inside `commit` or `transact`. */
  remove(key: StoreKey): void;
}
