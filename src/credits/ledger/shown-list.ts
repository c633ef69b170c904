/**
 * An org's ledger as it is shown where its entries come from several places, of which one may be lost. A run of numbers whose entries are
 * gone is shown as one entry, which is never posted: what the balances on both sides of it differ by. So the list adds up to the balance.
 */
import type { MayLackCalls } from "../../base/operation/incomplete-since.ts";
import type { LedgerEntry } from "./entry.ts";
import type { LedgerPage } from "./ledger.ts";

/** Stands for entries `firstSeq` to `seq`, in their place. Their sum is known, they are not. */
export interface GapEntry {
  readonly kind: "adjustment";
  /** The last of the numbers. */
  readonly seq: number;
  readonly firstSeq: number;
  readonly amountMicroUsd: number;
  /** The org's balance after the last of them. */
  readonly balanceMicroUsd: number;
  /** That of the entry before them; of the one behind them where there is none before. */
  readonly createdAtMs: number;
  readonly refType: typeof GAP_REF;
  /** Names the org and the numbers: the same each time that they are shown. */
  readonly refId: string;
}

/** `refType` of an entry that stands for others; nothing is posted with it. */
export const GAP_REF = "missing_entries";

export type ShownEntry = LedgerEntry | GapEntry;

/** A page. What is missing in it is neither listed nor known to be gone. */
export interface LedgerList extends MayLackCalls {
  /** Newest first. */
  readonly entries: readonly ShownEntry[];
}

/** The part of an entry that its neighbours in the list are compared with. */
export type Known = Pick<LedgerEntry, "seq" | "amountMicroUsd" | "balanceMicroUsd" | "createdAtMs">;

/** Above an entry that is there. */
export const aboveOf = ({ amountMicroUsd, balanceMicroUsd, createdAtMs }: Known): Above => ({
  balanceMicroUsd: balanceMicroUsd - amountMicroUsd,
  createdAtMs,
});

/** A number, and the balance after its entry. */
export interface Mark {
  readonly seq: number;
  readonly balanceMicroUsd: number;
}

/** An entry, as far as what is below it follows from it. */
export interface Above {
  /** The balance before it. */
  readonly balanceMicroUsd: number;
  /** 0 where there is no entry yet. */
  readonly createdAtMs: number;
}

/** Entries of an org that were found, newest first. */
export interface Stretch<E extends Known = LedgerEntry> {
  readonly orgId: string;
  /** They are below this number. */
  readonly below: number;
  /** What is known of the entry of that number; undefined where it is missing too, and the numbers below it belong to its gap. */
  readonly above: Above | undefined;
  readonly entries: readonly E[];
  /** There are none below the last one. */
  readonly isToEnd: boolean;
}

export const isGap = (entry: ShownEntry): entry is GapEntry => "firstSeq" in entry;

/** The next page has the entries below this number. */
export const pageEnd = (entry: ShownEntry): number => (isGap(entry) ? entry.firstSeq : entry.seq);

/**
 * An entry for each run of numbers that a stretch lacks, newest first; a run that goes on below the stretch is not among them.
 * @param mark a run that it is in is two: what is up to it, and what is above
 */
export function gapsIn(stretch: Stretch<Known>, mark?: Mark): GapEntry[] {
  const { orgId, entries, isToEnd } = stretch;
  const gaps: GapEntry[] = [];
  let above = stretch.above && { ...stretch.above, seq: stretch.below };
  const add = (firstSeq: number, last: Mark, before: number, createdAtMs: number) => {
    const { seq, balanceMicroUsd } = last;
    if (firstSeq > seq) return;
    const refId = `${orgId}:${firstSeq}-${seq}`;
    const amountMicroUsd = balanceMicroUsd - before;
    gaps.push({
      kind: "adjustment",
      seq,
      firstSeq,
      amountMicroUsd,
      balanceMicroUsd,
      createdAtMs,
      refType: GAP_REF,
      refId,
    });
  };
  const look = (older: Mark, atMs: number) => {
    if (above === undefined) return;
    const last = { seq: above.seq - 1, balanceMicroUsd: above.balanceMicroUsd };
    const isIn = mark !== undefined && mark.seq > older.seq && mark.seq < last.seq;
    if (isIn) add(mark.seq + 1, last, mark.balanceMicroUsd, atMs);
    add(older.seq + 1, isIn ? mark : last, older.balanceMicroUsd, atMs);
  };
  for (const entry of entries) {
    look(entry, entry.createdAtMs);
    above = { ...aboveOf(entry), seq: entry.seq };
  }
  if (isToEnd) look({ seq: 0, balanceMicroUsd: 0 }, above?.createdAtMs ?? 0);
  return gaps;
}

export interface Page {
  readonly entries: readonly ShownEntry[];
  /** Numbers are missing in it that are above the mark. */
  readonly isLacking: boolean;
}

/** @param gaps of the stretch that the entries are of; those up to the mark are gone, and shown */
export function pageOf(
  entries: readonly LedgerEntry[],
  gaps: readonly GapEntry[],
  { limit, kind }: Pick<LedgerPage, "limit" | "kind">,
  mark: Mark | undefined,
): Page {
  const shown: ShownEntry[] = [];
  let isLacking = false;
  for (const entry of [...entries, ...gaps].sort((one, other) => other.seq - one.seq)) {
    if (isGap(entry) && entry.seq > (mark?.seq ?? 0)) isLacking = true;
    else if (kind === undefined || entry.kind === kind) {
      shown.push(entry);
      if (shown.length >= limit) break;
    }
  }
  return { entries: shown, isLacking };
}
