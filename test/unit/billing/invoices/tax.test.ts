/** The tax on an amount, and what credit notes take back of it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TaxedAmount } from "../../../../src/billing/invoices/invoice.ts";
import { identityOf } from "../../../../src/billing/invoices/supplier.ts";
import {
  headsOf,
  NO_AMOUNT,
  plus,
  shareOf,
  taxOf,
  totalOf,
  treatmentFor,
} from "../../../../src/billing/invoices/tax.ts";
import {
  ABROAD,
  INTER,
  INTRA,
  SEZ,
  SUPPLIER,
  supplierOf,
  UNREGISTERED,
} from "../../../support/invoices/rows.ts";

const kinds = ["intra", "inter", "zero_lut", "zero_igst", "none"] as const;
const treatment = (kind: (typeof kinds)[number]) => ({
  kind,
  placeOfSupply: "29",
  isUnionTerritory: false,
  rateBps: kind === "zero_lut" || kind === "none" ? 0 : 1800,
});

/** The largest amount whose total with 18 % is below 2^53. */
const MOST = Math.floor((Number.MAX_SAFE_INTEGER - 2) / 1.18);
const amount = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc.maxSafeNat().map((n) => 1 + (n % MOST)),
);

describe("the tax on an amount", () => {
  test("and the amount are the total, and each head is within half a paisa of its rate", () => {
    fc.assert(
      fc.property(amount, fc.constantFrom(...kinds), (taxableMinor, kind) => {
        const heads = headsOf(treatment(kind), taxableMinor);
        const total = totalOf({ taxableMinor, heads });
        expect(total).toBe(taxableMinor + heads.cgstMinor + heads.sgstMinor + heads.igstMinor);
        expect(Number.isSafeInteger(total)).toBe(true);
        const rates = { intra: [900, 900, 0], inter: [0, 0, 1800], zero_igst: [0, 0, 1800] };
        const due = (rates as Record<string, number[]>)[kind] ?? [0, 0, 0];
        for (const [at, head] of [heads.cgstMinor, heads.sgstMinor, heads.igstMinor].entries()) {
          const error = 2n * (BigInt(head) * 10_000n - BigInt(taxableMinor) * BigInt(due[at] ?? 0));
          expect(error > -10_000n && error <= 10_000n).toBe(true);
        }
      }),
    );
  });

  test("is rounded half up, head by head", () => {
    // 9 % of 0.50 is 4.5 paise, of 0.49 it is 4.41.
    expect(headsOf(treatment("intra"), 50)).toEqual({ cgstMinor: 5, sgstMinor: 5, igstMinor: 0 });
    expect(headsOf(treatment("intra"), 49)).toEqual({ cgstMinor: 4, sgstMinor: 4, igstMinor: 0 });
    expect(headsOf(treatment("inter"), 25)).toEqual({ cgstMinor: 0, sgstMinor: 0, igstMinor: 5 });
  });

  test.each([-1, 0.5, Number.NaN, 2 ** 53, Number.MAX_SAFE_INTEGER])("is refused of %s", (minor) => {
    expect(() => headsOf(treatment("inter"), minor)).toThrow(RangeError);
  });
});

describe("credit notes", () => {
  const parts = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 12 });

  test("of any parts take back exactly the invoice, and never more of a head", () => {
    const scale = fc.constantFrom(1, 7, 1_000, 123_456_789);
    fc.assert(
      fc.property(parts, scale, fc.constantFrom(...kinds), (sizes, factor, kind) => {
        const amounts = sizes.map((size) => Math.min(size * factor, Math.floor(MOST / sizes.length)));
        const taxableMinor = amounts.reduce((sum, part) => sum + part, 0);
        const original: TaxedAmount = { taxableMinor, heads: headsOf(treatment(kind), taxableMinor) };
        let already = NO_AMOUNT;
        for (const part of amounts) {
          const heads = shareOf(original, already, part);
          expect(Math.min(heads.cgstMinor, heads.sgstMinor, heads.igstMinor)).toBeGreaterThanOrEqual(0);
          already = plus(already, { taxableMinor: part, heads });
          expect(taxOf(already.heads)).toBeLessThanOrEqual(taxOf(original.heads));
        }
        expect(already).toEqual(original);
      }),
    );
  });

  test("never take back more than is left, nor nothing", () => {
    const original = { taxableMinor: 100, heads: { cgstMinor: 9, sgstMinor: 9, igstMinor: 0 } };
    expect(() => shareOf(original, NO_AMOUNT, 101)).toThrow(
      "a part of 101 of an invoice of which 100 is left",
    );
    expect(() => shareOf(original, NO_AMOUNT, 0)).toThrow(RangeError);
    expect(() => shareOf(original, original, 1)).toThrow(RangeError);
  });
});

