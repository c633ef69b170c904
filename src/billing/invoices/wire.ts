/** Invoices, statements and credit notes as the API shows them; specification, "Credits and billing". */

import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { CURRENCIES } from "../../base/currency.ts";
import * as field from "../../base/operation/fields.ts";
import { eventType } from "../../store/events/types.ts";
import { spreadOf } from "./amount.ts";
import {
  INVOICE_KINDS,
  INVOICE_STATUSES,
  type InvoiceLine,
  type InvoiceRow,
  IRN_STATUSES,
  LINE_KINDS,
} from "./invoice.ts";

const minor = z.int().nonnegative();

const lineShape = z.object({
  description: z.string().describe("What was sold"),
  kind: z.enum(LINE_KINDS).describe("`credits`, `plan`, `proration` or `adjustment`"),
  sac: z.string().describe("Services accounting code; empty where the supplier is not Indian"),
  quantity: z.number().describe("How many"),
  unit_minor: z.int().describe("Price of one without tax, paise or cents"),
  amount_minor: z.int().describe("The line without tax, paise or cents"),
});

export const invoiceShape = z.object({
  id: z.string().describe("`inv_…`; of a credit note `cn_…`"),
  org_id: z.string().describe("The org that is billed"),
  number: z.string().describe("Consecutive in its series and financial year"),
  fy: z.string().describe("Financial year, April to March, such as `2026-27`"),
  kind: z
    .enum(INVOICE_KINDS)
    .describe(
      "`tax_invoice`, `export_invoice`, `invoice` (of a supplier outside India), `statement` (what was paid from credit: no tax document) or `credit_note`",
    ),
  currency: z.enum(CURRENCIES).describe("The org's billing currency."),
  place_of_supply: z
    .string()
    .describe("GST state code, `96` abroad; empty where the supplier is not Indian, and on statements"),
  supplier_gstin: z.string().describe("Empty where the supplier is not Indian"),
  recipient_gstin: z.string().describe("Empty where the recipient has none"),
  recipient: z
    .object({
      legal_name: z.string().describe("As it was when the document was issued"),
      gstin: z.string().describe("Empty where there is none"),
      tax_id: z.string().describe("Tax number of a buyer outside India; empty where there is none"),
      country: z.string().describe("ISO 3166-1 alpha-2"),
    })
    .describe("Who is billed"),
  lines: z.array(lineShape).describe("What is billed; their sum is `taxable_minor`"),
  taxable_minor: minor.describe("Without tax, paise or cents"),
  cgst_minor: minor.describe("Central tax"),
  sgst_minor: minor.describe("State tax; in a union territory UTGST"),
  igst_minor: minor.describe("Integrated tax"),
  total_minor: minor.describe("With tax, paise or cents"),
  hsn_sac: z.string().describe("Services accounting code; empty where the supplier is not Indian"),
  irn_status: z
    .enum(IRN_STATUSES)
    .describe(
      "Registration as an e-invoice: `not_required`, `pending`, `generated`, `failed` or `cancelled`",
    ),
  irn: z.string().describe("Invoice reference number; empty until it is registered"),
  topup_id: z.string().describe("The top-up it documents; empty where there is none"),
  fx_rate: z.string().describe("INR per USD of its day, eight digits, without the spread"),
  charged_rate: z
    .string()
    .optional()
    .describe("INR for 1 USD of credit, the spread included; absent where the buyer did not pay in INR"),
  spread_bps: z
    .int()
    .optional()
    .describe("The spread, basis points; absent without `charged_rate`, and where it was not noted"),
  spread_minor: z
    .int()
    .optional()
    .describe("What of `taxable_minor` is the spread; absent without `spread_bps`, and in credit notes"),
  issued_at: z.string().describe("ISO 8601, UTC"),
  status: z.enum(INVOICE_STATUSES).describe("`paid`, `partially_credited` or `credited`"),
  credited_minor: minor.describe("What credit notes took back, with tax"),
  plan_id: z.string().optional().describe("The plan of a statement"),
  period_start: field.time("When a statement's period begins").optional(),
  period_end: field.time("When a statement's period ends").optional(),
  original_id: z.string().optional().describe("The invoice that a credit note corrects"),
  credit_note_ids: z
    .array(z.string())
    .optional()
    .describe(
      "Credit notes that took something of it back, oldest first; those of before they were noted are left out",
    ),
  replaced_by_id: z
    .string()
    .optional()
    .describe("The invoice that was issued in its place when it was corrected"),
  replaces_id: z.string().optional().describe("The invoice in whose place a correction issued this one"),
});

export const invoiceIssued = eventType("invoice.issued", invoiceShape);

export const invoiceWire = (row: InvoiceRow): z.input<typeof invoiceShape> => ({
  id: row.id,
  org_id: row.orgId,
  number: row.number,
  fy: row.fy,
  kind: row.kind,
  currency: row.currency,
  place_of_supply: row.treatment.placeOfSupply,
  supplier_gstin: row.supplier.gstin,
  recipient_gstin: row.recipient.gstin,
  recipient: {
    legal_name: row.recipient.legalName,
    gstin: row.recipient.gstin,
    tax_id: row.recipient.taxId,
    country: row.recipient.address.country,
  },
  lines: row.lines.map((line) => lineWire(line, sacOf(row))),
  taxable_minor: row.taxableMinor,
  cgst_minor: row.heads.cgstMinor,
  sgst_minor: row.heads.sgstMinor,
  igst_minor: row.heads.igstMinor,
  total_minor: row.totalMinor,
  hsn_sac: sacOf(row),
  irn_status: row.irnStatus,
  irn: row.irn,
  topup_id: row.topupId ?? "",
  fx_rate: row.rate.usdInr,
  ...(row.rate.charged !== undefined && { charged_rate: row.rate.charged }),
  ...(row.rate.spreadBps !== undefined && {
    spread_bps: row.rate.spreadBps,
    ...(row.kind !== "credit_note" && { spread_minor: spreadOf(row.taxableMinor, row.rate) }),
  }),
  issued_at: isoTime(row.issuedAtMs),
  status: row.status,
  credited_minor: row.creditedMinor,
  ...(row.plan !== undefined && {
    plan_id: row.plan.planId,
    period_start: isoTime(row.plan.periodStartMs),
    period_end: isoTime(row.plan.periodEndMs),
  }),
  ...(row.originalId !== undefined && { original_id: row.originalId }),
  ...(row.creditNoteIds !== undefined && { credit_note_ids: [...row.creditNoteIds] }),
  ...(row.replacedById !== undefined && { replaced_by_id: row.replacedById }),
  ...(row.replacesId !== undefined && { replaces_id: row.replacesId }),
});

/** The code of the service; a classification of Indian tax, which others do not print. */
export const sacOf = ({ supplier }: InvoiceRow): string => (supplier.gstin === "" ? "" : supplier.sac);

const lineWire = (line: InvoiceLine, sac: string) => ({
  description: line.description,
  kind: line.kind,
  sac,
  quantity: line.quantity,
  unit_minor: line.unitMinor,
  amount_minor: line.amountMinor,
});
