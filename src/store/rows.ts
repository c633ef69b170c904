/** Rows of a range as they are read: decoded one by one, and no more than were asked for. */
import type { Key } from "lmdb";
import type { Row } from "./journal/overlay.ts";

export function* decoded<V>(
  rows: Iterable<Row>,
  decode: (bytes: Uint8Array, key: Key) => V,
): Generator<{ key: Key; value: V }> {
  for (const { key, value } of rows) yield { key, value: decode(value, key) };
}

export function* first(rows: Iterable<Row>, limit: number | undefined): Generator<Row> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for (const row of rows) {
    yield row;
    if (--left <= 0) return;
  }
}
