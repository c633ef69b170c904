/** The limits of keys over all cells of an installation. */
import { inTime } from "../../../base/clock.ts";
import type { LimitsRoom } from "../../../credits/limits/open.ts";
import { placesOf } from "../../../credits/limits/open.ts";
import type { Cell } from "../cell.ts";
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
      await inTime(limits.close(), GIVE_BACK_MS, () =>
        log.warn("Redis is away: what this cell has of keys' limits is not given back"),
      );
    },
  };
}
