/** An org after a change, and as answers show it. */
import { describe, expect, test } from "vitest";
import { newOrg, type OrgRow } from "../../../../src/account/org.ts";
import { orgShape, orgWire } from "../../../../src/account/org-wire.ts";
import { changesProfile, orgAfter } from "../../../../src/account/orgs/org-change.ts";
import { patchOrgBody } from "../../../../src/account/orgs/org-fields.ts";
import { checkProfile } from "../../../../src/account/orgs/tax-profile.ts";
import { failureKind } from "../fixtures.ts";

const NOW = Date.UTC(2026, 8, 9);
const made = (billingCountry: string) =>
  newOrg({ slug: "acme", name: "Acme", kind: "team", billingCountry, planId: "free" }, NOW);
const change = (row: OrgRow, body: unknown) => orgAfter(row, patchOrgBody.parse(body));

describe("a change", () => {
  test("of nothing leaves the row, and the data policy the same object", () => {
    const row = made("IN");
    expect(change(row, {})).toEqual(row);
    expect(change(row, { name: "B" }).dataPolicy).toBe(row.dataPolicy);
  });

  test("of one nested field leaves its neighbours", () => {
    const row = made("IN");
    expect(change(row, { settings: { security: { require_2fa: true } } })).toEqual({
      ...row,
      security: { ...row.security, require2fa: true },
    });
    expect(change(row, { data_policy: { redact: { patterns: ["x"] } } })).toEqual({
      ...row,
      dataPolicy: { ...row.dataPolicy, redact: { presets: ["api_key", "card"], patterns: ["x"] } },
    });
    expect(change(row, { billing_address: { city: "Mysuru" } })).toEqual({
      ...row,
      billingAddress: { ...row.billingAddress, city: "Mysuru" },
    });
  });

  test("takes each field to its place", () => {
    const row = change(made("IN"), {
      name: "B",
      legal_name: "B Private Limited",
      gstin: "29AAGCB7383J1Z4",
      tax_status: "gst_registered",
      billing_email: "Pay@B.example",
      billing_address: { line1: "1, MG Road", city: "Bengaluru", state_code: "29", postal_code: "560 001" },
      settings: {
        timezone: "UTC",
        security: {
          require_2fa: true,
          session_hours: 1,
          console_ip_allow: ["10.0.0.0/8"],
          key_default_expiry_days: 9,
        },
      },
      data_policy: {
        logging: "off",
        retention_days: 0,
        zdr: true,
        no_train: true,
        regions: ["in"],
        redact: { presets: ["pan"], patterns: ["x"] },
      },
    });
    expect(checkProfile(row)).toBeUndefined();
    expect(row).toMatchObject({
      name: "B",
      legalName: "B Private Limited",
      gstin: "29AAGCB7383J1Z4",
      taxStatus: "gst_registered",
      billingEmail: "Pay@b.example",
      billingCurrency: "INR",
      timeZone: "UTC",
      billingAddress: {
        line1: "1, MG Road",
        city: "Bengaluru",
        stateCode: "29",
        postalCode: "560001",
        country: "IN",
      },
      security: {
        require2fa: true,
        sessionHours: 1,
        consoleIpAllow: ["10.0.0.0/8"],
        keyDefaultExpiryDays: 9,
      },
      dataPolicy: {
        logging: "off",
        retentionDays: 0,
        zdr: true,
        noTrain: true,
        regions: ["in"],
        redact: { presets: ["pan"], patterns: ["x"] },
      },
    });
  });

  test("of the country brings its currency, its address and, over India's border, its tax status", () => {
    const abroad = change(made("IN"), { billing_country: "US" });
    expect(abroad).toMatchObject({ billingCurrency: "USD", taxStatus: "overseas" });
    expect(abroad.billingAddress.country).toBe("US");
    expect(checkProfile(abroad)).toBeUndefined();
    const home = change(abroad, {
      billing_country: "IN",
      gstin: "29AAGCB7383J1Z4",
      tax_status: "sez",
    });
    expect(home).toMatchObject({ billingCurrency: "INR", taxStatus: "sez" });
    expect(checkProfile(home)).toBeUndefined();
    const moved = change(change(made("US"), { billing_address: { state_code: "CA" } }), {
      billing_country: "GB",
    });
    expect(moved).toMatchObject({ taxStatus: "overseas", billingAddress: { country: "GB" } });
  });

  test("to a country where the address is wrong is refused at the part to correct", () => {
    const row = change(made("US"), { billing_address: { state_code: "CA", postal_code: "94105" } });
    expect(checkProfile(change(row, { billing_country: "IN" }))?.param).toBe("/billing_address/state_code");
    expect(checkProfile(change(row, { billing_address: { country: "IN" } }))?.param).toBe(
      "/billing_address/country",
    );
  });

  test("of settings is set piece by piece and cleared by null", async () => {
    const low = change(made("US"), { settings: { credits_low_micro: 5 } });
    expect(low.creditsLowMicroUsd).toBe(5);
    expect(change(low, { settings: { credits_low_micro: null } }).creditsLowMicroUsd).toBeNull();
    const capped = change(made("US"), { settings: { budget: { monthly_micro: 9 } } });
    expect(capped.budget).toEqual({ monthlyMicroUsd: 9, hard: true, spikeAlertPct: null });
    const watched = change(capped, { settings: { budget: { spike_alert_pct: 50, hard: false } } });
    expect(watched.budget).toEqual({ monthlyMicroUsd: 9, hard: false, spikeAlertPct: 50 });
    const freed = change(watched, { settings: { budget: { monthly_micro: null } } });
    expect(freed.budget).toEqual({ monthlyMicroUsd: null, hard: true, spikeAlertPct: 50 });
    const hard = { settings: { budget: { hard: true } } };
    expect(await failureKind(async () => change(made("US"), hard))).toBe("invalid_value");
  });

  test("touches the tax profile only by the fields that it depends on", () => {
    const touches = (body: object) => changesProfile(patchOrgBody.parse(body));
    expect([{}, { name: "B" }, { legal_name: "B" }, { settings: {} }].map(touches)).not.toContain(true);
    expect(
      [{ gstin: "" }, { tax_status: "sez" }, { billing_country: "IN" }, { billing_address: {} }].map(touches),
    ).not.toContain(false);
  });
});

