/** Input to routes of money that is well formed and means what cannot be: a 4xx that names the field, and nothing written. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Route } from "../../../src/edge/routes.ts";
import type { Answer } from "../../support/gateway.ts";
import { pathOf } from "../../support/routes/calls.ts";
import { expectRefused, type MoneyWorld, moneyRoutes, openMoneyWorld } from "./billing.bad-input.fixtures.ts";

let at: MoneyWorld;
beforeAll(async () => {
  at = await openMoneyWorld();
});
afterAll(() => at.stop());

test("a top-up whose payer would not find back is not opened, and is not on the list", async () => {
  const before = await at.booksAtRest();
  const host = { host: "evil.example" };
  const route = { method: "POST", access: "write:billing / billing" } as const;
  const { status, json } = await at.send(route, "/v1/credits/topups", {
    body: '{"amount_minor":2500}',
    headers: host,
  });
  expect([status, json.error.code]).toEqual([503, "gateway_unavailable"]);
  expect(json.error.message).toContain("PUBLIC_URL");
  expect(await at.books()).toEqual(before);
});

describe("what has a meaning", () => {
  const asOperator = (path: string, body: object) =>
    at.gateway.call("POST", `/v1/operator${path}`, { key: at.operatorKey, body });
  const live = (method: string, path: string, body?: object, headers?: object) =>
    at.gateway.call(method, path, { ...(body && { body }), ...(headers && { headers }) });
  /** @returns the code */
  async function refused(what: string, ask: () => Promise<Answer>, param?: string): Promise<string> {
    const before = await at.booksAtRest();
    const answer = await ask();
    expectRefused(what, answer, param);
    expect(await at.books()).toEqual(before);
    return `${answer.status} ${answer.json.error.code}`;
  }

  test.each([
    [1, "400 below_minimum"],
    [499, "400 below_minimum"],
    [10_000_000_001, "400 invalid_value"],
    [Number.MAX_SAFE_INTEGER, "400 invalid_value"],
  ])("a top-up of %s cents: %s", async (amount_minor, code) => {
    const ask = () => live("POST", "/v1/credits/topups", { amount_minor });
    expect(await refused("top-up", ask, "/amount_minor")).toBe(code);
  });

  test("a quote of more than may be paid at once", async () => {
    for (const amount of ["10000000001", String(Number.MAX_SAFE_INTEGER)]) {
      const ask = () => live("GET", `/v1/credits/topups/quote?amount_minor=${amount}`);
      expect(await refused("quote", ask, "/amount_minor")).toBe("400 invalid_value");
    }
  });

  test("a key that names another org", async () => {
    for (const org of ["other", "no-such-org", "x".repeat(3_000)]) {
      const ask = () => live("POST", "/v1/credits/topups", { amount_minor: 2_500 }, { "svc-org": org });
      expect(await refused(org.slice(0, 20), ask)).toBe("404 not_found");
    }
  });

  test("refunds of more than was paid, of what is not paid, and with a key of another refund", async () => {
    const path = "/v1/credits/topups/{id}/refund";
    const route = moneyRoutes.find((r) => r.path === path) as Route;
    const paid = await pathOf(route, at.world.orgId, at.world);
    const refund =
      (amount_minor: number, idempotency_key: string, at = paid) =>
      () =>
        live("POST", at, { amount_minor, reason: "", idempotency_key });
    for (const amount of [2_501, 10 ** 12, Number.MAX_SAFE_INTEGER])
      expect(await refused(`${amount}`, refund(amount, "much"), "/amount_minor")).toBe("409 not_refundable");
    expect((await refund(500, "first")()).status).toBe(200);
    expect(await refused("again", refund(501, "first"), "/idempotency_key")).toBe("409 idempotency_mismatch");
    expect(await refused("the rest and more", refund(2_001, "rest"), "/amount_minor")).toBe(
      "409 not_refundable",
    );
    const { json } = await live("POST", "/v1/credits/topups", { amount_minor: 2_500 });
    const unpaid = path.replace("{id}", json.topup.id);
    expect(await refused("unpaid", refund(1, "unpaid", unpaid), "/amount_minor")).toBe("409 not_refundable");
  });

  test("plans that are not offered, and a time at which the change cannot be", async () => {
    for (const plan_id of ["nothing", "LOCAL", " local", "local\u0000", "__proto__"]) {
      const ask = () => live("POST", "/v1/billing/subscription", { plan_id });
      expect(await refused(plan_id, ask, "/plan_id")).toBe("400 invalid_value");
    }
    const never = { plan_id: "local", effective: "period_end" };
    const ask = () => live("POST", "/v1/billing/subscription", never);
    expect(await refused("period_end", ask)).toMatch(/^4\d\d /);
  });

  test("corrections to a GSTIN that is none, and mails to strangers by a key", async () => {
    const invoice = `/v1/invoices/${at.world.invoiceId}`;
    for (const gstin of ["29AAACN4455M1Z", "33AACCN4455M1ZB", "99AACCN4455M1ZA", "-".repeat(15), "", " "]) {
      const ask = () => live("POST", `${invoice}/correction`, { gstin, reason: "ours" });
      expect(await refused(gstin, ask, "/gstin")).toBe("400 invalid_value");
    }
    for (const to of ["no address", "a@b", "a@b.c, d@e.f", "a@example.com\r\nBcc: b@example.com", "@", ""]) {
      const ask = () => live("POST", `${invoice}/resend`, { to });
      expect(await refused(to, ask, "/to")).toBe("400 invalid_value");
    }
    const ask = () => live("POST", `${invoice}/resend`, { to: "stranger@example.org" });
    expect(await refused("a stranger", ask, "/to")).toBe("403 scope");
  });

  test("payments offline: an unknown org, too much, a reference that was used", async () => {
    const record =
      (org: string, changes: object = {}) =>
      () =>
        asOperator(`/orgs/${org}/payments`, {
          amount_minor: 2_500,
          reference: "wire 1",
          reason: "by wire",
          ...changes,
        });
    expect(await refused("org", record("nobody"))).toBe("404 not_found");
    const most = { amount_minor: 10_000_000_001 };
    expect(await refused("much", record("first", most), "/amount_minor")).toBe("400 invalid_value");
    for (const reference of [" ", "x".repeat(101), "a\u202eb"])
      expect(await refused(reference, record("first", { reference }), "/reference")).toBe(
        "400 invalid_value",
      );
    expect((await record("first")()).status).toBe(201);
    const more = { amount_minor: 2_501 };
    expect(await refused("used", record("first", more), "/reference")).toBe("409 idempotency_mismatch");
    expect(await refused("used by another", record("other"), "/reference")).toBe("409 idempotency_mismatch");
  });

  test("a payment to look at that is none", async () => {
    const close = (id: string) => () => asOperator(`/payments/${id}/close`, { outcome: "given back" });
    expect(await refused("none", close("pay_none"))).toBe("404 not_found");
  });

  test("days that are not over, or are none", async () => {
    for (const day of ["2999-01-01", "2026-02-30", "2026-13-01", "20261101", "yesterday", "0000-00-00"]) {
      const ask = () => asOperator("/reconciliation", { day });
      expect(await refused(day, ask, "/day")).toBe("400 invalid_value");
    }
  });

  test("months that are none, and formats that we lack", async () => {
    for (const month of ["2026-13", "2026-00", "2026", "1999-12", "2026-1", "now"])
      for (const path of ["/v1/invoices/export", "/v1/operator/invoices/export"]) {
        const key = path.includes("operator") ? at.operatorKey : at.gateway.liveKey;
        expectRefused(month, await at.gateway.call("GET", `${path}?month=${month}`, { key }), "/month");
      }
  });

  const bill = (csv: string) => ({ provider: "sim", csv });
  const nested = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const deep = { provider: "sim", json: `[{"day":${nested},"model":"m"}]` };
  const head = "day,model,input_tokens,cost_usd\n";
  test.each([
    ["both", { provider: "sim", csv: "a", json: "{}" }, "/csv"],
    ["neither", { provider: "sim" }, "/csv"],
    ["no lines", bill(head), "/csv"],
    ["no header", bill("1,2,3\n"), "/csv"],
    ["NaN", bill(`${head}2026-11-01,m,NaN,1\n`), "/csv"],
    ["negative", bill(`${head}2026-11-01,m,-1,1\n`), "/csv"],
    ["a fraction", bill(`${head}2026-11-01,m,1.5,1\n`), "/csv"],
    ["above 2^53", bill(`${head}2026-11-01,m,9007199254740993,1\n`), "/csv"],
    ["sums above 2^53", bill(head + "2026-11-01,m,999999999999999,1\n".repeat(10)), "/csv"],
    ["a cost with an exponent", bill(`${head}2026-11-01,m,1,1e3\n`), "/csv"],
    ["a formula", bill(`${head}2026-11-01,=1+1,1,1\n`), "/csv"],
    ["no day", bill(`${head}2026-02-30,m,1,1\n`), "/csv"],
    ["years apart", bill(`${head}2020-01-01,m,1,1\n2026-11-01,m,1,1\n`), "/csv"],
    ["an open quote", bill(`${head}2026-11-01,"m,1,1\n`), "/csv"],
    ["no JSON", { provider: "sim", json: "{" }, "/json"],
    ["null", { provider: "sim", json: "null" }, "/json"],
    ["a list of nulls", { provider: "sim", json: "[null,null]" }, "/json"],
    ["deep JSON", { provider: "sim", json: `${"[".repeat(50_000)}${"]".repeat(50_000)}` }, "/json"],
    ["a value too deep to show", deep, "/json"],
    ["wrong members", { provider: "sim", json: '[{"day":5,"model":{}}]' }, "/json"],
    [
      "wrong members of OpenAI's",
      { provider: "sim", format: "openai", json: '{"data":[{"results":5}]}' },
      "/json",
    ],
  ])("a provider's bill with %s", async (what, body, param) => {
    expect(await refused(what, () => asOperator("/provider-bills", body), param)).toMatch(/^400 /);
  });
});
