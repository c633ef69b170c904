/** A checkout that could not be opened is opened when the client asks again with the same Idempotency-Key. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  type PaymentSimulator,
  startPaymentSimulator,
} from "../../../../simulator/payments/payment-simulator.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/wait.ts";

const trueNow = Date.now.bind(Date);
let lieMs = 0;
let simulator: PaymentSimulator;
let gateway: TestGateway;

beforeAll(async () => {
  vi.spyOn(Date, "now").mockImplementation(() => trueNow() + lieMs);
  simulator = await startPaymentSimulator({ clock: systemClock });
  const stripe = { STRIPE_SECRET_KEY: simulator.keys.stripeKey, STRIPE_API_BASE: simulator.url };
  gateway = await testGateway({ env: { ...stripe, STRIPE_WEBHOOK_SECRET: "whsec_stripe" } });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await gateway.stop();
  await simulator.close();
});

const ask = (key: string) =>
  gateway.call("POST", "/v1/credits/topups", {
    body: { amount_minor: 2_500 },
    headers: { "idempotency-key": key },
  });
const statusOf = async (id: string) => (await gateway.call("GET", `/v1/credits/topups/${id}`)).json.status;
const fails = (kind: "error_before" | "error_after" | "drop_after" | "rate_limit", times = 1) =>
  simulator.control({ act: "fault", match: "POST /v1/checkout/sessions", kind, times });
/** Ids of the top-ups whose checkout could not be opened. */
const pending = async () =>
  (await gateway.call("GET", "/v1/credits/topups")).json.data.map(({ id }: { id: string }) => id);

test.each(["error_before", "error_after", "drop_after", "rate_limit"] as const)(
  "after %s the same key opens the checkout of the same top-up, which is paid once",
  async (kind) => {
    await fails(kind, 2);
    for (let i = 0; i < 2; i++) {
      const { status, json } = await ask(kind);
      expect([status, json.error.code]).toEqual([503, "gateway_unavailable"]);
    }
    const [id] = await pending();
    const opened = await ask(kind);
    expect([opened.status, opened.json.topup.id]).toEqual([201, id]);
    const again = await ask(kind);
    expect(again.json.checkout_url).toBe(opened.json.checkout_url);
    simulator.engine.pay(opened.json.topup.gateway_ref);
    await until("it is paid", async () => (await statusOf(id)) === "paid");
    expect((await ask(kind)).json.topup).toMatchObject({ id, status: "paid" });
  },
);

test("clients who ask at the same time, and again after a failure, are shown one page", async () => {
  await fails("error_after", 1);
  const first = await Promise.all(Array.from({ length: 5 }, () => ask("together")));
  const second = await Promise.all(Array.from({ length: 5 }, () => ask("together")));
  const shown = [...first, ...second].filter(({ status }) => status === 201);
  expect(shown.length).toBeGreaterThan(4);
  expect(new Set(shown.map(({ json }) => json.checkout_url)).size).toBe(1);
  expect(new Set(shown.map(({ json }) => json.topup.id)).size).toBe(1);
});

test("a key whose top-up never had a checkout makes a new one when the quote has ended", async () => {
  await fails("error_before");
  expect((await ask("late")).status).toBe(503);
  const [id] = await pending();
  lieMs = 31 * 60_000;
  const { status, json } = await ask("late");
  expect(status).toBe(201);
  expect(json.topup.id).not.toBe(id);
  expect((await ask("late")).json.topup.id).toBe(json.topup.id);
});
