/** From a quote to credit, invoice and refund, over HTTP, with the simulated payment service and its signed webhooks. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
beforeAll(async () => {
  gateway = await testGateway();
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const org = { slug: "acme-in", name: "Acme India", billing_country: "IN" };
  expect((await owner.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
});
afterAll(() => gateway.stop());

type Call = (
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Answer>;
const inUsd: Call = (method, path, body, headers) =>
  gateway.call(method, path, { ...(body && { body }), ...(headers && { headers }) });
const inInr: Call = (method, path, body, headers) =>
  owner.call(method, path, { ...(body && { body }), headers: { "svc-org": "acme-in", ...headers } });

const onPage = (url: string, act: string) =>
  fetch(url, { method: "POST", body: new URLSearchParams({ act }), redirect: "manual" });
const statusOf = async (call: Call, id: string) =>
  (await call("GET", `/v1/credits/topups/${id}`)).json.status;

async function paid(call: Call, amount: number) {
  const { json } = await call("POST", "/v1/credits/topups", { amount_minor: amount });
  await onPage(json.checkout_url, "pay");
  await until("the top-up is paid", async () => (await statusOf(call, json.topup.id)) === "paid");
  return (await call("GET", `/v1/credits/topups/${json.topup.id}`)).json;
}

describe("a top-up in USD", () => {
  test("is quoted without tax, paid on the page, credited, and has an invoice", async () => {
    const quote = (await inUsd("GET", "/v1/credits/topups/quote?amount_minor=2500")).json;
    expect(quote).toMatchObject({
      rail: "simulated",
      currency: "USD",
      amount_minor: 2500,
      tax_minor: 0,
      total_minor: 2500,
      credits_micro: 25_000_000,
      fx_rate: "1.00000000",
      min_amount_minor: 500,
    });
    const before = (await inUsd("GET", "/v1/credits")).json.available_micro_usd;
    const topup = await paid(inUsd, 2500);
    expect(topup).toMatchObject({
      status: "paid",
      currency: "USD",
      source: "checkout",
      credits_micro: 25_000_000,
    });
    expect((await inUsd("GET", "/v1/credits")).json.available_micro_usd).toBe(before + 25_000_000);
    const [entry] = (await inUsd("GET", "/v1/credits/ledger?kind=topup")).json.data;
    expect(entry).toMatchObject({ amount_micro_usd: 25_000_000, ref_type: "topup", ref_id: topup.id });
    const invoice = (await inUsd("GET", `/v1/invoices/${topup.invoice_id}`)).json;
    expect(invoice).toMatchObject({
      kind: "export_invoice",
      topup_id: topup.id,
      total_minor: 2500,
      status: "paid",
    });
  });

  test("is refunded in part and in full, each once for its key, with credit notes", async () => {
    const topup = await paid(inUsd, 3000);
    const refund = (amount: number, key: string) =>
      inUsd("POST", `/v1/credits/topups/${topup.id}/refund`, {
        amount_minor: amount,
        reason: "",
        idempotency_key: key,
      });
    const half = (await refund(1500, "half")).json.refund;
    expect(half).toMatchObject({ status: "refunded", amount_minor: 1500, credits_micro: 15_000_000 });
    expect((await refund(1500, "half")).json.refund).toMatchObject({ id: half.id, replay: true });
    expect((await refund(1600, "half")).json.error.code).toBe("idempotency_mismatch");
    expect((await refund(1501, "rest")).json.error).toMatchObject({
      code: "not_refundable",
      details: { refundable_minor: 1500 },
    });
    expect((await refund(1500, "rest")).json.refund.status).toBe("refunded");
    expect(await statusOf(inUsd, topup.id)).toBe("refunded");
    expect((await inUsd("GET", `/v1/invoices/${topup.invoice_id}`)).json.status).toBe("credited");
    const note = (await inUsd("GET", `/v1/invoices/${half.credit_note_id}`)).json;
    expect(note).toMatchObject({ kind: "credit_note", total_minor: 1500 });
    expect((await inUsd("GET", `/v1/credits/refunds/${half.id}`)).json.refund.id).toBe(half.id);
    expect((await inUsd("GET", "/v1/credits/refunds")).json.data).toHaveLength(2);
  });

  test("that is asked for again with its Idempotency-Key is the same one, with the same page", async () => {
    const body = { amount_minor: 700 };
    const ask = () => inUsd("POST", "/v1/credits/topups", body, { "idempotency-key": "again" });
    const asked = await Promise.all(Array.from({ length: 20 }, ask));
    expect(new Set(asked.map(({ json }) => json.topup.id)).size).toBe(1);
    expect(new Set(asked.map(({ json }) => json.checkout_url)).size).toBe(1);
    const other = { amount_minor: 800 };
    const { json } = await inUsd("POST", "/v1/credits/topups", other, { "idempotency-key": "again" });
    expect(json.error.code).toBe("idempotency_mismatch");
  });

  test.each([
    [0, "invalid_value"],
    [-500, "invalid_value"],
    [1.5, "invalid_value"],
    [2 ** 53, "invalid_value"],
    ["500", "invalid_value"],
    [499, "below_minimum"],
    [10_000_000_001, "invalid_value"],
  ])("of %s is refused, and names the field", async (amount, code) => {
    const { status, json } = await inUsd("POST", "/v1/credits/topups", { amount_minor: amount });
    expect([status, json.error.code, json.error.param]).toEqual([400, code, "/amount_minor"]);
  });

  test("of another org is not found", async () => {
    const { json } = await inUsd("POST", "/v1/credits/topups", { amount_minor: 600 });
    expect((await inInr("GET", `/v1/credits/topups/${json.topup.id}`)).status).toBe(404);
    const refund = { amount_minor: 1, idempotency_key: "k" };
    expect((await inInr("POST", `/v1/credits/topups/${json.topup.id}/refund`, refund)).status).toBe(404);
  });
});

describe("a top-up in INR", () => {
  test("needs State and PIN of the org first", async () => {
    const { status, json } = await inInr("GET", "/v1/credits/topups/quote?amount_minor=100000");
    expect([status, json.error.code]).toEqual([400, "billing_profile_incomplete"]);
    expect(json.error.details.missing).toContain("/billing_address/state_code");
    const address = {
      line1: "1 MG Road",
      city: "Bengaluru",
      state_code: "29",
      postal_code: "560001",
      country: "IN",
    };
    const changed = await inInr("PATCH", "/v1/orgs/acme-in", { billing_address: address });
    expect(changed.status).toBe(200);
  });

  test("has 18 % GST on top, in halves within the supplier's State, and buys credit at the day's rate", async () => {
    const topup = await paid(inInr, 100_000);
    expect(topup).toMatchObject({ tax_minor: 18_000, total_minor: 118_000, fx_rate: "90.27000000" });
    expect(topup).toMatchObject({ mid_rate: "88.50000000", spread_bps: 200, spread_minor: 1_961 });
    const invoice = (await inInr("GET", `/v1/invoices/${topup.invoice_id}`)).json;
    expect(invoice).toMatchObject({
      kind: "tax_invoice",
      cgst_minor: 9_000,
      sgst_minor: 9_000,
      igst_minor: 0,
    });
    const { json: credits } = await inInr("GET", "/v1/credits");
    // C11: at the rate that was paid, spread included.
    expect(credits).toMatchObject({
      currency: "INR",
      available_micro_usd: 11_077_877,
      display: { currency: "INR", amount: "1000.00" },
      fx_rate: "90.27000000",
      mid_rate: "88.50000000",
      spread_bps: 200,
    });
    const { json: quote } = await inInr("GET", "/v1/credits/topups/quote?amount_minor=100000");
    expect([quote.fx_rate, quote.fx_day]).toEqual([credits.fx_rate, credits.fx_day]);
    const { headers } = await inInr("GET", `/v1/invoices/${topup.invoice_id}/pdf`);
    expect(headers.get("content-type")).toBe("application/pdf");
  });

  test("whose payment fails or is left stays unpaid, and may be paid later on the same page", async () => {
    const { json } = await inInr("POST", "/v1/credits/topups", { amount_minor: 50_000 });
    await onPage(json.checkout_url, "fail");
    expect(await statusOf(inInr, json.topup.id)).toBe("pending");
    await onPage(json.checkout_url, "pay");
    await until("it is paid", async () => (await statusOf(inInr, json.topup.id)) === "paid");
  });

  test("freezes the org's currency", async () => {
    const { status } = await inInr("PATCH", "/v1/orgs/acme-in", {
      billing_country: "US",
      billing_address: {
        line1: "1 Road",
        city: "Town",
        state_code: "CA",
        postal_code: "90001",
        country: "US",
      },
      tax_status: "overseas",
    });
    expect(status).toBe(409);
  });
});

test("the return page says whether the money has come, and no more", async () => {
  const { json } = await inUsd("POST", "/v1/credits/topups", { amount_minor: 900 });
  const page = async () => (await fetch(`${gateway.url}/billing/topups/${json.topup.id}`)).text();
  expect(await page()).toContain("You left without paying");
  await onPage(json.checkout_url, "pay");
  expect(await page()).toContain("has arrived");
  expect(await page()).not.toContain("owner@example.com");
});
