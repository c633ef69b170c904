/** GSTINs: form, state, check character; and the state codes themselves. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GST_STATES, isIndianState, stateLabel } from "../../../../src/account/fields/gst-states.ts";
import { gstinCheckCharacter, gstinFault, gstinField } from "../../../../src/account/fields/gstin.ts";
import { faults, reads } from "../field-faults.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const character = fc.constantFrom(...ALPHABET);
const fourteen = fc.string({ unit: character, minLength: 14, maxLength: 14 });
const isConsistent = (number: string) => gstinCheckCharacter(number.slice(0, 14)) === number.at(14);
const replaced = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1);

describe("a GSTIN", () => {
  test.each(["27AAPFU0939F1ZV", "29AAGCB7383J1Z4", "27AAACR5055K1Z7", "24AAACC1206D1ZM", "07AAGFF2194N1Z1"])(
    "that is registered is accepted: %s",
    (gstin) => expect(gstinFault(gstin)).toBeUndefined(),
  );

  test("is read in upper case, without the spaces around it; empty is none", () => {
    expect(reads(gstinField, " 29aagcb7383j1z4 ")).toBe("29AAGCB7383J1Z4");
    expect(reads(gstinField, "  ")).toBe("");
  });

  const FORM = ": a GSTIN has 15 characters in the form of 29AAGCB7383J1Z4";
  test.each([
    ["29AAGCB7383J1Z", FORM],
    ["29AAGCB7383J1Z44", FORM],
    ["29AAGCB7383J0Z4", FORM],
    ["29AAGCB7383J1K4", FORM],
    ["2 AAGCB7383J1Z4", FORM],
    ["29AAGCB7383J1Z٤", FORM],
    ["29AAGCB7383J1Z4\n29AAGCB7383J1Z4", FORM],
    ["x".repeat(41), ": a GSTIN has 15 characters"],
    ["00AAGCB7383J1Z4", ": a GSTIN begins with a GST state code, and 00 is none"],
    ["39AAGCB7383J1Z4", ": a GSTIN begins with a GST state code, and 39 is none"],
    ["96AAGCB7383J1Z4", ": a GSTIN begins with a GST state code, and 96 is none"],
    [
      "29AAGCB7383J1Z5",
      ": the last character of this GSTIN does not fit the others: compare it with the registration",
    ],
  ])("that is wrong is refused with what is wrong: %s", (gstin, message) => {
    expect(faults(gstinField, gstin)).toEqual([message]);
  });
});

describe("the check character", () => {
  test("shows every change of one character to another, the check character included", () => {
    fc.assert(
      fc.property(fourteen, fc.nat(14), character, (first, at, by) => {
        const number = first + gstinCheckCharacter(first);
        expect(isConsistent(number)).toBe(true);
        fc.pre(number[at] !== by);
        expect(isConsistent(replaced(number, at, by))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("shows every exchange of two neighbours but 0 and Z", () => {
    fc.assert(
      fc.property(fourteen, fc.nat(13), character, character, (first, at, one, other) => {
        fc.pre(one !== other);
        // The last pair holds the check character itself, which follows from the others.
        const given = at === 13 ? first : replaced(replaced(first, at, one), at + 1, other).slice(0, 14);
        const number = given + gstinCheckCharacter(given);
        const [left = "", right = ""] = number.slice(at, at + 2);
        fc.pre(left !== right);
        const exchanged = replaced(replaced(number, at, right), at + 1, left);
        const isBlind = [left, right].sort().join("") === "0Z";
        expect(isConsistent(exchanged)).toBe(isBlind);
      }),
      { numRuns: 5_000 },
    );
    expect(gstinCheckCharacter("0Z000000000000")).toBe(gstinCheckCharacter("Z0000000000000"));
  });

  test("is asked for fourteen characters of its alphabet only", () => {
    for (const first of ["", "29AAGCB7383J1", "29aagcb7383j1z"]) {
      expect(() => gstinCheckCharacter(first)).toThrow(RangeError);
    }
  });
});

describe("GST state codes", () => {
  test("have two digits each: 36 States and union territories, other territory, abroad", () => {
    const codes = Object.keys(GST_STATES);
    expect(codes).toHaveLength(38);
    expect(codes.every((code) => /^[0-9]{2}$/.test(code))).toBe(true);
    expect(codes.filter((code) => !isIndianState(code))).toEqual(["96"]);
  });

  test("are no names of an object's own members", () => {
    expect(isIndianState("constructor")).toBe(false);
    expect(stateLabel("29")).toBe("Karnataka (29)");
  });
});
