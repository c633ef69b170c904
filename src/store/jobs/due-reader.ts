/**
 * Reads the waiting jobs of a kind from the front of the index of due times, a slice at a time and never beyond now: what
 * waits for later costs nothing, however much it is. Each job that is due is read, or was told of when it was added.
 */
import type { DueJob } from "./job-tables.ts";

/** Rows of one read: below a millisecond. */
const SLICE = 256;

/** Waiting jobs, soonest first, strictly behind `after`. */
export type ReadDue = (after: DueJob | undefined, limit: number) => Iterable<DueJob>;

export class DueReader {
  readonly #read: ReadDue;
  #last: DueJob | undefined;
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(read: ReadDue) {
    this.#read = read;
  }

  /** When the soonest of the jobs is due that were neither read nor told; infinite: there is none. It may be too early. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** @returns jobs that are due, at most a slice of them: call again while `nextMs` is not in the future */
  read(nowMs: number): DueJob[] {
    if (this.#nextMs > nowMs) return [];
    const jobs: DueJob[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const job of this.#read(this.#last, SLICE + 1)) {
      if (jobs.length === SLICE || job.dueMs > nowMs) {
        nextMs = job.dueMs;
        break;
      }
      jobs.push(job);
    }
    // Only now: what a failing read did not come to is read again.
    this.#nextMs = nextMs;
    this.#last = jobs.at(-1) ?? this.#last;
    return jobs;
  }

  /** A job was added. @returns whether it lies before all that is still to be read: this reader may not come to it */
  told({ dueMs }: DueJob, nowMs: number): boolean {
    if (dueMs <= (this.#last?.dueMs ?? Number.NEGATIVE_INFINITY)) return true;
    if (dueMs <= nowMs && dueMs < this.#nextMs) return true;
    this.#nextMs = Math.min(this.#nextMs, dueMs);
    return false;
  }

  /** Another process may have added jobs without notice: reads again what is due since then. */
  again(kind: string, sinceMs: number): void {
    if (this.#last !== undefined && this.#last.dueMs > sinceMs)
      this.#last = { kind, lane: "", dueMs: sinceMs, key: "" };
    this.#nextMs = Number.NEGATIVE_INFINITY;
  }
}
