/** What top-ups and mandates need to open a page at a payment gateway. */
import { hash } from "node:crypto";
import type { Currency } from "../../base/currency.ts";
import { fail, type WeirError } from "../../base/errors.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import type { CheckoutOrder, MandateOrder, PaymentGateway } from "./gateway.ts";

export interface PagePorts {
  /** Port: who takes payments in a currency. */
  readonly gatewayFor: (currency: Currency) => PaymentGateway | undefined;
  /** Port: where the request's browser reaches the gateway, without a slash at the end. @throws WeirError where it is not known */
  readonly ownAddress: (head: HttpHead) => string;
}

/** A client waits for the payment gateway this long. */
export const OPENING_MS = 15_000;

/** @throws WeirError 503 where no payment gateway takes the currency */
export function mustGateway(
  { gatewayFor }: Pick<PagePorts, "gatewayFor">,
  currency: Currency,
): PaymentGateway {
  const gateway = gatewayFor(currency);
  if (gateway !== undefined) return gateway;
  throw fail("gateway_unavailable", `This installation takes no payments in ${currency}.`, {
    retryable: false,
  });
}

/** The idempotency key of an opening: the same for the same words, as long as none of them has failed. */
export const keyOf = (
  { id, failedOpenings = 0 }: { readonly id: string; readonly failedOpenings?: number },
  order: CheckoutOrder | MandateOrder,
): string =>
  `${id}_${hash("sha256", JSON.stringify(order)).slice(0, 16)}${failedOpenings === 0 ? "" : `_${failedOpenings}`}`;

/** @param done what did not happen, as the client is told */
export const unavailable = (done: "charged" | "registered", retryAfterMs: number | null = null): WeirError =>
  fail("gateway_unavailable", `The payment gateway does not answer. Nothing was ${done}; ask again.`, {
    retryAfterMs: retryAfterMs ?? 5000,
  });
