/** Copies the tables of LMDB into a new file, in transactions of bounded size, for the processes that do so. */
import { type Database, open, type RangeOptions, type RootDatabase } from "lmdb";
import { CLAIMS } from "../lmdb/lock.ts";
import { MOST_TABLES } from "../recovery/inspection.ts";

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
 * Copies all but the claim: whoever opens the copy claims it anew.
 * @param read of the tables: their transaction, where it is not the newest
 * @param to path of the new file
 * @param pid the process that asked for the copy: it may end before
 * @returns the new file, open
 */
export function copyTables(
  tables: Iterable<readonly [name: string, rows: RawTable]>,
  read: Pick<RangeOptions, "transaction">,
  to: string,
  pid: string,
): RootDatabase {
  // After the death of its parent a process has another one.
  const isWanted = (): boolean => process.ppid === Number(pid);
  // Pages are cleared before they are written: memory of the process never gets into the gaps.
  const target = open({ path: to, maxDbs: MOST_TABLES, noMemInit: false, overlappingSync: false });
  for (const [name, rows] of tables) {
    if (name === CLAIMS) continue;
    const copies: RawTable = target.openDB<Buffer, Buffer>(name, RAW);
    copyRows(rows.getRange({ ...read }), target, copies, isWanted);
    if (copies.getCount() !== rows.getCount({ ...read }))
      throw new Error(`not every row of ${name} was copied`);
  }
  return target;
}

function copyRows(
  rows: Iterable<RawRow>,
  target: RootDatabase,
  copies: RawTable,
  isWanted: () => boolean,
): void {
  let slice: { key: Buffer; value: Buffer }[] = [];
  let bytes = 0;
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
    if (slice.length === MOST_ROWS || bytes > MOST_BYTES) put();
  }
  put();
}
