/** What the operator's pages say of cells, tickets, bills, findings and connections, and what they ask. */
import { describe, expect, test } from "vitest";
import { connectionOf } from "../../../console/pages/operator/analysts/connection.ts";
import { lagOf, mayRetire } from "../../../console/pages/operator/cells/cell-words.ts";
import { type Finding, placeOf } from "../../../console/pages/operator/now/finding-places.ts";
import {
  basisPoints,
  faultOfFile,
  isJson,
  tokensOf,
} from "../../../console/pages/operator/provider-bills/bill-words.ts";
import { reachOf, unmatchedOf } from "../../../console/pages/operator/providers/provider-words.ts";
import {
  markOf,
  totalRows,
  yesterdayInIndia,
} from "../../../console/pages/operator/reconciliation/report-words.ts";
import { detailsOf } from "../../../console/pages/operator/tickets/ticket-words.ts";

const CELL = {
  cell: "a",
  status: "alive",
  life: 1,
  version: 7,
  silent_ms: 10,
  awaited: false,
  leased_orgs: 0,
  leased_micro_usd: 0,
} as const;

describe("cells", () => {
  test("are behind by the changes that they have not applied; those that are over are not", () => {
    expect(lagOf(CELL, 10)).toBe(3);
    expect(lagOf({ ...CELL, version: 12 }, 10)).toBe(0);
    expect(lagOf({ ...CELL, status: "left", version: null }, 10)).toBeUndefined();
    expect(lagOf({ ...CELL, status: "retired" }, 10)).toBeUndefined();
    expect(lagOf(CELL, null)).toBeUndefined();
  });

  test("may be retired once they left, or were silent for 35 s", () => {
    expect(mayRetire(CELL)).toBe(false);
    expect(mayRetire({ ...CELL, status: "silent", silent_ms: 34_999 })).toBe(false);
    expect(mayRetire({ ...CELL, status: "silent", silent_ms: 35_000 })).toBe(true);
    expect(mayRetire({ ...CELL, status: "left", silent_ms: null })).toBe(true);
    expect(mayRetire({ ...CELL, status: "retired" })).toBe(false);
  });
});

test("a ticket's details are in words; what is empty is left out", () => {
  const format = { money: (micro: number) => `$${micro / 1e6}`, count: (value: number) => `#${value}` };
  const body = {
    rpm: 5000,
    reason: "",
    refund_requested: true,
    refundable_micro: 2_000_000,
    other_name: "x",
  };
  expect(detailsOf({ body }, format)).toEqual([
    ["Requests a minute", "#5000"],
    ["Refund asked for", "yes"],
    ["Paid credit that is left", "$2"],
    ["other name", "x"],
  ]);
});

describe("bills", () => {
  test("a tolerance is a share from 0 to 100 per cent", () => {
    expect(["0", "0.5", "100", "100.01", "1e2", "-1", ""].map(basisPoints)).toEqual([
      0,
      50,
      10_000,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("what is empty or too large is not sent, and JSON is told from CSV", () => {
    expect(faultOfFile(" \n", 2)).toBe("Paste the bill, or choose its file.");
    expect(faultOfFile("day,model", 9)).toBeUndefined();
    expect(faultOfFile("x", 8 * 1024 * 1024)).toMatch(/more than 8 MB/);
    expect([' {"data": []}', "[]", "day,model"].map(isJson)).toEqual([true, true, false]);
  });

  test("tokens that neither side tells are not zero", () => {
    const none = {
      requests: null,
      input_tokens: null,
      output_tokens: null,
      cache_read_tokens: null,
      cache_write_tokens: null,
      cost_micro: null,
    };
    expect(tokensOf(none)).toBeNull();
    expect(tokensOf({ ...none, output_tokens: 3 })).toBe(3);
  });
});

test("the newest day that is over goes by India's calendar", () => {
  expect(yesterdayInIndia(Date.parse("2026-12-01T18:29:59Z"))).toBe("2026-11-30");
  expect(yesterdayInIndia(Date.parse("2026-12-01T18:30:00Z"))).toBe("2026-12-01");
});

test("findings that only inform need nobody, whatever their state", () => {
  const finding = { level: "fault", state: "open" } as Parameters<typeof markOf>[0];
  expect(markOf(finding)).toEqual(["bad", "open"]);
  expect(markOf({ ...finding, level: "info" })).toEqual(["plain", "to know"]);
});

test("totals without an entry are left out", () => {
  const sum = { currency: "INR", count: 2, amount_minor: 5, fee_minor: 1 } as const;
  const none = {
    gateway_payments: [],
    gateway_refunds: [],
    gateway_disputes: [],
    gateway_settlements: [],
    refunds: [],
    invoices: [],
    credit_notes: [],
  };
  expect(totalRows({ totals: { ...none, topups: [sum] } })).toEqual([
    { name: "Top-ups in the books", currency: "INR", count: 2, amount: 5, fee: 1 },
  ]);
});

test("a provider that is not reached says why", () => {
  expect(reachOf({ status: "active", switched_off: false, missing: [] })[1]).toBe("serves");
  expect(reachOf({ status: "inactive", switched_off: true, missing: ["A"] })[1]).toBe("switched off");
  expect(reachOf({ status: "inactive", switched_off: false, missing: ["A"] })[1]).toBe("lacks a credential");
  expect(reachOf({ status: "inactive", switched_off: false, missing: [] })[1]).toBe("cannot be reached");
  const refusal = {
    row: "",
    http_status: 400,
    error_class: "client",
    own_key_attempts: 0,
    last_at: "",
    last_code: "",
  };
  const rows = [
    { ...refusal, meaning: "unmatched", attempts: 3 },
    { ...refusal, meaning: "quota", attempts: 5 },
  ];
  expect(unmatchedOf(rows)).toBe(3);
});

test("findings lead to the page where they are seen to", () => {
  const finding = (kind: Finding["kind"], details = {}): Finding => ({
    kind,
    severity: "info",
    title: "",
    subject: { type: "provider", id: "groq", name: "" },
    since: null,
    details,
  });
  expect(placeOf(finding("ticket_open"))).toEqual(["tickets"]);
  expect(placeOf(finding("provider_without_credential"))).toEqual(["providers", "groq"]);
  expect(placeOf(finding("endpoint_down", { provider: "openai" }))).toEqual(["providers", "openai"]);
  expect(placeOf(finding("calls_uncharged"))).toEqual(["payments", "uncharged"]);
  expect(placeOf(finding("credit_low"))).toBeUndefined();
});

test("a connection is one address, whatever is in the password", () => {
  const made = { url: "http://127.0.0.1:8123", database: "weir", username: "anu_1", password: "a/b@c" };
  const address = new URL(connectionOf(made));
  expect(address.searchParams.get("database")).toBe("weir");
  expect(decodeURIComponent(address.password)).toBe("a/b@c");
  expect(address.host).toBe("127.0.0.1:8123");
});
