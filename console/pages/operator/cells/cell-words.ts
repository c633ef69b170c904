/** What the states of a cell mean, how far it is behind, and whether it may be retired. Pure. */
import type { Operations } from "../../../api/operations.ts";
import type { Tone } from "../../../parts/tone.ts";

export type Cell = Operations["operatorListCells"]["answer"]["data"][number];

export const STATES: Readonly<Record<Cell["status"], readonly [Tone, string]>> = {
  alive: ["good", "It answers."],
  silent: ["bad", "It ended without a word, hangs, or is cut off."],
  left: ["plain", "It stopped in good order."],
  retired: ["plain", "It is ended for ever."],
};

/** A cell may still be at work for so long after its last word. */
export const RETIRED_AFTER_MS = 35_000;

/** Changes of the shared rows that a cell has not applied yet; undefined where that is not known, or does not matter any more. */
export function lagOf({ version: has, status }: Cell, version: number | null): number | undefined {
  if (has === null || version === null || status === "left" || status === "retired") return undefined;
  return Math.max(0, version - has);
}

/** The gateway refuses it for others, whatever is shown. */
export const mayRetire = ({ status, silent_ms: ms }: Cell): boolean =>
  status === "left" || (status === "silent" && (ms ?? 0) >= RETIRED_AFTER_MS);
