/** Orders and rows of documents for tests: suppliers, recipients, and a row as the issuer would put it. */

import { financialYear } from "../../../src/billing/invoices/financial-year.ts";
import type { InvoiceOrder, InvoiceRow, Recipient } from "../../../src/billing/invoices/invoice.ts";
import { identityOf, parseSupplier, type SupplierFile } from "../../../src/billing/invoices/supplier.ts";
import { headsOf, totalOf, treatmentFor } from "../../../src/billing/invoices/tax.ts";

/** As YAML, with changes of single lines. */
export const supplierYaml = (changes: Readonly<Record<string, string>> = {}): string => {
  const lines: Record<string, string> = {
    legal_name: "Weir Example Private Limited",
    address: "{ line1: 12 Residency Road, city: Bengaluru, postal_code: '560025' }",
    state_code: "'29'",
    country: "IN",
    gstin: "29AAWCE1234F1ZG",
    lut: "{ 2026-27: AD290426001234X }",
    e_invoice: "true",
    ...changes,
  };
  return Object.entries(lines)
    .map(([key, value]) => `${key}: ${value}\n`)
    .join("");
};

export const supplierOf = (changes?: Readonly<Record<string, string>>): SupplierFile =>
  parseSupplier(supplierYaml(changes), "supplier.yaml");

export const SUPPLIER = supplierOf();

const address = {
  line1: "4 MG Road",
  city: "Bengaluru",
  stateCode: "29",
  postalCode: "560001",
  country: "IN",
};

/** In the supplier's State, with a GSTIN. */
export const INTRA: Recipient = {
  legalName: "Kaveri Software LLP",
  gstin: "29AABCT1332L1ZA",
  taxStatus: "gst_registered",
  taxId: "",
  address,
};
export const INTER: Recipient = {
  legalName: "Mumbai Models Private Limited",
  gstin: "27AAPFU0939F1ZV",
  taxStatus: "gst_registered",
  taxId: "",
  address: { ...address, city: "Mumbai", stateCode: "27", postalCode: "400001" },
};
export const UNREGISTERED: Recipient = {
  legalName: "Asha Rao",
  gstin: "",
  taxStatus: "unregistered",
  taxId: "",
  address: { ...address, line1: "7 Anna Salai", city: "Chennai", stateCode: "33", postalCode: "600002" },
};
export const SEZ: Recipient = {
  legalName: "Harbour SEZ Unit Limited",
  gstin: "24AAGCS9012K1Z9",
  taxStatus: "sez",
  taxId: "",
  address: { ...address, line1: "Plot 8, SEZ", city: "Kandla", stateCode: "24", postalCode: "370230" },
};
export const ABROAD: Recipient = {
  legalName: "Acme Research Inc.",
  gstin: "",
  taxStatus: "overseas",
  taxId: "US-EIN 12-3456789",
  address: { line1: "500 Main Street", city: "Austin", stateCode: "TX", postalCode: "78701", country: "US" },
};

export const RATE = { usdInr: "88.12345678", day: "2026-04-30", source: "FBIL" };

export interface OrderWishes {
  readonly recipient?: Recipient;
  readonly taxableMinor?: number;
  readonly supplier?: SupplierFile;
  readonly atMs?: number;
  readonly order?: Partial<InvoiceOrder>;
}

export const AT_MS = Date.parse("2026-05-04T10:00:00Z");
let made = 0;

export function orderOf(wishes: OrderWishes = {}): InvoiceOrder {
  const { recipient = INTRA, taxableMinor = 100_000, supplier = SUPPLIER, atMs = AT_MS } = wishes;
  const treatment = treatmentFor(identityOf(supplier, financialYear(atMs)), recipient);
  const id = `tup_${String(++made).padStart(4, "0")}`;
  return {
    orgId: "org_a",
    reference: { type: "topup", id },
    kind: "payment",
    topupId: id,
    currency: recipient.address.country === "IN" ? "INR" : "USD",
    lines: [
      {
        description: "Prepaid credit for model calls",
        kind: "credits",
        quantity: 1,
        unitMinor: taxableMinor,
        amountMinor: taxableMinor,
      },
    ],
    taxableMinor,
    heads: headsOf(treatment, taxableMinor),
    treatment,
    recipient,
    rate: RATE,
    ...wishes.order,
  };
}

/** A row without a store. */
export function rowOf(wishes: OrderWishes & { readonly row?: Partial<InvoiceRow> } = {}): InvoiceRow {
  const { supplier = SUPPLIER, atMs = AT_MS } = wishes;
  const order = orderOf(wishes);
  const fy = financialYear(atMs);
  const heads = { cgstMinor: 0, sgstMinor: 0, igstMinor: 0 };
  return {
    ...order,
    id: "inv_01JTEST0000000000000000000",
    kind: order.treatment.placeOfSupply === "96" ? "export_invoice" : "tax_invoice",
    number: `TI/${fy.slice(2)}/0000001`,
    series: "TI",
    fy,
    totalMinor: totalOf(order),
    supplier: identityOf(supplier, fy),
    status: "paid",
    creditedMinor: 0,
    credited: { taxableMinor: 0, heads },
    irnStatus: "not_required",
    irn: "",
    signedQr: "",
    ackNumber: "",
    ackAtMs: null,
    issuedAtMs: atMs,
    ...wishes.row,
  };
}
