/** Razorpay's adapter by the official library against the simulated API, held against the list of what all gateways must do. */
import { RazorpayGateway } from "../../../../src/billing/payments/razorpay/gateway.ts";
import { conformance } from "./conformance.ts";
import { HOOK_SECRET } from "./fixtures.ts";

conformance({
  // Razorpay does not say what it does with a 500 and its key.
  house: "razorpay",
  currency: "INR",
  method: "upi",
  mandateMethod: "emandate",
  replays500: false,
  calls: {
    checkout: "POST /v1/payment_links",
    refund: "POST /v1/payments/pay_",
    confirm: "/create/recurring",
  },
  gatewayOf: (simulator, clock, timeoutMs) =>
    new RazorpayGateway({
      keyId: simulator.keys.razorpayKeyId,
      keySecret: simulator.keys.razorpayKeySecret,
      apiBase: simulator.url,
      clock,
      timeoutMs,
      webhookSecrets: ["secret_of_before", HOOK_SECRET],
    }),
});
