/**
 * The golden set: documents with the figures that must stand on them, computed by hand. Amounts are rupees, or dollars where the
 * currency is USD. Columns: what it is; supplier's State or country and the recipient; the letter of undertaking; then title,
 * place of supply, taxable value, CGST, SGST or UTGST, IGST, total.
 */
import { gstinCheckCharacter } from "../../../src/account/fields/gstin.ts";
import type { InvoiceRow, Recipient } from "../../../src/billing/invoices/invoice.ts";
import { NO_AMOUNT, NO_HEADS, plus, shareOf, totalOf } from "../../../src/billing/invoices/tax.ts";
import { ABROAD, AT_MS, INTER, INTRA, rowOf, SEZ, supplierOf, UNREGISTERED } from "./rows.ts";

/** In a State, without GSTIN. */
const person = (stateCode: string, city: string, postalCode: string): Recipient => ({
  ...UNREGISTERED,
  address: { ...UNREGISTERED.address, line1: "1 Station Road", city, stateCode, postalCode },
});

const RECIPIENTS = {
  "Karnataka firm": INTRA,
  "Maharashtra firm": INTER,
  "Karnataka person": person("29", "Mysuru", "570001"),
  "Tamil Nadu person": UNREGISTERED,
  "Chandigarh person": person("04", "Chandigarh", "160017"),
  "Andaman person": person("35", "Port Blair", "744101"),
  "Daman person": person("26", "Daman", "396210"),
  "Lakshadweep person": person("31", "Kavaratti", "682555"),
  "Ladakh person": person("38", "Leh", "194101"),
  "Delhi person": person("07", "New Delhi", "110001"),
  "Puducherry person": person("34", "Puducherry", "605001"),
  "Punjab person": person("03", "Ludhiana", "141001"),
  "Person at sea": person("97", "Offshore", "400001"),
  "Gujarat SEZ": SEZ,
  "Karnataka SEZ": { ...SEZ, gstin: INTRA.gstin, address: { ...SEZ.address, stateCode: "29" } },
  "US firm": ABROAD,
  "British firm": {
    legalName: "Thames Analytics Ltd",
    gstin: "",
    taxStatus: "overseas",
    taxId: "GB123456789",
    address: { line1: "1 King Street", city: "London", stateCode: "", postalCode: "SW1A 1AA", country: "GB" },
  },
  "Long name": {
    ...INTRA,
    legalName: `${"Long ".repeat(38)}Names LLP`,
    address: { ...INTRA.address, line1: `${"Unit 4, ".repeat(24)}MG Road` },
  },
  "Hindi name": { ...UNREGISTERED, legalName: "भारतीय सॉफ्टवेयर कंपनी" },
} satisfies Readonly<Record<string, Recipient>>;

type Seller = "29" | "04" | "35" | "26" | "31" | "38" | "07" | "34" | "US";

export interface Golden {
  readonly name: string;
  readonly row: InvoiceRow;
  readonly title: string;
  readonly place: string;
  /** Taxable value, CGST, SGST or UTGST, IGST, total; digits only. */
  readonly figures: readonly string[];
}

interface Columns {
  readonly name: string;
  readonly seller: Seller;
  readonly to: keyof typeof RECIPIENTS;
  readonly lut: string;
  readonly title: string;
  readonly place: string;
  readonly figures: readonly string[];
  /** What a credit note has: over which amount, what was credited before, and the part. */
  readonly credit: readonly string[];
}

