/**
 * Rows of a folder from before rows had checksums get them, once, at the first start of a release that does this: from then on a
 * damaged row of it is found as in any folder. Killed in between, the next start goes on; rows that have one are left alone.
 */
import type { Key } from "lmdb";
import { TRIMS } from "./journal/logs.ts";
import { isChecked, isWhole, sealBytes } from "./lmdb/checked.ts";
import { type Lmdb, PROGRESS } from "./lmdb/lmdb.ts";
import { CLAIMS } from "./lmdb/lock.ts";
import { BYTES } from "./recovery/inspection.ts";
import { keyText } from "./tables/table.ts";

/** Their rows have no checksum of the store's in any release. A log that is added later is never in a folder without checksums. */
const WITHOUT = [
  PROGRESS,
  CLAIMS,
  TRIMS,
  "outbox",
  "shadow_runs",
  "ledger_rows",
  "cells.charges",
  "cells.charges_numbered",
];
/** Rows of one transaction: some ten milliseconds. */
const SLICE_ROWS = 2000;

/** @returns how many rows got a checksum. @throws Error of the disk or of LMDB */
export function carryOver(lmdb: Lmdb): number {
  let carried = 0;
  for (const table of lmdb.tables()) if (!WITHOUT.includes(table)) carried += carryTable(lmdb, table);
  return carried;
}

function carryTable(lmdb: Lmdb, table: string): number {
  const rows = lmdb.database(table);
  let carried = 0;
  let start: Key | undefined;
  for (;;) {
    // The first row of a later slice is the last one of the slice before.
    const slice = [...rows.getRange({ ...(start !== undefined && { start }), limit: SLICE_ROWS })];
    const bare = slice.filter(({ key, value }) => !isSealed(table, keyText(key), value));
    lmdb.transactionSync(() => {
      for (const { key, value } of bare) rows.putSync(key, sealBytes(keyText(key), value) as Buffer);
    });
    carried += bare.length;
    if (slice.length < SLICE_ROWS) return carried;
    start = slice.at(-1)?.key;
  }
}

/** Bytes may begin with the mark of a checksum by chance; what else does is left for the check of rows to refuse. */
const isSealed = (table: string, text: string, value: Uint8Array): boolean =>
  isChecked(value) && (!BYTES.includes(table) || isWhole(text, value));
