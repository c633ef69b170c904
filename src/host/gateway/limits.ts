/**
 * The limits of keys: of this process alone, or over all cells of the installation. A gateway alone loads nothing of cells.
 */
import type { Logger } from "pino";
import type { TakePlace } from "../../analytics/usage/export-operations.ts";
import type { Clock } from "../../base/clock.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import { type Limits, openLimits } from "../../credits/limits/limits.ts";
import { type RequestLimits, requestLimits } from "../../credits/limits/request-limits.ts";
import type { Config } from "../settings/config.ts";

interface LimitsRoom {
  readonly limits: Limits;
  /** Kept as calls in flight of a key of the name, whose bound holds over all cells. */
  readonly takePlace: TakePlace;
  /** Once no call runs: gives back what this cell has of the keys' limits. */
  closeLimits(): Promise<void>;
  /** Slots of keys' concurrency that this cell has, used or free; 0 of a gateway alone. */
  leasedSlots(): number;
}

const placesOf =
  (limits: Limits): TakePlace =>
  async (name, most) => {
    const admission = await limits.admit({ keyId: name, limits: { concurrency: most } }, 0);
    return admission.admitted ? () => admission.release() : undefined;
  };

/** Without Redis the stop does not wait longer: what the cell had counts until it has aged out. */
const GIVE_BACK_MS = 2000;

export async function openLimitsRoom(
  { clock, cell }: { readonly clock: Clock; readonly cell: Cell | undefined },
  log: Logger,
): Promise<LimitsRoom> {
  if (cell === undefined) {
    const limits = openLimits({ clock });
    return { limits, takePlace: placesOf(limits), closeLimits: async () => {}, leasedSlots: () => 0 };
  }
  const { openSharedLimits } = await import("../../cluster/cells/limits/shared-limits.ts");
  const { clock: shared, staleMs } = cell;
  const limits = openSharedLimits({ lane: cell.lane("limits"), clock: shared.machine, staleMs });
  return {
    limits,
    takePlace: placesOf(limits),
    leasedSlots: () => limits.leasedSlots(),
    async closeLimits() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<"late">((resolve) => {
        timer = setTimeout(() => resolve("late"), GIVE_BACK_MS);
      });
      const outcome = await Promise.race([limits.close(), late]).finally(() => clearTimeout(timer));
      if (outcome === "late") log.warn("Redis is away: what this cell has of keys' limits is not given back");
    },
  };
}

/** Those of control-plane requests: of keys, people and directories over all cells, of addresses for each process. */
export function requestLimitsOf(
  { settings }: Config,
  { clock, limits }: { readonly clock: Clock; readonly limits: Limits },
): RequestLimits {
  const { keys_of_org: keysOfOrg, ...others } = settings.request_limits;
  return requestLimits({ clock, limits, settings: { ...others, keysOfOrg } });
}
