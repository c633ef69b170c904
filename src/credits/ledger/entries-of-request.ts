/** The ledger's entries that name one request: its charge, and what an operator posted under its id. A few at most. */
import { madeAtMs } from "../../base/ids.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { Book } from "./book.ts";
import { entryOfCall, FROM_ARRIVAL, NEAR_END } from "./entry-of-call.ts";
import type { LedgerPage } from "./ledger.ts";
import { OPERATOR_REF } from "./posting.ts";
import type { LedgerList, ShownEntry } from "./shown-list.ts";

/** How a call ended, as its record says. */
export interface CallEnd {
  /** Milliseconds since 1970. */
  readonly endedAtMs: number;
  /** False: it has no entry. */
  readonly isCharged: boolean;
}

export interface EntriesOfRequestDeps {
  readonly book: Pick<Book, "list" | "byReference">;
  /** Port: undefined where no record of the caller's org has this id. @throws WeirError `analytics_unavailable` */
  readonly callEnd: (caller: Caller, requestId: string) => Promise<CallEnd | undefined>;
}

/**
 * A page of them, newest first; empty where the org has none.
 * @throws WeirError `analytics_unavailable` where the charge is not found, and it is not known when the call ended
 */
export async function entriesOfRequest(
  deps: EntriesOfRequestDeps,
  caller: Caller,
  requestId: string,
  { kind, before = Number.MAX_SAFE_INTEGER, limit }: LedgerPage,
): Promise<LedgerList> {
  const posted = deps.book.byReference(caller.orgId, OPERATOR_REF, requestId);
  const { entry, missingSinceMs } =
    kind === undefined || kind === "settle" ? await chargeOf(deps, caller, requestId) : NO_CHARGE;
  const all: readonly (ShownEntry | undefined)[] = [posted, entry];
  const entries = all
    .filter((one) => one !== undefined)
    .filter(({ kind: own, seq }) => (kind === undefined || own === kind) && seq < before)
    .sort((one, other) => other.seq - one.seq)
    .slice(0, limit);
  return { entries, missingSinceMs };
}

const NO_CHARGE = { entry: undefined, missingSinceMs: undefined };

async function chargeOf({ book, callEnd }: EntriesOfRequestDeps, caller: Caller, requestId: string) {
  let end: CallEnd | undefined;
  let failure: unknown;
  try {
    end = await callEnd(caller, requestId);
  } catch (error) {
    // The ledger may have it all the same: most calls end soon after they came.
    failure = error;
  }
  if (end?.isCharged === false) return NO_CHARGE;
  const place =
    end === undefined
      ? { aboutMs: madeAtMs(requestId), reach: FROM_ARRIVAL }
      : { aboutMs: end.endedAtMs, reach: NEAR_END };
  const found = await entryOfCall(book, caller.orgId, { requestId, ...place });
  if (found.entry === undefined && failure !== undefined) throw failure;
  return found;
}
