/** The orgs of the simulation, and how each is taxed: written down here once more, independently of the product. */
import { gstinCheckCharacter } from "../../../src/account/fields/gstin.ts";
import { newOrg, type OrgRow } from "../../../src/account/org.ts";
import type { Dice } from "./dice.ts";

/** Karnataka; a letter of undertaking for the second of the two financial years only. */
export const SUPPLIER = `
legal_name: Weir Example Private Limited
address: { line1: 12 Residency Road, city: Bengaluru, postal_code: "560025" }
state_code: "29"
country: IN
gstin: 29AAWCE1234F1ZG
lut: { 2026-27: AD290426001234X }
e_invoice: true
fx: { spread_bps: 200 }
`;
export const SPREAD_BPS = 200n;
const LUT_FROM_MS = Date.parse("2026-04-01T00:00:00+05:30");

export const KINDS = ["intra", "inter", "union", "sez", "unregistered", "abroad"] as const;
export type CustomerKind = (typeof KINDS)[number];

const SHARES: Readonly<Record<CustomerKind, number>> = {
  intra: 15,
  inter: 25,
  union: 5,
  sez: 5,
  unregistered: 20,
  abroad: 30,
};

export interface Customer {
  readonly org: OrgRow;
  readonly kind: CustomerKind;
  /** Top-ups in a day, on average. */
  readonly topupsPerDay: number;
  /** Share of its balance that a call costs at most. */
  readonly appetite: number;
}

/** @param share of the orgs that pay often */
export function makeCustomers(count: number, dice: Dice, nowMs: number): Customer[] {
  return Array.from({ length: count }, (_, i) => {
    // The first ones: one of each kind.
    const kind = KINDS[i] ?? dice.weighted(SHARES);
    return {
      org: orgOf(i, kind, dice, nowMs),
      kind,
      topupsPerDay: dice.chance(0.1) ? 0.2 : dice.between(0.02, 0.07),
      appetite: dice.between(0.02, 0.25),
    };
  });
}

function orgOf(i: number, kind: CustomerKind, dice: Dice, nowMs: number): OrgRow {
  const country = kind === "abroad" ? dice.pick(["US", "DE", "SG"]) : "IN";
  const stateCode = stateOf(kind, dice);
  const given = { slug: `org-${i}`, name: `Org ${i}`, kind: "team", billingCountry: country } as const;
  const isRegistered = kind !== "abroad" && kind !== "unregistered";
  return {
    ...newOrg({ ...given, planId: "local" }, nowMs),
    legalName: `Org ${i} Limited`,
    gstin: isRegistered ? gstinOf(stateCode, i) : "",
    taxStatus: taxStatusOf(kind),
    billingEmail: `billing@org-${i}.example`,
    billingAddress: { line1: `${i} Road`, city: "Town", stateCode, postalCode: "560001", country },
  };
}

function stateOf(kind: CustomerKind, dice: Dice): string {
  if (kind === "abroad") return "CA";
  if (kind === "intra") return "29";
  if (kind === "union") return dice.pick(["04", "26", "31", "35", "38"]);
  return dice.pick(["07", "27", "33", "36", ...(kind === "inter" ? [] : ["29"])]);
}

function taxStatusOf(kind: CustomerKind): OrgRow["taxStatus"] {
  if (kind === "abroad") return "overseas";
  if (kind === "sez") return "sez";
  return kind === "unregistered" ? "unregistered" : "gst_registered";
}

function gstinOf(stateCode: string, i: number): string {
  const first = `${stateCode}AAACX${String(1000 + (i % 9000))}A1Z`;
  return first + gstinCheckCharacter(first);
}

/** Tax of an amount that was quoted then: 18 %, in two halves in the supplier's State, none under the letter. */
export function taxDue({ kind, org }: Customer, taxableMinor: number, quotedAtMs: number) {
  if ((kind === "abroad" || kind === "sez") && quotedAtMs >= LUT_FROM_MS)
    return { cgstMinor: 0, sgstMinor: 0, igstMinor: 0 };
  const percent = (rate: number) => Math.floor((taxableMinor * rate + 50) / 100);
  const isIntra = org.billingAddress.stateCode === "29" && kind !== "sez" && kind !== "abroad";
  return isIntra
    ? { cgstMinor: percent(9), sgstMinor: percent(9), igstMinor: 0 }
    : { cgstMinor: 0, sgstMinor: 0, igstMinor: percent(18) };
}
