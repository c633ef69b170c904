/**
 * Documents of a month in the shape of the GSTR-1 return (JSON of the GST portal's offline tool). Amounts are rupees. A credit note
 * over a sale to unregistered people within the small bounds lessens its row of table 7 (`b2cs`), as the return asks.
 */
import { ABROAD } from "../../account/fields/gst-states.ts";
import { rupees } from "./amount.ts";
import { indianDate } from "./financial-year.ts";
import { inrValue } from "./inr-value.ts";
import type { InvoiceRow } from "./invoice.ts";
import type { InvoiceTables } from "./tables.ts";
import { taxOf } from "./tax.ts";

/** Inter-State sales to the unregistered above it are listed one by one: ₹1 lakh since August 2024 (Notification 12/2024). */
const LARGE_PAISE = 10_000_000;

/** `B2CS`: together, by place and rate. `B2CL`: one by one. */
type Table = "B2B" | "B2CL" | "B2CS" | "EXP";

interface Sum {
  readonly pos: string;
  readonly isIntra: boolean;
  readonly rateBps: number;
  taxable: number;
  igst: number;
  cgst: number;
  sgst: number;
}

interface Range {
  from: string;
  to: string;
  count: number;
}

/** Takes documents one by one: statements are no supplies. */
export class Gstr1 {
  readonly #tables: Pick<InvoiceTables, "get">;
  readonly #b2b = new Map<string, object[]>();
  readonly #b2cl = new Map<string, object[]>();
  readonly #exports: { readonly WPAY: object[]; readonly WOPAY: object[] } = { WPAY: [], WOPAY: [] };
  readonly #registeredNotes = new Map<string, object[]>();
  readonly #otherNotes: object[] = [];
  readonly #b2cs = new Map<string, Sum>();
  readonly #hsn = new Map<string, Sum & { readonly sac: string; readonly isB2b: boolean }>();
  readonly #documents = new Map<string, Range & { readonly isNote: boolean }>();
  #gstin = "";

  constructor(tables: Pick<InvoiceTables, "get">) {
    this.#tables = tables;
  }

  add(row: InvoiceRow): void {
    if (row.kind === "statement" || row.supplier.gstin === "") return;
    this.#gstin = row.supplier.gstin;
    const isNote = row.kind === "credit_note";
    const table = this.#tableOf(row);
    if (table === "B2CS") this.#sum(this.#b2cs, b2csKey(row), row);
    else if (isNote) this.#note(row, table);
    else this.#invoice(row, table);
    const isB2b = table === "B2B";
    const key = `${isB2b} ${row.supplier.sac} ${row.treatment.rateBps}`;
    this.#sum(this.#hsn, key, row, { sac: row.supplier.sac, isB2b });
    this.#count(row, isNote);
  }