/** Name, seller, recipient, letter of undertaking, title, place of supply; taxable, CGST, SGST, IGST, total. */
const INVOICES = `
# Within the State.
round              | 29 | Karnataka firm     |        | Tax Invoice          | Karnataka (29)                                | 1000.00 90.00 90.00 0.00 1180.00
one paisa          | 29 | Karnataka firm     |        | Tax Invoice          | Karnataka (29)                                | 0.01 0.00 0.00 0.00 0.01
4.41 paise         | 29 | Karnataka firm     |        | Tax Invoice          | Karnataka (29)                                | 0.49 0.04 0.04 0.00 0.57
4.5 paise          | 29 | Karnataka firm     |        | Tax Invoice          | Karnataka (29)                                | 0.50 0.05 0.05 0.00 0.60
lakh               | 29 | Karnataka firm     |        | Tax Invoice          | Karnataka (29)                                | 100000.00 9000.00 9000.00 0.00 118000.00
odd                | 29 | Karnataka firm     |        | Tax Invoice          | Karnataka (29)                                | 1234567.89 111111.11 111111.11 0.00 1456790.11
person             | 29 | Karnataka person   |        | Tax Invoice          | Karnataka (29)                                | 999.99 90.00 90.00 0.00 1179.99
capital            | 07 | Delhi person       |        | Tax Invoice          | Delhi (07)                                    | 1000.00 90.00 90.00 0.00 1180.00
with a legislature | 34 | Puducherry person  |        | Tax Invoice          | Puducherry (34)                               | 10.00 0.90 0.90 0.00 11.80
# Between States.
round              | 29 | Maharashtra firm   |        | Tax Invoice          | Maharashtra (27)                              | 1000.00 0.00 0.00 180.00 1180.00
4.32 paise         | 29 | Maharashtra firm   |        | Tax Invoice          | Maharashtra (27)                              | 0.24 0.00 0.00 0.04 0.28
4.5 paise          | 29 | Maharashtra firm   |        | Tax Invoice          | Maharashtra (27)                              | 0.25 0.00 0.00 0.05 0.30
crore              | 29 | Maharashtra firm   |        | Tax Invoice          | Maharashtra (27)                              | 99999999.99 0.00 0.00 18000000.00 117999999.99
person             | 29 | Tamil Nadu person  |        | Tax Invoice          | Tamil Nadu (33)                               | 500.00 0.00 0.00 90.00 590.00
to a territory     | 29 | Chandigarh person  |        | Tax Invoice          | Chandigarh (04)                               | 1000.00 0.00 0.00 180.00 1180.00
to the capital     | 29 | Delhi person       |        | Tax Invoice          | Delhi (07)                                    | 33.33 0.00 0.00 6.00 39.33
at sea             | 29 | Person at sea      |        | Tax Invoice          | Other territory (97)                          | 100.00 0.00 0.00 18.00 118.00
from a territory   | 04 | Punjab person      |        | Tax Invoice          | Punjab (03)                                   | 1000.00 0.00 0.00 180.00 1180.00
# Within a union territory: UTGST.
territory          | 04 | Chandigarh person  |        | Tax Invoice          | Chandigarh (04)                               | 1000.00 90.00 90.00 0.00 1180.00
territory          | 35 | Andaman person     |        | Tax Invoice          | Andaman and Nicobar Islands (35)              | 0.50 0.05 0.05 0.00 0.60
territory          | 26 | Daman person       |        | Tax Invoice          | Dadra and Nagar Haveli and Daman and Diu (26) | 77.77 7.00 7.00 0.00 91.77
territory          | 31 | Lakshadweep person |        | Tax Invoice          | Lakshadweep (31)                              | 12.34 1.11 1.11 0.00 14.56
territory          | 38 | Ladakh person      |        | Tax Invoice          | Ladakh (38)                                   | 1.00 0.09 0.09 0.00 1.18
# Special economic zones: between States, whatever the State.
zone               | 29 | Gujarat SEZ        | LUT    | Tax Invoice          | Gujarat (24)                                  | 1000.00 0.00 0.00 0.00 1000.00
zone               | 29 | Gujarat SEZ        | no LUT | Tax Invoice          | Gujarat (24)                                  | 1000.00 0.00 0.00 180.00 1180.00
zone next door     | 29 | Karnataka SEZ      | LUT    | Tax Invoice          | Karnataka (29)                                | 1000.00 0.00 0.00 0.00 1000.00
zone next door     | 29 | Karnataka SEZ      | no LUT | Tax Invoice          | Karnataka (29)                                | 0.25 0.00 0.00 0.05 0.30
# Exports, in dollars.
export             | 29 | US firm            | LUT    | Tax Invoice (Export) | United States (96)                            | 100.00 0.00 0.00 0.00 100.00
export             | 29 | US firm            | no LUT | Tax Invoice (Export) | United States (96)                            | 100.00 0.00 0.00 18.00 118.00
export of a cent   | 29 | US firm            | LUT    | Tax Invoice (Export) | United States (96)                            | 0.01 0.00 0.00 0.00 0.01
export             | 29 | British firm       | LUT    | Tax Invoice (Export) | United Kingdom (96)                           | 2500.00 0.00 0.00 0.00 2500.00
export             | 29 | British firm       | no LUT | Tax Invoice (Export) | United Kingdom (96)                           | 33.33 0.00 0.00 6.00 39.33
# Suppliers that are not Indian.
foreign supplier   | US | US firm            |        | Invoice              |                                               | 50.00 0.00 0.00 0.00 50.00
foreign supplier   | US | British firm       |        | Invoice              |                                               | 50.00 0.00 0.00 0.00 50.00
# Names.
long name          | 29 | Long name          |        | Tax Invoice          | Karnataka (29)                                | 1000.00 90.00 90.00 0.00 1180.00
Hindi name         | 29 | Hindi name         |        | Tax Invoice          | Tamil Nadu (33)                               | 500.00 0.00 0.00 90.00 590.00
`;

