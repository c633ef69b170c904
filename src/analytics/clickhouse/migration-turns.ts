/**
 * Turns at migrating one analytics database: of all gateways that start at once, one migrates and the others wait. ClickHouse has
 * no locks, but of all insertions with the same deduplication token it keeps one. A gateway takes turn N by inserting a row with the
 * token of N; if the row that is then read back is its own, it is the turn's holder. Once a holder has given no sign of life for a
 * while, another gateway takes the next turn. The former holder notices that before its next statement; a statement that is on
 * its way already still runs: see `rollup-fill.ts`.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";

export interface TurnTarget {
  command(sql: string): Promise<void>;
  rows<T>(sql: string): Promise<T[]>;
}

export interface TurnTimes {
  /** A holder that gave no sign of life for so long has lost its turn. The waiting gateway measures it by its own clock. */
  readonly lostAfterMs: number;
  /** A holder gives a sign of life this often, also while a statement of an hour runs. */
  readonly signEveryMs: number;
  /** Those who wait look this often. */
  readonly lookEveryMs: number;
}

export const TURN_TIMES: TurnTimes = Object.freeze({
  lostAfterMs: 20_000,
  signEveryMs: 3_000,
  lookEveryMs: 200,
});

export interface Turn {
  /** From 1; no two turns of a database have the same. */
  readonly number: number;
  /** @throws TurnLost if another holder has taken a later turn */
  check(): Promise<void>;
}

export class TurnLost extends Error {}

/** Holders of this process whose turns have ended, although ClickHouse could not be told: nothing has to be waited for. */
const endedUntold = new Set<string>();

interface Newest {
  readonly turn: number;
  readonly holder: string;
  readonly signs: number;
  readonly over: number;
}

const TABLE = `CREATE TABLE IF NOT EXISTS migration_turns
  (turn UInt64, holder String, sign UInt64, is_over Bool, at DateTime64(3, 'UTC') DEFAULT now64(3))
  ENGINE = MergeTree ORDER BY (turn, sign)
  SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1`;

/** A turn is of the first row that was inserted for it: a token is forgotten in the end, and rows are not. */
const NEWEST = `SELECT turn, argMinIf(holder, (at, holder), sign = 0) AS holder, max(sign) AS signs, max(is_over) AS over
  FROM migration_turns GROUP BY turn ORDER BY turn DESC LIMIT 1`;

/**
 * Runs `act` in a turn of its own, unless it is no longer needed by then. If the turn is lost meanwhile, it waits for the next.
 * @param isDone whether nothing is left to do; asked before a turn is taken, and again within it
 * @throws what `act` throws; the turn is then over
 */
export async function inTurn(
  target: TurnTarget,
  { clock, times = TURN_TIMES }: { readonly clock: Clock; readonly times?: TurnTimes | undefined },
  isDone: () => Promise<boolean>,
  act: (turn: Turn) => Promise<void>,
): Promise<void> {
  await target.command(TABLE);
  for (;;) {
    const turn = await take(target, clock, times, isDone);
    if (turn === undefined) return;
    try {
      await turn.keep(act);
      return;
    } catch (error) {
      if (!(error instanceof TurnLost)) throw error;
    }
  }
}

/** @returns undefined if it is done before the turn comes */
async function take(
  target: TurnTarget,
  clock: Clock,
  times: TurnTimes,
  isDone: () => Promise<boolean>,
): Promise<HeldTurn | undefined> {
  let [seen, sinceMs] = ["", clock.monotonic()];
  let least = 1;
  for (;;) {
    if (await isDone()) return undefined;
    const newest = (await target.rows<Newest>(NEWEST))[0];
    const life = `${newest?.turn} ${newest?.signs}`;
    if (life !== seen) [seen, sinceMs] = [life, clock.monotonic()];
    const isFree = newest === undefined || newest.over > 0 || endedUntold.has(newest.holder);
    if (isFree || clock.monotonic() - sinceMs >= times.lostAfterMs) {
      const number = Math.max(least, (newest?.turn ?? 0) + 1);
      const turn = new HeldTurn(target, times, number);
      if (await turn.take()) {
        endedUntold.delete(newest?.holder ?? "");
        return turn;
      }
      // A kill of ClickHouse may leave a token without its row: that turn is nobody's.
      least = number + 1;
    }
    await sleep(times.lookEveryMs);
  }
}

class HeldTurn implements Turn {
  readonly number: number;
  readonly #target: TurnTarget;
  readonly #times: TurnTimes;
  readonly #holder = randomUUID();
  #signs = 0;

  constructor(target: TurnTarget, times: TurnTimes, number: number) {
    this.#target = target;
    this.#times = times;
    this.number = number;
  }

  /** @returns whether the turn is this holder's */
  async take(): Promise<boolean> {
    await this.#insert(
      0,
      false,
      `insert_deduplicate = 1, insert_deduplication_token = 'turn-${this.number}'`,
    );
    return await this.#isMine();
  }

  async check(): Promise<void> {
    if (!(await this.#isMine())) throw new TurnLost(`turn ${this.number} was taken over`);
  }

  /** Gives signs of life while `act` runs, then ends the turn. */
  async keep(act: (turn: Turn) => Promise<void>): Promise<void> {
    let last: Promise<void> = Promise.resolve();
    let isUnderWay = false;
    const timer = setInterval(() => {
      if (isUnderWay) return;
      isUnderWay = true;
      // One that fails is no reason to stop: whether the turn was lost is checked before each statement.
      last = this.#insert(++this.#signs, false)
        .catch(() => {})
        .finally(() => {
          isUnderWay = false;
        });
    }, this.#times.signEveryMs);
    timer.unref();
    try {
      await act(this);
    } finally {
      clearInterval(timer);
      await last;
      await this.#insert(++this.#signs, true).catch(() => void endedUntold.add(this.#holder));
    }
  }

  async #isMine(): Promise<boolean> {
    const newest = (await this.#target.rows<Newest>(NEWEST))[0];
    return newest?.turn === this.number && newest.holder === this.#holder;
  }

  async #insert(sign: number, isOver: boolean, settings = "insert_deduplicate = 0"): Promise<void> {
    await this.#target.command(
      `INSERT INTO migration_turns (turn, holder, sign, is_over) SETTINGS async_insert = 0, ${settings}
       VALUES (${this.number}, '${this.#holder}', ${sign}, ${isOver})`,
    );
  }
}
