/**
 * A document as the invoice registration portal takes it: form INV-01, schema 1.1 (CGST rule 48 (4)). All amounts are rupees with
 * two digits; a foreign currency is named beside them. Texts are cut to the lengths of the schema.
 */
import { ABROAD, stateName } from "../../../account/fields/gst-states.ts";
import { rupees } from "../amount.ts";
import { indianDate } from "../financial-year.ts";
import { inrValue, splitBy } from "../inr-value.ts";
import { type InvoiceLine, type InvoiceRow, oneOf } from "../invoice.ts";

export type SupplyType = "B2B" | "SEZWP" | "SEZWOP" | "EXPWP" | "EXPWOP";

interface Party {
  readonly Gstin: string;
  readonly LglNm: string;
  readonly Addr1: string;
  readonly Loc: string;
  readonly Pin: number;
  readonly Stcd: string;
}

interface Item {
  readonly SlNo: string;
  readonly PrdDesc: string;
  readonly IsServc: "Y";
  readonly HsnCd: string;
  readonly Qty: number;
  readonly Unit: "OTH";
  readonly UnitPrice: number;
  readonly TotAmt: number;
  readonly Discount: 0;
  readonly AssAmt: number;
  readonly GstRt: number;
  readonly IgstAmt: number;
  readonly CgstAmt: number;
  readonly SgstAmt: number;
  readonly TotItemVal: number;
}

export interface EInvoicePayload {
  readonly Version: "1.1";
  readonly TranDtls: {
    readonly TaxSch: "GST";
    readonly SupTyp: SupplyType;
    readonly RegRev: "N";
    readonly IgstOnIntra: "N";
  };
  readonly DocDtls: { readonly Typ: "INV" | "CRN"; readonly No: string; readonly Dt: string };
  readonly SellerDtls: Party;
  readonly BuyerDtls: Party & { readonly Pos: string };
  readonly ItemList: readonly Item[];
  readonly ValDtls: {
    readonly AssVal: number;
    readonly CgstVal: number;
    readonly SgstVal: number;
    readonly IgstVal: number;
    readonly CesVal: 0;
    readonly StCesVal: 0;
    readonly TotInvVal: number;
    readonly TotInvValFc?: number;
  };
  readonly RefDtls?: {
    readonly PrecDocDtls: readonly { readonly InvNo: string; readonly InvDt: string }[];
  };
  readonly ExpDtls?: { readonly RefClm: "N"; readonly ForCur: string; readonly CntCode: string };
}

/** PIN code of places abroad, which have no Indian one. */
const PIN_ABROAD = 999_999;
/** In place of a GSTIN: unregistered person. */
const UNREGISTERED = "URP";

/** @param row of an Indian supplier: an invoice or credit note to a registered recipient, or an export */
export function eInvoicePayload(row: InvoiceRow): EInvoicePayload {
  const { currency, recipient, totalMinor, original } = row;
  const value = inrValue(row);
  const isExport = row.treatment.placeOfSupply === ABROAD;
  return {
    Version: "1.1",
    TranDtls: { TaxSch: "GST", SupTyp: supplyTypeOf(row), RegRev: "N", IgstOnIntra: "N" },
    DocDtls: {
      Typ: row.kind === "credit_note" ? "CRN" : "INV",
      No: row.number,
      Dt: indianDate(row.issuedAtMs),
    },
    SellerDtls: sellerOf(row),
    BuyerDtls: buyerOf(row, isExport),
    ItemList: itemsOf(row),
    ValDtls: {
      AssVal: rupees(value.taxableMinor),
      CgstVal: rupees(value.heads.cgstMinor),
      SgstVal: rupees(value.heads.sgstMinor),
      IgstVal: rupees(value.heads.igstMinor),
      CesVal: 0,
      StCesVal: 0,
      TotInvVal: rupees(value.totalMinor),
      ...(currency !== "INR" && { TotInvValFc: rupees(totalMinor) }),
    },
    ...(original !== undefined && {
      RefDtls: { PrecDocDtls: [{ InvNo: original.number, InvDt: indianDate(original.issuedAtMs) }] },
    }),
    ...(isExport && {
      ExpDtls: { RefClm: "N" as const, ForCur: currency, CntCode: recipient.address.country },
    }),
  };
}