/** Credit notes: the same, then over which amount, what was credited before, and the part. */
const NOTES = `
a third       | 29 | Karnataka firm    |        | Credit Note | Karnataka (29)     | 333.33 30.00 30.00 0.00 393.33   | 1000.00 | 0.00 | 333.33
the rest      | 29 | Karnataka firm    |        | Credit Note | Karnataka (29)     | 3.35 0.30 0.30 0.00 3.95         | 10.01   | 6.66 | 3.35
the whole     | 29 | Maharashtra firm  |        | Credit Note | Maharashtra (27)   | 1000.00 0.00 0.00 180.00 1180.00 | 1000.00 | 0.00 | 1000.00
a territory's | 04 | Chandigarh person |        | Credit Note | Chandigarh (04)    | 0.25 0.03 0.03 0.00 0.31         | 0.50    | 0.00 | 0.25
a zone's      | 29 | Gujarat SEZ       | no LUT | Credit Note | Gujarat (24)       | 1000.00 0.00 0.00 180.00 1180.00 | 1000.00 | 0.00 | 1000.00
an export's   | 29 | US firm           | LUT    | Credit Note | United States (96) | 40.00 0.00 0.00 0.00 40.00       | 100.00  | 0.00 | 40.00
`;

/** Statements: a plan that is changed within its period, paid from credit. */
const STATEMENTS: readonly (readonly [
  name: string,
  lines: readonly (readonly [string, number])[],
  total: string,
])[] = [
  ["a plan", [["Plan Team, May 2026", 2000]], "20.00"],
  [
    "proration",
    [
      ["Plan Team, 27 of 31 days", 1742],
      ["Plan Start, 27 of 31 days unused", -435],
    ],
    "13.07",
  ],
];

export const minorOf = (digits: string): number => Number(digits.replace(".", ""));

/** Time in a year with a letter of undertaking, or in one without. */
const timeOf = (lut: string): number => (lut === "no LUT" ? Date.parse("2025-06-04T10:00:00Z") : AT_MS);

function sellerOf(seller: Seller) {
  if (seller === "US") {
    const address = "{ line1: 1 Market Street, city: Wilmington, postal_code: '19801' }";
    return supplierOf({
      legal_name: "Weir Example Inc.",
      address,
      country: "US",
      state_code: "DE",
      gstin: "''",
      lut: "{}",
      e_invoice: "false",
    });
  }
  const first = `${seller}AAWCE1234F1Z`;
  return supplierOf({ state_code: `'${seller}'`, gstin: first + gstinCheckCharacter(first) });
}

