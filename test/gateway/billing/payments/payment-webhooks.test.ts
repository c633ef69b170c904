/**
 * What Stripe, Razorpay and the simulated service tell by webhooks over sockets becomes credit, refunds and credit notes: the real
 * libraries against the payment simulator, the polls too late to help.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type PaymentSimulator,
  startPaymentSimulator,
} from "../../../../simulator/payments/payment-simulator.ts";
import type { House } from "../../../../simulator/payments/state.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

let simulator: PaymentSimulator;
let gateway: TestGateway;
let owner: SignedInPerson;

type Call = (method: string, path: string, body?: object) => Promise<Answer>;
const ofFirst: Call = (method, path, body) => gateway.call(method, path, { ...(body && { body }) });
const ofIndian: Call = (method, path, body) =>
  owner.call(method, path, { org: "acme-in", ...(body && { body }) });

const ADDRESS = {
  line1: "1 MG Road",
  city: "Bengaluru",
  state_code: "29",
  postal_code: "560001",
  country: "IN",
};

async function openGateway(env: Record<string, string>, houses: readonly House[]): Promise<void> {
  gateway = await testGateway({ env });
  for (const house of houses)
    simulator.hook(house, { url: `${gateway.url}/webhooks/payments/${house}`, secret: `whsec_${house}` });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const org = { slug: "acme-in", name: "Acme India", billing_country: "IN" };
  expect((await owner.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
  const changed = await owner.call("PATCH", "/v1/orgs/acme-in", { body: { billing_address: ADDRESS } });
  expect(changed.status).toBe(200);
}

async function closeAll(): Promise<void> {
  await gateway.stop();
  await simulator.close();
}

/** A paid top-up, with the id of its payment. */
async function paid(call: Call, amount: number) {
  const { json } = await call("POST", "/v1/credits/topups", { amount_minor: amount });
  if (json.topup === undefined) throw new Error(JSON.stringify(json));
  const { id, gateway_ref: ref } = json.topup;
  simulator.engine.pay(ref);
  const read = async () => (await call("GET", `/v1/credits/topups/${id}`)).json;
  await until("the top-up is paid", async () => (await read()).status === "paid");
  return await read();
}

const refundsOf = async (call: Call, topupId: string) =>
  (await call("GET", "/v1/credits/refunds")).json.data.filter(
    (refund: { topup_id: string }) => refund.topup_id === topupId,
  );
const creditOf = async (call: Call) => (await call("GET", "/v1/credits")).json.available_micro_usd as number;
const notesOf = async (call: Call, topupId: string) =>
  (await call("GET", "/v1/invoices")).json.data.filter(
    (row: { kind: string; topup_id: string }) => row.kind === "credit_note" && row.topup_id === topupId,
  );

/** The same list for each service. @param call of an org that pays there */
function refundsByWebhook(house: House, call: Call, amount: number): void {
  const statusOf = async (topupId: string) =>
    (await call("GET", `/v1/credits/topups/${topupId}`)).json.status as string;

  test(`a refund made in the dashboard of ${house} takes the credit and writes a credit note, once`, async () => {
    const topup = await paid(call, amount);
    const before = await creditOf(call);
    await simulator.control({ act: "webhooks", copies: 5 });
    simulator.engine.refund(house, topup.payment_ref, topup.total_minor, "");
    await until("it is refunded", async () => (await statusOf(topup.id)) === "refunded");
    await simulator.control({ act: "webhooks", copies: 1 });
    expect(await refundsOf(call, topup.id)).toMatchObject([
      { status: "refunded", amount_minor: amount, total_minor: topup.total_minor },
    ]);
    expect(await creditOf(call)).toBe(before - topup.credits_micro);
    expect(await notesOf(call, topup.id)).toMatchObject([{ total_minor: topup.total_minor }]);
  });

  test(`a refund of ${house} that is pending and fails gives the credit back, without a credit note`, async () => {
    const topup = await paid(call, amount);
    const before = await creditOf(call);
    simulator.engine.nextRefunds.push("pending");
    const made = simulator.engine.refund(house, topup.payment_ref, topup.total_minor, "");
    await until("it is known", async () => (await refundsOf(call, topup.id)).length === 1);
    expect(await creditOf(call)).toBe(before - topup.credits_micro);
    simulator.engine.finishRefund(house, made.id, "failed");
    await until("it has failed", async () => (await refundsOf(call, topup.id))[0].status === "failed");
    expect([await creditOf(call), await statusOf(topup.id)]).toEqual([before, "paid"]);
    expect(await notesOf(call, topup.id)).toEqual([]);
  });

  test(`a refund that we asked ${house} for ends by its webhook, long before the poll`, async () => {
    const topup = await paid(call, amount);
    simulator.engine.nextRefunds.push("pending");
    const body = { amount_minor: amount, idempotency_key: "k" };
    const asked = call("POST", `/v1/credits/topups/${topup.id}/refund`, body);
    await until("the service has it", () => simulator.engine.refundsOf(topup.payment_ref).length === 1);
    const [made] = simulator.engine.refundsOf(topup.payment_ref);
    simulator.engine.finishRefund(house, made?.id ?? "", "refunded");
    expect((await asked).json.refund).toMatchObject({ status: "refunded", gateway_ref: made?.id });
    expect(await notesOf(call, topup.id)).toHaveLength(1);
  });

  test(`a dispute at ${house} takes the credit and gives it back`, async () => {
    const topup = await paid(call, amount);
    const before = await creditOf(call);
    const { id } = simulator.engine.dispute(house, topup.payment_ref);
    await until("the credit is away", async () => (await creditOf(call)) === before - topup.credits_micro);
    expect(await statusOf(topup.id)).toBe("disputed");
    simulator.engine.moveDispute(house, id, "won");
    await until("the credit is back", async () => (await creditOf(call)) === before);
    expect(await statusOf(topup.id)).toBe("paid");
  });
}

