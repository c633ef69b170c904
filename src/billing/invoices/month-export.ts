/** Documents of a month for an accountant. Read and written in slices, so that a long month stops no other request; bounded in rows. */
import { z } from "zod";
import { isoTime, nextTurn } from "../../base/clock.ts";
import { decimalText } from "../../base/currency.ts";
import { fail } from "../../base/errors.ts";
import { type FullAnswer, raw } from "../../base/operation/answer.ts";
import { indianMonth } from "./financial-year.ts";
import { Gstr1 } from "./gstr1.ts";
import { type InrValue, inrValue } from "./inr-value.ts";
import type { InvoiceRow } from "./invoice.ts";
import { jsonParts, slicedBody } from "./sliced-body.ts";
import type { InvoiceTables } from "./tables.ts";
import { invoiceWire, sacOf } from "./wire.ts";

export const MONTH_TYPES = ["application/json", "text/csv"];

export const monthQuery = z.object({
  month: z
    .string()
    .regex(/^20\d\d-(0[1-9]|1[0-2])$/, "a month, such as 2026-04")
    .optional()
    .describe("`YYYY-MM`, by the calendar of India; absent: this month")
    .meta({ examples: ["2026-04"] }),
  format: z
    .enum(["csv", "json", "gstr1"])
    .default("csv")
    .describe("`csv`: a line a document; `json`: as the list shows them; `gstr1`: the return's shape"),
});

export type MonthQuery = z.output<typeof monthQuery>;

const MOST_ROWS = 20_000;
/** Between two turns of the event loop: about a millisecond. */
const ROWS_AT_ONCE = 50;
/** The return, its tables, their recipients, the recipients' lists: what lies deeper is one document. */
const LEVELS_OF_RETURN = 4;

/** @param orgId absent: of all orgs, for the operator. @throws WeirError `payload_too_large` */
export async function monthAnswer(
  tables: InvoiceTables,
  { month: asked, format }: MonthQuery,
  nowMs: number,
  orgId?: string,
): Promise<FullAnswer<never>> {
  const month = asked ?? indianMonth(nowMs);
  const headers = {
    "content-disposition": `attachment; filename="invoices-${month}.${format === "csv" ? "csv" : "json"}"`,
  };
  if (format === "gstr1") {
    const gstr1 = new Gstr1(tables);
    for await (const row of rowsOf(tables, month, orgId)) gstr1.add(row);
    const body = await slicedBody(jsonParts(gstr1.result(month), LEVELS_OF_RETURN));
    return raw("application/json", body, { headers });
  }
  const rows = rowsOf(tables, month, orgId);
  return format === "csv"
    ? raw("text/csv; charset=utf-8", await slicedBody(csvParts(rows)), { headers })
    : raw("application/json", await slicedBody(listParts(rows, month)), { headers });
}

async function* csvParts(rows: AsyncIterable<InvoiceRow>): AsyncGenerator<string> {
  yield csvLine(Object.keys(CELLS));
  for await (const row of rows) yield csvLine(cellsOf(row));
}

async function* listParts(rows: AsyncIterable<InvoiceRow>, month: string): AsyncGenerator<string> {
  let before = `{"object":"list","month":"${month}","data":[`;
  for await (const row of rows) {
    yield before + JSON.stringify(invoiceWire(row));
    before = ",";
  }
  yield before === "," ? "]}" : `${before}]}`;
}

async function* rowsOf(
  tables: InvoiceTables,
  month: string,
  orgId: string | undefined,
): AsyncGenerator<InvoiceRow> {
  let last: InvoiceRow | undefined;
  for (let count = 0; ; ) {
    const page: InvoiceRow[] = [];
    for (const row of tables.ofMonth(month, orgId, last)) if (page.push(row) === ROWS_AT_ONCE) break;
    count += page.length;
    if (count > MOST_ROWS) throw fail("payload_too_large", `The month has more than ${MOST_ROWS} documents.`);
    yield* page;
    last = page.at(-1);
    if (page.length < ROWS_AT_ONCE) return;
    await nextTurn();
  }
}

/** What a cell is made of: a document, and its value in rupees where it has one. */
type Cell = (row: InvoiceRow, inr: InrValue | undefined) => string;

const inRupees = (minor: number | undefined): string => (minor === undefined ? "" : decimalText(minor));

/** Columns, by their names. */
const CELLS: Readonly<Record<string, Cell>> = {
  number: (row) => row.number,
  kind: (row) => row.kind,
  issued_at: (row) => isoTime(row.issuedAtMs),
  status: (row) => row.status,
  original_number: (row) => row.original?.number ?? "",
  recipient: (row) => row.recipient.legalName,
  recipient_gstin: (row) => row.recipient.gstin,
  country: (row) => row.recipient.address.country,
  place_of_supply: (row) => row.treatment.placeOfSupply,
  sac: sacOf,
  currency: (row) => row.currency,
  taxable: (row) => decimalText(row.taxableMinor),
  cgst: (row) => decimalText(row.heads.cgstMinor),
  sgst: (row) => decimalText(row.heads.sgstMinor),
  igst: (row) => decimalText(row.heads.igstMinor),
  total: (row) => decimalText(row.totalMinor),
  credited: (row) => decimalText(row.creditedMinor),
  fx_rate: (row) => row.rate.usdInr,
  taxable_inr: (_, inr) => inRupees(inr?.taxableMinor),
  igst_inr: (_, inr) => inRupees(inr?.heads.igstMinor),
  total_inr: (_, inr) => inRupees(inr?.totalMinor),
  irn_status: (row) => row.irnStatus,
  irn: (row) => row.irn,
  reference: (row) => row.reference.id,
  org_id: (row) => row.orgId,
  id: (row) => row.id,
};

function cellsOf(row: InvoiceRow): string[] {
  const hasInr = row.currency === "INR" || row.supplier.gstin !== "";
  const inr = hasInr ? inrValue(row) : undefined;
  return Object.values(CELLS).map((cell) => cell(row, inr));
}

/** RFC 4180. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function csvLine(cells: readonly string[]): string {
  const written = cells.map((cell) => {
    const safe = /^[=+\-@\t\r]/.test(cell) && !/^-?[0-9.]+$/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(",")}\r\n`;
}
