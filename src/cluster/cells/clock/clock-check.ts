/**
 * What a cell does where its expectation of Redis's clock and that clock contradict each other: one of them was set, and money, limits and
 * leases must not follow it. Redis knows what the other cells say (`scripts/clock.lua`); until they agree, nothing is asked of it.
 */
import { type Clock, isoTime } from "../../../base/clock.ts";
import { DATASET_KEY } from "../redis/keys.ts";
import type { RedisLink, RedisLog } from "../redis/redis.ts";
import { SCRIPTS } from "../scripts/scripts.ts";
import type { SharedClock } from "./shared-clock.ts";

/** Beginning of the error of a script that was not run because of a clock. */
export const WRONG_CLOCK = "WEIRCLOCK";
const AGAIN_MS = 100;

/** A process cannot start beside clocks that contradict each other. */
export class ClocksDisagree extends Error {}

export interface ClockCheckOptions {
  readonly link: RedisLink;
  readonly datasetId: string;
  readonly cell: string;
  readonly time: SharedClock;
  readonly log?: RedisLog | undefined;
  /** Whether the session has ended: then no caller waits for the clocks. */
  readonly isOver: () => boolean;
}

export class ClockCheck {
  readonly #options: ClockCheckOptions;
  #running: Promise<void> | undefined;

  constructor(options: ClockCheckOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the cell goes by Redis's clock, or nobody waits any more.
   * @throws ClocksDisagree after `patienceMs`; Error of the connection
   */
  settle(patienceMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#running ??= this.#settle(patienceMs).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #settle(patienceMs: number): Promise<void> {
    const { time, log, isOver } = this.#options;
    const untilMs = time.monotonic() + patienceMs;
    let isDoubted = false;
    while (!isOver()) {
      const contradiction = await this.#ask();
      if (contradiction === undefined) {
        if (isDoubted) log?.warn({}, "the clocks agree again");
        return;
      }
      if (time.monotonic() >= untilMs)
        throw new ClocksDisagree(
          `Redis's clock says ${contradiction.redis}, and this machine's ${contradiction.machine}, or other cells say otherwise: set the clock that is wrong, and start again`,
        );
      if (!isDoubted && time.isKnown)
        log?.warn(
          contradiction,
          "Redis's clock is not what this cell expects; Redis is asked nothing until the clock that is wrong is set right",
        );
      isDoubted = true;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  /** @returns what contradicts; undefined where the cell goes by Redis's clock now */
  async #ask() {
    const { link, datasetId, cell, time } = this.#options;
    const sentMs = time.monotonic();
    const evidence = time.evidence();
    const reply = (await link.run(SCRIPTS.clock, DATASET_KEY, datasetId, cell, ...evidence)) as unknown[];
    const [outcome, redisMs = 0, shiftMs = 0, changes = 0] = reply.slice(0, 4).map(Number);
    if (outcome === 1) {
      time.read({ redisMs, shiftMs, changes }, sentMs);
      return undefined;
    }
    const times = {
      redis: isoTime(redisMs),
      machine: isoTime(time.machine.now()),
      expected: isoTime(time.now()),
    };
    return { ...times, doubtedBy: String(reply[4] ?? "") };
  }
}

/** What a cell says whose machine's clock contradicts what others agreed on. */
export const warnOfClock =
  (log: RedisLog, machine: Pick<Clock, "now">) =>
  (redisMs: number): void =>
    log.warn(
      { redis: isoTime(redisMs), machine: isoTime(machine.now()) },
      "all clocks were taken to be set, as no cell contradicted in time, and this machine's was not: set right whichever is wrong",
    );
