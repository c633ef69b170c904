/** Stripe's adapter by the official library against the simulated API, held against the list of what all gateways must do. */
import Stripe from "stripe";
import { describe, expect, test } from "vitest";
import { startPaymentSimulator } from "../../../../simulator/payments/payment-simulator.ts";
import { seededRandom, systemClock } from "../../../../src/base/clock.ts";
import type { CheckoutOrder } from "../../../../src/billing/payments/gateway.ts";
import { StripeGateway } from "../../../../src/billing/payments/stripe/gateway.ts";
import { conformance } from "./conformance.ts";
import { HOOK_SECRET, testClock } from "./fixtures.ts";

conformance({
  house: "stripe",
  currency: "USD",
  method: "card",
  mandateMethod: "card",
  replays500: true,
  calls: { checkout: "POST /v1/checkout/sessions", refund: "POST /v1/refunds", confirm: "/confirm" },
  gatewayOf: (simulator, clock, timeoutMs) =>
    new StripeGateway({
      secretKey: simulator.keys.stripeKey,
      apiBase: simulator.url,
      clock,
      timeoutMs,
      webhookSecrets: ["whsec_of_before", HOOK_SECRET],
    }),
});

test("a checkout that reaches Stripe minutes late has a page all the same, and the same one when asked again", async () => {
  const clock = testClock();
  const simulator = await startPaymentSimulator({ clock, random: seededRandom(7) });
  const { url: apiBase, keys } = simulator;
  const gateway = new StripeGateway({
    secretKey: keys.stripeKey,
    apiBase,
    clock,
    webhookSecrets: [HOOK_SECRET],
  });
  const order: CheckoutOrder = {
    reference: "tup_1",
    payer: { orgId: "org_1", name: "Asha", email: "a@example.com" },
    total: { currency: "USD", minor: 2500 },
    description: "Credit",
    methods: [],
    returnUrl: "http://127.0.0.1:9/back",
    expiresAtMs: clock.nowMs + 30 * 60_000,
  };
  const ask = () =>
    gateway.createCheckout(order, { idempotencyKey: "tup_1", signal: new AbortController().signal });
  clock.nowMs += 5 * 60_000;
  const { ref, url } = await ask();
  clock.nowMs += 60_000;
  expect(await ask()).toEqual({ ref, url });
  await simulator.close();
});

describe("what only Stripe has", () => {
  const gateway = new StripeGateway({
    secretKey: "sk_test",
    apiBase: "http://127.0.0.1:9",
    clock: systemClock,
    webhookSecrets: ["whsec_a", "whsec_b"],
  });
  const read = (body: object, secret: string, timestamp = Math.floor(systemClock.now() / 1000)) => {
    const payload = JSON.stringify(body);
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return gateway.readWebhook(Buffer.from(payload), () => signature, systemClock.now());
  };

  test.each(["whsec_a", "whsec_b"])(
    "a webhook signed by Stripe's own library with %s is accepted",
    (secret) => {
      const object = { id: "issfr_1", object: "radar.early_fraud_warning" };
      const event = { id: "evt_1", type: "radar.early_fraud_warning.created", data: { object } };
      const subject = { kind: "dispute", ref: "issfr_1", reference: "" };
      expect(read(event, secret)).toEqual([{ eventId: "evt_1", subject }]);
    },
  );

  test("a webhook of no interest is none", () => {
    const event = { id: "evt_1", type: "customer.created", data: { object: { id: "cus_1" } } };
    expect(read(event, "whsec_a")).toEqual([{ eventId: "evt_1", subject: { kind: "none" } }]);
  });

  test("a signed body that is no event is refused", () => {
    expect(() => read({ id: 5 }, "whsec_a")).toThrow("not an event");
  });
});
