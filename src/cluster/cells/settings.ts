/** `cells` of `weir.yaml`: what a gateway that is one of several goes by. A gateway alone reads it, and uses nothing of it. */
import { z } from "zod";

/** A cell that acts without Redis does so for this long where `weir.yaml` says nothing else, milliseconds. */
export const STALE_MS = 5000;
/** Reads take a cell for cut off after two seconds without a beat; a shorter absence is none. */
const SHORTEST_STALE_MS = 2000;
/**
 * The longest that `cells.stale_ms` may be. Whoever must wait until every cell that is cut off has ended its leases waits for this and
 * not for the setting: nobody knows that of a cell that Redis has lost, or of an earlier release.
 */
export const LONGEST_STALE_MS = 30_000;

export const cellsField = z
  .strictObject({
    /** A cell that has not heard of Redis for so long admits nothing. */
    stale_ms: z.int().min(SHORTEST_STALE_MS).max(LONGEST_STALE_MS).default(STALE_MS),
  })
  .prefault({});
