/** The field `hold` of keys, projects and orgs: how their calls hold credit, unless the next narrower of them says otherwise. */
import { z } from "zod";
import { HOLD_MODES, type HoldMode } from "../../base/call/hold-mode.ts";

/** In a change. */
export const changedHoldField = z
  .enum(HOLD_MODES)
  .nullable()
  .describe("null: as the project or org above says, `full` if none does");

/** A row after a change. @param given null: the row says nothing of it any more; undefined: as before */
export function withHold<Row extends { readonly hold?: HoldMode }>(
  row: Row,
  given: HoldMode | null | undefined,
): Row {
  if (given === undefined) return row;
  if (given !== null) return { ...row, hold: given };
  const { hold: _, ...without } = row;
  return without as Row;
}
