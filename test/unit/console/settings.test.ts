/** What the forms of settings ask the API for: only what differs, and nothing that is typed wrong. */
import { describe, expect, test } from "vitest";
import { credentialOf, NO_CREDENTIAL, usualKind } from "../../../console/pages/provider-keys/credential.ts";
import { feeWords } from "../../../console/pages/provider-keys/fee-words.ts";
import { connectionTexts } from "../../../console/pages/settings/connection.ts";
import {
  dataBody,
  dataFaults,
  dataValues,
  isFaultless,
  previewBody,
} from "../../../console/pages/settings/data-values.ts";
import { callWords, statusWords } from "../../../console/pages/settings/directory-words.ts";
import {
  generalBody,
  generalFaults,
  generalValues,
  zonesWith,
} from "../../../console/pages/settings/general-values.ts";
import { hoursFault, securityBody, securityValues } from "../../../console/pages/settings/security-values.ts";
import { sizeWords } from "../../../console/pages/settings/sizes.ts";

const SECURITY = { require_2fa: false, session_hours: 12, console_ip_allow: [], key_default_expiry_days: 0 };
const PLAIN = { name: "Acme", settings: { security: SECURITY, timezone: "UTC" } } as const;
const BUDGET = { monthly_micro: 5_000_000, hard: false, spike_alert_pct: 50 };
const RICH = {
  name: "Acme",
  settings: {
    security: { ...SECURITY, key_default_expiry_days: 30 },
    timezone: "Asia/Kolkata",
    hold: "fit",
    credits_low_micro: 500_000,
    budget: BUDGET,
  },
} as const;

describe("general", () => {
  test("asks for nothing where nothing differs", () => {
    for (const org of [PLAIN, RICH]) {
      expect(generalBody(org, generalValues(org))).toBeUndefined();
      expect(generalFaults(generalValues(org))).toEqual({});
    }
  });

  test("clears what is emptied, and sets what is typed", () => {
    const emptied = {
      ...generalValues(RICH),
      keyDays: "",
      hold: "",
      low: "",
      budget: "",
      spike: "",
    } as const;
    expect(generalBody(RICH, emptied)).toEqual({
      settings: {
        security: { key_default_expiry_days: 0 },
        hold: null,
        credits_low_micro: null,
        budget: { monthly_micro: null, spike_alert_pct: null },
      },
    });
    const typed = { ...generalValues(PLAIN), name: " Acme Two ", zone: "Asia/Tokyo", budget: "12.50" };
    expect(generalBody(PLAIN, typed)).toEqual({
      name: "Acme Two",
      settings: {
        timezone: "Asia/Tokyo",
        budget: { monthly_micro: 12_500_000, hard: true, spike_alert_pct: null },
      },
    });
  });

  test("finds what cannot be meant", () => {
    const wrong = {
      ...generalValues(PLAIN),
      name: " ",
      keyDays: "4000",
      low: "x",
      budget: "0",
      spike: "1.5",
    };
    expect(Object.keys(generalFaults(wrong)).sort()).toEqual(["budget", "keyDays", "low", "name", "spike"]);
  });

  test("offers the zone that is set, also one that the browser does not know", () => {
    expect(zonesWith("Mars/Olympus")).toEqual(
      expect.arrayContaining(["Mars/Olympus", "UTC", "Europe/Paris"]),
    );
    expect(zonesWith("UTC").filter((zone) => zone === "UTC")).toHaveLength(1);
  });
});

describe("data policy", () => {
  const org = {
    data_policy: {
      logging: "on",
      retention_days: 30,
      zdr: false,
      no_train: false,
      regions: ["eu"],
      redact: { presets: ["api_key", "card"], patterns: ["A+"] },
    },
  } as const;
  const values = dataValues(org);

  test("asks for what differs alone; the order of presets does not matter", () => {
    expect(dataBody(org, { ...values, presets: ["card", "api_key"] })).toBeUndefined();
    expect(dataBody(org, { ...values, regions: " eu ,us\nap ", retention: "7", patterns: [] })).toEqual({
      data_policy: { retention_days: 7, regions: ["eu", "us", "ap"], redact: { patterns: [] } },
    });
  });

  test("finds days out of bounds, and patterns that are empty or there already", () => {
    expect(isFaultless(dataFaults(values))).toBe(true);
    const { retention, patterns } = dataFaults({ ...values, retention: "401", patterns: ["a", "", "a"] });
    expect([retention, Object.keys(patterns)]).toEqual([expect.stringContaining("400"), ["1", "2"]]);
  });

  test("a preview has each pattern once, with its place in the form", () => {
    const { body, places } = previewBody({ presets: ["card"], patterns: ["", "a", "a", "b"] }, "x");
    expect(body).toEqual({ presets: ["card"], patterns: ["a", "b"], sample: "x" });
    expect(places).toEqual([1, 3]);
  });
});