  /** @param month `YYYY-MM` */
  result(month: string): object {
    const [year = "", number = ""] = month.split("-");
    return {
      gstin: this.#gstin,
      fp: `${number}${year}`,
      b2b: listOf(this.#b2b, "ctin", "inv"),
      b2cl: listOf(this.#b2cl, "pos", "inv"),
      b2cs: Array.from(this.#b2cs.values(), b2csWire),
      exp: (["WPAY", "WOPAY"] as const)
        .filter((type) => this.#exports[type].length > 0)
        .map((type) => ({ exp_typ: type, inv: this.#exports[type] })),
      cdnr: listOf(this.#registeredNotes, "ctin", "nt"),
      cdnur: this.#otherNotes,
      hsn: { hsn_b2b: this.#hsnOf(true), hsn_b2c: this.#hsnOf(false) },
      doc_issue: { doc_det: this.#documentsOf() },
    };
  }

  /** A note belongs where its invoice does. */
  #tableOf(row: InvoiceRow): Table {
    if (row.treatment.placeOfSupply === ABROAD) return "EXP";
    if (row.recipient.gstin !== "") return "B2B";
    const of = row.kind === "credit_note" ? this.#tables.get(row.orgId, row.originalId ?? "") : row;
    const isLarge = row.treatment.kind === "inter" && (of ?? row).totalMinor > LARGE_PAISE;
    return isLarge ? "B2CL" : "B2CS";
  }

  #invoice(row: InvoiceRow, table: Table): void {
    const { recipient, treatment, number, issuedAtMs, irn } = row;
    const entry = { inum: number, idt: indianDate(issuedAtMs, "-"), val: rupees(inrValue(row).totalMinor) };
    const irnPart = irn === "" ? {} : { irn };
    if (table === "EXP") {
      const type = treatment.kind === "zero_igst" ? "WPAY" : "WOPAY";
      const { txval, rt, iamt, csamt } = amountsOf(row);
      this.#exports[type].push({ ...entry, ...irnPart, itms: [{ txval, rt, iamt, csamt }] });
    } else if (table === "B2CL") {
      push(this.#b2cl, treatment.placeOfSupply, { ...entry, itms: itemsOf(row) });
    } else {
      const type = { pos: treatment.placeOfSupply, rchrg: "N", inv_typ: typeOf(row) };
      push(this.#b2b, recipient.gstin, { ...entry, ...type, ...irnPart, itms: itemsOf(row) });
    }
  }

  #note(row: InvoiceRow, table: Table): void {
    const { recipient, treatment, number, issuedAtMs, irn } = row;
    const note = {
      ntty: "C",
      nt_num: number,
      nt_dt: indianDate(issuedAtMs, "-"),
      val: rupees(inrValue(row).totalMinor),
      ...(irn !== "" && { irn }),
      itms: itemsOf(row),
    };
    const pos = treatment.placeOfSupply;
    if (table === "B2B")
      push(this.#registeredNotes, recipient.gstin, { ...note, pos, rchrg: "N", inv_typ: typeOf(row) });
    else if (table === "B2CL") this.#otherNotes.push({ typ: "B2CL", ...note, pos });
    else this.#otherNotes.push({ typ: treatment.kind === "zero_igst" ? "EXPWP" : "EXPWOP", ...note });
  }

  #sum<S extends object>(sums: Map<string, Sum & S>, key: string, row: InvoiceRow, more?: S): void {
    const { treatment } = row;
    const { taxableMinor, heads } = inrValue(row);
    const sign = row.kind === "credit_note" ? -1 : 1;
    const sum = sums.get(key) ?? {
      ...(more as S),
      pos: treatment.placeOfSupply,
      isIntra: treatment.kind === "intra",
      rateBps: treatment.rateBps,
      taxable: 0,
      igst: 0,
      cgst: 0,
      sgst: 0,
    };
    sum.taxable += sign * taxableMinor;
    sum.igst += sign * heads.igstMinor;
    sum.cgst += sign * heads.cgstMinor;
    sum.sgst += sign * heads.sgstMinor;
    sums.set(key, sum);
  }

  #count({ series, number }: InvoiceRow, isNote: boolean): void {
    const range = this.#documents.get(series) ?? { from: number, to: number, count: 0, isNote };
    if (number < range.from) range.from = number;
    if (number > range.to) range.to = number;
    range.count++;
    this.#documents.set(series, range);
  }

  #hsnOf(isB2b: boolean): object[] {
    return [...this.#hsn.values()]
      .filter((sum) => sum.isB2b === isB2b)
      .map((sum, at) => ({
        num: at + 1,
        hsn_sc: sum.sac,
        desc: "Other information technology services",
        uqc: "NA",
        qty: 0,
        rt: sum.rateBps / 100,
        txval: rupees(sum.taxable),
        iamt: rupees(sum.igst),
        camt: rupees(sum.cgst),
        samt: rupees(sum.sgst),
        csamt: 0,
      }));
  }

  /** Table 13: 1 is invoices, 5 credit notes. */
  #documentsOf(): object[] {
    return [1, 5].flatMap((type) => {
      const docs = [...this.#documents.values()]
        .filter(({ isNote }) => isNote === (type === 5))
        .map(({ from, to, count }, at) => ({
          num: at + 1,
          from,
          to,
          totnum: count,
          cancel: 0,
          net_issue: count,
        }));
      const name = type === 1 ? "Invoices for outward supply" : "Credit Note";
      return docs.length === 0 ? [] : [{ doc_num: type, doc_typ: name, docs }];
    });
  }
}

const b2csKey = ({ treatment: { placeOfSupply, kind, rateBps } }: InvoiceRow): string =>
  `${placeOfSupply} ${kind} ${rateBps}`;

const b2csWire = ({ pos, isIntra, rateBps, taxable, igst, cgst, sgst }: Sum) => ({
  sply_ty: isIntra ? "INTRA" : "INTER",
  pos,
  typ: "OE",
  rt: rateBps / 100,
  txval: rupees(taxable),
  ...(isIntra ? { camt: rupees(cgst), samt: rupees(sgst) } : { iamt: rupees(igst) }),
  csamt: 0,
});

function amountsOf(row: InvoiceRow) {
  const value = inrValue(row);
  const { igstMinor, cgstMinor, sgstMinor } = value.heads;
  return {
    txval: rupees(value.taxableMinor),
    rt: taxOf(row.heads) === 0 ? 0 : row.treatment.rateBps / 100,
    iamt: rupees(igstMinor),
    camt: rupees(cgstMinor),
    samt: rupees(sgstMinor),
    csamt: 0,
  };
}

function itemsOf(row: InvoiceRow): object[] {
  const { txval, rt, iamt, camt, samt, csamt } = amountsOf(row);
  const tax = row.treatment.kind === "intra" ? { camt, samt } : { iamt };
  return [{ num: 1, itm_det: { txval, rt, ...tax, csamt } }];
}

function typeOf({ recipient, treatment }: InvoiceRow): string {
  if (recipient.taxStatus !== "sez") return "R";
  return treatment.kind === "zero_igst" ? "SEWP" : "SEWOP";
}

function push(lists: Map<string, object[]>, key: string, entry: object): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [entry]);
  else list.push(entry);
}

const listOf = (lists: ReadonlyMap<string, object[]>, key: string, list: string): object[] =>
  Array.from(lists, ([name, entries]) => ({ [key]: name, [list]: entries }));
