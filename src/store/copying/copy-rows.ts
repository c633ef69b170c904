/** Copies the rows of one table of LMDB into a new file, in transactions of bounded size, for the processes that do so. */
import type { Database, RootDatabase } from "lmdb";

/** Rows and bytes of one transaction; LMDB keeps its pages in memory until it ends. */
const MOST_ROWS = 5000;
const MOST_BYTES = 16 * 1024 * 1024;

export type RawTable = Database<Buffer, Buffer>;
/** How such a table is opened: keys and values as they are stored. */
export const RAW = { encoding: "binary", keyEncoding: "binary" } as const;

interface RawRow {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/**
 * @param rows in LMDB's order, none of which needs to stay valid behind its turn
 * @param isWanted asked before each transaction: whoever asked for the copy may have ended
 * @returns the number of rows
 */
export function copyRows(
  rows: Iterable<RawRow>,
  target: RootDatabase,
  copies: RawTable,
  isWanted: () => boolean,
): number {
  let slice: { key: Buffer; value: Buffer }[] = [];
  let bytes = 0;
  let count = 0;
  const put = () => {
    if (!isWanted()) throw new Error("the process that asked for it has ended");
    target.transactionSync(() => {
      for (const { key, value } of slice) copies.putSync(key, value);
    });
    slice = [];
    bytes = 0;
  };
  for (const { key, value } of rows) {
    slice.push({ key: Buffer.from(key), value: Buffer.from(value) });
    bytes += key.length + value.length;
    count++;
    if (slice.length === MOST_ROWS || bytes > MOST_BYTES) put();
  }
  put();
  return count;
}
