/** The `simulated` payment gateway, held against the list of what all of them must do. */
import { SimulatedGateway } from "../../../../src/billing/payments/simulated/gateway.ts";
import { conformance } from "./conformance.ts";

conformance({
  house: "simulated",
  currency: "INR",
  method: "upi",
  mandateMethod: "upi",
  replays500: true,
  calls: {
    checkout: "POST /simulated/checkouts",
    refund: "POST /simulated/refunds",
    confirm: "/confirm",
  },
  gatewayOf(simulator, _clock, timeoutMs) {
    const { url, keys, webhookSecret } = simulator;
    const service = { url, key: keys.simulatedKey, webhookSecret };
    return new SimulatedGateway({ service: async () => service, timeoutMs });
  },
});
