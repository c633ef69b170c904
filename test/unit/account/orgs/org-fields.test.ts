/** Bodies that create and change an org: bounds, pointers, and a change of any one field alone. */
import { describe, expect, test } from "vitest";
import { orgSlugField, slugField } from "../../../../src/account/fields/slug.ts";
import { createOrgBody, patchOrgBody } from "../../../../src/account/orgs/org-fields.ts";
import { newId } from "../../../../src/base/ids.ts";
import { accepts, faults, reads } from "../field-faults.ts";

describe("a slug", () => {
  test.each(["a", "7", "acme", "a-b", "a--b", "x".repeat(63)])("is accepted: %s", (slug) => {
    expect(reads(orgSlugField, slug)).toBe(slug);
  });

  test.each(["", "-a", "a-", "A", "a_b", "a.b", "a b", "é", "a\n", "x".repeat(64)])(
    "is refused: %j",
    (slug) => {
      expect(faults(orgSlugField, slug)).toEqual([
        ": lower-case letters, digits and inner hyphens, at most 63",
      ]);
    },
  );

  test("never looks like an org's id", () => {
    expect(accepts(slugField, newId("org", 0).toLowerCase())).toBe(false);
    expect(accepts(slugField, "org_x")).toBe(false);
  });

  test("of an org is no reserved word, of a project it may be", () => {
    for (const slug of ["api", "admin", "www", "v1", "auth", "docs"]) {
      expect(faults(orgSlugField, slug)).toEqual([": this word is reserved; choose another slug"]);
      expect(reads(slugField, slug)).toBe(slug);
    }
  });
});

describe("the body that creates an org", () => {
  const good = { slug: "acme", name: " Acme ", billing_country: "in" };

  test("is read with its defaults", () => {
    expect(reads(createOrgBody, good)).toEqual({
      slug: "acme",
      name: "Acme",
      billing_country: "IN",
      kind: "team",
    });
  });

  test.each([
    [{ ...good, kind: "gang" }, '/kind: Invalid option: expected one of "personal"|"team"|"enterprise"'],
    [{ ...good, slug: "api" }, "/slug: this word is reserved; choose another slug"],
    [{ ...good, name: "  " }, "/name: a name has at least one character"],
    [{ ...good, name: "x".repeat(201) }, "/name: at most 200 characters"],
    [{ ...good, name: "a\u0007" }, "/name: one line of text, without control characters"],
    [{ slug: "acme", name: "A" }, "/billing_country: Invalid input: expected string, received undefined"],
    [{ ...good, plan_id: "x" }, ': Unrecognized key: "plan_id"'],
  ])("is refused with a pointer: %j", (body, message) => {
    expect(faults(createOrgBody, body)).toEqual([message]);
  });
});

