/**
 * A table whose rows are updated by increments, such as sums and maxima: concurrent acts cannot overwrite each other's
 * increments. The rows incremented last are kept decoded, because reading a row back costs a call five microseconds.
 */
import type { Store } from "../store.ts";
import { keyText, type StoreKey, type Table } from "./table.ts";

/** Rows kept decoded; when more are incremented, all are read again. */
const MOST_ROWS = 10_000;

export interface MergedTable<V, I> extends Pick<Table<V>, "get" | "range"> {
  /**
   * Only in an act. Returns the row including the increment. @throws RangeError for a key of more than 640 characters.
   */
  add(key: StoreKey, increment: I): V;
}

const forget = (rows: Map<string, unknown>, text: string): void => void rows.delete(text);

/** @param merge adds an increment to a row; pure */
export function openMergedTable<V, I>(
  store: Pick<Store, "table" | "ifDropped">,
  name: string,
  merge: (row: V | undefined, increment: I) => V,
): MergedTable<V, I> {
  const table = store.table<V>(name);
  /** By key as text: rows after all acts, committed or not. Nothing else writes to the table. */
  const rows = new Map<string, V>();
  return {
    get: table.get,
    range: table.range,
    add(key, increment) {
      const text = keyText(key);
      const row = merge(rows.get(text) ?? table.get(key), increment);
      table.putLast(key, row);
      if (rows.size >= MOST_ROWS) rows.clear();
      rows.set(text, row);
      store.ifDropped(forget, rows, text);
      return row;
    },
  };
}
