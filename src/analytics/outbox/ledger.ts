/**
 * The ledgers of orgs in ClickHouse, of an installation of several cells: each cell puts the entries of its calls once it knows their
 * numbers, and any cell lists an org's. An entry waits in a queue on disk until ClickHouse has it; nothing is dropped. An entry may
 * be put twice, by two cells as well: the table keeps one row for each number of an org.
 */
import { LEDGER_KINDS, type LedgerEntry, type LedgerKind } from "../../credits/ledger/entry.ts";
import type { Store } from "../../store/store.ts";
import { LIMITS, type QueryBudget, type Reader } from "../clickhouse/query-budget.ts";
import { type Batches, BatchQueue } from "./batch-queue.ts";
import {
  decodedEntry,
  encodeEntry,
  entriesNotIn,
  insertable,
  LEDGER_COLUMNS,
  type OrgEntry,
} from "./ledger-rows.ts";
import type { Spool } from "./spool.ts";
import { type TableSpoolDeps, tableSpool } from "./table-spool.ts";

export interface AnalyticsLedgerDeps extends Omit<TableSpoolDeps, "queue"> {
  readonly store: Store;
  readonly budget: QueryBudget;
}

export interface EntriesPage {
  /** Only entries with a smaller `seq`. */
  readonly before?: number | undefined;
  /** One or more. */
  readonly limit: number;
  readonly kind?: LedgerKind | undefined;
}

/** The part of an entry that tells where a hole begins or ends; one with `seq` 0 and no amount lies below the first entry. */
type Edge = Pick<LedgerEntry, "seq" | "amountMicroUsd" | "balanceMicroUsd" | "createdAtMs">;

export interface Hole {
  readonly newer: Edge;
  readonly older: Edge;
}

interface HolesPage {
  readonly before: number;
  /** An entry that is there, and below which nothing is looked for. Default: 0, none. */
  readonly from?: number;
  readonly limit: number;
}

interface AnalyticsLedgerMetrics {
  readonly pending: number;
  readonly inserted: number;
  readonly insertFailures: number;
  /** Rows that could not be read and were moved to a table of their own. */
  readonly setApart: number;
}

/** Figures of its queue are those of this cell's entries, counted from 1 on by all of its processes. */
export interface AnalyticsLedger
  extends Pick<Spool, "flush" | "hold">,
    Pick<Batches, "pending" | "newest" | "acknowledged"> {
  /**
   * Call it only inside an act that changes no shared rows. An entry that was put before may be put again, with the same values.
   * @throws RangeError for an entry whose numbers are no safe integers, or without an org
   */
  put(entries: readonly OrgEntry[]): void;
  /**
   * Newest first: those that ClickHouse has. Entries that this cell put are waited for, a second at most; those of other cells are
   * there once these have flushed.
   * @throws WeirError `analytics_unavailable`, `query_too_large`, `concurrency`
   */
  entriesOf(orgId: string, page: EntriesPage): Promise<LedgerEntry[]>;
  /**
   * Newest first: where numbers are missing in ClickHouse below one, between an entry that is there and the next older one.
   * @throws WeirError as `entriesOf`
   */
  holesOf(orgId: string, page: HolesPage): Promise<Hole[]>;
  metrics(): AnalyticsLedgerMetrics;
  /** Inserts pending entries for at most `withinMs` if ClickHouse is reachable, then stops. Others wait for the next start. */
  stop(withinMs: number): Promise<void>;
}

/** Name of the queue's log. */
const QUEUE = "ledger_rows";
/** A list waits this long for entries that were put just before it. */
const CATCH_UP_MS = 1000;
/**
 * ClickHouse counts all entries of the org against a bound of rows, also where it stops reading after a page: so there is none. A
 * page of a rare kind reads the index of kinds, a few bytes for each 8192 entries.
 */
const PAGE_LIMITS = Object.freeze({ ...LIMITS, readRows: 0 });

export function openAnalyticsLedger(deps: AnalyticsLedgerDeps): AnalyticsLedger {
  const { store, clickhouse, budget } = deps;
  const queue = new BatchQueue({ store, name: QUEUE });
  const apart = store.bytes(`${QUEUE}_apart`);
  let setApart = 0;
  /** A batch is decoded again each time that it is tried. */
  let lastApart = "";
  const spool = tableSpool<OrgEntry>(
    { ...deps, queue },
    {
      table: "ledger",
      columns: LEDGER_COLUMNS,
      what: "ledger entries",
      tokenPrefix: "weir-ledger",
      bounds: { rows: 10_000, bytes: 8 * 1024 * 1024 },
      decoded: decodedEntry,
      encoded: insertable,
      missing: (entries) => entriesNotIn(clickhouse, entries),
      async leftOut({ token }, rows) {
        const act = () => {
          for (const [at, bytes] of rows.entries()) apart.put([token, at], bytes);
        };
        await store.act(act, { isOwed: true });
        if (token !== lastApart) setApart += rows.length;
        lastApart = token;
      },
    },
  );
  // A gateway alone puts none: nothing looks for entries there.
  if (queue.pending() > 0) spool.start();
  return {
    put(entries) {
      for (const entry of entries) queue.put(encodeEntry(entry));
      if (entries.length > 0) spool.start();
    },
    async entriesOf(orgId, page) {
      // If they are not all inserted in time, the list has those that are.
      await spool.flush(CATCH_UP_MS, { ifReachable: true });
      return await entriesOf(budget.of(orgId, { limits: PAGE_LIMITS }), orgId, page);
    },
    async holesOf(orgId, page) {
      await spool.flush(CATCH_UP_MS, { ifReachable: true });
      return await holesOf(budget.of(orgId, { limits: PAGE_LIMITS }), orgId, page);
    },
    pending: () => queue.pending(),
    newest: () => queue.newest(),
    acknowledged: () => queue.acknowledged(),
    flush: (withinMs, options) => spool.flush(withinMs, options),
    hold: (withinMs) => spool.hold(withinMs),
    metrics() {
      const { rows, failures } = spool.counts();
      return { pending: queue.pending(), inserted: rows, insertFailures: failures, setApart };
    },
    async stop(withinMs) {
      await spool.flush(withinMs, { ifReachable: true });
      await spool.stop(withinMs);
    },
  };
}