describe("an org in an answer", () => {
  test("has the specified fields, and no field that it lacks", () => {
    const row = made("IN");
    expect(orgShape.parse(orgWire(row))).toEqual({
      id: row.id,
      slug: "acme",
      name: "Acme",
      kind: "team",
      billing_country: "IN",
      billing_currency: "INR",
      legal_name: "",
      gstin: "",
      tax_id: "",
      tax_status: "unregistered",
      plan_id: "free",
      status: "active",
      billing_email: "",
      billing_address: { line1: "", city: "", state_code: "", postal_code: "", country: "IN" },
      settings: {
        security: {
          require_2fa: false,
          session_hours: 12,
          console_ip_allow: [],
          key_default_expiry_days: 0,
        },
        timezone: "Asia/Kolkata",
      },
      data_policy: {
        logging: "on",
        retention_days: 30,
        zdr: false,
        no_train: false,
        regions: [],
        redact: { presets: ["api_key", "card"], patterns: [] },
      },
      created_at: "2026-09-09T00:00:00.000Z",
    });
    expect(Object.keys(orgWire(row))).toEqual(Object.keys(orgShape.parse(orgWire(row))));
  });

  test("has its reader's role, its times and its settings where there are any", () => {
    const shown = orgWire(
      {
        ...made("US"),
        status: "closed",
        closedAtMs: NOW,
        erasureRequestedAtMs: NOW,
        erasureDueAtMs: NOW + 86_400_000,
        creditsLowMicroUsd: 0,
        budget: { monthlyMicroUsd: 7, hard: true, spikeAlertPct: 20 },
      },
      "viewer",
    );
    expect(orgShape.parse(shown)).toMatchObject({
      role: "viewer",
      status: "closed",
      closed_at: "2026-09-09T00:00:00.000Z",
      erasure_requested_at: "2026-09-09T00:00:00.000Z",
      erasure_due_at: "2026-09-10T00:00:00.000Z",
      settings: { credits_low_micro: 0, budget: { monthly_micro: 7, hard: true, spike_alert_pct: 20 } },
    });
  });

  test("shows a cleared setting as absent, and a cleared budget as 0", () => {
    const { settings } = orgWire({
      ...made("US"),
      creditsLowMicroUsd: null,
      budget: { monthlyMicroUsd: null, hard: true, spikeAlertPct: null },
    });
    expect(Object.keys(settings)).toEqual(["security", "timezone", "budget"]);
    expect(settings.budget).toEqual({ monthly_micro: 0, hard: false });
  });

  test("can be sent back as a change that changes nothing", () => {
    const row = made("IN");
    const { name, legal_name, gstin, tax_status, billing_country, billing_email, ...rest } = orgWire(row);
    const { billing_address, settings, data_policy } = rest;
    const body = {
      name,
      legal_name,
      gstin,
      tax_status,
      billing_country,
      billing_email,
      billing_address,
      settings,
      data_policy,
    };
    expect(change(row, body)).toEqual(row);
  });
});