describe("how a supply is taxed", () => {
  const withLut = identityOf(SUPPLIER, "2026-27");
  const without = identityOf(SUPPLIER, "2025-26");

  test("within the supplier's State: CGST and SGST", () => {
    expect(treatmentFor(withLut, INTRA)).toMatchObject({ kind: "intra", placeOfSupply: "29", rateBps: 1800 });
  });

  test("elsewhere in India: IGST, also to the unregistered and to other territory", () => {
    expect(treatmentFor(withLut, INTER)).toMatchObject({ kind: "inter", placeOfSupply: "27" });
    expect(treatmentFor(withLut, UNREGISTERED)).toMatchObject({ kind: "inter", placeOfSupply: "33" });
    const sea = { ...UNREGISTERED, address: { ...UNREGISTERED.address, stateCode: "97" } };
    expect(treatmentFor(withLut, sea)).toMatchObject({ kind: "inter", placeOfSupply: "97" });
  });

  test("the GSTIN's State counts before the address, and the supplier's where no State is known", () => {
    const moved = { ...INTRA, address: { ...INTRA.address, stateCode: "27" } };
    expect(treatmentFor(withLut, moved).placeOfSupply).toBe("29");
    const unknown = { ...UNREGISTERED, address: { ...UNREGISTERED.address, stateCode: "" } };
    expect(treatmentFor(withLut, unknown)).toMatchObject({ kind: "intra", placeOfSupply: "29" });
  });

  test.each(["04", "26", "31", "35", "38"])("within union territory %s the second half is UTGST", (code) => {
    const supplier = { country: "IN", stateCode: code, lut: "" };
    const local = { ...UNREGISTERED, address: { ...UNREGISTERED.address, stateCode: code } };
    expect(treatmentFor(supplier, local)).toMatchObject({ kind: "intra", isUnionTerritory: true });
    expect(treatmentFor(supplier, INTRA)).toMatchObject({ kind: "inter", isUnionTerritory: false });
  });

  test("territories with a legislature have SGST", () => {
    const local = { ...UNREGISTERED, address: { ...UNREGISTERED.address, stateCode: "07" } };
    const supplier = { country: "IN", stateCode: "07", lut: "" };
    expect(treatmentFor(supplier, local)).toMatchObject({ kind: "intra", isUnionTerritory: false });
  });

  test("exports and SEZ are free under the year's letter of undertaking, and bear IGST without", () => {
    const zoneNextDoor = { ...SEZ, gstin: "29AABCT1332L1ZA" };
    for (const recipient of [ABROAD, SEZ, zoneNextDoor]) {
      expect(treatmentFor(withLut, recipient)).toMatchObject({ kind: "zero_lut", rateBps: 0 });
      expect(treatmentFor(without, recipient)).toMatchObject({ kind: "zero_igst", rateBps: 1800 });
    }
    expect(treatmentFor(withLut, ABROAD).placeOfSupply).toBe("96");
    expect(treatmentFor(withLut, SEZ).placeOfSupply).toBe("24");
  });

  test("a supplier outside India taxes nothing here", () => {
    const foreign = supplierOf({
      country: "US",
      state_code: "DE",
      gstin: "''",
      e_invoice: "false",
      lut: "{}",
    });
    expect(treatmentFor(identityOf(foreign, "2026-27"), INTRA)).toEqual({
      kind: "none",
      placeOfSupply: "",
      rateBps: 0,
      isUnionTerritory: false,
    });
  });
});
