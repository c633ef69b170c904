/**
 * What payment services told of an org's payers ends with the org: no byte of their webhooks is left under the data folder, while
 * ledger, invoices and what is known of the payments are as they were, and so are the webhooks of another org.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { timedSignature } from "../../../simulator/payments/notices.ts";
import {
  type PaymentSimulator,
  startPaymentSimulator,
} from "../../../simulator/payments/payment-simulator.ts";
import { systemClock } from "../../../src/base/clock.ts";
import type { EventRow } from "../../../src/billing/payments/event-log.ts";
import type { TopupRow } from "../../../src/billing/topups/topup.ts";
import { openStore } from "../../../src/store/store.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { Markers, ok } from "../../support/erasure/planting.ts";
import { removeFolder, type TestGateway, testGateway } from "../../support/gateway.ts";
import { metric } from "../../support/money/fixtures.ts";
import { until } from "../../support/wait.ts";

const DAY = 86_400_000;
const SECRET = "whsec_stripe";
const trueNow = Date.now.bind(Date);
let lieMs = 0;
let folder: string;
let simulator: PaymentSimulator;
let gateway: TestGateway;
let isRunning = false;
const [ours, theirs] = [new Markers(), new Markers()];
const dataDir = () => join(folder, "data");

async function start(): Promise<void> {
  const stripe = { STRIPE_SECRET_KEY: simulator.keys.stripeKey, STRIPE_API_BASE: simulator.url };
  gateway = await testGateway({ folder, engine: true, env: { ...stripe, STRIPE_WEBHOOK_SECRET: SECRET } });
  isRunning = true;
}
async function stop(): Promise<void> {
  isRunning = false;
  await gateway.stop();
}

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  simulator = await startPaymentSimulator({ clock: systemClock });
  await start();
});
afterAll(async () => {
  vi.restoreAllMocks();
  if (isRunning) await stop();
  await simulator.close();
  removeFolder(folder);
});

/** Pays 25 USD. @returns the top-up */
async function paid(owner: SignedInPerson, org: string) {
  const body = { amount_minor: 2_500 };
  const { json } = await ok(owner.call("POST", "/v1/credits/topups", { org, body }));
  simulator.engine.pay(json.topup.gateway_ref);
  const read = async () => (await owner.call("GET", `/v1/credits/topups/${json.topup.id}`, { org })).json;
  await until("it is paid", async () => (await read()).status === "paid");
  return await read();
}

/** A webhook with all that Stripe knows of a payer. @param object its id and what else tells of it */
async function told(type: string, object: Record<string, unknown>, markers: Markers): Promise<void> {
  const id = `evt_${markers.next("event").slice(2)}`;
  const billing = { email: `${markers.next("payer")}@example.com`, name: markers.next("payername") };
  const body = JSON.stringify({ id, type, data: { object: { ...object, billing_details: billing } } });
  const headers = { "stripe-signature": timedSignature(body, SECRET, Date.now()) };
  const sent = await fetch(`${gateway.url}/webhooks/payments/stripe`, { method: "POST", body, headers });
  expect(sent.status).toBe(200);
}

/** Money and events in the data folder, in which no gateway runs. */
async function kept() {
  const store = openStore(dataDir());
  const rows = (name: string) => [...store.table(name).range()];
  const names = ["ledger", "ledger.references", "invoices.rows", "billing.topups", "billing.disputes"];
  const money = Object.fromEntries(names.map((name) => [name, rows(name)]));
  const events = rows("payments.events").map(({ value }) => value as EventRow);
  await store.close();
  return { money, events };
}

/** Webhooks that were read since the start. */
const handled = () => metric(gateway, 'weir_jobs_done_total{kind="payments.read"}');
const operatorKey = () => readFileSync(join(dataDir(), "operator-key"), "utf8").trim();

test("no byte of what was told of an erased org's payers is left, before and after the erasure", async () => {
  const me = { email: "owner@example.com" };
  const owner = await signInAt(gateway.url, me);
  const other = { slug: "other", name: "Other", billing_country: "US" };
  await ok(owner.call("POST", "/v1/orgs", { body: other }));
  const topups = { first: await paid(owner, "first"), other: await paid(owner, "other") };
  for (const [org, markers] of [
    ["first", ours],
    ["other", theirs],
  ] as const) {
    const { payment_ref: ref, gateway_ref: session, id } = topups[org];
    await told("payment_intent.succeeded", { id: ref, metadata: { reference: id } }, markers);
    await told("checkout.session.completed", { id: session, mode: "payment" }, markers);
    const dispute = simulator.engine.dispute("stripe", ref);
    await told("charge.dispute.created", { id: dispute.id }, markers);
    const status = async () => (await owner.call("GET", `/v1/credits/topups/${id}`, { org })).json.status;
    await until("the dispute is known", async () => (await status()) === "disputed");
    const pending = async () =>
      (await owner.call("GET", "/v1/invoices", { org })).json.data.filter(
        ({ irn_status: state }: { irn_status: string }) => state === "pending",
      );
    await until("its invoices are registered", async () => (await pending()).length === 0);
  }
  const { id } = (await owner.call("GET", "/v1/orgs/first")).json;
  await ok(owner.call("POST", "/v1/orgs/first/erasure"));
  await until("all are handled", async () => (await handled()) === 6);
  await stop();
  // The ids of events stay.
  const isPayers = (text: string) => text.startsWith("zqpayer");
  const markersIn = (markers: Markers) => markers.in(dataDir()).filter(isPayers);
  expect(new Set(markersIn(ours).map((line) => line.split(" ")[0])).size).toBe(6);
  const before = await kept();
  for (const rows of Object.values(before.money)) expect(rows.length).toBeGreaterThan(1);
  const ofOrg = ({ events }: typeof before) => events.filter(({ orgId }) => orgId === id);
  expect(ofOrg(before)).toHaveLength(3);

  lieMs = 30 * DAY + 60_000;
  await start();
  const seen = () => gateway.call("GET", `/v1/operator/orgs/${id}`, { key: operatorKey() });
  await until("the org is erased", async () => (await seen()).json.name === "");
  // What comes after that is handled, and not kept.
  const { payment_ref: ref, id: reference } = topups.first;
  await told("payment_intent.succeeded", { id: ref, metadata: { reference } }, ours);
  await until("it is handled", async () => (await handled()) === 1);
  await stop();
  expect(markersIn(ours)).toEqual([]);
  expect(new Set(markersIn(theirs).map((line) => line.split(" ")[0])).size).toBe(6);
  const after = await kept();
  // Where it was paid is of no use any more.
  const bare = before.money["billing.topups"]?.map(({ key, value }) => {
    const row = value as TopupRow;
    return { key, value: row.orgId === id ? { ...row, checkoutUrl: "" } : row };
  });
  expect(after.money).toEqual({ ...before.money, "billing.topups": bare });
  // That it was told, and of what, stays.
  expect(ofOrg(after)).toHaveLength(4);
  for (const event of ofOrg(before)) expect(ofOrg(after)).toContainEqual({ ...event, body: "" });
});
