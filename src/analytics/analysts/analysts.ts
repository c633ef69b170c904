/**
 * Users of the analytics database, one row each. What the database lets in follows from the rows: it is told the users that
 * may read now at the start, at each change, and as they expire. Methods that write must be called in an act.
 */
import type { Clock } from "../../base/clock.ts";
import type { Store, Table } from "../../store/store.ts";

export interface AnalystRow {
  readonly id: string;
  /** Whose owner made it; empty for one of all orgs, which an operator made. */
  readonly orgId: string;
  readonly name: string;
  readonly username: string;
  /** SHA-256 of the password, hex. */
  readonly digest: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export class Analysts {
  /** [org id, analyst id]. */
  readonly #rows: Table<AnalystRow>;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#rows = store.table("analytics.users");
    this.#clock = clock;
  }

  get(orgId: string, id: string): AnalystRow | undefined {
    return this.#rows.get([orgId, id]);
  }

  /** Oldest first. */
  of(orgId: string): AnalystRow[] {
    const range = { start: [orgId], end: [orgId, "\uffff"] };
    return Array.from(this.#rows.range(range), ({ value }) => value);
  }

  /** Those that have not expired, of every org that may be read. @param isOpen whether people of an org may read */
  live(isOpen: (orgId: string) => boolean): AnalystRow[] {
    const nowMs = this.#clock.now();
    return Array.from(this.#rows.range({}), ({ value }) => value).filter(
      ({ orgId, expiresAtMs }) => expiresAtMs > nowMs && (orgId === "" || isOpen(orgId)),
    );
  }

  put(row: AnalystRow): void {
    this.#rows.put([row.orgId, row.id], row);
  }

  remove({ orgId, id }: AnalystRow): void {
    this.#rows.remove([orgId, id]);
  }

  watch(changed: () => void): void {
    this.#rows.watch(changed);
  }

  /** @returns whether more are left */
  erase(orgId: string, most: number): boolean {
    const rows = this.of(orgId);
    for (const row of rows.slice(0, most)) this.remove(row);
    return rows.length > most;
  }
}
