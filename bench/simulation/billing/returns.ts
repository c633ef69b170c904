/** Documents of each month as an accountant gets them: the return's tables, the CSV and the JSON add up to what was issued. */
import { DAY_MS } from "../../../src/base/time.ts";
import type { InvoiceRow } from "../../../src/billing/invoices/invoice.ts";
import { monthAnswer } from "../../../src/billing/invoices/month-export.ts";
import { must } from "./figures.ts";
import type { SimulationModule } from "./module.ts";
import type { GatewayProcess } from "./process.ts";
import type { World } from "./world.ts";

const IST_MS = 5.5 * 3_600_000;
const monthOf = (ms: number): string => new Date(ms + IST_MS).toISOString().slice(0, 7);

/** Paise of supplies, and how many documents. */
interface Sum {
  taxable: number;
  igst: number;
  cgst: number;
  sgst: number;
  documents: number;
}
const nothing = (): Sum => ({ taxable: 0, igst: 0, cgst: 0, sgst: 0, documents: 0 });

export class ReturnsModule implements SimulationModule {
  readonly name = "returns";
  /** Month → its documents. */
  readonly #months = new Map<string, Map<string, InvoiceRow>>();
  #checked = "";

  open({ store }: GatewayProcess): void {
    store.table<InvoiceRow>("invoices.rows").watch((_key, row) => {
      if (row === undefined) return;
      const month = monthOf(row.issuedAtMs);
      const rows = this.#months.get(month) ?? new Map<string, InvoiceRow>();
      this.#months.set(month, rows.set(row.id, row));
    });
  }

  /** @throws Deviation */
  async night(world: World, isLast: boolean): Promise<void> {
    const { process, parts } = world;
    const nowMs = parts.time.now();
    const month = isLast ? monthOf(nowMs) : monthOf(nowMs - 2 * DAY_MS);
    if (process === undefined || month === this.#checked || (!isLast && month === monthOf(nowMs))) return;
    this.#checked = month;
    const rows = [...(this.#months.get(month)?.values() ?? [])];
    const { invoiceTables } = process.rooms;
    const read = async (format: "gstr1" | "csv" | "json") =>
      String((await monthAnswer(invoiceTables, { month, format }, nowMs)).content.bytes?.body);
    const gstr1 = JSON.parse(await read("gstr1")) as Gstr1;
    const supplies = rows.filter(({ kind }) => kind !== "statement");
    const due = nothing();
    for (const row of supplies) add(due, row.kind === "credit_note" ? -1 : 1, inRupees(row));
    same(month, "the return's tables", tablesOf(gstr1), { ...due, documents: 0 });
    const numbered = gstr1.doc_issue.doc_det
      .flatMap(({ docs }) => docs)
      .reduce((sum, one) => sum + one.totnum, 0);
    must(
      numbered === supplies.length,
      () => `${month}: the return counts ${numbered} documents of ${supplies.length}`,
    );
    same(month, "its summary by code", hsnOf(gstr1), { ...due, documents: 0 });
    const listed = (JSON.parse(await read("json")) as { data: { id: string; number: string }[] }).data;
    const csv = (await read("csv")).trim().split("\r\n").length - 1;
    must(
      listed.length === rows.length && csv === rows.length,
      () => `${month}: ${rows.length} documents, ${listed.length} in the JSON, ${csv} in the CSV`,
    );
    parts.figures.add("returns: months that add up");
    parts.figures.add("returns: documents in them", rows.length);
  }
}

function add(sum: Sum, sign: number, { taxable, igst, cgst, sgst }: Omit<Sum, "documents">): void {
  sum.taxable += sign * taxable;
  sum.igst += sign * igst;
  sum.cgst += sign * cgst;
  sum.sgst += sign * sgst;
}

/** A document in dollars by the rate that stands on it, half a paisa up. */
function inRupees({ currency, taxableMinor, heads, rate }: InvoiceRow): Omit<Sum, "documents"> {
  const [whole = "", digits = ""] = rate.usdInr.split(".");
  const scaled = BigInt(whole + digits);
  const scale = 10n ** BigInt(digits.length);
  const paise = (minor: number) =>
    currency === "INR" ? minor : Number((2n * BigInt(minor) * scaled + scale) / (2n * scale));
  return {
    taxable: paise(taxableMinor),
    igst: paise(heads.igstMinor),
    cgst: paise(heads.cgstMinor),
    sgst: paise(heads.sgstMinor),
  };
}

interface Amounts {
  readonly txval: number;
  readonly iamt?: number;
  readonly camt?: number;
  readonly samt?: number;
}
interface Entry {
  readonly itms: readonly (Amounts & { readonly itm_det?: Amounts })[];
}
interface Gstr1 {
  readonly b2b: readonly { readonly inv: readonly Entry[] }[];
  readonly b2cl: readonly { readonly inv: readonly Entry[] }[];
  readonly b2cs: readonly Amounts[];
  readonly exp: readonly { readonly inv: readonly Entry[] }[];
  readonly cdnr: readonly { readonly nt: readonly Entry[] }[];
  readonly cdnur: readonly Entry[];
  readonly hsn: { readonly hsn_b2b: readonly Amounts[]; readonly hsn_b2c: readonly Amounts[] };
  readonly doc_issue: {
    readonly doc_det: readonly { readonly docs: readonly { readonly totnum: number }[] }[];
  };
}

const paiseOf = (rupees = 0): number => Math.round(rupees * 100);

function addAmounts(sum: Sum, sign: number, { txval, iamt, camt, samt }: Amounts): void {
  add(sum, sign, { taxable: paiseOf(txval), igst: paiseOf(iamt), cgst: paiseOf(camt), sgst: paiseOf(samt) });
}

/** Invoices less notes, over all tables. */
function tablesOf({ b2b, b2cl, b2cs, exp, cdnr, cdnur }: Gstr1): Sum {
  const sum = nothing();
  const addAll = (sign: number, entries: readonly Entry[]) => {
    for (const { itms } of entries) for (const item of itms) addAmounts(sum, sign, item.itm_det ?? item);
  };
  for (const { inv } of [...b2b, ...b2cl, ...exp]) addAll(1, inv);
  for (const { nt } of cdnr) addAll(-1, nt);
  addAll(-1, cdnur);
  for (const amounts of b2cs) addAmounts(sum, 1, amounts);
  return sum;
}

function hsnOf({ hsn }: Gstr1): Sum {
  const sum = nothing();
  for (const amounts of [...hsn.hsn_b2b, ...hsn.hsn_b2c]) addAmounts(sum, 1, amounts);
  return sum;
}

function same(month: string, what: string, said: Sum, due: Sum): void {
  must(
    JSON.stringify(said) === JSON.stringify(due),
    () => `${month}: ${what} come to ${JSON.stringify(said)}, the documents to ${JSON.stringify(due)}`,
  );
}