export function supplyTypeOf({ treatment, recipient }: InvoiceRow): SupplyType {
  const isPaid = treatment.kind === "zero_igst";
  if (treatment.placeOfSupply === ABROAD) return isPaid ? "EXPWP" : "EXPWOP";
  if (recipient.taxStatus === "sez") return isPaid ? "SEZWP" : "SEZWOP";
  return "B2B";
}

const sellerOf = ({ supplier }: InvoiceRow): Party => ({
  Gstin: supplier.gstin,
  LglNm: clipped(supplier.legalName, 100),
  Addr1: clipped(supplier.address[0] ?? "", 100),
  Loc: place(supplier.city, supplier.stateCode),
  Pin: pinOf(supplier.postalCode),
  Stcd: supplier.stateCode,
});

function buyerOf({ recipient, treatment }: InvoiceRow, isExport: boolean): EInvoicePayload["BuyerDtls"] {
  const { address, gstin, legalName } = recipient;
  const state = isExport ? ABROAD : gstin.slice(0, 2);
  return {
    Gstin: isExport ? UNREGISTERED : gstin,
    LglNm: clipped(legalName, 100),
    Pos: treatment.placeOfSupply,
    Addr1: clipped(address.line1, 100),
    Loc: place(address.city, state),
    Pin: isExport ? PIN_ABROAD : pinOf(address.postalCode),
    Stcd: state,
  };
}

/** A negative line has no place in the schema: then the document is one item. */
function itemsOf(row: InvoiceRow): Item[] {
  const lines = row.lines.every(({ amountMinor }) => amountMinor >= 0) ? row.lines : [oneLine(row)];
  const { taxableMinor, heads } = inrValue(row);
  const weights = lines.map(({ amountMinor }) => amountMinor);
  const parts = [taxableMinor, heads.igstMinor, heads.cgstMinor, heads.sgstMinor].map((whole) =>
    splitBy(whole, weights),
  );
  return lines.map((line, at): Item => {
    const [amount = 0, igst = 0, cgst = 0, sgst = 0] = parts.map((part) => part[at] ?? 0);
    return {
      SlNo: String(at + 1),
      PrdDesc: clipped(line.description, 300),
      IsServc: "Y",
      HsnCd: row.supplier.sac,
      Qty: line.quantity,
      Unit: "OTH",
      UnitPrice: Math.round((amount * 10) / line.quantity) / 1000,
      TotAmt: rupees(amount),
      Discount: 0,
      AssAmt: rupees(amount),
      GstRt: row.treatment.rateBps / 100,
      IgstAmt: rupees(igst),
      CgstAmt: rupees(cgst),
      SgstAmt: rupees(sgst),
      TotItemVal: rupees(amount + igst + cgst + sgst),
    };
  });
}

const oneLine = ({ lines, taxableMinor }: InvoiceRow): InvoiceLine =>
  oneOf("adjustment", lines[0]?.description ?? "", taxableMinor);

/** The schema takes no quotation mark and no backslash, and three characters at least. */
function clipped(text: string, most: number): string {
  const clean = text.replaceAll('"', "'").replaceAll("\\", "/").slice(0, most).toWellFormed().trim();
  return clean.length >= 3 ? clean : `${clean} (NA)`.trim();
}

const place = (city: string, state: string): string =>
  city.length >= 3 ? clipped(city, 50) : clipped(stateName(state), 50);

const pinOf = (code: string): number => (/^[1-9][0-9]{5}$/.test(code) ? Number(code) : PIN_ABROAD);
