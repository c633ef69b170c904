/**
 * Jobs that ran when their process died. One of them may have killed it, and would kill the next one: it must be given up, and the
 * others must not. Those that met two such ends in a row run one at a time in a process, of all kinds together; from then on
 * the end of the process counts as a failed try, for it befalls the culprit again and again and others by chance.
 */
import type { JobRow } from "./job.ts";

/** Ends of the process in a row; after one alone, which is usually a kill from outside, all go on as before. */
const SUSPECT_FROM = 2;
/** Lane of the suspects of a kind; no lane of an org or a receiver is called that. */
export const SUSPECTS = "(suspects)";

export const isSuspect = ({ interrupted = 0 }: Pick<JobRow, "interrupted">): boolean =>
  interrupted >= SUSPECT_FROM;

/** The lane that a job waits in. */
export const laneOf = (row: Pick<JobRow, "interrupted" | "lane">): string =>
  isSuspect(row) ? SUSPECTS : row.lane;

/** What a running job becomes whose process is gone. @param waitMs after a try that counts */
export function afterInterruption(row: JobRow, nowMs: number, waitMs: () => number): JobRow {
  const counts = isSuspect(row);
  return {
    ...row,
    state: "waiting",
    interrupted: (row.interrupted ?? 0) + 1,
    tries: counts ? row.tries : row.tries - 1,
    dueMs: nowMs + (counts ? waitMs() : 0),
    error: "the process that ran it ended",
  };
}

/** The one place in which suspects run, of all kinds of this process. */
export class SuspectSlot {
  readonly #onFree: () => void;
  #isTaken = false;

  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  /** @returns false where another one runs */
  take(): boolean {
    if (this.#isTaken) return false;
    this.#isTaken = true;
    return true;
  }

  free(): void {
    this.#isTaken = false;
    this.#onFree();
  }
}
