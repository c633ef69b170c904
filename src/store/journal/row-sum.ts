/**
 * A sum of its own for a row of a log. The sum of a journal's frame is checked only at a start. While the process runs, a row is read back from
 * the journal's file or from LMDB without that check, so the row needs a sum to show that it is damaged. Layout: a mark (u8), the sum (u32,
 * little-endian), the content. A log whose content never begins with the mark may hold rows of earlier releases, without a sum.
 */
import { sumOf } from "./sum.ts";

/** Begins no JSON, and no list of MessagePack. Not the mark of tables' rows, whose sums cover their keys, too. */
const MARK = 0;

/** Bytes before the content for mark and sum. */
export const SUM_BYTES = 5;

/** Fills in mark and sum. @param row the content, with `SUM_BYTES` of space before it */
export function withSum(row: Buffer): Buffer {
  row[0] = MARK;
  row.writeUInt32LE(sumOf(row.subarray(SUM_BYTES), 0), 1);
  return row;
}

/** The content of a row; one of an earlier release is all content. Undefined: the row is damaged. */
export function contentOf(row: Uint8Array): Uint8Array | undefined {
  if (row[0] !== MARK) return row;
  if (row.length < SUM_BYTES) return undefined;
  const content = row.subarray(SUM_BYTES);
  return new DataView(row.buffer, row.byteOffset).getUint32(1, true) === sumOf(content, 0)
    ? content
    : undefined;
}
