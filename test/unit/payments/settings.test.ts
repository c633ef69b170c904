/** Which payment gateway takes which currency, by weir.yaml and the environment. */
import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { paymentSettingsOf } from "../../../src/payment-settings.ts";
import { openPaymentGateways } from "../../../src/payments/open.ts";

const STRIPE = { STRIPE_SECRET_KEY: "sk_live_secret", STRIPE_WEBHOOK_SECRET: "whsec_a, whsec_b" };
const RAZORPAY = {
  ...{ RAZORPAY_KEY_ID: "rzp_id", RAZORPAY_KEY_SECRET: "rzp_secret" },
  RAZORPAY_WEBHOOK_SECRET: "whsec_r",
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
