/** `supplier.yaml`: what is read, and the lines of what is wrong. */
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  identityOf,
  parseSupplier,
  readSupplier,
  supplierWarnings,
} from "../../../../src/billing/invoices/supplier.ts";
import { supplierOf, supplierYaml } from "../../../support/invoices/rows.ts";

const CONFIG = join(import.meta.dirname, "../../../../config");

test("the shipped file is valid, and its example is a supplier in Karnataka", () => {
  const supplier = readSupplier(CONFIG);
  expect(supplier).toMatchObject({ country: "IN", state_code: "29", sac: "998319", e_invoice: true });
  expect(supplier?.rails.map(({ rail }) => rail)).toEqual(["razorpay", "stripe", "simulated"]);
  expect(supplierWarnings(supplierOf({ e_invoice: "false", turnover_crore: "6" }))).toHaveLength(1);
});

test("a folder without the file has no supplier", () => {
  expect(readSupplier(join(CONFIG, "models"))).toBeUndefined();
});

test("the letter of undertaking is that of the year", () => {
  expect(identityOf(supplierOf(), "2026-27").lut).toBe("AD290426001234X");
  expect(identityOf(supplierOf(), "2027-28").lut).toBe("");
});

test.each([
  [{ gstin: "29AAWCE1234F1ZH" }, /supplier\.yaml:5:8 \/gstin: the last character of this GSTIN/],
  [{ gstin: "27AAPFU0939F1ZV" }, /supplier\.yaml:5:8 \/gstin: is of Maharashtra \(27\), not of state_code/],
  [{ gstin: "''" }, /\/gstin: a supplier in India needs its GSTIN/],
  [{ state_code: "'28'" }, /\/state_code: a supplier in India has a GST state code/],
  [{ pan: "AAWCE1234G" }, /\/pan: is not the one in the GSTIN/],
  [{ sac: "'8471'" }, /\/sac: an accounting code of services has six digits/],
  [{ series: "{ invoices: '0A' }" }, /\/series\/invoices: one to four of A-Z and 0-9/],
  [{ series: "{ invoices: A, credit_notes: A }" }, /\/series: each series has a prefix of its own/],
  [{ lut: "{ 2026-28: A }" }, /\/lut\/2026-28: is no financial year/],
  [{ country: "US", state_code: "DE" }, /\/gstin: is for suppliers in India/],
  [{ e_invoise: "true" }, /\/e_invoise: unknown key "e_invoise"; did you mean "e_invoice"\?/],
  [{ minimums_minor: "{ INR: 0 }" }, /\/minimums_minor\/INR/],
  [{ rails: "[{ rail: stripe, items: [{ method: card, bps: 20000 }] }]" }, /\/rails\/0\/items\/0\/bps/],
])("%j is refused with its line", (changes, message) => {
  expect(() => parseSupplier(supplierYaml(changes), "supplier.yaml")).toThrow(message);
});
