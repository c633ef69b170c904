/** Restarts cells one after the other, so that all but one serve. A cell that does not come up again ends it: the rest stay. */
import { inTime } from "../../base/clock.ts";
import type { CellProcess } from "./cell-process.ts";
import type { CellsLog } from "./own-redis.ts";

/** A start that replays a long journal takes its time. */
const UP_MS = 300_000;
/** Deaths of the new process before it serves. */
const MOST_DEATHS = 3;
const LOOK_MS = 50;

/** The part of a cell that a restart uses. */
export type Restartable = Pick<CellProcess, "number" | "restarts" | "isDrained" | "leave" | "start" | "isUp">;

export class RollingRestart {
  readonly #cells: readonly Restartable[];
  readonly #log: CellsLog;
  #isRunning = false;
  #isAskedAgain = false;
  #isEnded = false;

  constructor(cells: readonly Restartable[], log: CellsLog) {
    this.#cells = cells;
    this.#log = log;
  }

  /** Resolves when it is over. Asked during one: another follows. */
  async begin(): Promise<void> {
    if (this.#isRunning) {
      this.#isAskedAgain = true;
      this.#log.info({}, "a rolling restart is under way; another follows it");
      return;
    }
    this.#isRunning = true;
    do {
      this.#isAskedAgain = false;
      await this.#once();
    } while (this.#isAskedAgain && !this.#isEnded);
    this.#isRunning = false;
  }

  /** No further cell is restarted. */
  end(): void {
    this.#isEnded = true;
  }

  async #once(): Promise<void> {
    this.#log.info({ cells: this.#cells.length }, "a rolling restart begins");
    for (const cell of this.#cells) {
      if (cell.isDrained) continue;
      await cell.leave();
      // The whole installation stops meanwhile: nothing is started any more.
      if (this.#isEnded) return;
      if (cell.isDrained) continue;
      cell.start();
      if (!(await comesUp(cell)) && !this.#isEnded && !cell.isDrained) {
        this.#log.error(
          { cell: cell.number },
          "the rolling restart ends here: this cell does not come up; the cells behind it go on as they are",
        );
        return;
      }
      if (this.#isEnded) return;
    }
    this.#log.info({ cells: this.#cells.length }, "the rolling restart is done");
  }
}

/** Whether a cell that was started serves; false once it died too often, or was told to stop. */
export async function comesUp(cell: Restartable): Promise<boolean> {
  const before = cell.restarts;
  const { promise: dead, resolve } = Promise.withResolvers<false>();
  const look = setInterval(() => cell.restarts - before >= MOST_DEATHS && resolve(false), LOOK_MS);
  const isUp = Promise.race([cell.isUp(), dead]);
  return await inTime(isUp, UP_MS, () => false).finally(() => clearInterval(look));
}
