/**
 * Simulates cells: the product's own code and scripts, in one process, on a Redis in memory, a network, clocks and disks that are made
 * up. Each schedule follows from its seed, and checks what the product promises of money, limits and rows over all cells.
 */
import { runSchedule, type ScheduleCounts } from "./schedule.ts";

export interface CellsOptions {
  /** Seed of the first schedule; each next one has the next. */
  readonly seed: number;
  readonly schedules: number;
  readonly onLine?: (line: string) => void;
  readonly onBroken?: (broken: { readonly seed: number; readonly what: string }) => void;
  /** Told from time to time how many are done. */
  readonly onSome?: (done: number) => void;
}

export interface CellsRun {
  /** Schedules in which a promise was broken. */
  readonly broken: number;
  /** Counts of all schedules together. */
  readonly counts: ScheduleCounts;
}

const SOME = 500;

export async function simulateCells(options: CellsOptions): Promise<CellsRun> {
  const { seed, schedules, onLine, onBroken = () => {}, onSome = () => {} } = options;
  let broken = 0;
  let counts: ScheduleCounts | undefined;
  for (let done = 0; done < schedules; done++) {
    const own = seed + done;
    onLine?.(`schedule ${own}`);
    const result = await runSchedule({ seed: own, ...(onLine !== undefined && { onLine }) });
    if (result.broken !== undefined) {
      broken++;
      onBroken({ seed: own, what: result.broken });
    }
    counts = counts === undefined ? result.counts : sumOf(counts, result.counts);
    if ((done + 1) % SOME === 0) onSome(done + 1);
  }
  if (counts === undefined) throw new Error("no schedule was asked for");
  return { broken, counts };
}

function sumOf(one: ScheduleCounts, other: ScheduleCounts): ScheduleCounts {
  const names = Object.keys(one) as (keyof ScheduleCounts)[];
  return Object.fromEntries(
    names.map((name) => [name, one[name] + other[name]]),
  ) as unknown as ScheduleCounts;
}
