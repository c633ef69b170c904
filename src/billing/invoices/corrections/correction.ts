/** The two orders of a correction: a credit note over what is left of an invoice, and an invoice over the same with another GSTIN. */
import type { BillingAddress } from "../../../account/org.ts";
import { type InvoiceOrder, type InvoiceRow, oneOf, type Recipient, type TaxTreatment } from "../invoice.ts";
import { headsOf, shareOf } from "../tax.ts";

export function correctedOrders(
  row: InvoiceRow,
  gstin: string,
  ticketId: string,
  address: BillingAddress,
  treatmentOf: (recipient: Recipient) => TaxTreatment,
): { readonly note: InvoiceOrder; readonly invoice: InvoiceOrder } {
  const leftMinor = row.taxableMinor - row.credited.taxableMinor;
  const recipient: Recipient = { ...row.recipient, gstin, taxStatus: "gst_registered", address };
  const treatment = treatmentOf(recipient);
  const common = {
    orgId: row.orgId,
    currency: row.currency,
    taxableMinor: leftMinor,
    rate: row.rate,
    ...(row.topupId !== undefined && { topupId: row.topupId }),
  };
  return {
    note: {
      ...common,
      kind: "credit_note",
      reference: { type: "correction", id: `${ticketId}:credit_note` },
      originalId: row.id,
      lines: [oneOf("adjustment", `Correction of ${row.number}: issued anew to GSTIN ${gstin}`, leftMinor)],
      heads: shareOf(row, row.credited, leftMinor),
      treatment: row.treatment,
      recipient: row.recipient,
    },
    invoice: {
      ...common,
      kind: "payment",
      reference: { type: "correction", id: `${ticketId}:invoice` },
      replacesId: row.id,
      lines:
        row.credited.taxableMinor === 0
          ? row.lines
          : [oneOf("credits", `What is left of ${row.number}, issued anew`, leftMinor)],
      heads: headsOf(treatment, leftMinor),
      treatment,
      recipient,
    },
  };
}

/**
 * The address for a recipient of that GSTIN: the invoice's, else the org's of today. Undefined where neither is in the State of
 * the GSTIN.
 */
export function addressFor(
  gstin: string,
  invoiced: BillingAddress,
  today: BillingAddress | undefined,
): BillingAddress | undefined {
  return [invoiced, today].find((address) => address?.country === "IN" && gstin.startsWith(stateOf(address)));
}

/** A GSTIN begins with two digits: nothing else is taken for a State. */
const stateOf = ({ stateCode }: BillingAddress): string => (stateCode.length === 2 ? stateCode : "none");
