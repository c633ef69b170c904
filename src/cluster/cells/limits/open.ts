/** The limits of keys over all cells of an installation. */
import type { LimitsRoom } from "../../../credits/limits/open.ts";
import { placesOf } from "../../../credits/limits/open.ts";
import type { Cell } from "../cell.ts";
import { within } from "../within.ts";
import { SharedLimits } from "./shared-limits.ts";

/** Without Redis the stop does not wait longer: what the cell had counts until it has aged out. */
const GIVE_BACK_MS = 2000;

export function openLimitsOfCell(
  { clock, staleMs, lane }: Pick<Cell, "clock" | "staleMs" | "lane">,
  log: { warn(message: string): void },
): LimitsRoom {
  const limits = new SharedLimits({ lane: lane("limits"), clock: clock.machine, staleMs });
  return {
    limits,
    takePlace: placesOf(limits),
    leasedSlots: () => limits.leasedSlots(),
    async close() {
      const isDone = await within(GIVE_BACK_MS, limits.close());
      if (!isDone) log.warn("Redis is away: what this cell has of keys' limits is not given back");
    },
  };
}
