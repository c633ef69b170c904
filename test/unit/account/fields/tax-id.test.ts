/** Tax ids of buyers outside India: the form of VAT numbers, and what an org may say of itself. */
import { expect, test } from "vitest";
import { taxIdFault } from "../../../../src/account/fields/tax-id.ts";
import { newOrg, type OrgRow } from "../../../../src/account/org.ts";
import { orgAfter } from "../../../../src/account/orgs/org-change.ts";
import { patchOrgBody } from "../../../../src/account/orgs/org-fields.ts";
import { checkProfile } from "../../../../src/account/orgs/tax-profile.ts";
import { recipientOf } from "../../../../src/billing/rates/quote.ts";

test.each([
  ["DE", "DE123456789"],
  ["DE", "DE 123 456 789"],
  ["NL", "NL123456789B01"],
  ["GR", "EL123456789"],

  ["FR", "FRXX123456789"],
  ["IE", "IE1234567WA"],
  ["IE", "IE1A23456W"],
  ["AT", "ATU12345678"],
  // A company of one country of the Union may be registered in another one.

  ["DE", "FR12123456789"],
  ["US", "12-3456789"],
  ["GB", "GB123456789"],
  ["US", ""],
  ["DE", ""],
])("of a buyer in %s may be %j", (country, taxId) => {
  expect(taxIdFault(country, taxId)).toBeUndefined();
});

test.each([
  ["DE", "DE12345678", "it has not the form of a VAT number of DE"],
  ["NL", "NL123456789001", "it has not the form of a VAT number of NL"],
  ["DE", "123456789", "a VAT number begins with the two letters of its country, such as DE"],
  ["GR", "GR123456789", "a VAT number begins with the two letters of its country, such as EL"],
  ["FR", "toString", "a VAT number begins with the two letters of its country, such as FR"],
  ["DE", "DE", "it has not the form of a VAT number of DE"],
])("of a buyer in %s is not %j", (country, taxId, fault) => {
  expect(taxIdFault(country, taxId)).toBe(fault);
});

const orgIn = (billingCountry: string): OrgRow =>
  newOrg({ slug: "o", name: "O", kind: "team", billingCountry, planId: "local" }, 0);
const changed = (org: OrgRow, body: object) => orgAfter(org, patchOrgBody.parse(body));

test("an org abroad sets its tax id, in upper case, and is billed with it", () => {
  const org = changed(orgIn("DE"), { tax_id: " de123456789 " });
  expect(checkProfile(org)).toBeUndefined();
  expect(recipientOf(org).taxId).toBe("DE123456789");
  expect(recipientOf(changed(org, { legal_name: "O GmbH" })).taxId).toBe("DE123456789");
  expect(recipientOf(changed(org, { tax_id: "" })).taxId).toBe("");
  expect(recipientOf(orgIn("DE")).taxId).toBe("");
});

test.each([[{ tax_id: "x".repeat(41) }], [{ tax_id: "DE1\n2" }], [{ tax_id: 5 }], [{ tax_id: null }]])(
  "%j is no tax id",
  (body) => {
    expect(patchOrgBody.safeParse(body).success).toBe(false);
  },
);

test.each([
  ["IN", { tax_id: "DE123456789" }],
  ["DE", { tax_id: "DE12" }],
])("an org in %s is refused %j, which names the field", (country, body) => {
  expect(checkProfile(changed(orgIn(country), body))).toMatchObject({ param: "/tax_id" });
});
