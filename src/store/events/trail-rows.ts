/** Rows that tell of the past of orgs, each kept for some days: events, and the audit. */
import type { Clock } from "../../base/clock.ts";
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

export class TrailRows<R extends TrailRow> {
  /** [org id, row id]; ids sort by time. */
  readonly #rows: ExpiringTable<R>;

  /** @param keptDays days for which a row stays after its own */
  constructor({ store, clock, onFailure }: TrailOptions, rows: string, periods: string, keptDays: number) {
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
