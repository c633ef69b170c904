/**
 * The moves of a document after it was issued: of its status, by credit notes, and of its registration, by the job that asks the
 * portal. What a table lacks cannot happen; a move to where it is already is the same move.
 */
import type { InvoiceRow, InvoiceStatus, IrnStatus } from "./invoice.ts";

/** By a credit note, in its act. */
const STATUS_MOVES: Readonly<Record<InvoiceStatus, readonly InvoiceStatus[]>> = {
  paid: ["partially_credited", "credited"],
  partially_credited: ["partially_credited", "credited"],
  credited: [],
};

/**
 * `pending → generated`: the portal answered. `pending → failed`: it refused the document, or for too long nothing was heard.
 * `failed → generated`: an operator had it tried again. `generated → cancelled`: an operator, within 24 hours.
 */
const IRN_MOVES: Readonly<Record<IrnStatus, readonly IrnStatus[]>> = {
  not_required: [],
  pending: ["generated", "failed"],
  failed: ["generated", "failed"],
  generated: ["cancelled"],
  cancelled: [],
};

/** @throws Error where the table lacks the move */
export function statusAfterCredit(row: InvoiceRow, creditedMinor: number): InvoiceStatus {
  const next: InvoiceStatus = creditedMinor === row.totalMinor ? "credited" : "partially_credited";
  if (!STATUS_MOVES[row.status].includes(next)) throw new Error(`${row.number} is ${row.status} already`);
  return next;
}

export const mayRegister = ({ irnStatus }: InvoiceRow): boolean => IRN_MOVES[irnStatus].includes("generated");
export const mayFail = ({ irnStatus }: InvoiceRow): boolean => IRN_MOVES[irnStatus].includes("failed");