/** Webhooks that overtake the one of the payment. @param call of an org that pays there */
function laterThingsFirst(house: House, call: Call, amount: number): void {
  /** Pays; of the webhooks only those that `after` causes arrive. */
  async function heldBack(after: (paymentRef: string) => void): Promise<string> {
    await simulator.control({ act: "webhooks", hold: true });
    const { json } = await call("POST", "/v1/credits/topups", { amount_minor: amount });
    const payment = simulator.engine.pay(json.topup.gateway_ref);
    const first = simulator.notices.held;
    after(payment.id);
    const all = simulator.notices.held;
    await simulator.notices.flush(Array.from({ length: all - first }, (_, i) => first + i));
    await simulator.control({ act: "webhooks", hold: false });
    return json.topup.id;
  }
  const kindsOf = async (topupId: string) =>
    (await call("GET", "/v1/credits/ledger?limit=20")).json.data
      .filter(({ ref_id: id, ref_type: type }: Record<string, string>) => id === topupId || type !== "topup")
      .map(({ kind }: { kind: string }) => kind)
      .slice(0, 2);

  test(`a dispute that ${house} tells of before the payment finds it`, async () => {
    const id = await heldBack((payment) => void simulator.engine.dispute(house, payment));
    await until("both are posted", async () => (await kindsOf(id)).join() === "dispute,topup");
  });

  test(`a refund that ${house} tells of before the payment finds it`, async () => {
    const id = await heldBack((payment) => void simulator.engine.refund(house, payment, 100, ""));
    await until("both are posted", async () => (await kindsOf(id)).join() === "refund,topup");
  });

  test(`a refund by the dashboard of ${house} that fails after it had succeeded is parked`, async () => {
    const topup = await paid(call, amount);
    const { id } = simulator.engine.refund(house, topup.payment_ref, 100, "");
    await until("it is ours", async () => (await refundsOf(call, topup.id))[0]?.status === "refunded");
    simulator.engine.finishRefund(house, id, "failed");
    const isParked = async () => (await parked()).some(({ ref }) => ref === id);
    await until("it is parked", isParked);
    expect((await parked()).find(({ ref }) => ref === id)).toMatchObject({ reason: "refund_failed_late" });
  });
}

const parked = async () =>
  (await gateway.call("GET", "/v1/operator/payments", { key: operatorKey() })).json.data as Record<
    string,
    unknown
  >[];
const operatorKey = () => readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();

describe("Stripe and Razorpay", () => {
  beforeAll(async () => {
    simulator = await startPaymentSimulator({ clock: systemClock });
    const { url, keys } = simulator;
    const stripe = { STRIPE_SECRET_KEY: keys.stripeKey, STRIPE_API_BASE: url };
    const razorpay = { RAZORPAY_KEY_ID: keys.razorpayKeyId, RAZORPAY_KEY_SECRET: keys.razorpayKeySecret };
    const secrets = { STRIPE_WEBHOOK_SECRET: "whsec_stripe", RAZORPAY_WEBHOOK_SECRET: "whsec_razorpay" };
    const env = { ...stripe, ...razorpay, ...secrets, RAZORPAY_API_BASE: url };
    await openGateway(env, ["stripe", "razorpay"]);
  });
  afterAll(closeAll);
  refundsByWebhook("stripe", ofFirst, 2_500);
  refundsByWebhook("razorpay", ofIndian, 100_000);
  laterThingsFirst("stripe", ofFirst, 2_500);
  laterThingsFirst("razorpay", ofIndian, 100_000);
});