/**
 * Two statements for a page. With FINAL, ClickHouse would read all older entries of the org before it has the newest ones: so their
 * numbers are read first, without it, in the order of the primary key. A number that is there twice remains once, and as many
 * more are read.
 */
async function entriesOf(
  reader: Pick<Reader, "rows">,
  org: string,
  { before = Number.MAX_SAFE_INTEGER, limit, kind }: EntriesPage,
): Promise<LedgerEntry[]> {
  const seqs = new Set<number>();
  let [below, isEnd] = [before, false];
  while (seqs.size < limit && !isEnd) {
    const asked = limit - seqs.size;
    const params = { org, below, asked, ...(kind !== undefined && { kind }) };
    const found = await reader.rows<{ seq: number }>(seqsBelow(kind), params);
    for (const { seq } of found) seqs.add(seq);
    isEnd = found.length < asked;
    below = found.at(-1)?.seq ?? 0;
  }
  if (seqs.size === 0) return [];
  const rows = await reader.rows<EntryRow>(ENTRIES, { org, seqs: [...seqs] });
  return rows.map(entryOfRow);
}

/** `ORDER BY` is the primary key's, backwards: ClickHouse then begins with the newest and reads no more than it takes. */
const seqsBelow = (kind: LedgerKind | undefined): string => `
  SELECT seq FROM ledger
  WHERE org_id = {org:String} AND seq < {below:UInt64} ${kind === undefined ? "" : "AND kind = {kind:String}"}
  ORDER BY org_id DESC, seq DESC LIMIT {asked:UInt32}`;

/** On a cluster a number may be on two shards, which FINAL does not see. */
const ENTRIES = `
  SELECT seq, kind, amount_micro, balance_micro, toUnixTimestamp64Milli(ts) AS at_ms, request_id, ref_type, ref_id
  FROM ledger FINAL
  WHERE org_id = {org:String} AND seq IN {seqs:Array(UInt64)}
  ORDER BY seq DESC LIMIT 1 BY seq`;

async function holesOf(
  reader: Pick<Reader, "rows">,
  org: string,
  { before: below, from = 0, limit: asked }: HolesPage,
): Promise<Hole[]> {
  const rows = await reader.rows<Record<string, number>>(HOLES, { org, below, from, asked });
  const edge = (row: Record<string, number>, from: string): Edge => ({
    seq: row[`${from}_seq`] ?? 0,
    amountMicroUsd: row[`${from}_amount`] ?? 0,
    balanceMicroUsd: row[`${from}_balance`] ?? 0,
    createdAtMs: row[`${from}_ms`] ?? 0,
  });
  return rows.map((row) => ({ newer: edge(row, "newer"), older: edge(row, "older") }));
}

/**
 * Reads each entry of the org once, in the order of the primary key, and keeps none: a number that is there twice is no hole. Before
 * the first row there are zeros.
 */
const HOLES = `
  SELECT * FROM (
    SELECT seq AS newer_seq, amount_micro AS newer_amount, balance_micro AS newer_balance,
      toUnixTimestamp64Milli(ts) AS newer_ms, lagInFrame(newer_seq) OVER before AS older_seq,
      lagInFrame(newer_amount) OVER before AS older_amount, lagInFrame(newer_balance) OVER before AS older_balance,
      lagInFrame(newer_ms) OVER before AS older_ms
    FROM ledger WHERE org_id = {org:String} AND seq >= {from:UInt64} AND seq < {below:UInt64}
    WINDOW before AS (ORDER BY org_id, seq ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
  ) WHERE newer_seq > greatest(older_seq, {from:UInt64}) + 1
  ORDER BY newer_seq DESC LIMIT {asked:UInt32}`;

interface EntryRow {
  readonly seq: number;
  readonly kind: string;
  readonly amount_micro: number;
  readonly balance_micro: number;
  readonly at_ms: number;
  readonly request_id: string;
  readonly ref_type: string;
  readonly ref_id: string;
}

/** @throws Error for a kind that this release does not know */
function entryOfRow(row: EntryRow): LedgerEntry {
  const kind = LEDGER_KINDS.find((known) => known === row.kind);
  if (kind === undefined)
    throw new Error(
      `ledger entry ${row.seq} in ClickHouse has the unknown kind ${row.kind}: a later release wrote it, which must be run`,
    );
  const base = {
    seq: row.seq,
    amountMicroUsd: row.amount_micro,
    balanceMicroUsd: row.balance_micro,
    createdAtMs: row.at_ms,
  };
  return kind === "settle"
    ? { ...base, kind, requestId: row.request_id }
    : { ...base, kind, refType: row.ref_type, refId: row.ref_id };
}
