/**
 * `payments` of weir.yaml, and the variables `STRIPE_…`, `RAZORPAY_…` and `PAYMENTS_SIMULATOR_…`: which payment gateway takes which
 * currency, and how it is reached. Errors name what is missing and never repeat a value.
 */
import { z } from "zod";
import type { Currency } from "../../base/currency.ts";
import { LOOPBACK_HOST } from "../../base/network/loopback-host.ts";
import type { RazorpayGatewayOptions } from "./razorpay/gateway.ts";
import type { SimulatedService } from "./simulated/client.ts";
import type { StripeGatewayOptions } from "./stripe/gateway.ts";

/** Key `payments` of weir.yaml. Absent: by the secrets that are set; on loopback without any, the simulated one. */
export const paymentsField = z
  .strictObject({
    INR: z.enum(["razorpay", "simulated"]).optional(),
    USD: z.enum(["stripe", "simulated"]).optional(),
  })
  .prefault({});

/** Variables of the environment; in each `…_WEBHOOK_SECRET` two, with a comma between, while one is rotated. */
export const paymentVariables = {
  STRIPE_SECRET_KEY: z.string().max(500).optional(),
  STRIPE_WEBHOOK_SECRET: z.string().max(1000).optional(),
  STRIPE_API_BASE: z.url({ protocol: /^https?$/ }).optional(),
  RAZORPAY_KEY_ID: z.string().max(500).optional(),
  RAZORPAY_KEY_SECRET: z.string().max(500).optional(),
  RAZORPAY_WEBHOOK_SECRET: z.string().max(1000).optional(),
  RAZORPAY_API_BASE: z.url({ protocol: /^https?$/ }).optional(),
  PAYMENTS_SIMULATOR_URL: z.url({ protocol: /^https?$/ }).optional(),
  PAYMENTS_SIMULATOR_KEY: z.string().max(500).optional(),
  PAYMENTS_SIMULATOR_WEBHOOK_SECRET: z.string().max(500).optional(),
} as const;

/** They say where simulated payments are made, not that there are real ones. */
const OF_SIMULATOR = "PAYMENTS_SIMULATOR_";

export type PaymentVariables = { readonly [K in keyof typeof paymentVariables]?: string | undefined };

export interface PaymentSettings {
  /** Undefined: orgs of that currency cannot pay here. */
  readonly gateways: {
    readonly INR: "razorpay" | "simulated" | undefined;
    readonly USD: "stripe" | "simulated" | undefined;
  };
  readonly stripe: Omit<StripeGatewayOptions, "clock" | "timeoutMs"> | undefined;
  readonly razorpay: Omit<RazorpayGatewayOptions, "clock" | "timeoutMs"> | undefined;
  /** The simulated service where it is a process of its own; undefined: the built-in one. */
  readonly simulator: SimulatedService | undefined;
}

/**
 * @param isLocalOnly nobody but this machine reaches the gateway: only there the simulated payments, which anyone can make
 * @throws Error with what is wrong
 */
export function paymentSettingsOf(
  asked: z.output<typeof paymentsField>,
  env: PaymentVariables,
  isLocalOnly: boolean,
): PaymentSettings {
  const isBare = (Object.keys(paymentVariables) as (keyof PaymentVariables)[]).every(
    (name) => name.startsWith(OF_SIMULATOR) || !env[name],
  );
  const isAsked = asked.INR === "razorpay" || asked.USD === "stripe";
  const simulated = isLocalOnly && isBare && !isAsked ? "simulated" : undefined;
  const INR = asked.INR ?? (env.RAZORPAY_KEY_ID ? "razorpay" : simulated);
  const USD = asked.USD ?? (env.STRIPE_SECRET_KEY ? "stripe" : simulated);
  if (!isLocalOnly && (INR === "simulated" || USD === "simulated"))
    throw new Error("payments: simulated payments are for this machine only, and HOST or PUBLIC_URL is not");
  if ([INR, USD].includes("simulated") && [INR, USD].some((one) => one !== undefined && one !== "simulated"))
    throw new Error(
      "payments: simulated payments are for a gateway without a payment service: leave the other currency out, or set its secrets",
    );
  return {
    gateways: { INR, USD },
    stripe: USD === "stripe" ? stripeOf(env) : undefined,
    razorpay: INR === "razorpay" ? razorpayOf(env) : undefined,
    simulator: simulatorOf(env),
  };
}

const stripeOf = (env: PaymentVariables): PaymentSettings["stripe"] => ({
  secretKey: needed(env, "STRIPE_SECRET_KEY", "USD"),
  webhookSecrets: secretsOf(env, "STRIPE_WEBHOOK_SECRET", "USD"),
  apiBase: baseOf(env, "STRIPE_API_BASE"),
});

const razorpayOf = (env: PaymentVariables): PaymentSettings["razorpay"] => ({
  keyId: needed(env, "RAZORPAY_KEY_ID", "INR"),
  keySecret: needed(env, "RAZORPAY_KEY_SECRET", "INR"),
  webhookSecrets: secretsOf(env, "RAZORPAY_WEBHOOK_SECRET", "INR"),
  apiBase: baseOf(env, "RAZORPAY_API_BASE"),
});

/** Anyone who reaches the simulated service may pay, so it is on this machine. */
function simulatorOf(env: PaymentVariables): PaymentSettings["simulator"] {
  const name = "PAYMENTS_SIMULATOR_URL";
  if (!env[name]) return undefined;
  const { hostname, origin, pathname, search, hash, username, password } = new URL(env[name]);
  if (!LOOPBACK_HOST.test(hostname))
    throw new Error(`${name}: the simulated payment service must be on this machine: use a loopback address`);
  if (pathname !== "/" || search + hash + username + password !== "")
    throw new Error(`${name}: use an origin, such as http://127.0.0.1:9997`);
  const key = neededFor(env, "PAYMENTS_SIMULATOR_KEY", `with ${name}`);
  const webhookSecret = neededFor(env, "PAYMENTS_SIMULATOR_WEBHOOK_SECRET", `with ${name}`);
  return { url: origin, key, webhookSecret };
}

const needed = (env: PaymentVariables, name: keyof PaymentVariables, currency: Currency): string =>
  neededFor(env, name, `for payments in ${currency}`);

function neededFor(env: PaymentVariables, name: keyof PaymentVariables, what: string): string {
  const value = env[name]?.trim() ?? "";
  if (value === "") throw new Error(`${name}: is needed ${what}`);
  return value;
}

function secretsOf(env: PaymentVariables, name: keyof PaymentVariables, currency: Currency): string[] {
  const secrets = needed(env, name, currency)
    .split(",")
    .map((secret) => secret.trim());
  if (secrets.length > 2 || secrets.includes(""))
    throw new Error(`${name}: must be one secret, or two with a comma between`);
  return secrets;
}

function baseOf(env: PaymentVariables, name: keyof PaymentVariables): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const { protocol, hostname, origin, pathname } = new URL(text);
  if (protocol === "http:" && !LOOPBACK_HOST.test(hostname))
    throw new Error(`${name}: use https; http is for services on this machine only`);
  if (pathname !== "/") throw new Error(`${name}: use an origin, such as https://api.example.com`);
  return origin;
}
