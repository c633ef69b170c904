/**
 * What the simulated portal takes: INV-01, schema 1.1, as far as services need it, and the rules between its fields. Written from
 * the schema and apart from the product, so that one mistake is not made in both.
 */
import { z } from "zod";

const rupees = z.number().min(0).max(99_999_999_999_999).refine(hasTwoDigits, "two digits after the point");
const text = (least: number, most: number) =>
  z
    .string()
    .regex(/^[^"\\]*$/, "no quotation mark, no backslash")
    .min(least)
    .max(most);
const stateCode = z.string().regex(/^\d{1,2}$/);
const date = z.string().regex(/^(0[1-9]|[12]\d|3[01])\/(0[1-9]|1[0-2])\/20\d\d$/);
const gstin = z.string().regex(/^\d{2}[A-Z]{5}\d{4}[A-Z][1-9A-Z][A-Z\d][A-Z\d]$/);
/** Not beginning with 0, / or -. */
const number = z.string().regex(/^[A-Z1-9][A-Z0-9/-]{0,15}$/);

const party = {
  LglNm: text(3, 100),
  Addr1: text(1, 100),
  Loc: text(3, 50),
  Pin: z.int().min(100_000).max(999_999),
  Stcd: stateCode,
};

const item = z.strictObject({
  SlNo: z.string().regex(/^\d{1,6}$/),
  PrdDesc: text(3, 300),
  IsServc: z.enum(["Y", "N"]),
  HsnCd: z.string().regex(/^\d{4,8}$/),
  Qty: z.number().min(0).max(9_999_999_999.999),
  Unit: z.string().min(3).max(8),
  UnitPrice: z.number().min(0),
  TotAmt: rupees,
  Discount: rupees,
  AssAmt: rupees,
  GstRt: z.number().min(0).max(999.999),
  IgstAmt: rupees,
  CgstAmt: rupees,
  SgstAmt: rupees,
  TotItemVal: rupees,
});

export const payloadShape = z.strictObject({
  Version: z.literal("1.1"),
  TranDtls: z.strictObject({
    TaxSch: z.literal("GST"),
    SupTyp: z.enum(["B2B", "SEZWP", "SEZWOP", "EXPWP", "EXPWOP", "DEXP"]),
    RegRev: z.enum(["Y", "N"]),
    IgstOnIntra: z.enum(["Y", "N"]),
  }),
  DocDtls: z.strictObject({ Typ: z.enum(["INV", "CRN", "DBN"]), No: number, Dt: date }),
  SellerDtls: z.strictObject({ Gstin: gstin, ...party }),
  BuyerDtls: z.strictObject({ Gstin: z.union([gstin, z.literal("URP")]), Pos: stateCode, ...party }),
  ItemList: z.array(item).min(1).max(1000),
  ValDtls: z.strictObject({
    AssVal: rupees,
    CgstVal: rupees,
    SgstVal: rupees,
    IgstVal: rupees,
    CesVal: rupees,
    StCesVal: rupees,
    TotInvVal: rupees,
    TotInvValFc: rupees.optional(),
  }),
  RefDtls: z
    .strictObject({ PrecDocDtls: z.array(z.strictObject({ InvNo: number, InvDt: date })).min(1) })
    .optional(),
  ExpDtls: z
    .strictObject({
      RefClm: z.enum(["Y", "N"]),
      ForCur: z.string().regex(/^[A-Z]{3}$/),
      CntCode: z.string().regex(/^[A-Z]{2}$/),
    })
    .optional(),
});

export type Payload = z.output<typeof payloadShape>;

export interface Refusal {
  readonly ErrorCode: string;
  readonly ErrorMessage: string;
}

/** What is wrong with a payload of the right shape. */
export function refusalsOf(payload: Payload): Refusal[] {
  const { TranDtls, SellerDtls, BuyerDtls, DocDtls, ExpDtls, RefDtls } = payload;
  const isExport = TranDtls.SupTyp.startsWith("EXP");
  const rules: readonly (readonly [holds: boolean, code: string, message: string])[] = [
    [hasCheck(SellerDtls.Gstin), "3028", "GSTIN of the supplier is invalid"],
    [isExport || hasCheck(BuyerDtls.Gstin), "3028", "GSTIN of the recipient is invalid"],
    [SellerDtls.Gstin.startsWith(SellerDtls.Stcd), "2258", "Supplier GSTIN state does not match State code"],
    [!isExport || BuyerDtls.Gstin === "URP", "2212", "Recipient GSTIN of an export must be URP"],
    [!isExport || BuyerDtls.Pin === 999_999, "2263", "Recipient PIN code of an export must be 999999"],
    [!isExport || BuyerDtls.Stcd === "96", "2264", "Recipient State code of an export must be 96"],
    [!isExport || BuyerDtls.Pos === "96", "2265", "POS of an export must be 96"],
    [isExport === (ExpDtls !== undefined), "2266", "ExpDtls stands with exports only"],
    [
      isExport || BuyerDtls.Gstin.startsWith(BuyerDtls.Stcd),
      "2265",
      "Recipient GSTIN state does not match State code",
    ],
    [isExport || BuyerDtls.Pin !== 999_999, "3039", "PIN code of the recipient is not of India"],
    [isExport || BuyerDtls.Pos !== "96", "2265", "POS 96 is for exports"],
    [SellerDtls.Gstin !== BuyerDtls.Gstin, "2211", "Supplier and recipient GSTIN should not be the same"],
    [DocDtls.Typ !== "CRN" || RefDtls !== undefined, "2235", "A credit note names its document"],
    ...taxRules(payload),
    ...sumRules(payload),
  ];
  return rules
    .filter(([holds]) => !holds)
    .map(([, code, message]) => ({ ErrorCode: code, ErrorMessage: message }));
}

function taxRules({ TranDtls, SellerDtls, BuyerDtls, ItemList }: Payload) {
  const { SupTyp } = TranDtls;
  const isIntra = SupTyp === "B2B" && SellerDtls.Stcd === BuyerDtls.Pos;
  return ItemList.flatMap((item) => {
    const due = SupTyp.endsWith("WOP") ? 0 : (item.AssAmt * item.GstRt) / 100;
    const [igst, each] = isIntra ? [0, due / 2] : [due, 0];
    return [
      [isNear(item.IgstAmt, igst), "2176", `IGST of item ${item.SlNo} is wrong`] as const,
      [isNear(item.CgstAmt, each), "2172", `CGST of item ${item.SlNo} is wrong`] as const,
      [item.CgstAmt === item.SgstAmt, "2174", `CGST and SGST of item ${item.SlNo} differ`] as const,
      [
        isNear(item.UnitPrice * item.Qty, item.TotAmt),
        "2194",
        `TotAmt of item ${item.SlNo} is wrong`,
      ] as const,
    ];
  });
}

function sumRules({ ItemList, ValDtls }: Payload) {
  const sum = (of: (item: Payload["ItemList"][number]) => number) =>
    ItemList.reduce((paise, item) => paise + Math.round(of(item) * 100), 0);
  const is = (paise: number, value: number) => paise === Math.round(value * 100);
  const { AssVal, IgstVal, CgstVal, SgstVal, TotInvVal } = ValDtls;
  return [
    [
      is(
        sum((item) => item.AssAmt),
        AssVal,
      ),
      "2189",
      "AssVal is not the sum of the items",
    ],
    [
      is(
        sum((item) => item.IgstAmt),
        IgstVal,
      ),
      "2189",
      "IgstVal is not the sum of the items",
    ],
    [
      is(
        sum((item) => item.CgstAmt),
        CgstVal,
      ),
      "2189",
      "CgstVal is not the sum of the items",
    ],
    [
      is(
        sum((item) => item.SgstAmt),
        SgstVal,
      ),
      "2189",
      "SgstVal is not the sum of the items",
    ],
    [
      is(
        sum((item) => item.TotItemVal),
        TotInvVal,
      ),
      "2189",
      "TotInvVal is not the sum of the items",
    ],
  ] as const;
}

/** The real portal bears a rupee. */
const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= 1;

function hasTwoDigits(rupees: number): boolean {
  return /^\d+(\.\d{1,2})?$/.test(String(rupees));
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** The last character of a GSTIN, from the right: weights 2, 1, 2, … and the digits of each product added. */
function hasCheck(gstin: string): boolean {
  let sum = 0;
  for (let at = 13; at >= 0; at--) {
    const product = DIGITS.indexOf(gstin.charAt(at)) * (at % 2 === 1 ? 2 : 1);
    sum += Math.floor(product / 36) + (product % 36);
  }
  return DIGITS.charAt((36 - (sum % 36)) % 36) === gstin.charAt(14);
}
