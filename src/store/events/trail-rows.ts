/** Rows that tell of the past of orgs, each kept for some days: events, and the audit. */
import type { Clock } from "../../base/clock.ts";
import { firstIdAt, type IdPrefix } from "../../base/ids.ts";
import type { Store } from "../store.ts";
import { type ExpiringTable, openExpiringTable } from "../tables/expiring-table.ts";

export interface TrailOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** For the operator's log. @param what in words: what does not happen, or happens later */
  readonly onFailure: (error: unknown, what: string) => void;
}

export interface TrailRow {
  readonly id: string;
  readonly orgId: string;
  readonly createdAtMs: number;
}

/** Milliseconds since 1970; an absent end leaves that side open. */
export interface TimeSpan {
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
}

export interface TrailTables {
  readonly prefix: IdPrefix;
  /** Names of the two tables. */
  readonly rows: string;
  readonly periods: string;
  /** Days for which a row stays after its own. */
  readonly keptDays: number;
}

/** An id may tell of an instant that is later than its row's, by less than this: see `base/ids.ts`. */
const IDS_AHEAD_MS = 1001;

export class TrailRows<R extends TrailRow> {
  readonly #prefix: IdPrefix;
  /** [org id, row id]; ids sort by time. */
  readonly #rows: ExpiringTable<R>;

  constructor({ store, clock, onFailure }: TrailOptions, { prefix, rows, periods, keptDays }: TrailTables) {
    this.#prefix = prefix;
    this.#rows = openExpiringTable({
      rows,
      periods,
      keepPeriods: keptDays,
      store,
      clock,
      onFailure: (error) => onFailure(error, "what is old could not be forgotten; it is tried again"),
    });
  }

  /** Only in an act. */
  protected put(row: R): void {
    this.#rows.put([row.orgId, row.id], row, row.createdAtMs);
  }

  get(orgId: string, id: string): R | undefined {
    return this.#rows.get([orgId, id]);
  }

  /** Newest first, strictly older than `before`. Read lazily. */
  of(orgId: string, before?: string): Iterable<R> {
    return this.#rows.members([orgId], before);
  }

  /** The rows of a span, newest first, strictly older than `before`. Read lazily: what is outside of the span is not read. */
  *within(orgId: string, { since, until }: TimeSpan, before?: string): Generator<R> {
    const last = until === undefined ? undefined : firstIdAt(this.#prefix, until + IDS_AHEAD_MS);
    const first = since === undefined ? "" : firstIdAt(this.#prefix, since);
    const start = before !== undefined && last !== undefined && last < before ? last : (before ?? last);
    for (const row of this.of(orgId, start)) {
      if (row.id < first) return;
      const isIn = (since ?? row.createdAtMs) <= row.createdAtMs && row.createdAtMs < (until ?? Infinity);
      if (isIn) yield row;
    }
  }

  /** Tells of each row that was put, once it is committed; in a cell, of those of other cells too. */
  watch(put: (row: R) => void): void {
    this.#rows.watch(put);
  }

  /** Only in an act: an org's rows hold names and addresses, and go when it is erased. @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    return this.#rows.removeMembers([orgId], most);
  }

  /** Forgets what is old. */
  sweep(): Promise<void> {
    return this.#rows.sweep();
  }

  close(): void {
    this.#rows.close();
  }
}
