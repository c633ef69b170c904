/** Rows of a batch in slices that take the event loop half a millisecond or so; between two of them it serves calls. */
import { nextTurn } from "../../base/clock.ts";

/** A slice ends with the row that reaches one of them: most rows have 3 KB, but a payload may have many times that. */
export const SLICE = { rows: 250, bytes: 512 * 1024 } as const;

/** Slices of rows, one after another. The rows of a slice may be views of one buffer: one that is kept keeps them all. */
export type RowSlices = AsyncIterable<readonly Uint8Array[]>;

/** Rows that are in memory already, in slices. The event loop runs between two of them. */
export async function* inSlices(rows: readonly Uint8Array[]): RowSlices {
  for (let position = 0; position < rows.length; ) {
    const first = position;
    for (let bytes = 0; position < rows.length && position < first + SLICE.rows && bytes < SLICE.bytes; )
      bytes += (rows[position++] as Uint8Array).length;
    yield rows.slice(first, position);
    if (position < rows.length) await nextTurn();
  }
}
