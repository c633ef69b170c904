/**
 * Finds the ledger entry of a call. The ledger has no index by request, which would cost each call a write; but an entry is
 * written in the moment in which its call ended, and entries are in order of time unless the clock was set. So the place is found
 * by halving, and the entries around it are read outwards.
 */

import type { MaybePromise } from "../maybe-promise.ts";

/** An entry of an org's ledger, as far as it matters here. */
export interface LedgerLine {
  readonly seq: number;
  readonly kind: string;
  readonly amountMicroUsd: number;
  readonly createdAtMs: number;
  readonly requestId?: string;
}

/** Port: the ledger, newest first, below a number. A promise where it is kept in another process. */
export type ReadLedger = (
  orgId: string,
  page: { readonly before?: number; readonly limit: number },
) => MaybePromise<readonly LedgerLine[]>;

/** Entries read in one turn of the event loop. */
const SLICE = 500;
/** Entries looked at on each side: more than a busy org writes in the minutes by which a clock is corrected. */
const MOST_SLICES = 200;

/** @param aboutMs when the call ended; wall clock. @returns undefined where the ledger has none near that time */
export async function entryOfCall(
  read: ReadLedger,
  orgId: string,
  requestId: string,
  aboutMs: number,
): Promise<LedgerLine | undefined> {
  const [newest] = await read(orgId, { limit: 1 });
  if (newest === undefined) return undefined;
  const isIt = (line: LedgerLine) => line.kind === "settle" && line.requestId === requestId;
  const middle = await firstAfter(read, orgId, newest.seq, aboutMs);
  let [below, above] = [middle, middle];
  for (let slice = 0; slice < MOST_SLICES; slice++) {
    const older = below > 1 ? await read(orgId, { before: below, limit: SLICE }) : [];
    below -= older.length;
    const upTo = Math.min(newest.seq + 1, above + SLICE);
    const newer = upTo > above ? await read(orgId, { before: upTo, limit: upTo - above }) : [];
    above = upTo;
    const found = older.find(isIt) ?? newer.find(isIt);
    if (found !== undefined || (older.length === 0 && newer.length === 0)) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return undefined;
}

/** Number of the first entry that is later than a time; one more than the newest where none is. */
async function firstAfter(read: ReadLedger, orgId: string, newestSeq: number, ms: number): Promise<number> {
  let [low, high] = [1, newestSeq + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [line] = await read(orgId, { before: middle + 1, limit: 1 });
    if ((line?.createdAtMs ?? 0) > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}
