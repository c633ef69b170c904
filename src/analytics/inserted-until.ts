/** How complete a read of records is: until when this gateway's records are in ClickHouse. */
import type { Clock } from "../clock.ts";
import type { Outbox } from "./outbox.ts";

/**
 * Waits until the records made so far are in ClickHouse. Resolves with the time from which calls may be missing, milliseconds since
 * 1970 (0: any may), undefined where none is. @throws WeirError `analytics_unavailable`
 */
export type WaitForInserts = () => Promise<number | undefined>;

export class InsertedUntil {
  readonly #outbox: Pick<Outbox, "newest" | "acknowledged">;
  readonly #clock: Pick<Clock, "now">;
  /** The newest record at a time; it is not in ClickHouse yet. */
  #waited: { readonly number: number; readonly atMs: number } | undefined;
  #untilMs = 0;

  constructor(outbox: Pick<Outbox, "newest" | "acknowledged">, clock: Pick<Clock, "now">) {
    this.#outbox = outbox;
    this.#clock = clock;
    this.untilMs();
  }

  /**
   * Calls that ended before have their records in ClickHouse: milliseconds since 1970; 0 while that is not known, because an earlier
   * process left some. As exact as it is called often.
   */
  untilMs(): number {
    const acknowledged = this.#outbox.acknowledged();
    if (this.#waited !== undefined && acknowledged >= this.#waited.number) {
      this.#untilMs = this.#waited.atMs;
      this.#waited = undefined;
    }
    const newest = { number: this.#outbox.newest(), atMs: this.#clock.now() };
    if (acknowledged >= newest.number) this.#untilMs = newest.atMs;
    else this.#waited ??= newest;
    return this.#untilMs;
  }

  /** Whether all records are there. */
  isDone(): boolean {
    return this.#outbox.acknowledged() >= this.#outbox.newest();
  }
}
