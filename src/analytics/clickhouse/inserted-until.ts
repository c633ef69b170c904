/** How complete a read of records is: until when this gateway's records are in ClickHouse. */
import type { Clock } from "../../base/clock.ts";

/**
 * Waits until the records made so far are in ClickHouse. Resolves with the time from which calls may be missing, milliseconds since
 * 1970 (0: any may), undefined where none is. @throws WeirError `analytics_unavailable`
 */
export type WaitForInserts = () => Promise<number | undefined>;

/** Rows on their way to ClickHouse, numbered in the order in which calls made them. */
export interface Way {
  newest(): number;
  /** Rows up to this number are in ClickHouse. */
  acknowledged(): number;
}

/**
 * Rows that go by two queues: they leave the first only when the second has them.
 * @param second has rows of others too, and numbers of its own
 */
export function byTwo(first: Way, second: Way): Way {
  let done = 0;
  /** Rows of the first up to `row` are among those of the second up to `behind`, which are not all in ClickHouse yet. */
  let waited: { readonly row: number; readonly behind: number } | undefined;
  return {
    newest: () => first.newest(),
    acknowledged() {
      const inserted = second.acknowledged();
      if (waited !== undefined && inserted >= waited.behind) {
        done = waited.row;
        waited = undefined;
      }
      const now = { row: first.acknowledged(), behind: second.newest() };
      if (inserted >= now.behind) done = now.row;
      else waited ??= now;
      return done;
    },
  };
}

export class InsertedUntil {
  readonly #way: Way;
  readonly #clock: Pick<Clock, "now">;
  /** The newest row at a time; it is not in ClickHouse yet. */
  #waited: { readonly number: number; readonly atMs: number } | undefined;
  #untilMs = 0;

  constructor(way: Way, clock: Pick<Clock, "now">) {
    this.#way = way;
    this.#clock = clock;
    this.untilMs();
  }

  /**
   * Calls that ended before have their rows in ClickHouse: milliseconds since 1970; 0 while that is not known, because an earlier
   * process left some. As exact as it is called often.
   */
  untilMs(): number {
    const acknowledged = this.#way.acknowledged();
    if (this.#waited !== undefined && acknowledged >= this.#waited.number) {
      this.#untilMs = this.#waited.atMs;
      this.#waited = undefined;
    }
    const newest = { number: this.#way.newest(), atMs: this.#clock.now() };
    if (acknowledged >= newest.number) this.#untilMs = newest.atMs;
    else this.#waited ??= newest;
    return this.#untilMs;
  }

  /** Whether all rows are there. */
  isDone(): boolean {
    return this.#way.acknowledged() >= this.#way.newest();
  }
}