describe("the body that changes an org", () => {
  test.each([
    {},
    { name: "N" },
    { billing_country: "IN" },
    { legal_name: "" },
    { gstin: "" },
    { tax_status: "sez" },
    { billing_email: "" },
    { billing_address: { postal_code: "" } },
    { settings: {} },
    { settings: { timezone: "UTC" } },
    { settings: { credits_low_micro: null } },
    { settings: { credits_low_micro: 0 } },
    { settings: { security: { require_2fa: true } } },
    { settings: { security: { session_hours: 720, key_default_expiry_days: 0 } } },
    { settings: { security: { console_ip_allow: [] } } },
    { settings: { budget: { monthly_micro: null } } },
    { settings: { budget: { spike_alert_pct: 50 } } },
    { data_policy: { logging: "metadata" } },
    { data_policy: { retention_days: 400, zdr: true, no_train: true } },
    { data_policy: { regions: ["eu-central-1"] } },
    { data_policy: { redact: {} } },
    { data_policy: { redact: { presets: [] } } },
    { data_policy: { redact: { patterns: ["EMP-[0-9]{6}"] } } },
  ])("may name any one field: %j", (body) => expect(reads(patchOrgBody, body)).toEqual(body));

  test("is read in canonical form, each member of a list once", () => {
    const body = {
      settings: { timezone: "asia/calcutta", security: { console_ip_allow: ["10.0.0.1/32", "10.0.0.1"] } },
      data_policy: { regions: ["in", "us", "in"], redact: { presets: ["card", "api_key", "card"] } },
    };
    expect(reads(patchOrgBody, body)).toEqual({
      settings: { timezone: "Asia/Kolkata", security: { console_ip_allow: ["10.0.0.1"] } },
      data_policy: { regions: ["in", "us"], redact: { presets: ["api_key", "card"] } },
    });
  });

  const security = (given: object) => ({ settings: { security: given } });
  const NAMES = '"api_key"|"card"|"aadhaar"|"pan"|"email"|"phone"';
  test.each([
    [{ name: null }, "/name: Invalid input: expected string, received null"],
    [{ slug: "other" }, ': Unrecognized key: "slug"'],
    [{ settings: { securty: {} } }, '/settings: Unrecognized key: "securty"'],
    [{ tax_status: "none" }, /^\/tax_status: Invalid option: .+"overseas"$/],
    [{ billing_email: "x" }, "/billing_email: an e-mail address has one @, such as name@example.com"],
    [
      { billing_address: { city: "a\tb" } },
      "/billing_address/city: one line of text, without control characters",
    ],
    [security({ require_2fa: "yes" }), /^\/settings\/security\/require_2fa: .+ expected boolean/],
    [security({ session_hours: 0 }), /^\/settings\/security\/session_hours: Too small: .+ >=1$/],
    [security({ session_hours: 721 }), /^\/settings\/security\/session_hours: Too big: .+ <=720$/],
    [security({ session_hours: 1.5 }), /^\/settings\/security\/session_hours: .+ expected int/],
    [security({ key_default_expiry_days: 3651 }), /key_default_expiry_days: Too big: .+ <=3650$/],
    [
      security({ console_ip_allow: ["10.0.0.1", "10.0.0.1/8"] }),
      "/settings/security/console_ip_allow/1: this range begins at another address: " +
        "write 10.0.0.0/8, or 10.0.0.1 for the one address",
    ],
    [{ settings: { timezone: "IST" } }, "/settings/timezone: an IANA time zone, such as Asia/Kolkata or UTC"],
    [{ settings: { credits_low_micro: -1 } }, /^\/settings\/credits_low_micro: Too small/],
    [
      { settings: { budget: { monthly_micro: 0 } } },
      "/settings/budget/monthly_micro: a budget is at least 1 micro-USD; send null for none",
    ],
    [{ settings: { budget: { spike_alert_pct: 0 } } }, /^\/settings\/budget\/spike_alert_pct: Too small/],
    [
      { data_policy: { logging: "all" } },
      /^\/data_policy\/logging: Invalid option: .+"on"\|"metadata"\|"off"$/,
    ],
    [{ data_policy: { retention_days: 401 } }, /^\/data_policy\/retention_days: Too big: .+ <=400$/],
    [
      { data_policy: { regions: ["us", "US"] } },
      "/data_policy/regions/1: lower-case letters, digits and hyphens, at most 32",
    ],
    [{ data_policy: { regions: Array(33).fill("us") } }, "/data_policy/regions: at most 32 regions"],
    [
      { data_policy: { redact: { presets: ["ssn"] } } },
      `/data_policy/redact/presets/0: Invalid option: expected one of ${NAMES}`,
    ],
    [
      { data_policy: { redact: { patterns: ["a", "b*"] } } },
      "/data_policy/redact/patterns/1: this pattern also matches where there is no character: let it take at least one",
    ],
  ])("is refused with a pointer: %j", (body, message) => {
    expect(faults(patchOrgBody, body)).toEqual([
      message instanceof RegExp ? expect.stringMatching(message) : message,
    ]);
  });
});
