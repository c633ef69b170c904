/** Bodies of Razorpay's longer requests. */

import type Razorpay from "razorpay";
import { MINUTE_MS } from "../../../base/time.ts";
import { type CheckoutOrder, GatewayError, type MandateOrder, type Method, type Payer } from "../gateway.ts";

type LinkParams = Parameters<Razorpay["paymentLink"]["create"]>[0];
type RegistrationParams = Parameters<Razorpay["subscriptions"]["createRegistrationLink"]>[0];

/** A link must stand for a quarter of an hour at least; an earlier end is asked for by `expireCheckout`. */
const SHORTEST_MS = 16 * MINUTE_MS;
const REGISTRATION_MS = 24 * 60 * MINUTE_MS;
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;
/** Cards and UPI register with a payment of one rupee, bank accounts without one. */
const REGISTRATION_PAISE = 100;

/** Razorpay's names of methods; what is not offered is switched off. */
const OFFERED: Readonly<Record<string, readonly Method[]>> = {
  upi: ["upi"],
  netbanking: ["netbanking"],
  card: ["card_domestic", "card_international"],
  wallet: [],
  emi: [],
  paylater: [],
};

const seconds = (ms: number): number => Math.ceil(ms / 1000);

export function linkParams(order: CheckoutOrder, nowMs: number): LinkParams {
  const { reference, payer, total, description, returnUrl, expiresAtMs, methods } = order;
  const chosen = Object.entries(OFFERED).map(([name, ours]) => [
    name,
    ours.some((method) => methods.includes(method)) ? "1" : "0",
  ]);
  return {
    amount: total.minor,
    currency: total.currency,
    accept_partial: false,
    reference_id: reference,

    description,
    customer: customerOf(payer),
    notify: { email: false, sms: false },
    reminder_enable: false,
    notes: { reference, org_id: payer.orgId },
    callback_url: returnUrl,
    callback_method: "get",
    expire_by: seconds(Math.max(expiresAtMs, nowMs + SHORTEST_MS)),
    ...(methods.length > 0 && { options: { checkout: { method: Object.fromEntries(chosen) } } }),
  } as LinkParams;
}

/** The customer has the name alone where the org has no address for invoices. */
const customerOf = ({ name, email }: Payer) => ({ name, ...(email !== "" && { email }) });

const REGISTERED: Readonly<Partial<Record<Method, "upi" | "emandate" | "card">>> = {
  upi: "upi",
  emandate: "emandate",
  card_domestic: "card",
};

/** @throws GatewayError `refused` for a method that takes no mandate */
export function registrationParams(order: MandateOrder, nowMs: number): RegistrationParams {
  const { reference, payer, method, cap, returnUrl } = order;
  const registered = REGISTERED[method];
  if (registered === undefined)
    throw new GatewayError("refused", `razorpay: it has no mandate by "${method}"`);
  return {
    customer: customerOf(payer),
    type: "link",
    currency: cap.currency,
    description: "Automatic payments",
    receipt: reference,
    amount: registered === "emandate" ? 0 : REGISTRATION_PAISE,
    subscription_registration: {
      method: registered,
      max_amount: cap.minor,
      frequency: "as_presented",
      expire_at: seconds(nowMs + 10 * YEAR_MS),
    },
    email_notify: false,
    sms_notify: false,
    expire_by: seconds(nowMs + REGISTRATION_MS),
    notes: { reference, cap_minor: String(cap.minor), org_id: payer.orgId },
    callback_url: returnUrl,
    callback_method: "get",
  } as RegistrationParams;
}
