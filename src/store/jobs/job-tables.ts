/**
 * The rows of jobs and the indexes that must match them. Every method that writes must be called in an act.
 */
import type { Range, Store, Table } from "../store.ts";
import { laneOf } from "./interruption.ts";
import type { JobRow } from "./job.ts";

/** A waiting job, as the indexes of due times name it. */
export interface DueJob {
  readonly kind: string;
  readonly lane: string;
  readonly dueMs: number;
  readonly key: string;
}

type DueKey = [kind: string, lane: string, dueMs: number, key: string];
type TimeKey = [kind: string, dueMs: number, lane: string, key: string];
export type GivenUpKey = readonly [atMs: number, kind: string, key: string];

export class JobTables {
  /** [kind, key]. */
  readonly #rows: Table<JobRow>;
  /** [kind, lane, due, key] of waiting jobs: one lane is read without the others. */
  readonly #due: Table<true>;
  /** [kind, due, lane, key] of waiting jobs: what is due is at the front, whatever waits behind it. */
  readonly #times: Table<true>;
  /** [kind, key] → holder, of running jobs. */
  readonly #running: Table<string>;
  /** [given up at, kind, key]. */
  readonly #givenUp: Table<true>;

  constructor(store: Store) {
    this.#rows = store.table("jobs.rows");
    this.#due = store.table("jobs.due");
    this.#times = store.table("jobs.times");
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
    if (row.state === "waiting") {
      this.#due.put([row.kind, laneOf(row), row.dueMs, row.key], true);
      this.#times.put([row.kind, row.dueMs, laneOf(row), row.key], true);
    } else if (row.state === "running") this.#running.put([row.kind, row.key], row.holder);
    else this.#givenUp.put([row.dueMs, row.kind, row.key], true);
  }

  remove(row: JobRow): void {
    this.#unlist(row);
    this.#rows.remove([row.kind, row.key]);
  }

  #unlist(row: JobRow): void {
    if (row.state === "waiting") {
      this.#due.remove([row.kind, laneOf(row), row.dueMs, row.key]);
      this.#times.remove([row.kind, row.dueMs, laneOf(row), row.key]);
    } else if (row.state === "running") this.#running.remove([row.kind, row.key]);
    else this.#givenUp.remove([row.dueMs, row.kind, row.key]);
  }

  /** Waiting jobs of one lane, soonest first. */
  *dueIn(kind: string, lane: string, limit: number): Generator<DueJob> {
    for (const { key } of this.#due.range({ start: [kind, lane], end: [kind, lane, PAST_TIMES], limit }))
      yield dueOf(key as DueKey);
  }

  /** Waiting jobs of all lanes, soonest first. @param after the last one of the read before */
  *dueOf(kind: string, after: DueJob | undefined, limit: number): Generator<DueJob> {
    const start = after === undefined ? [kind] : [kind, after.dueMs, after.lane, after.key];
    // One more, for the one that the read begins with.
    for (const { key } of this.#times.range({ start, end: [kind, PAST_TIMES], limit: limit + 1 })) {
      const [, dueMs, lane, id] = key as TimeKey;
      if (dueMs === after?.dueMs && lane === after.lane && id === after.key) continue;
      yield { kind, lane, dueMs, key: id };
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
  *givenUp(before?: GivenUpKey): Generator<JobRow> {
    for (const [, kind, key] of this.givenUpKeys(before, { reverse: true })) {
      const row = this.row(kind, key);
      if (row !== undefined) yield row;
    }
  }

  /** Every job of all orgs, in the order of kinds, strictly after `after`. Read lazily. */
  *after(after: readonly [kind: string, key: string] = ["", ""]): Generator<JobRow> {
    const [kind, key] = after;
    for (const { value } of this.#rows.range({ start: [kind, key] }))
      if (value.kind !== kind || value.key !== key) yield value;
  }

  /** Every job of a kind. Read lazily. */
  *ofKind(kind: string): Generator<JobRow> {
    for (const row of this.after([kind, ""])) {
      if (row.kind !== kind) return;
      yield row;
    }
  }

  /** Calls for each waiting job that was added (true) or removed (false), after the commit. */
  watchDue(changed: (job: DueJob, isAdded: boolean) => void): void {
    this.#due.watch((key, row) => changed(dueOf(key as DueKey), row !== undefined));
  }

  /** Calls for each job that was given up (true) or is so no more (false), after the commit. */
  watchGivenUp(changed: (key: GivenUpKey, isAdded: boolean) => void): void {
    this.#givenUp.watch((key, row) => changed(key as unknown as GivenUpKey, row !== undefined));
  }

  /** Oldest first unless the range says otherwise. @param after the last one of the read before; a limit counts it, too */
  *givenUpKeys(
    after: GivenUpKey | undefined,
    range: Pick<Range, "limit" | "reverse">,
  ): Generator<GivenUpKey> {
    const start = after === undefined ? {} : { start: [...after] };
    for (const { key } of this.#givenUp.range({ ...start, ...range })) {
      const found = key as unknown as GivenUpKey;
      if (after === undefined || found.some((part, i) => part !== after[i])) yield found;
    }
  }
}

/** Later than any due time. */
const PAST_TIMES = Number.MAX_SAFE_INTEGER;

const dueOf = ([kind, lane, dueMs, key]: DueKey): DueJob => ({ kind, lane, dueMs, key });
