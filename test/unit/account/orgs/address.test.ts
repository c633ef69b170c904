/** Countries and billing addresses: codes, and states and postal codes as each country writes them. */
import { describe, expect, test } from "vitest";
import { COUNTRIES, countryField, countryName, isCountry } from "../../../../src/account/fields/countries.ts";
import { addressFault, addressField, normalAddress } from "../../../../src/account/orgs/address.ts";
import { faults, reads } from "../field-faults.ts";

const address = (country: string, stateCode: string, postalCode: string) =>
  normalAddress({ line1: "", city: "", stateCode, postalCode, country });
const fault = (country: string, stateCode: string, postalCode: string) => {
  const found = addressFault(address(country, stateCode, postalCode));
  return found === undefined ? "" : `${found.param}: ${found.message}`;
};

describe("country codes", () => {
  test("are the 249 of ISO 3166-1, each once, in order, each with a name", () => {
    expect(COUNTRIES).toHaveLength(249);
    expect([...new Set(COUNTRIES)].sort()).toEqual(COUNTRIES);
    expect(COUNTRIES.filter((code) => countryName(code) === code)).toEqual([]);
    expect(countryName("IN")).toBe("India");
  });

  test("are not the codes that Intl names beside them: withdrawn, reserved, not of ISO", () => {
    for (const code of "AC AN BU CS DD EU EZ FX IC SU TP UK UN XA XK YU ZR ZZ".split(" ")) {
      expect(new Intl.DisplayNames(["en"], { type: "region", fallback: "none" }).of(code)).toBeDefined();
      expect(isCountry(code), code).toBe(false);
    }
  });

  test("are read in upper case", () => expect(reads(countryField, " in ")).toBe("IN"));

  test.each([
    ["UK", ": the code of the United Kingdom is GB"],
    ["India", ": a country code of two letters (ISO 3166-1 alpha-2), such as IN or US"],
    ["", ": a country code of two letters (ISO 3166-1 alpha-2), such as IN or US"],
    ["\u0131n", ": a country code of two letters (ISO 3166-1 alpha-2), such as IN or US"],
    ["x".repeat(21), ": a country code has two letters"],
  ])("are refused with the form or the right code: %s", (code, message) => {
    expect(faults(countryField, code)).toEqual([message]);
  });
});

describe("postal codes", () => {
  test.each([
    ["IN", "560001", "560001"],
    ["IN", "560 001", "560001"],
    ["US", "94105", "94105"],
    ["US", "941051234", "94105-1234"],
    ["GB", "sw1a1aa", "SW1A 1AA"],
    ["GB", "M1 1AE", "M1 1AE"],
    ["CA", "k1a0b1", "K1A 0B1"],
    ["DE", "01067", "01067"],
    ["FR", "75001", "75001"],
    ["AU", "2000", "2000"],
    ["JP", "1000001", "100-0001"],
    ["SG", "018956", "018956"],
    ["NL", "1012ab", "1012 AB"],
    ["BR", "01310100", "01310-100"],
    ["SE", "11129", "111 29"],
    // No form is checked; Hong Kong and the Emirates have no postal codes at all.
    ["IE", "D02 X285", "D02 X285"],
    ["HK", "", ""],
    ["AE", "00000", "00000"],
  ])("of %s are written as the country does: %s", (country, given, written) => {
    expect(address(country, "", given).postalCode).toBe(written);
    expect(fault(country, "", given)).toBe("");
  });

  const no = (country: string, example: string) =>
    `/billing_address/postal_code: This is no postal code of ${country}; one is ${example}.`;
  const PIN =
    "/billing_address/postal_code: A PIN code has six digits and does not begin with 0, such as 560001.";
  test.each([
    ["IN", "056001", PIN],
    ["IN", "56001", PIN],
    ["IN", "56000١", PIN],
    ["US", "9410", no("US", "94105")],
    ["US", "941051", no("US", "94105")],
    ["GB", "SW1A", no("GB", "SW1A 1AA")],
    ["CA", "D1A 0B1", no("CA", "K1A 0B1")],
    ["DE", "1011", no("DE", "10115")],
    ["NL", "1012 A1", no("NL", "1012 AB")],
    ["SG", "18956", no("SG", "018956")],
    ["IE", "12345678901234567", "/billing_address/postal_code: A postal code has at most 16 characters."],
  ])("of %s in another form are refused with an example: %s", (country, given, message) => {
    expect(fault(country, "", given)).toBe(message);
  });
});

describe("states", () => {
  test("of the US, Canada and Australia are the post's letters, in upper case", () => {
    expect(address("US", "ca", "").stateCode).toBe("CA");
    for (const [country, code] of ["US:ca", "US:DC", "US:AP", "CA:qc", "AU:nsw"].map((c) => c.split(":"))) {
      expect(fault(country as string, code as string, "")).toBe("");
    }
    expect(fault("US", "California", "")).toBe(
      "/billing_address/state_code: US has no state CALIFORNIA. Use the post's letters, such as AL.",
    );
    expect(fault("AU", "NW", "")).toContain("AU has no state NW");
  });

  test("of India are GST state codes, and elsewhere any text", () => {
    expect(fault("IN", "29", "")).toBe("");
    expect(fault("IN", "97", "")).toBe("");
    for (const code of ["KA", "96", "25", "7", "toString"]) {
      expect(fault("IN", code, "")).toBe(
        "/billing_address/state_code: In India the state is its GST state code of two digits, such as 29 for Karnataka.",
      );
    }
    expect(address("DE", "Bayern", "").stateCode).toBe("Bayern");
    expect(fault("DE", "Bayern", "")).toBe("");
  });
});

describe("the address in a request", () => {
  test("is trimmed, may be empty, and keeps the joiners of Indian scripts", () => {
    const line1 = "१२, क्‍षेत्र मार्ग";
    expect(reads(addressField, { line1: ` ${line1} `, city: "" })).toEqual({ line1, city: "" });
  });

  test.each([
    [{ line1: "a\nb" }, "/line1: one line of text, without control characters"],
    [{ line1: "a\u202eb" }, "/line1: one line of text, without control characters"],
    [{ line1: "a\ud800" }, "/line1: one line of text, without control characters"],
    [{ city: "\u0000" }, "/city: one line of text, without control characters"],
    [{ postal_code: "5600\u200f01" }, "/postal_code: one line of text, without control characters"],
    [{ line1: "x".repeat(201) }, "/line1: at most 200 characters"],
    [{ city: "x".repeat(101) }, "/city: at most 100 characters"],
    [{ country: "ZZ" }, "/country: a country code of two letters (ISO 3166-1 alpha-2), such as IN or US"],
    [{ line2: "x" }, ': Unrecognized key: "line2"'],
  ])("is refused with a pointer: %j", (given, message) => {
    expect(faults(addressField, given)).toEqual([message]);
  });
});
