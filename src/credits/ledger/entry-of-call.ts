/**
 * Finds the ledger entry of a call. The ledger has no index by request, which would cost each call a write; but an entry is
 * written in the moment in which its call ended, and entries are in order of time unless the clock was set. So the place is found
 * by halving, and the entries around it are read outwards.
 */

import { nextTurn } from "../../base/clock.ts";
import type { MayLackCalls } from "../../base/operation/incomplete-since.ts";
import { type Book, firstSeqFrom } from "./book.ts";
import { pageEnd, type ShownEntry } from "./shown-list.ts";

/** Entries read in one turn of the event loop. */
const SLICE = 500;

/** How many slices are read on each side of a place, the older and the newer one. */
interface Reach {
  readonly older: number;
  readonly newer: number;
}

/** Where the end of the call is known: more entries than a busy org writes in the minutes by which a clock is corrected. */
export const NEAR_END: Reach = { older: 200, newer: 200 };
/** Where only its arrival is known: the entry is newer, and whoever makes up an id must not have much read. */
export const FROM_ARRIVAL: Reach = { older: 1, newer: 10 };

export interface CallPlace {
  readonly requestId: string;
  /** When the call ended, or came; wall clock. */
  readonly aboutMs: number;
  readonly reach: Reach;
}

interface FoundEntry extends MayLackCalls {
  /** Undefined where the ledger has none near that time. Entries are missing near it where `missingSinceMs` is set. */
  readonly entry: ShownEntry | undefined;
}

/** @throws WeirError `analytics_unavailable` where charges are listed there, and cannot be read */
export async function entryOfCall(
  ledger: Pick<Book, "list">,
  orgId: string,
  { requestId, aboutMs, reach }: CallPlace,
): Promise<FoundEntry> {
  const first = await ledger.list(orgId, { limit: 1 });
  let { missingSinceMs } = first;
  const isIt = (entry: ShownEntry) => entry.kind === "settle" && entry.requestId === requestId;
  const newestSeq = first.entries[0]?.seq ?? 0;
  const middle = await firstSeqFrom(ledger, orgId, newestSeq, aboutMs + 1);
  let [below, above] = [middle, middle];
  const slice = async (before: number, limit: number): Promise<readonly ShownEntry[]> => {
    const list = await ledger.list(orgId, { before, limit });
    missingSinceMs ??= list.missingSinceMs;
    return list.entries;
  };
  for (let slices = 0; ; slices++) {
    const isOlderLeft = below > 1 && slices < reach.older;
    const isNewerLeft = above <= newestSeq && slices < reach.newer;
    if (!isOlderLeft && !isNewerLeft) return { entry: undefined, missingSinceMs };
    const older = isOlderLeft ? await slice(below, SLICE) : [];
    const last = older.at(-1);
    if (isOlderLeft) below = last === undefined ? 1 : pageEnd(last);
    const upTo = Math.min(newestSeq + 1, above + SLICE);
    const newer = isNewerLeft ? await slice(upTo, upTo - above) : [];
    if (isNewerLeft) above = upTo;
    const entry = older.find(isIt) ?? newer.find(isIt);
    if (entry !== undefined) return { entry, missingSinceMs: undefined };
    await nextTurn();
  }
}
