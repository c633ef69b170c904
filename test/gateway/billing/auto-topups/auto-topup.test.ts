/** Automatic top-ups of a whole gateway: from the mandate's page to credit, with the simulated payment service and its webhooks. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

const HOUR = 3_600_000;
let gateway: TestGateway;
let owner: SignedInPerson;
/** A key of an org in INR. */
let inrKey: string;
const trueNow = Date.now.bind(Date);
/** What the clock says beyond the truth. */
let aheadMs = 0;

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + aheadMs);
  gateway = await testGateway({
    endpoints: [{ provider: "paid", isReal: true, price: { input: 1, output: 1_000 } }],
  });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const org = { slug: "acme-in", name: "Acme India", billing_country: "IN" };
  expect((await owner.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
  const address = { line1: "1 MG Road", city: "Bengaluru", state_code: "29", postal_code: "560001" };
  const changes = { billing_address: { ...address, country: "IN" } };
  expect((await owner.call("PATCH", "/v1/orgs/acme-in", { body: changes, org: "acme-in" })).status).toBe(200);
  const scopes = ["read:billing", "write:billing", "read:org", "write:keys"];
  const projects = await owner.call("GET", "/v1/projects", { org: "acme-in" });
  const body = { name: "billing", scopes, project_id: projects.json.data[0].id };
  const key = await owner.call("POST", "/v1/keys", { body, org: "acme-in" });
  expect([key.status, key.text]).toEqual([201, expect.stringContaining("secret")]);
  inrKey = key.json.secret;
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway.stop();
});

type Call = (method: string, path: string, body?: object) => Promise<Answer>;
const inUsd: Call = (method, path, body) => gateway.call(method, path, { ...(body && { body }) });
const inInr: Call = (method, path, body) =>
  gateway.call(method, path, { key: inrKey, ...(body && { body }) });

const eventsOf = async (call: Call, type: string) =>
  (await call("GET", `/v1/events?type=${type}`)).json.data as { data: Record<string, unknown> }[];
const topups = async (call: Call) =>
  (await call("GET", "/v1/credits/topups")).json.data.filter(
    ({ source }: { source: string }) => source === "auto_topup",
  );
const balance = async (call: Call): Promise<number> =>
  (await call("GET", "/v1/credits")).json.available_micro_usd;
const settings = async (call: Call) => (await call("GET", "/v1/credits/auto-topup")).json;
const switchOn = (call: Call, threshold_micro: number, amount_minor: number) =>
  call("PUT", "/v1/credits/auto-topup", { enabled: true, threshold_micro, amount_minor });
const mails = async () => {
  const headers = { host: new URL(gateway.url).host };
  return (await gateway.call("GET", "/dev/mail", { key: null, headers })).text;
};