/** Lines of a table; those with # say what follows. */
const columnsOf = (table: string): Columns[] =>
  table
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const cells = line.split("|").map((cell) => cell.trim());
      const [name = "", seller = "", to = "", lut = "", title = "", place = "", figures = "", ...credit] =
        cells;
      return {
        name,
        seller: seller as Seller,
        to: to as keyof typeof RECIPIENTS,
        lut,
        title,
        place,
        credit,
        figures: figures.split(" "),
      };
    });

function invoiceOf({ seller, to, lut }: Columns, taxable: string): InvoiceRow {
  const supplier = sellerOf(seller);
  const recipient = RECIPIENTS[to];
  const row = rowOf({ supplier, recipient, taxableMinor: minorOf(taxable), atMs: timeOf(lut) });
  return seller === "US" ? { ...row, kind: "invoice" } : row;
}

function noteOf(columns: Columns): InvoiceRow {
  const [of = "", before = "", part = ""] = columns.credit;
  const original = invoiceOf(columns, of);
  const taxableMinor = minorOf(part);
  const earlier = minorOf(before);
  const already =
    earlier === 0
      ? NO_AMOUNT
      : plus(NO_AMOUNT, { taxableMinor: earlier, heads: shareOf(original, NO_AMOUNT, earlier) });
  const heads = shareOf(original, already, taxableMinor);
  return {
    ...original,
    id: "cn_01JTEST0000000000000000001",
    kind: "credit_note",
    originalId: original.id,
    number: original.number.replace("TI", "CN"),
    series: "CN",
    taxableMinor,
    heads,
    totalMinor: totalOf({ taxableMinor, heads }),
    lines: [
      {
        description: "Refund of prepaid credit",
        kind: "credits",
        quantity: 1,
        unitMinor: taxableMinor,
        amountMinor: taxableMinor,
      },
    ],
    reference: { type: "refund", id: "rfd_0001" },
    original: { number: original.number, issuedAtMs: original.issuedAtMs },
  };
}

function statementOf([, lines]: (typeof STATEMENTS)[number]): InvoiceRow {
  const totalMinor = lines.reduce((sum, [, minor]) => sum + minor, 0);
  return rowOf({
    recipient: ABROAD,
    row: {
      kind: "statement",
      number: "ST/26-27/0000001",
      series: "ST",
      currency: "USD",
      lines: lines.map(([description, minor]) => ({
        description,
        kind: "proration" as const,
        quantity: 1,
        unitMinor: minor,
        amountMinor: minor,
      })),
      taxableMinor: totalMinor,
      totalMinor,
      heads: NO_HEADS,
      reference: { type: "subscription", id: "sub_0001" },
      plan: {
        planId: "team",
        periodStartMs: Date.parse("2026-05-01T00:00:00+05:30"),
        periodEndMs: Date.parse("2026-06-01T00:00:00+05:30"),
      },
    },
  });
}

const goldenOf = (columns: Columns, name: string, row: InvoiceRow): Golden => {
  const { seller, to, lut, title, place, figures } = columns;
  return { name: `${name}: ${seller} to ${to} ${lut}`.trim(), row, title, place, figures };
};

export const GOLDEN: readonly Golden[] = [
  ...columnsOf(INVOICES).map((columns) =>
    goldenOf(columns, columns.name, invoiceOf(columns, columns.figures[0] ?? "")),
  ),
  ...columnsOf(NOTES).map((columns) => goldenOf(columns, `credit note, ${columns.name}`, noteOf(columns))),
  ...STATEMENTS.map((columns): Golden => {
    const [name, , total] = columns;
    const figures = [total, "0.00", "0.00", "0.00", total];
    return { name: `statement, ${name}`, row: statementOf(columns), title: "Statement", place: "", figures };
  }),
];
