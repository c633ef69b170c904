/**
 * Opens the payment gateways that the settings ask for. The library of a service is loaded only where it is used: most
 * installations have one of them or none.
 */
import type { Clock } from "../../base/clock.ts";
import { CURRENCIES, type Currency } from "../../base/currency.ts";
import type { PaymentGateway } from "./gateway.ts";
import type { PaymentSettings } from "./settings.ts";
import type { SimulatedService } from "./simulated/client.ts";
import type { SimulatedGateway } from "./simulated/gateway.ts";

export interface PaymentGateways {
  /** Undefined: orgs of that currency cannot pay here. */
  forCurrency(currency: Currency): PaymentGateway | undefined;
  /** By its id, also one from outside. */
  byId(id: string): PaymentGateway | undefined;
  readonly all: readonly PaymentGateway[];
  /** Starts the simulated service, if it is used here: from then on its webhooks are known. */
  reachSimulated(): Promise<void>;
}

export interface PaymentGatewaysOptions {
  readonly settings: PaymentSettings;
  readonly clock: Clock;
  /** Starts the simulated service, if it does not run yet; called when the first payment needs it. */
  readonly simulated: () => Promise<SimulatedService>;
}

export async function openPaymentGateways(options: PaymentGatewaysOptions): Promise<PaymentGateways> {
  const { gateways } = options.settings;
  const opened = new Map<string, PaymentGateway>();
  for (const currency of CURRENCIES) {
    const id = gateways[currency];
    if (id !== undefined && !opened.has(id)) opened.set(id, await open(id, options));
  }
  const all = [...opened.values()];
  return {
    all,
    byId: (id) => opened.get(id),
    forCurrency: (currency) => opened.get(gateways[currency] ?? ""),
    async reachSimulated() {
      const gateway = opened.get("simulated");
      if (gateway !== undefined && "reach" in gateway) await (gateway as SimulatedGateway).reach();
    },
  };
}

async function open(id: PaymentGateway["id"], options: PaymentGatewaysOptions): Promise<PaymentGateway> {
  const { settings, clock, simulated } = options;
  if (id === "stripe" && settings.stripe !== undefined) {
    const { StripeGateway } = await import("./stripe/gateway.ts");
    return new StripeGateway({ ...settings.stripe, clock });
  }
  if (id === "razorpay" && settings.razorpay !== undefined) {
    const { RazorpayGateway } = await import("./razorpay/gateway.ts");
    return new RazorpayGateway({ ...settings.razorpay, clock });
  }
  const { SimulatedGateway } = await import("./simulated/gateway.ts");
  return new SimulatedGateway({ service: simulated });
}
