/**
 * `config/supplier.yaml`: who sells. Read once at start; every problem has its line. What is printed on an invoice is copied
 * into it when it is issued, so a later change of the file changes no invoice. Rails, minimums and the spread are billing's.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { countryField } from "../../account/fields/countries.ts";
import { isIndianState, stateLabel } from "../../account/fields/gst-states.ts";
import { gstinField } from "../../account/fields/gstin.ts";
import { plainText } from "../../account/fields/text-field.ts";
import { type Problem, problemText, readDocument } from "../../base/document/document.ts";
import { readText } from "../../base/file-errors.ts";
import type { SupplierIdentity } from "./invoice.ts";

const MINOR_MOST = 1_000_000_000_000;
const minor = z.int().nonnegative().max(MINOR_MOST);
const bps = z.int().nonnegative().max(10_000);
const FINANCIAL_YEAR = /^20\d\d-\d\d$/;

/** How a number begins: letters and digits in upper case, not beginning with 0 (CGST rule 46 (b); INV-01, `DocDtls.No`). */
const prefix = z.string().regex(/^[A-Z1-9][A-Z0-9]{0,3}$/, {
  error: "one to four of A-Z and 0-9, not beginning with 0",
});

const rail = z.strictObject({
  /** Id of the payment gateway. */
  rail: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/),
  items: z
    .array(
      z.strictObject({
        method: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/),
        bps,
        fixed_minor: minor.optional(),
        note: plainText(200).optional(),
      }),
    )
    .max(50),
});

const supplierFile = z.strictObject({
  legal_name: plainText(200).min(3, "the legal name has at least three characters"),
  address: z.strictObject({
    line1: plainText(100).min(1, "is empty"),
    line2: plainText(100).default(""),
    city: plainText(50).min(3, "a city has at least three characters"),
    postal_code: plainText(16).default(""),
  }),
  state_code: plainText(50).default(""),
  country: countryField,
  gstin: gstinField.default(""),
  pan: z
    .string()
    .regex(/^[A-Z]{5}[0-9]{4}[A-Z]$/, { error: "a PAN has ten characters, such as AAWCE1234F" })
    .optional(),
  sac: z
    .string()
    .regex(/^99[0-9]{4}$/, { error: "an accounting code of services has six digits and begins with 99" })
    .default("998319"),
  lut: z
    .record(
      z.string().regex(FINANCIAL_YEAR, { error: "a financial year, such as 2026-27" }),
      plainText(30).min(1, "is empty"),
    )
    .default({}),
  series: z
    .strictObject({
      invoices: prefix.default("TI"),
      credit_notes: prefix.default("CN"),
      statements: prefix.default("ST"),
    })
    .prefault({}),
  e_invoice: z.boolean().default(false),
  e_invoice_portal: z.url({ protocol: /^https?$/ }).optional(),
  turnover_crore: z.number().nonnegative().max(1_000_000).optional(),
  fx: z.strictObject({ spread_bps: bps.default(0) }).prefault({}),
  minimums_minor: z
    .strictObject({ INR: minor.min(1).default(10_000), USD: minor.min(1).default(500) })
    .prefault({}),
  rails: z.array(rail).max(20).default([]),
});

export type SupplierFile = z.output<typeof supplierFile>;

/** Thrown at start; its message has a line for each problem. */
export class SupplierError extends Error {
  override readonly name = "SupplierError";
}

/** @returns undefined where the folder has no such file: then nothing can be sold. @throws SupplierError */
export function readSupplier(configDir: string): SupplierFile | undefined {
  const file = join(configDir, "supplier.yaml");
  if (!existsSync(file)) return undefined;
  return parseSupplier(readText(file), file);
}

/** @param file name in messages. @throws SupplierError */
export function parseSupplier(text: string, file: string): SupplierFile {
  const read = readDocument(text, file, supplierFile);
  if (!read.ok) throw new SupplierError(read.problems.map(problemText).join("\n"));
  const problems: Problem[] = faultsOf(read.value).map(({ path, message }) => ({
    file,
    ...read.at(path),
    pointer: `/${path.join("/")}`,
    message,
  }));
  if (problems.length > 0) throw new SupplierError(problems.map(problemText).join("\n"));
  return Object.freeze(read.value);
}

interface Fault {
  readonly path: readonly string[];
  readonly message: string;
}

/** What depends on two keys. */
function faultsOf(file: SupplierFile): Fault[] {
  const faults: Fault[] = [];
  const { invoices, credit_notes, statements } = file.series;
  if (new Set([invoices, credit_notes, statements]).size < 3)
    faults.push({ path: ["series"], message: "each series has a prefix of its own" });
  for (const year of Object.keys(file.lut)) {
    const next = String(Number(year.slice(2, 4)) + 1).slice(-2);
    if (year.slice(5) !== next.padStart(2, "0"))
      faults.push({ path: ["lut", year], message: "is no financial year: 2026-27 is one" });
  }
  return [...faults, ...(file.country === "IN" ? indianFaults(file) : foreignFaults(file))];
}

function indianFaults({ state_code: state, gstin, pan, address }: SupplierFile): Fault[] {
  const faults: Fault[] = [];
  if (!isIndianState(state))
    faults.push({ path: ["state_code"], message: "a supplier in India has a GST state code, such as 29" });
  if (gstin === "") faults.push({ path: ["gstin"], message: "a supplier in India needs its GSTIN" });
  else if (!gstin.startsWith(state))
    faults.push({ path: ["gstin"], message: `is of ${stateLabel(gstin.slice(0, 2))}, not of state_code` });
  if (pan !== undefined && pan !== gstin.slice(2, 12))
    faults.push({ path: ["pan"], message: "is not the one in the GSTIN" });
  if (!/^[1-9][0-9]{5}$/.test(address.postal_code))
    faults.push({ path: ["address", "postal_code"], message: "a PIN code has six digits" });
  return faults;
}

function foreignFaults({ gstin, e_invoice: eInvoice }: SupplierFile): Fault[] {
  const faults: Fault[] = [];
  if (gstin !== "") faults.push({ path: ["gstin"], message: "is for suppliers in India" });
  if (eInvoice) faults.push({ path: ["e_invoice"], message: "is for suppliers in India" });
  return faults;
}

/** From that turnover on, e-invoices are a duty: Notification 13/2020 as amended by 10/2023. Crore INR. */
const E_INVOICE_CRORE = 5;

/** What the operator should look at again; the start goes on. */
export function supplierWarnings({ e_invoice: eInvoice, turnover_crore: crore = 0 }: SupplierFile): string[] {
  if (eInvoice || crore <= E_INVOICE_CRORE) return [];
  return [
    `supplier.yaml: a turnover above ${E_INVOICE_CRORE} crore INR makes e-invoices a duty; e_invoice is off`,
  ];
}

/** The supplier as printed on a document of a financial year. */
export function identityOf(file: SupplierFile, fy: string): SupplierIdentity {
  const { address, country, state_code: stateCode } = file;
  const town = [address.city, address.postal_code].filter((part) => part !== "").join(" ");
  return {
    legalName: file.legal_name,
    address: [address.line1, address.line2, town].filter((line) => line !== ""),
    city: address.city,
    postalCode: address.postal_code,
    stateCode,
    country,
    gstin: file.gstin,
    pan: file.pan ?? "",
    sac: file.sac,
    lut: (file.country === "IN" && file.lut[fy]) || "",
  };
}
