/**
 * The ledger's tables: entries by [org, seq], and two small indexes of posted (non-settle) entries only, so that a
 * settle costs one put. Reads see committed rows; `accounts.ts` has uncommitted ones.
 */
import type { Store } from "../../store/store.ts";
import {
  codeOf,
  entryOf,
  type LedgerEntry,
  type LedgerKind,
  POSTED_KINDS,
  type PostedEntry,
  type PostedKind,
  type StoredEntry,
  storedEntry,
} from "./entry.ts";

export interface LedgerPage {
  /** Only entries older than this `seq`. */
  readonly before?: number | undefined;
  /** One or more. */
  readonly limit: number;
  readonly kind?: LedgerKind | undefined;
}

interface SeqBounds {
  readonly after?: number;
  readonly upTo?: number;
}

export interface Ledger {
  newest(orgId: string): LedgerEntry | undefined;
  /** Newest first. */
  page(orgId: string, page: LedgerPage): LedgerEntry[];
  byReference(orgId: string, refType: string, refId: string): PostedEntry | undefined;
  /** Sum of the amounts of one posted kind, of entries with a `seq` above one and up to another; default all. */
  sumOf(orgId: string, kind: PostedKind, bounds?: SeqBounds): number;
  /** Entries that are not settles with a greater `seq`, oldest first. @param most at once; default all */
  postedAfter(orgId: string, seq: number, most?: number): PostedEntry[];
  /** Only inside a store write. */
  put(orgId: string, entry: LedgerEntry): void;
}

const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Names of the three tables. */
export interface LedgerTables {
  readonly entries: string;
  readonly references: string;
  readonly kinds: string;
}

const TABLES: LedgerTables = { entries: "ledger", references: "ledger.references", kinds: "ledger.kinds" };

export function openLedger(store: Store, tables = TABLES): Ledger {
  const entries = store.table<StoredEntry>(tables.entries);
  /** [org, refType, refId] → seq: detects repeated postings. */
  const references = store.table<number>(tables.references);
  /** [org, kind code, seq] → nothing: lists a rare kind without reading a million settles. */
  const kinds = store.table<0>(tables.kinds);

  /** An indexed entry; only posted entries are indexed. */
  const postedAt = (orgId: string, seq: number): PostedEntry => {
    const stored = entries.get([orgId, seq]);
    const entry = stored && entryOf(seq, stored);
    if (entry === undefined || entry.kind === "settle") {
      throw new Error(`ledger of ${orgId}: entry ${seq} is indexed but not there`);
    }
    return entry;
  };
  const seqOf = (key: unknown): number => (key as [...unknown[], number]).at(-1) as number;

  function* newestFirst(orgId: string, before: number): Generator<LedgerEntry> {
    const range = { start: [orgId, before - 1], end: [orgId, 0], reverse: true };
    for (const { key, value } of entries.range(range)) yield entryOf(seqOf(key), value);
  }
  function* ofKind(orgId: string, kind: PostedKind, before: number): Generator<PostedEntry> {
    const code = codeOf(kind);
    const range = { start: [orgId, code, before - 1], end: [orgId, code, 0], reverse: true };
    for (const { key } of kinds.range(range)) yield postedAt(orgId, seqOf(key));
  }

  return {
    newest(orgId) {
      for (const entry of newestFirst(orgId, AFTER_ALL)) return entry;
      return undefined;
    },
    page(orgId, { before = AFTER_ALL, limit, kind }) {
      const found: LedgerEntry[] = [];
      // Settles are not indexed: nearly every entry is one, so scanning the ledger finds a page of them at once.
      const indexed = kind !== undefined && kind !== "settle";
      for (const entry of indexed ? ofKind(orgId, kind, before) : newestFirst(orgId, before)) {
        if (kind !== undefined && entry.kind !== kind) continue;
        if (found.push(entry) >= limit) break;
      }
      return found;
    },
    byReference(orgId, refType, refId) {
      const seq = references.get([orgId, refType, refId]);
      return seq === undefined ? undefined : postedAt(orgId, seq);
    },
    sumOf: (orgId, kind, { after = 0, upTo = AFTER_ALL - 1 } = {}) =>
      sumAbove(ofKind(orgId, kind, upTo + 1), after),
    postedAfter(orgId, seq, most) {
      const found = POSTED_KINDS.flatMap((kind) => {
        const code = codeOf(kind);
        const range = { start: [orgId, code, seq + 1], end: [orgId, code, AFTER_ALL] };
        const limited = most === undefined ? range : { ...range, limit: most };
        return Array.from(kinds.range(limited), ({ key }) => seqOf(key));
      });
      const seqs = found.sort((a, b) => a - b).slice(0, most);
      return seqs.map((at) => postedAt(orgId, at));
    },
    put(orgId, entry) {
      entries.put([orgId, entry.seq], storedEntry(entry));
      if (entry.kind === "settle") return;
      references.put([orgId, entry.refType, entry.refId], entry.seq);
      kinds.put([orgId, codeOf(entry.kind), entry.seq], 0);
    },
  };
}

/** @param entries newest first, read until the first one that does not count */
function sumAbove(entries: Iterable<LedgerEntry>, after: number): number {
  let sum = 0;
  for (const { seq, amountMicroUsd } of entries) {
    if (seq <= after) break;
    sum += amountMicroUsd;
  }
  return sum;
}