describe("security", () => {
  test("reads a list however it is separated, and hours in bounds", () => {
    const values = { ...securityValues(PLAIN), networks: "10.0.0.0/8, ::1\n\n192.0.2.7", hours: "8" };
    expect(securityBody(PLAIN, values)).toEqual({
      settings: { security: { console_ip_allow: ["10.0.0.0/8", "::1", "192.0.2.7"], session_hours: 8 } },
    });
    expect(securityBody(PLAIN, securityValues(PLAIN))).toBeUndefined();
    expect(
      ["1", "720", "0", "721", ""].map((hours) => hoursFault({ ...values, hours }) === undefined),
    ).toEqual([true, true, false, false, false]);
  });
});

describe("words", () => {
  test("of what a directory asked for", () => {
    expect(callWords("GET", "/scim/v2/Users?filter=userName%20eq%20%22a%22")).toBe("Look for users");
    expect(callWords("GET", "/scim/v2/Groups")).toBe("List groups");
    expect(callWords("GET", "/scim/v2/Users/1")).toBe("Read a user");
    expect(callWords("PATCH", "/scim/v2/Groups/1")).toBe("Change a group");
    expect(callWords("GET", "/scim/v2/ServiceProviderConfig")).toBe("Read what the gateway supports");
    expect([200, 409, 503].map(statusWords)).toEqual(["done", "refused, 409", "failed, 503"]);
  });

  test("of the fee for an own key, and of sizes", () => {
    const money = (micro: number) => `$${micro / 1e6}`;
    expect(feeWords({ fee_bps: 525, fee_micro_per_request: 100 }, money)).toContain(
      "costs 5.25 % of what it would have cost otherwise and $0.0001 a call.",
    );
    expect(feeWords({ fee_bps: 0, fee_micro_per_request: 0 }, money)).toContain("costs nothing here");
    expect([812, 4200, 15_000_000].map(sizeWords)).toEqual(["812 bytes", "4.2 KB", "15 MB"]);
  });
});

test("a credential is sent in the form of its kind, or not at all", () => {
  const of = (change: Partial<typeof NO_CREDENTIAL>) => credentialOf({ ...NO_CREDENTIAL, ...change });
  expect([of({}), of({ text: " key-1 " })]).toEqual([undefined, "key-1"]);
  expect(of({ kind: "aws", accessKeyId: "AK" })).toBeUndefined();
  expect(of({ kind: "aws", accessKeyId: "AK", secretAccessKey: "S" })).toEqual({
    access_key_id: "AK",
    secret_access_key: "S",
  });
  expect([of({ kind: "google", file: "[1]" }), of({ kind: "google", file: "{" })]).toEqual([
    undefined,
    undefined,
  ]);
  expect(of({ kind: "google", file: '{"type":"service_account"}' })).toEqual({ type: "service_account" });
  expect(["vertex", "bedrock", "openai"].map(usualKind)).toEqual(["google", "aws", "text"]);
});

test("tools are told the address as they want it, of plain http and of https", () => {
  const to = { database: "weir", username: "u", password: "p" };
  const texts = (url: string) => new Map(connectionTexts({ ...to, url }).map(({ id, text }) => [id, text]));
  const near = texts("http://127.0.0.1:8123/");
  expect(near.get("python")).toContain('host="127.0.0.1", port=8123,');
  expect(near.get("jdbc")).toBe("jdbc:clickhouse:http://127.0.0.1:8123/weir?compress=0\nu\np");
  expect(near.get("curl")).toMatch(
    /^curl 'http:\/\/127\.0\.0\.1:8123\/\?database=weir' -u 'u:p' \\\n {2}--data-binary '/,
  );
  const far = texts("https://ch.example.com");
  expect(far.get("python")).toContain('host="ch.example.com", port=443, secure=True,');
  expect(far.get("client")).toContain("--host ch.example.com --secure");
});
