/** The tax profile: which parts contradict each other, and what a quote still lacks. */
import { describe, expect, test } from "vitest";
import { gstinCheckCharacter } from "../../../../src/account/fields/gstin.ts";
import { newOrg, type OrgRow } from "../../../../src/account/org.ts";
import { billingProfileGaps, checkProfile } from "../../../../src/account/orgs/tax-profile.ts";

const gstinOf = (state: string) => {
  const first = `${state}AAGCB7383J1Z`;
  return first + gstinCheckCharacter(first);
};
const KARNATAKA = gstinOf("29");

type Address = Partial<OrgRow["billingAddress"]>;
function org(country: string, given: Partial<OrgRow> = {}, address: Address = {}): OrgRow {
  const made = newOrg({ slug: "s", name: "n", kind: "team", billingCountry: country, planId: "free" }, 0);
  return { ...made, ...given, billingAddress: { ...made.billingAddress, ...address } };
}
const fault = (row: OrgRow) => {
  const found = checkProfile(row);
  return found === undefined ? "" : `${found.param}: ${found.message}`;
};
const indian = (taxStatus: OrgRow["taxStatus"], gstin: string, stateCode = "") =>
  org("IN", { taxStatus, gstin }, { stateCode });

describe("a profile", () => {
  test.each([
    ["a new Indian org", org("IN")],
    ["a new org abroad", org("US")],
    ["a registered one that has no address yet", indian("gst_registered", KARNATAKA)],
    ["a registered one of the same state", indian("gst_registered", KARNATAKA, "29")],
    ["one in a special economic zone", indian("sez", KARNATAKA, "29")],
    ["one of other territory", indian("gst_registered", gstinOf("97"), "97")],
    ["an unregistered one with an address", indian("unregistered", "", "38")],
    ["one abroad with an address", org("US", {}, { stateCode: "CA", postalCode: "94105" })],
  ])("that agrees is accepted: %s", (_, row) => expect(fault(row)).toBe(""));

  test.each([
    [
      "an Indian org that is overseas",
      indian("overseas", ""),
      "/tax_status: An org in India is unregistered, gst_registered or sez; overseas is for other countries.",
    ],
    [
      "an unregistered one abroad",
      org("US", { taxStatus: "unregistered" }),
      "/tax_status: An org in United States is overseas; unregistered is for India only.",
    ],
    [
      "a registered one abroad",
      org("DE", { taxStatus: "gst_registered", gstin: KARNATAKA }),
      "/tax_status: An org in Germany is overseas; gst_registered is for India only.",
    ],
    [
      "a GSTIN of an unregistered one",
      indian("unregistered", KARNATAKA),
      "/gstin: An org that is unregistered has no GSTIN. Set tax_status to gst_registered or sez with it.",
    ],
    ["a GSTIN abroad", org("US", { gstin: KARNATAKA }), "/gstin: An org that is overseas has no GSTIN."],
    [
      "a registered one without GSTIN",
      indian("gst_registered", "", "29"),
      "/gstin: An org that is gst_registered needs its GSTIN.",
    ],
    ["a zone without GSTIN", indian("sez", ""), "/gstin: An org that is sez needs its GSTIN."],
    [
      "a GSTIN that is none",
      indian("sez", "29AAGCB7383J1Z5"),
      "/gstin: It is not valid: the last character of this GSTIN does not fit the others: compare it with the registration.",
    ],
    [
      "a GSTIN of another state",
      indian("gst_registered", KARNATAKA, "27"),
      "/billing_address/state_code: The GSTIN is of Karnataka (29), but the address is in Maharashtra (27). " +
        "Give the GSTIN and the address of the same state.",
    ],
    [
      "an address in another country",
      org("US", {}, { country: "IN" }),
      "/billing_address/country: The address is in India, but billing_country is US. They must be the same.",
    ],
    [
      "a postal code of another country",
      org("IN", {}, { postalCode: "SW1A 1AA" }),
      "/billing_address/postal_code: A PIN code has six digits and does not begin with 0, such as 560001.",
    ],
  ])("that contradicts itself is refused with the field to correct: %s", (_, row, message) => {
    expect(fault(row)).toBe(message);
  });
});

describe("what a quote still lacks", () => {
  const STATE = "/billing_address/state_code";
  const PIN = "/billing_address/postal_code";
  const full = { stateCode: "29", postalCode: "560001" };
  test.each([
    ["a new Indian org", org("IN"), [STATE, PIN]],
    ["an Indian org with State only", org("IN", {}, { stateCode: "29" }), [PIN]],
    ["an Indian org with PIN only", org("IN", {}, { postalCode: "560001" }), [STATE]],
    ["an Indian org with both", org("IN", {}, full), []],
    ["a registered one with all", org("IN", { taxStatus: "gst_registered", gstin: KARNATAKA }, full), []],
    ["a registered one without GSTIN", org("IN", { taxStatus: "gst_registered" }, full), ["/gstin"]],
    [
      "a registered one whose GSTIN is of another state",
      org("IN", { taxStatus: "gst_registered", gstin: gstinOf("27") }, full),
      ["/gstin"],
    ],
    ["a registered one that has said nothing else", indian("gst_registered", ""), [STATE, PIN, "/gstin"]],
    ["a zone without GSTIN", org("IN", { taxStatus: "sez" }, full), ["/gstin"]],
    ["a new org abroad", org("US"), []],
    ["an org where there are no postal codes", org("AE"), []],
  ])("is named by pointers: %s", (_, row, gaps) => expect(billingProfileGaps(row)).toEqual(gaps));
});
