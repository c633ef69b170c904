/** Rows of a batch in slices that take the event loop half a millisecond or so; between two of them it serves calls. */
import { nextTurn } from "../../base/clock.ts";
import { during } from "../../base/turns/long-work.ts";

/** A slice ends with the row that reaches one of them: most rows have 3 KB, but a payload may have many times that. */
export const SLICE = { rows: 250, bytes: 512 * 1024 } as const;

/** Does something with each row. @throws what `act` throws */
export async function inSlices(
  rows: readonly Uint8Array[],
  act: (row: Uint8Array, position: number) => void,
): Promise<void> {
  let position = 0;
  const slice = () => {
    const last = position + SLICE.rows;
    for (let bytes = 0; position < rows.length && position < last && bytes < SLICE.bytes; position++) {
      const row = rows[position] as Uint8Array;
      act(row, position);
      bytes += row.length;
    }
  };
  while (position < rows.length) {
    during("insertion", slice);
    if (position < rows.length) await nextTurn();
  }
}
