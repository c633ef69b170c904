/**
 * What a document says, as one model: HTML and PDF are drawn from it, so both show the same texts in the same order. What must
 * be there: CGST rule 46 (invoices), 53 (credit notes), 96A (exports). Depends on the row alone.
 */
import { countryName } from "../../../account/fields/countries.ts";
import { ABROAD, stateLabel } from "../../../account/fields/gst-states.ts";
import { type Currency, moneyText } from "../../../base/currency.ts";
import { percentText, SUPPLIERS_RATE, spreadOf } from "../amount.ts";
import { indianDate } from "../financial-year.ts";
import { inrValue } from "../inr-value.ts";
import type { InvoiceRow, Recipient, SupplierIdentity } from "../invoice.ts";
import { sacOf } from "../wire.ts";
import { pageTitle } from "./title.ts";
import { amountInWords } from "./words.ts";

/** Name and value. */
export type Fact = readonly [name: string, value: string];

interface PartyModel {
  readonly heading: string;
  readonly name: string;
  readonly lines: readonly string[];
}

export interface ColumnModel {
  readonly title: string;
  readonly isNumber: boolean;
  /** Share of the width, in hundredths. */
  readonly share: number;
}

export interface TotalModel {
  readonly name: string;
  readonly value: string;
  readonly isStrong: boolean;
}

export interface PageModel {
  readonly title: string;
  readonly supplier: PartyModel;
  readonly facts: readonly Fact[];
  readonly recipient: PartyModel;
  readonly columns: readonly ColumnModel[];
  readonly rows: readonly (readonly string[])[];
  readonly totals: readonly TotalModel[];
  readonly words: Fact;
  readonly notes: readonly string[];
  /** Undefined where the document is not registered. */
  readonly registration: { readonly facts: readonly Fact[]; readonly qr: string } | undefined;
  readonly signature: readonly string[];
  /** For metadata; not printed. */
  readonly number: string;
  readonly issuedAtMs: number;
}

/** CGST rule 96A and the second proviso of rule 46: what an invoice of a zero-rated supply is endorsed with. */
const ENDORSEMENT = "SUPPLY MEANT FOR EXPORT/SUPPLY TO SEZ UNIT OR SEZ DEVELOPER FOR AUTHORISED OPERATIONS";
const UNDER_LUT = `${ENDORSEMENT} UNDER BOND OR LETTER OF UNDERTAKING WITHOUT PAYMENT OF INTEGRATED TAX`;
const WITH_IGST = `${ENDORSEMENT} ON PAYMENT OF INTEGRATED TAX`;

const isIndian = ({ supplier }: InvoiceRow): boolean => supplier.gstin !== "";
/** A document of the tax on goods and services. */
const isTaxed = (row: InvoiceRow): boolean => isIndian(row) && row.kind !== "statement";

export function pageModel(row: InvoiceRow): PageModel {
  const { supplier, recipient } = row;
  return {
    title: pageTitle(row),
    supplier: { heading: "Supplier", name: supplier.legalName, lines: supplierLines(supplier) },
    facts: factsOf(row),
    recipient: {
      heading: "Recipient",
      name: recipient.legalName || "Not stated",
      lines: recipientLines(recipient, isTaxed(row)),
    },
    ...tableOf(row),
    totals: totalsOf(row),
    words: ["Amount in words", amountInWords(row.totalMinor, row.currency)],
    notes: notesOf(row),
    registration: registrationOf(row),
    signature: [
      `For ${supplier.legalName}`,
      isTaxed(row)
        ? "Digitally generated under the Information Technology Act, 2000; it needs no signature."
        : "Digitally generated; it needs no signature.",
    ],
    number: row.number,
    issuedAtMs: row.issuedAtMs,
  };
}

function supplierLines({ address, country, stateCode, gstin, pan }: SupplierIdentity): string[] {
  const region =
    country === "IN" ? `${stateLabel(stateCode)}, India` : joined(stateCode, countryName(country));
  return [
    ...address,
    region,
    ...(gstin === "" ? [] : [`GSTIN: ${gstin}`]),
    ...(pan === "" ? [] : [`PAN: ${pan}`]),
  ];
}

