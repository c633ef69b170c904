/**
 * The rows of jobs and the indexes that must match them. Every method that writes must be called in an act.
 */
import type { Store, Table } from "../store/store.ts";
import type { JobRow } from "./job.ts";

/** A waiting job, as the index of due times names it. */
export interface DueJob {
  readonly kind: string;
  readonly lane: string;
  readonly dueMs: number;
  readonly key: string;
}

type DueKey = [kind: string, lane: string, dueMs: number, key: string];

export class JobTables {
  /** [kind, key]. */
  readonly #rows: Table<JobRow>;
  /** [kind, lane, due, key] of waiting jobs. */
  readonly #due: Table<true>;
  /** [kind, key] → holder, of running jobs. */
  readonly #running: Table<string>;
  /** [given up at, kind, key]. */
  readonly #givenUp: Table<true>;

  constructor(store: Store) {
    this.#rows = store.table("jobs.rows");
    this.#due = store.table("jobs.due");
    this.#running = store.table("jobs.running");
    this.#givenUp = store.table("jobs.given_up");
  }

  row(kind: string, key: string): JobRow | undefined {
    return this.#rows.get([kind, key]);
  }

  /**
   * Writes the row, and moves it from the index of its former state to that of its new one.
   * @throws RangeError where its due time is none: no range of the index would ever find it
   */
  put(row: JobRow): void {
    if (!(Math.abs(row.dueMs) < PAST_TIMES)) throw new RangeError(`${row.dueMs} is no due time`);
    const before = this.row(row.kind, row.key);
    if (before !== undefined) this.#unlist(before);
    this.#rows.put([row.kind, row.key], row);
    if (row.state === "waiting") this.#due.put([row.kind, row.lane, row.dueMs, row.key], true);
    else if (row.state === "running") this.#running.put([row.kind, row.key], row.holder);
    else this.#givenUp.put([row.dueMs, row.kind, row.key], true);
  }

  remove(row: JobRow): void {
    this.#unlist(row);
    this.#rows.remove([row.kind, row.key]);
  }

  #unlist(row: JobRow): void {
    if (row.state === "waiting") this.#due.remove([row.kind, row.lane, row.dueMs, row.key]);
    else if (row.state === "running") this.#running.remove([row.kind, row.key]);
    else this.#givenUp.remove([row.dueMs, row.kind, row.key]);
  }

  /** Of one lane, soonest first. */
  *dueIn(kind: string, lane: string, limit: number): Generator<DueJob> {
    for (const { key } of this.#due.range({ start: [kind, lane], end: [kind, lane, PAST_TIMES], limit }))
      yield dueOf(key as DueKey);
  }

  /** The first job of each lane. Steps from lane to lane, so that many jobs in one cost nothing. */
  *firstOfLanes(): Generator<DueJob> {
    for (let start: (string | number)[] = []; ; ) {
      const [row] = [...this.#due.range({ start, limit: 1 })];
      if (row === undefined) return;
      const job = dueOf(row.key as DueKey);
      yield job;
      start = [job.kind, job.lane, PAST_TIMES];
    }
  }

  /** @param isWanted by holder */
  running(isWanted: (holder: string) => boolean): JobRow[] {
    const rows: JobRow[] = [];
    for (const { key, value } of this.#running.range()) {
      const row = isWanted(value) ? this.row(...(key as [string, string])) : undefined;
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** Newest first. @param before [given up at, kind, key] of the page before */
  *givenUp(before?: readonly [number, string, string]): Generator<JobRow> {
    const start = before === undefined ? {} : { start: [...before] };
    for (const { key } of this.#givenUp.range({ ...start, reverse: true })) {
      const [atMs, kind, id] = key as [number, string, string];
      if (before !== undefined && atMs === before[0] && kind === before[1] && id === before[2]) continue;
      const row = this.row(kind, id);
      if (row !== undefined) yield row;
    }
  }

  /** Every job of an org, in the order of kinds. Read lazily: it looks at the jobs of all orgs. */
  *ofOrg(orgId: string): Generator<JobRow> {
    for (const { value } of this.#rows.range()) if (value.orgId === orgId) yield value;
  }

  /** Calls for each waiting job that was added (true) or removed (false), after the commit. */
  watchDue(changed: (job: DueJob, isAdded: boolean) => void): void {
    this.#due.watch((key, row) => changed(dueOf(key as DueKey), row !== undefined));
  }

  /** Calls for each job that was given up (true) or is so no more (false), after the commit. */
  watchGivenUp(changed: (isAdded: boolean) => void): void {
    this.#givenUp.watch((_, row) => changed(row !== undefined));
  }

  countGivenUp(): number {
    let count = 0;
    for (const _ of this.#givenUp.range()) count++;
    return count;
  }
}

/** Later than any due time. */
const PAST_TIMES = Number.MAX_SAFE_INTEGER;

const dueOf = ([kind, lane, dueMs, key]: DueKey): DueJob => ({ kind, lane, dueMs, key });
