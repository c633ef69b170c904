/** A document that a caller names: only of the caller's org. */
import { fail } from "../../base/errors.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { InvoiceRow } from "./invoice.ts";
import type { InvoiceTables } from "./tables.ts";

/** @throws WeirError `not_found` */
export function ownInvoice(
  tables: Pick<InvoiceTables, "get">,
  { orgId }: Pick<Caller, "orgId">,
  id: string,
): InvoiceRow {
  const row = tables.get(orgId, id);
  if (row === undefined) throw fail("not_found", "There is no such invoice.");
  return row;
}

/** `TI-26-27-0000001.pdf`. */
export const fileName = ({ number }: Pick<InvoiceRow, "number">): string =>
  `${number.replaceAll("/", "-")}.pdf`;
