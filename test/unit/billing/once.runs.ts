/** How many schedules are run, in which worlds, and what is said of one that fails. */
import fc from "fast-check";
import { amount } from "../../support/effort.ts";
import { checkSeries } from "./once.checks.ts";
import { PayWorld } from "./once.world.ts";

export const SLICES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
/** Schedules of each kind in a slice: 10,000 in all slices, a hundred of them in `npm test`. */
const RUNS = amount(1_000, 10);
/** A store serves so many schedules. */
const RUNS_OF_A_WORLD = 50;
/** A slice ends within this. */
export const MOST_MS = 1_800_000;

/** Runs each schedule in a world that others have left behind, or in a new one. */
export async function everySchedule<T>(
  lives: fc.Arbitrary<T>,
  seed: number,
  check: (world: PayWorld, life: T) => Promise<void>,
): Promise<void> {
  let world: PayWorld | undefined;
  let used = 0;
  let worlds = 0;
  const refresh = async () => {
    await world?.dispose();
    used = 0;
    world = new PayWorld(++worlds % 4 === 1);
  };
  const property = fc.asyncProperty(lives, async (life) => {
    if (world === undefined || used++ >= RUNS_OF_A_WORLD) await refresh();
    const here = world as PayWorld;
    try {
      await check(here, life);
      checkSeries(here);
      here.end();
    } catch (error) {
      const trace = here.schedule.trace.join("\n  ");
      await refresh();
      throw new Error(`${(error as Error).stack}\nSchedule:\n  ${trace}`);
    }
  });
  try {
    await fc.assert(property, { seed, numRuns: RUNS });
  } finally {
    await world?.dispose();
  }
}