let service = "";
const control = async (act: object): Promise<{ id: string }> => {
  const answer = await fetch(`${service}/control`, { method: "POST", body: JSON.stringify(act) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { id: string };
};

/** Approved on its page, as a payer does. */
async function register(call: Call, method: string) {
  const { status, json } = await call("POST", "/v1/credits/mandates", { method });
  expect([status, json.mandate.status, json.mandate.hosted_url]).toEqual([201, "pending", json.url]);
  service = new URL(json.url).origin;
  // Whoever closed its tab goes on from another; who may register none does not see its page.
  expect((await settings(call)).registering).toMatchObject({ id: json.mandate.id, hosted_url: json.url });
  const reader = await call("POST", "/v1/keys", { name: "r", scopes: ["read:billing"] });
  const read = await gateway.call("GET", "/v1/credits/auto-topup", { key: reader.json.secret });
  expect([read.json.registering.id, read.json.registering.hosted_url]).toEqual([json.mandate.id, undefined]);
  const act = new URLSearchParams({ act: "approve" });
  const answer = await fetch(json.url, { method: "POST", body: act, redirect: "manual" });
  expect(answer.headers.get("location")).toBe(`${gateway.url}/billing/mandates/${json.mandate.id}`);
  expect(await (await fetch(answer.headers.get("location") as string)).text()).toContain(
    "Automatic payments are allowed",
  );
  expect(await settings(call)).toMatchObject({
    mandate: { id: json.mandate.id, status: "active" },
    registering: null,
  });
  return json.mandate.id as string;
}

/** A call that is paid for. */
const spend = async () => {
  const answer = await gateway.chat({ model: "test/model", max_tokens: 50 });
  expect(answer.status).toBe(200);
};

test("without a mandate it cannot be switched on", async () => {
  const { status, json } = await switchOn(inUsd, 1_000_000, 2_000);
  expect([status, json.error.code]).toEqual([409, "no_mandate"]);
  expect(await settings(inUsd)).toMatchObject({
    mandate: null,
    config: { enabled: false },
    rail: "simulated",
    currency: "USD",
    cap_minor: 100_000,
    notify_hours: 0,
    min_amount_minor: 500,
    methods: ["card", "link", "ach_debit"],
  });
  expect((await inUsd("DELETE", "/v1/credits/mandates")).json.error.code).toBe("no_mandate");
});

test("in USD, calls that take the balance below the threshold have it topped up, once", async () => {
  const mandateId = await register(inUsd, "card");
  const before = await balance(inUsd);
  expect((await switchOn(inUsd, before, 2_000)).json.config.enabled).toBe(true);
  expect(await topups(inUsd)).toEqual([]);
  await Promise.all([spend(), spend(), spend()]);
  await until("it is paid", async () => (await topups(inUsd))[0]?.status === "paid");
  await until("nothing is under way", async () => (await balance(inUsd)) > before);
  const [topup, ...others] = await topups(inUsd);
  expect([others.length, topup.amount_minor, topup.credits_micro]).toEqual([0, 2_000, 20_000_000]);
  const entries = (await inUsd("GET", "/v1/credits/ledger?kind=topup")).json.data;
  expect(entries).toMatchObject([{ amount_micro_usd: 20_000_000, ref_id: topup.id }]);
  const invoice = (await inUsd("GET", `/v1/invoices/${topup.invoice_id}`)).json;
  expect(invoice).toMatchObject({ topup_id: topup.id, total_minor: 2_000, status: "paid" });
  expect((await eventsOf(inUsd, "mandate.active")).length).toBe(1);
  expect(await eventsOf(inUsd, "auto_topup.charged")).toMatchObject([
    { data: { id: topup.id, mandate_id: mandateId } },
  ]);
  expect(await eventsOf(inUsd, "topup.paid")).toMatchObject([{ data: { id: topup.id } }]);
});

test("a hard decline pauses the mandate, tells the org, and PUT resumes it", async () => {
  await control({ act: "next_debits", outcomes: ["decline_hard"] });
  await switchOn(inUsd, await balance(inUsd), 2_000);
  await spend();
  await until("it is paused", async () => (await settings(inUsd)).mandate.status === "paused");
  const [failed] = await eventsOf(inUsd, "auto_topup.failed");
  expect(failed?.data).toMatchObject({
    consecutive_failures: 1,
    failure: expect.stringContaining("declined"),
  });
  expect(failed?.data.retry_at).toBeUndefined();
  expect((await eventsOf(inUsd, "mandate.paused"))[0]?.data).toMatchObject({ reason: "declined" });
  expect((await settings(inUsd)).mandate).toMatchObject({
    pause_reason: "declined",
    consecutive_failures: 1,
  });
  await until("a mail says so", async () => (await mails()).includes("Automatic top-up of "));
  const tried = (await topups(inUsd)).map(({ status }: { status: string }) => status);
  expect(tried).toEqual(["failed", "paid"]);
  await spend();
  expect((await topups(inUsd)).length).toBe(2);
  await switchOn(inUsd, await balance(inUsd), 2_000);
  const { mandate: resumed } = await settings(inUsd);
  expect(resumed).toMatchObject({ status: "active", consecutive_failures: 0 });
  expect(resumed.pause_reason).toBeUndefined();
});

test("a dispute over any payment of the org pauses the mandate", async () => {
  const { json } = await inUsd("POST", "/v1/credits/topups", { amount_minor: 700 });
  const checkout = new URL(json.checkout_url).pathname.split("/").at(-1);
  const payment = await control({ act: "pay", checkout });
  const status = async () => (await inUsd("GET", `/v1/credits/topups/${json.topup.id}`)).json.status;
  await until("it is paid", async () => (await status()) === "paid");
  await control({ act: "dispute", house: "simulated", payment: payment.id, state: "withdrawn" });
  await until("it is paused", async () => (await settings(inUsd)).mandate.status === "paused");
  expect((await eventsOf(inUsd, "mandate.paused"))[0]?.data).toMatchObject({ reason: "dispute" });
  await until("a mail says so", async () => (await mails()).includes("Automatic top-ups of "));
  const tried = (await topups(inUsd)).length;
  await spend();
  await spend();
  expect((await topups(inUsd)).length).toBe(tried);
});

test("in INR a debit is announced by event and mail, and made a day later, with tax", async () => {
  const mandateId = await register(inInr, "card");
  const tooMuch = await switchOn(inInr, 5_000_000, 1_300_000);
  expect([tooMuch.status, tooMuch.json.error.code]).toEqual([400, "above_cap"]);
  const dayLaterMs = Date.now() + 24 * HOUR;
  expect((await switchOn(inInr, 5_000_000, 100_000)).status).toBe(200);
  await until("it is announced", async () => (await eventsOf(inInr, "auto_topup.notified")).length === 1);
  const [notice] = await eventsOf(inInr, "auto_topup.notified");
  expect(notice?.data).toMatchObject({ mandate_id: mandateId, amount_minor: 100_000, total_minor: 118_000 });
  expect(Date.parse(notice?.data.due_at as string)).toBeGreaterThanOrEqual(dayLaterMs);
  expect((await settings(inInr)).debit).toEqual({
    status: "announced",
    currency: "INR",
    total_minor: 118_000,
    due_at: notice?.data.due_at,
  });
  await until("a mail announces it", async () =>
    (await mails()).includes("will be debited for credit of Acme India"),
  );
  expect(await topups(inInr)).toEqual([]);
  aheadMs = 23 * HOUR;
  expect(await balance(inInr)).toBe(0);
  aheadMs = 26 * HOUR;
  await until("it is paid", async () => (await topups(inInr))[0]?.status === "paid");
  expect(await balance(inInr)).toBe(11_077_877);
  const [topup, ...others] = await topups(inInr);
  expect(others).toEqual([]);
  expect((await settings(inInr)).debit).toBeNull();
  const invoice = (await inInr("GET", `/v1/invoices/${topup.invoice_id}`)).json;
  expect(invoice).toMatchObject({ kind: "tax_invoice", cgst_minor: 9_000, sgst_minor: 9_000 });
});

test("a mandate is cancelled once, and automatic top-ups are switched off with it", async () => {
  const cancelled = await inInr("DELETE", "/v1/credits/mandates");
  expect(cancelled.json.mandate).toMatchObject({ status: "cancelled", auto_topup: { enabled: false } });
  const again = await inInr("DELETE", "/v1/credits/mandates");
  expect(again.json).toEqual(cancelled.json);
  expect((await switchOn(inInr, 5_000_000, 100_000)).json.error.code).toBe("no_mandate");
  expect((await eventsOf(inInr, "mandate.cancelled")).length).toBe(1);
});

test("a key needs the scope, and sees its own org", async () => {
  expect((await settings(inInr)).mandate.org_id).not.toBe((await settings(inUsd)).mandate.org_id);
  const made = await gateway.call("POST", "/v1/keys", { body: { name: "calls", scopes: ["inference"] } });
  const { status, json } = await gateway.call("GET", "/v1/credits/auto-topup", { key: made.json.secret });
  expect([status, json.error.code]).toEqual([403, "scope"]);
});
