/** Which payment gateway takes which currency, by weir.yaml and the environment. */
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { openPaymentGateways } from "../../../../src/billing/payments/gateways.ts";
import { paymentSettingsOf } from "../../../../src/billing/payments/settings.ts";

const STRIPE = { STRIPE_SECRET_KEY: "sk_live_secret", STRIPE_WEBHOOK_SECRET: "whsec_a, whsec_b" };
const RAZORPAY = {
  RAZORPAY_KEY_ID: "rzp_id",
  RAZORPAY_KEY_SECRET: "rzp_secret",
  RAZORPAY_WEBHOOK_SECRET: "whsec_r",
};

const SIMULATOR = {
  PAYMENTS_SIMULATOR_URL: "http://127.0.0.1:9997",
  PAYMENTS_SIMULATOR_KEY: "smk",
  PAYMENTS_SIMULATOR_WEBHOOK_SECRET: "smw",
};

test("on this machine without secrets both currencies are simulated; elsewhere nobody pays", () => {
  expect(paymentSettingsOf({}, {}, true).gateways).toEqual({ INR: "simulated", USD: "simulated" });
  expect(paymentSettingsOf({}, {}, false).gateways).toEqual({ INR: undefined, USD: undefined });
});

test("a secret that is set chooses its gateway, and switches simulated payments off", () => {
  const { gateways, stripe } = paymentSettingsOf({}, STRIPE, true);
  expect(gateways).toEqual({ INR: undefined, USD: "stripe" });
  expect(stripe?.webhookSecrets).toEqual(["whsec_a", "whsec_b"]);
});

test.each([
  [{ USD: "stripe" }, {}, "STRIPE_SECRET_KEY: is needed for payments in USD"],
  [{ USD: "stripe" }, { STRIPE_SECRET_KEY: "sk" }, "STRIPE_WEBHOOK_SECRET: is needed for payments in USD"],
  [{}, { ...STRIPE, STRIPE_WEBHOOK_SECRET: "a,b,c" }, "STRIPE_WEBHOOK_SECRET: must be one secret, or two"],
  [{ INR: "razorpay" }, { RAZORPAY_KEY_ID: "id" }, "RAZORPAY_KEY_SECRET: is needed for payments in INR"],
  [{}, { ...STRIPE, STRIPE_API_BASE: "http://example.com" }, "STRIPE_API_BASE: use https"],
  [{}, { ...RAZORPAY, RAZORPAY_API_BASE: "https://example.com/x" }, "RAZORPAY_API_BASE: use an origin"],
  [{}, { ...SIMULATOR, PAYMENTS_SIMULATOR_URL: "http://192.0.2.1:9997" }, "_URL: the simulated payment"],
  [{}, { ...SIMULATOR, PAYMENTS_SIMULATOR_URL: "https://pay.example.com" }, "use a loopback address"],
  [{}, { ...SIMULATOR, PAYMENTS_SIMULATOR_URL: "http://127.0.0.1.example.com" }, "use a loopback address"],
  [{}, { ...SIMULATOR, PAYMENTS_SIMULATOR_URL: "http://127.0.0.1:9997/x" }, "_URL: use an origin"],
  [{}, { ...SIMULATOR, PAYMENTS_SIMULATOR_KEY: " " }, "PAYMENTS_SIMULATOR_KEY: is needed with"],
  [{}, { ...SIMULATOR, PAYMENTS_SIMULATOR_WEBHOOK_SECRET: "" }, "_WEBHOOK_SECRET: is needed with"],
] as const)("%j with %j does not start: %s", (asked, env, message) => {
  expect(() => paymentSettingsOf(asked, env, true)).toThrow(message);
});

test("simulated payments are refused where others reach the gateway", () => {
  expect(() => paymentSettingsOf({ INR: "simulated" }, {}, false)).toThrow("this machine only");
});

test("each currency has its gateway, and ids from outside find only those that are open", async () => {
  const settings = paymentSettingsOf({}, { ...STRIPE, ...RAZORPAY }, false);
  const simulated = () => Promise.reject(new Error("not here"));
  const gateways = await openPaymentGateways({ settings, clock: systemClock, simulated });
  expect(gateways.forCurrency("INR")?.id).toBe("razorpay");
  expect(gateways.forCurrency("USD")?.id).toBe("stripe");
  expect([gateways.byId("simulated"), gateways.byId("__proto__")]).toEqual([undefined, undefined]);
});

test("a simulator in a process of its own is no real payment gateway, and is used on this machine only", () => {
  const { gateways, simulator } = paymentSettingsOf({}, SIMULATOR, true);
  expect(gateways).toEqual({ INR: "simulated", USD: "simulated" });
  expect(simulator).toEqual({ url: "http://127.0.0.1:9997", key: "smk", webhookSecret: "smw" });
  expect(paymentSettingsOf({}, {}, true).simulator).toBeUndefined();
  expect(paymentSettingsOf({}, SIMULATOR, false).gateways).toEqual({ INR: undefined, USD: undefined });
});
