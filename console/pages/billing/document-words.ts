/** Words for documents, and what can be done with them. Pure. */
import type { Operations } from "../../api/operations.ts";

export type Invoice = Operations["getInvoice"]["answer"];
export type Printed = Operations["getInvoiceDocument"]["answer"];

export const DOCUMENTS: Readonly<Record<Invoice["kind"], string>> = {
  tax_invoice: "Tax invoice",
  export_invoice: "Export invoice",
  invoice: "Invoice",
  statement: "Statement",
  credit_note: "Credit note",
};

const STATUSES: Readonly<Record<Invoice["status"], string>> = {
  paid: "paid",
  partially_credited: "partly credited",
  credited: "credited",
};

/** A credit note gives back: nobody pays it. */
export const documentStatus = ({ kind, status }: Pick<Invoice, "kind" | "status">): string =>
  kind === "credit_note" ? "issued" : STATUSES[status];

export const E_INVOICE: Readonly<Record<Exclude<Invoice["irn_status"], "not_required">, string>> = {
  pending: "being registered: it is mailed once it is",
  generated: "registered",
  failed: "could not be registered yet: the operator knows",
  cancelled: "its registration is cancelled",
};

/** Whether another GSTIN can be asked for: as the API refuses it. */
export const canCorrect = ({ kind, status, recipient, igst_minor, cgst_minor }: Invoice): boolean =>
  kind === "tax_invoice" &&
  recipient.country === "IN" &&
  status !== "credited" &&
  igst_minor + cgst_minor > 0;
