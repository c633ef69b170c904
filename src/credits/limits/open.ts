/** The limits of keys of a gateway alone; those over all cells are opened by `cluster/cells/limits`, to the same type. */
import type { Clock } from "../../base/clock.ts";
import { type Limits, openLimits } from "./limits.ts";

export interface LimitsRoom {
  readonly limits: Limits;
  /** Kept as calls in flight of a key of the name, whose bound holds over all cells. */
  readonly takePlace: TakePlace;
  /** Slots of keys' concurrency that this cell has, used or free; 0 of a gateway alone. */
  leasedSlots(): number;
  /** Once no call runs: gives back what this cell has of the keys' limits. */
  close(): Promise<void>;
}

/** @returns what gives the place back; undefined where all are taken */
type TakePlace = (name: string, most: number) => Promise<(() => void) | undefined>;

/** Places of something that is bounded like the calls of a key, such as exports. */
export const placesOf =
  (limits: Limits): TakePlace =>
  async (name, most) => {
    const admission = await limits.admit({ keyId: name, limits: { concurrency: most } }, 0);
    return admission.admitted ? () => admission.release() : undefined;
  };

export function openLimitsRoom(clock: Clock): LimitsRoom {
  const limits = openLimits({ clock });
  return { limits, takePlace: placesOf(limits), leasedSlots: () => 0, close: () => Promise.resolve() };
}
