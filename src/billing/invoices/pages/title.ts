/** What kinds of documents are called on paper and in mails. */
import type { InvoiceKind, InvoiceRow } from "../invoice.ts";

const TITLES: Readonly<Record<InvoiceKind, string>> = {
  tax_invoice: "Tax Invoice",
  export_invoice: "Tax Invoice (Export)",
  invoice: "Invoice",
  statement: "Statement",
  credit_note: "Credit Note",
};

/** `Tax Invoice`. */
export const pageTitle = ({ kind }: Pick<InvoiceRow, "kind">): string => TITLES[kind];
