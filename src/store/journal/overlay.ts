/** Writes that are not in LMDB yet, on top of its rows. */
import { compareKeys, type Key } from "lmdb";
import type { Range } from "../tables/table.ts";
import type { Write } from "./frame.ts";

export interface Row {
  readonly key: Key;
  readonly value: Uint8Array;
}

/**
 * The rows of a range with writes on top, in the order of the range.
 * @param rows in that order, without the range's limit
 * @param writes one a key, in any order, also of keys outside the range
 */
export function* overlaid(rows: Iterable<Row>, writes: Iterable<Write>, range: Range): Generator<Row> {
  const sign = range.reverse === true ? -1 : 1;
  const pending = sorted(writes, range)[Symbol.iterator]();
  let write = pending.next().value as Write | undefined;
  for (const row of rows) {
    for (; write !== undefined && sign * compareKeys(write.key, row.key) < 0; write = pending.next().value) {
      if (write.value !== undefined) yield { key: write.key, value: write.value };
    }
    if (write === undefined || compareKeys(write.key, row.key) !== 0) {
      yield row;
    } else {
      if (write.value !== undefined) yield { key: row.key, value: write.value };
      write = pending.next().value;
    }
  }
  for (; write !== undefined; write = pending.next().value) {
    if (write.value !== undefined) yield { key: write.key, value: write.value };
  }
}

function sorted(writes: Iterable<Write>, { start, end, reverse }: Range): Write[] {
  const sign = reverse === true ? -1 : 1;
  const order = (a: Key, b: Key) => sign * compareKeys(a, b);
  return [...writes]
    .filter(({ key }) => start === undefined || order(key, start) >= 0)
    .filter(({ key }) => end === undefined || order(key, end) < 0)
    .sort((a, b) => order(a.key, b.key));
}
