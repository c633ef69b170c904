/**
 * Invoices as stored, and what other rooms ask of this room. An invoice never changes once it is issued, save its status and its
 * registration. Amounts are in minor units of its currency; tax amounts too.
 */
import type { BillingAddress } from "../../account/org.ts";
import type { Currency } from "../../base/currency.ts";

export const INVOICE_KINDS = [
  "tax_invoice",
  "export_invoice",
  "invoice",
  "statement",
  "credit_note",
] as const;
export type InvoiceKind = (typeof INVOICE_KINDS)[number];
export const INVOICE_STATUSES = ["paid", "partially_credited", "credited"] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];
export const IRN_STATUSES = ["not_required", "pending", "generated", "failed", "cancelled"] as const;
export type IrnStatus = (typeof IRN_STATUSES)[number];
export const LINE_KINDS = ["credits", "plan", "proration", "adjustment"] as const;
export type LineKind = (typeof LINE_KINDS)[number];

export interface InvoiceLine {
  readonly description: string;
  readonly kind: LineKind;
  readonly quantity: number;
  readonly unitMinor: number;
  readonly amountMinor: number;
}

/** A line over one thing. */
export const oneOf = (kind: LineKind, description: string, minor: number): InvoiceLine => ({
  description,
  kind,
  quantity: 1,
  unitMinor: minor,
  amountMinor: minor,
});

/** Tax of an amount, by head. UTGST of union territories is in `sgstMinor`. */
export interface TaxHeads {
  readonly cgstMinor: number;
  readonly sgstMinor: number;
  readonly igstMinor: number;
}

/** An amount without tax, and its tax. */
export interface TaxedAmount {
  readonly taxableMinor: number;
  readonly heads: TaxHeads;
}

/** How an amount is taxed. Kept with a quote, so that its invoice says the same whatever the profile says later. */
export interface TaxTreatment {
  /**
   * `intra`: CGST and SGST or UTGST. `inter`: IGST. `zero_lut`: export or SEZ under a letter of undertaking. `zero_igst`: export
   * or SEZ on payment of IGST. `none`: the supplier is not Indian.
   */
  readonly kind: "intra" | "inter" | "zero_lut" | "zero_igst" | "none";
  /** GST's two digits; `96` abroad; empty where the supplier is not Indian. */
  readonly placeOfSupply: string;
  /** Rate of the whole tax, basis points. */
  readonly rateBps: number;
  /** The second half of an intra-State tax is UTGST. */
  readonly isUnionTerritory: boolean;
}

/** Who is billed, as it was when the amount was quoted. */
export interface Recipient {
  readonly legalName: string;
  readonly gstin: string;
  readonly taxStatus: string;
  readonly address: BillingAddress;
  /** Tax id of a buyer outside India; empty where none was given. */
  readonly taxId: string;
}

/** Rate at which the amount was turned into credit, and into the INR value of an export. */
export interface InvoiceRate {
  /** INR per 1 USD, eight digits. */
  readonly usdInr: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly source: string;
  /** INR for 1 USD of credit, spread included, eight digits; absent where the buyer did not pay in INR. */
  readonly charged?: string;
  /** Spread in `charged`, basis points; absent with it, and in documents of which it was not noted. */
  readonly spreadBps?: number;
}

export interface InvoiceOrder {
  readonly orgId: string;
  /** What it documents; unique: a second order of the same reference returns the first invoice. */
  readonly reference: {
    readonly type: "topup" | "refund" | "subscription" | "correction";
    readonly id: string;
  };
  /** `payment` becomes `tax_invoice`, `export_invoice` or `invoice` by its treatment. */
  readonly kind: "payment" | "credit_note" | "statement";
  readonly currency: Currency;
  readonly lines: readonly InvoiceLine[];
  readonly taxableMinor: number;
  readonly heads: TaxHeads;
  readonly treatment: TaxTreatment;
  readonly recipient: Recipient;
  readonly rate: InvoiceRate;
  readonly topupId?: string;
  /** The invoice that a credit note corrects. */
  readonly originalId?: string;
  /** The invoice in whose place a correction issues it. */
  readonly replacesId?: string;
  readonly plan?: { readonly planId: string; readonly periodStartMs: number; readonly periodEndMs: number };
}

export interface InvoiceRow extends Omit<InvoiceOrder, "kind"> {
  readonly id: string;
  readonly kind: InvoiceKind;
  /** At most 16 characters; consecutive within `series` and `fy`. */
  readonly number: string;
  readonly series: string;
  /** Financial year, `2026-27`. */
  readonly fy: string;
  readonly totalMinor: number;
  /** The supplier as it was. */
  readonly supplier: SupplierIdentity;
  readonly status: InvoiceStatus;
  /** What credit notes took back of an invoice, tax included. */
  readonly creditedMinor: number;
  /** The same by its parts, from which the next credit note takes its share. */
  readonly credited: TaxedAmount;
  /** Ids of these credit notes, oldest first. Absent: none, or those from before they were noted. */
  readonly creditNoteIds?: readonly string[];
  /** The invoice that stands in the place of one that was corrected. */
  readonly replacedById?: string;
  /** Number and time of the invoice that a credit note corrects, as printed and registered. */
  readonly original?: { readonly number: string; readonly issuedAtMs: number };
  readonly irnStatus: IrnStatus;
  readonly irn: string;
  readonly signedQr: string;
  readonly ackNumber: string;
  readonly ackAtMs: number | null;
  readonly issuedAtMs: number;
}

export interface SupplierIdentity {
  readonly legalName: string;
  readonly address: readonly string[];
  /** City of the address, for e-invoices. */
  readonly city: string;
  readonly postalCode: string;
  readonly stateCode: string;
  readonly country: string;
  /** Empty where the supplier is not registered in India. */
  readonly gstin: string;
  /** Income tax number; empty where it is not given. */
  readonly pan: string;
  readonly sac: string;
  /** Letter of undertaking for the financial year; empty where there is none. */
  readonly lut: string;
}

/** What billing needs of this room. */
export interface InvoiceIssuer {
  /** Only in an act: allots the number and puts the row, its event, and the jobs of registration and mail. */
  issue(order: InvoiceOrder): InvoiceRow;
  /**
   * How a taxable amount is taxed for an org today.
   * @throws WeirError 400 `billing_profile_incomplete` for the supplier's own GSTIN: no portal registers such a document
   */
  treatmentOf(recipient: Recipient, nowMs: number): TaxTreatment;
  get(orgId: string, id: string): InvoiceRow | undefined;
  /** Id of the invoice of a top-up that is in force: after a correction, of the new one. */
  idOfTopup(orgId: string, topupId: string): string | undefined;
  /**
   * What a credit note over a part of an invoice takes back of its tax, and of which invoice and recipient: those of what stands in
   * its place after a correction. The part that empties it takes each head's remainder.
   * @param reserved for credit notes that are still to come
   * @throws RangeError where the part is more than is left
   */
  creditShare(
    orgId: string,
    originalId: string,
    partTaxableMinor: number,
    reserved?: TaxedAmount,
  ): Pick<InvoiceRow, "treatment" | "recipient" | "heads"> & { readonly originalId: string };
  /** The same of a part that is given with its tax. @returns undefined where no such part is left */
  creditSplit(
    orgId: string,
    originalId: string,
    partTotalMinor: number,
    reserved?: TaxedAmount,
  ): TaxedAmount | undefined;
}
