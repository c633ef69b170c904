/** A document that a caller names: only of the caller's org. */
import { mustExist } from "../../base/errors.ts";
import type { Caller } from "../../base/operation/operation.ts";
import type { InvoiceRow } from "./invoice.ts";
import type { InvoiceTables } from "./tables.ts";

/** @throws WeirError `not_found` */
export const ownInvoice = (
  tables: Pick<InvoiceTables, "get">,
  { orgId }: Pick<Caller, "orgId">,
  id: string,
): InvoiceRow => mustExist(tables.get(orgId, id), "invoice");

/** `TI-26-27-0000001.pdf`. */
export const fileName = ({ number }: Pick<InvoiceRow, "number">): string =>
  `${number.replaceAll("/", "-")}.pdf`;