function recipientLines(recipient: Recipient, isTaxed: boolean): string[] {
  const { address, gstin, taxId } = recipient;
  const isInIndia = address.country === "IN";
  const town = [address.city, address.postalCode].filter((part) => part !== "").join(" ");
  const state = isInIndia && address.stateCode !== "" ? stateLabel(address.stateCode) : address.stateCode;
  const registration = gstin === "" ? "GSTIN: unregistered" : `GSTIN: ${gstin}`;
  return [
    address.line1,
    town,
    joined(state, countryName(address.country)),
    isInIndia && isTaxed ? registration : "",
    taxId === "" ? "" : `Tax id: ${taxId}`,
  ].filter((line) => line !== "");
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(", ");

function factsOf(row: InvoiceRow): Fact[] {
  const { kind, number, issuedAtMs, original, treatment, plan, reference, topupId } = row;
  const facts: Fact[] = [
    [
      kind === "credit_note" ? "Credit note no." : kind === "statement" ? "Statement no." : "Invoice no.",
      number,
    ],
    ["Date", indianDate(issuedAtMs)],
  ];
  if (original !== undefined) {
    facts.push(["Against invoice no.", original.number], ["Dated", indianDate(original.issuedAtMs)]);
  }
  if (isTaxed(row)) {
    const place = treatment.placeOfSupply;
    const abroad = `${countryName(row.recipient.address.country)} (${ABROAD})`;
    facts.push(["Place of supply", place === ABROAD ? abroad : stateLabel(place)], ["Reverse charge", "No"]);
  }
  if (plan !== undefined) {
    const period = `${indianDate(plan.periodStartMs)} to ${indianDate(plan.periodEndMs)}`;
    facts.push(["Plan", plan.planId], ["Period", period]);
  }
  facts.push(["Reference", topupId !== undefined && kind !== "credit_note" ? topupId : reference.id]);
  return facts;
}

function tableOf(row: InvoiceRow): Pick<PageModel, "columns" | "rows"> {
  const sac = sacOf(row);
  const columns: ColumnModel[] = [
    { title: "#", isNumber: false, share: 5 },
    { title: "Description", isNumber: false, share: sac === "" ? 49 : 39 },
    ...(sac === "" ? [] : [{ title: "SAC", isNumber: false, share: 10 }]),
    { title: "Quantity", isNumber: true, share: 10 },
    { title: "Rate", isNumber: true, share: 18 },
    { title: isTaxed(row) ? "Taxable value" : "Amount", isNumber: true, share: 18 },
  ];
  const rows = row.lines.map(({ description, quantity, unitMinor, amountMinor }, at) => [
    String(at + 1),
    description,
    ...(sac === "" ? [] : [sac]),
    String(quantity),
    moneyText(unitMinor, row.currency),
    moneyText(amountMinor, row.currency),
  ]);
  return { columns, rows };
}

const totalLine = (name: string, minor: number, currency: Currency, isStrong = false): TotalModel => ({
  name,
  value: moneyText(minor, currency),
  isStrong,
});

function totalsOf(row: InvoiceRow): TotalModel[] {
  const { currency, taxableMinor, heads, treatment, totalMinor } = row;
  const line = (name: string, minor: number, isStrong?: boolean) =>
    totalLine(name, minor, currency, isStrong);
  if (!isTaxed(row)) return [line("Total", totalMinor, true)];
  const { kind, isUnionTerritory } = treatment;
  const rate = (share: number) => percentText(treatment.rateBps / share);
  const taxes =
    kind === "intra"
      ? [
          line(`CGST at ${rate(2)}`, heads.cgstMinor),
          line(`${isUnionTerritory ? "UTGST" : "SGST"} at ${rate(2)}`, heads.sgstMinor),
        ]
      : [line(`IGST at ${rate(1)}`, heads.igstMinor)];
  return [line("Taxable value", taxableMinor), ...taxes, line("Total", totalMinor, true), ...inrLines(row)];
}

/** An invoice in a foreign currency states its value in rupees too. */
function inrLines(row: InvoiceRow): TotalModel[] {
  if (row.currency === "INR") return [];
  const { taxableMinor, heads, totalMinor } = inrValue(row);
  return [
    totalLine("Taxable value in INR", taxableMinor, "INR"),
    totalLine("IGST in INR", heads.igstMinor, "INR"),
    totalLine("Total in INR", totalMinor, "INR"),
  ];
}

function notesOf(row: InvoiceRow): string[] {
  const { kind, treatment, supplier, rate, irnStatus } = row;
  const notes: string[] = [];
  if (treatment.kind === "zero_lut" && isTaxed(row))
    notes.push(UNDER_LUT, `Letter of undertaking (ARN): ${supplier.lut || "not stated"}`);
  if (treatment.kind === "zero_igst" && isTaxed(row)) notes.push(WITH_IGST);
  if (kind === "statement")
    notes.push("Paid from prepaid credit, which was invoiced when it was bought. This is no tax invoice.");
  if (kind !== "statement" && rate.usdInr !== "" && (isIndian(row) || row.currency === "INR")) {
    notes.push(
      `Rate of exchange: 1 USD = ${rateDigits(rate.usdInr)} INR on ${dayText(rate.day)} (${sourceText(rate)})`,
    );
    // Without it nobody could check the credit against the amount.
    if (rate.charged !== undefined)
      notes.push(
        `Rate of this sale: 1 USD of credit = ${rateDigits(rate.charged)} INR, the rate of exchange with a conversion margin${marginText(row)}`,
      );
  }
  if (irnStatus === "pending" || irnStatus === "failed")
    notes.push("Registration as an e-invoice: pending. It is valid once it bears its IRN.");
  return notes;
}

/** How earlier releases named rates that the supplier wrote down without a source. */
const FORMER_SOURCE = "config/fx.yaml";

/** Whose rate it is. */
const sourceText = ({ source }: InvoiceRow["rate"]): string =>
  source === "" || source === FORMER_SOURCE ? SUPPLIERS_RATE : source;

/** Two decimals at least, and all that say something: `88.50`. */
const rateDigits = (rate: string): string => rate.replace(/(\.\d\d\d*?)0+$/, "$1");

/** `30/04/2026` of `2026-04-30`, as the other dates of a document. */
const dayText = (day: string): string => day.split("-").reverse().join("/");

/** The spread in numbers; empty where it was not noted, and in credit notes. */
function marginText({ kind, rate, taxableMinor, currency }: InvoiceRow): string {
  if (rate.spreadBps === undefined || kind === "credit_note") return "";
  const minor = moneyText(spreadOf(taxableMinor, rate), currency);
  return ` of ${percentText(rate.spreadBps)} (${minor} of the amount)`;
}

function registrationOf({ irn, ackNumber, ackAtMs, signedQr }: InvoiceRow): PageModel["registration"] {
  if (irn === "") return undefined;
  const facts: Fact[] = [
    ["IRN", irn],
    ["Ack. no.", ackNumber],
  ];
  if (ackAtMs !== null) facts.push(["Ack. date", indianDate(ackAtMs)]);
  return { facts, qr: signedQr };
}
