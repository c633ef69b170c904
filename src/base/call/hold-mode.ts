/** How a call holds credit: its worst case in full or not at all, or fitted to what there is. */

export const HOLD_MODES = ["full", "fit"] as const;

/**
 * `full`: a call is refused where credit and budgets do not cover its worst case. `fit`: it is sent with an output limit that they
 * do cover.
 */
export type HoldMode = (typeof HOLD_MODES)[number];
