/** What is said of a GSTIN while it is typed, held against what the API says of it, and what invoices will say of tax. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gstinCheck, gstinOf, gstinWords, stateOfCode } from "../../../console/pages/billing/gstin.ts";
import { INDIAN_STATES } from "../../../console/pages/billing/indian-states.ts";
import { type ProfileValues, profileOf } from "../../../console/pages/billing/profile-values.ts";
import { taxWords } from "../../../console/pages/billing/tax-words.ts";
import { gstinCheckCharacter, gstinFault } from "../../../src/account/fields/gstin.ts";
import { treatmentFor } from "../../../src/billing/invoices/tax.ts";

/** Right ones, of three States. */
const REAL = ["29AABCT1332L1ZA", "27AAPFU0939F1ZV", "33AACCN4455M1ZA", "29AAGCB7383J1Z4"];

const characters = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const some = (of: readonly string[]) => fc.constantFrom(...of);
const digits = characters.slice(0, 10);
const letters = characters.slice(10);

/** The form is right, the check character may be any. */
const formed = fc
  .tuple(
    some(INDIAN_STATES.map(([code]) => code)),
    fc.array(some(letters), { minLength: 5, maxLength: 5 }),
    fc.array(some(digits), { minLength: 4, maxLength: 4 }),
    some(letters),
    some(characters.slice(1)),
    fc.constant("Z"),
    some(characters),
  )
  .map((parts) => parts.flat().join(""));

describe("a GSTIN", () => {
  test.each(REAL)("%s is good, in any case and with spaces around", (gstin) => {
    const code = gstin.slice(0, 2);
    for (const typed of [gstin, ` ${gstin.toLowerCase()} `])
      expect(gstinWords(typed, code)).toEqual({
        state: "good",
        text: `${stateOfCode(code)}, PAN ${gstin.slice(2, 12)}. The check character fits.`,
      });
    expect(gstinOf(` ${gstin.toLowerCase()} `)).toBe(gstin);
  });

  test.each(REAL)("%s is right at each character that is typed, and empty before", (gstin) => {
    expect(gstinWords("", "29").state).toBe("empty");
    for (let length = 1; length < gstin.length; length++)
      expect(gstinWords(gstin.slice(0, length), "").state).toBe("partial");
    expect(gstinWords(gstin.slice(0, 7), "").text).toContain("7 of 15 characters");
  });

  test.each([
    ["A", "The first two characters are the digits of the State."],
    ["25", "It begins with the digits of a State, and 25 is of none."],
    ["96", "It begins with the digits of a State, and 96 is of none."],
    ["291", "Characters 3 to 7 are letters, the beginning of the PAN."],
    ["29AABCTX", "Characters 8 to 11 are digits of the PAN."],
    ["29AABCT13321", "Character 12 is a letter, the end of the PAN."],
    ["29AABCT1332L0", "Character 13 is the number of the registration: not 0."],
    ["29AABCT1332L10", "Character 14 is almost always Z."],
    ["29 AABCT", "It has digits and letters only, without spaces between."],
    ["29AABCT1332L1ZX", "The last character does not fit the others: compare each with the registration."],
    ["29AABCT1332L1ZAA", "It has 15 characters; these are 16."],
    ["29AABCT1332L1ZÄ", "It has digits and letters only, without spaces between."],
  ])("%s: %s", (typed, text) => {
    expect(gstinWords(typed, "")).toEqual({ state: "bad", text });
  });

  test("of another State than that of the address is told both", () => {
    expect(gstinWords("27AAP", "29")).toEqual({
      state: "bad",
      text: "It is of Maharashtra (27), and the address is in Karnataka (29): they must be of one State.",
    });
    expect(gstinWords("2", "29").state).toBe("partial");
  });

  test("has the check character that the API reckons", () => {
    fc.assert(
      fc.property(fc.array(some(characters), { minLength: 14, maxLength: 14 }), (first) => {
        expect(gstinCheck(first.join(""))).toBe(gstinCheckCharacter(first.join("")));
      }),
    );
  });

  test("is good where the API finds nothing wrong, and nowhere else", () => {
    const typed = fc.oneof(formed, fc.string({ maxLength: 17 }));
    fc.assert(
      fc.property(typed, (text) => {
        const gstin = gstinOf(text);
        expect(gstinWords(text, "").state === "good").toBe(gstinFault(gstin) === undefined);
      }),
    );
    fc.assert(
      fc.property(formed, (text) => {
        const right = text.slice(0, 14) + gstinCheck(text.slice(0, 14));
        expect(gstinFault(right)).toBeUndefined();
        expect(gstinWords(right, right.slice(0, 2)).state).toBe("good");
      }),
    );
  });
});

describe("tax on invoices", () => {
  const none = profileOf({
    legal_name: "",
    tax_status: "unregistered",
    gstin: "",
    tax_id: "",
    billing_email: "",
    billing_address: { line1: "", city: "", state_code: "", postal_code: "", country: "IN" },
  });
  const gst = { rate_bps: 1800, supplier_state: "29", rule: "" };
  const words = (values: Partial<ProfileValues>, country = "IN", of = gst) =>
    taxWords(country, { ...none, ...values }, of);

  test.each([
    [{ stateCode: "29" }, "Karnataka (29)", "CGST at 9 % and SGST at 9 %"],
    [{ stateCode: "27" }, "Maharashtra (27)", "IGST at 18 %"],
    [{}, undefined, "GST at 18 %"],
    [
      { taxStatus: "gst_registered", gstin: "27AAPFU0939F1ZV", stateCode: "27" },
      "Maharashtra (27)",
      "IGST at 18 %",
    ],
    [
      { taxStatus: "sez", stateCode: "29", gstin: "29AABCT1332L1ZA" },
      "Karnataka (29)",
      "None under a letter of undertaking, else IGST at 18 %",
    ],
    // A GSTIN that is not shown says nothing.
    [{ gstin: "27AAPFU0939F1ZV", stateCode: "29" }, "Karnataka (29)", "CGST at 9 % and SGST at 9 %"],
  ] as const)("%o", (values, placeOfSupply, tax) => {
    expect(words(values)).toMatchObject({ placeOfSupply, tax });
  });

  test("abroad it is an export, and a seller outside India charges none", () => {
    expect(words({}, "US")).toMatchObject({ placeOfSupply: "Outside India (96)" });
    expect(words({ stateCode: "29" }, "IN", { ...gst, rate_bps: 0 })).toMatchObject({
      placeOfSupply: undefined,
      tax: "None",
    });
  });

  test.each(INDIAN_STATES)("%s: as an invoice to there is taxed, from there and from elsewhere", (code) => {
    for (const supplier of [code, code === "29" ? "27" : "29"]) {
      const address = { line1: "", city: "", stateCode: code, postalCode: "", country: "IN" };
      const recipient = { legalName: "", gstin: "", taxStatus: "unregistered", address, taxId: "" };
      const { kind, isUnionTerritory } = treatmentFor(
        { country: "IN", stateCode: supplier, lut: "" },
        recipient,
      );
      const second = isUnionTerritory ? "UTGST" : "SGST";
      expect(words({ stateCode: code }, "IN", { ...gst, supplier_state: supplier }).tax).toBe(
        kind === "intra" ? `CGST at 9 % and ${second} at 9 %` : "IGST at 18 %",
      );
    }
  });
});
