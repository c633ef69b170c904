/**
 * Finds the ledger entry of a call. The ledger has no index by request, which would cost each call a write; but an entry is
 * written in the moment in which its call ended, and entries are in order of time unless the clock was set. So the place is found
 * by halving, and the entries around it are read outwards.
 */

import { fail } from "../../base/errors.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { MayLackCalls } from "../../base/operation/incomplete-since.ts";

/** An entry of an org's ledger, as far as it matters here. */
export interface LedgerLine {
  readonly seq: number;
  readonly kind: string;
  readonly amountMicroUsd: number;
  readonly createdAtMs: number;
  readonly requestId?: string;
  /** The first of the entries that it stands for, up to `seq`; absent where it is one entry. */
  readonly firstSeq?: number;
}

export interface LedgerLines extends MayLackCalls {
  readonly entries: readonly LedgerLine[];
}

/** Port: the ledger, newest first, below a number. A promise where it is kept in another process. */
export type ReadLedger = (
  orgId: string,
  page: { readonly before?: number; readonly limit: number },
) => MaybePromise<LedgerLines>;

/** Entries read in one turn of the event loop. */
const SLICE = 500;
/** Entries looked at on each side: more than a busy org writes in the minutes by which a clock is corrected. */
const MOST_SLICES = 200;
const RETRY_MS = 1000;

/**
 * @param aboutMs when the call ended; wall clock. @returns undefined where the ledger has none near that time
 * @throws WeirError `analytics_unavailable` where it is not found, and entries near that time are not listed yet
 */
export async function entryOfCall(
  read: ReadLedger,
  orgId: string,
  requestId: string,
  aboutMs: number,
): Promise<LedgerLine | undefined> {
  const first = await read(orgId, { limit: 1 });
  let isLacking = first.missingSinceMs !== undefined;
  const isIt = (line: LedgerLine) => line.kind === "settle" && line.requestId === requestId;
  const newestSeq = first.entries[0]?.seq ?? 0;
  const middle = await firstAfter(read, orgId, newestSeq, aboutMs);
  let [below, above] = [middle, middle];
  const slice = async (before: number, limit: number): Promise<readonly LedgerLine[]> => {
    const { entries, missingSinceMs } = await read(orgId, { before, limit });
    isLacking ||= missingSinceMs !== undefined;
    return entries;
  };
  for (let slices = 0; slices < MOST_SLICES && (below > 1 || above <= newestSeq); slices++) {
    const older = below > 1 ? await slice(below, SLICE) : [];
    const last = older.at(-1);
    below = last === undefined ? 1 : (last.firstSeq ?? last.seq);
    const upTo = Math.min(newestSeq + 1, above + SLICE);
    const newer = upTo > above ? await slice(upTo, upTo - above) : [];
    above = upTo;
    const found = older.find(isIt) ?? newer.find(isIt);
    if (found !== undefined) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!isLacking) return undefined;
  throw fail("analytics_unavailable", "Entries of the ledger near the end of this call are not listed yet.", {
    retryAfterMs: RETRY_MS,
  });
}

/** Number of the first entry that is later than a time; one more than the newest where none is. */
async function firstAfter(read: ReadLedger, orgId: string, newestSeq: number, ms: number): Promise<number> {
  let [low, high] = [1, newestSeq + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [line] = (await read(orgId, { before: middle + 1, limit: 1 })).entries;
    if ((line?.createdAtMs ?? 0) > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}
