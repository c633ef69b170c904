/**
 * Finds the ledger entry of a call. The ledger has no index by request, which would cost each call a write; but an entry is
 * written in the moment in which its call ended, and entries are in order of time unless the clock was set. So the place is found
 * by halving, and the entries around it are read outwards.
 */

import { nextTurn } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { type Book, firstSeqFrom } from "../../credits/ledger/book.ts";
import { pageEnd, type ShownEntry } from "../../credits/ledger/shown-list.ts";

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
  ledger: Pick<Book, "list">,
  orgId: string,
  requestId: string,
  aboutMs: number,
): Promise<ShownEntry | undefined> {
  const first = await ledger.list(orgId, { limit: 1 });
  let isLacking = first.missingSinceMs !== undefined;
  const isIt = (entry: ShownEntry) => entry.kind === "settle" && entry.requestId === requestId;
  const newestSeq = first.entries[0]?.seq ?? 0;
  const middle = await firstSeqFrom(ledger, orgId, newestSeq, aboutMs + 1);
  let [below, above] = [middle, middle];
  const slice = async (before: number, limit: number): Promise<readonly ShownEntry[]> => {
    const { entries, missingSinceMs } = await ledger.list(orgId, { before, limit });
    isLacking ||= missingSinceMs !== undefined;
    return entries;
  };
  for (let slices = 0; slices < MOST_SLICES && (below > 1 || above <= newestSeq); slices++) {
    const older = below > 1 ? await slice(below, SLICE) : [];
    const last = older.at(-1);
    below = last === undefined ? 1 : pageEnd(last);
    const upTo = Math.min(newestSeq + 1, above + SLICE);
    const newer = upTo > above ? await slice(upTo, upTo - above) : [];
    above = upTo;
    const found = older.find(isIt) ?? newer.find(isIt);
    if (found !== undefined) return found;
    await nextTurn();
  }
  if (!isLacking) return undefined;
  throw fail("analytics_unavailable", "Entries of the ledger near the end of this call are not listed yet.", {
    retryAfterMs: RETRY_MS,
  });
}
