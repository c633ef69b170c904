/**
 * Calls to Stripe by its official library, whose own retries are switched off: whoever asks decides. Each call has a time
 * limit and can be given up; what fails is told as the port tells it.
 */
import Stripe from "stripe";
import { boundedFetch } from "../bounded-fetch.ts";
import { answerError, declined, noAnswer, unreadable } from "../failure.ts";
import { GatewayError, type Reading } from "../gateway.ts";
import { failureOfError } from "./failure.ts";

export interface StripeAccount {
  readonly secretKey: string;
  /** Undefined: Stripe itself. */
  readonly apiBase: string | undefined;
}

export interface StripeAsk<T> {
  readonly what: string;
  readonly hasEffect: boolean;
  readonly call: Reading;
  /** An error of the request itself means that Stripe said no, such as to a refund of more than is left. */
  readonly isDecline?: (error: InstanceType<typeof Stripe.errors.StripeError>) => boolean;
  readonly run: (stripe: Stripe) => Promise<T>;
}

export class StripeClient {
  readonly #account: StripeAccount;
  readonly #timeoutMs: number;

  constructor(account: StripeAccount, timeoutMs: number) {
    this.#account = account;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws GatewayError */
  async ask<T>({ what, hasEffect, call, isDecline, run }: StripeAsk<T>): Promise<T> {
    const named = `stripe: ${what}`;
    try {
      return await run(this.#library(call.signal));
    } catch (error) {
      throw gatewayError(named, hasEffect, error, isDecline);
    }
  }

  /** One for each call: it carries the signal, which the library's own calls do not take. */
  #library(signal: AbortSignal): Stripe {
    const timeoutMs = this.#timeoutMs;
    const limited = (url: string | URL | Request, init: RequestInit = {}) =>
      boundedFetch(url instanceof Request ? url.url : url, withoutLength(init), { signal, timeoutMs });
    return new Stripe(this.#account.secretKey, {
      maxNetworkRetries: 0,
      timeout: timeoutMs,
      telemetry: false,
      httpClient: Stripe.createFetchHttpClient(limited as typeof fetch),
      ...addressOf(this.#account.apiBase),
    });
  }
}

/** The library adds a length to that of `fetch`; newer clients of HTTP refuse two. */
function withoutLength(init: RequestInit): RequestInit {
  const headers = new Headers(init.headers);
  headers.delete("content-length");
  return { ...init, headers };
}

/** The library takes origins only. */
function addressOf(apiBase: string | undefined) {
  if (apiBase === undefined) return {};
  const { protocol, hostname, port } = new URL(apiBase);
  const isTls = protocol === "https:";
  return {
    host: hostname,
    protocol: isTls ? ("https" as const) : ("http" as const),
    port: port === "" ? (isTls ? 443 : 80) : Number(port),
  };
}

function gatewayError(
  what: string,
  hasEffect: boolean,
  error: unknown,
  isDecline: StripeAsk<unknown>["isDecline"],
): GatewayError {
  if (error instanceof GatewayError) return error;
  const { StripeError, StripeConnectionError, StripeCardError } = Stripe.errors;
  if (!(error instanceof StripeError)) return noAnswer(what, hasEffect, error);
  if (error instanceof StripeConnectionError) return noAnswer(what, hasEffect, error.detail);
  if (error instanceof StripeCardError) return declined(what, failureOfError(error));
  const { statusCode: status, code = "", type, message, headers } = error;
  if (status === undefined || status < 400) return unreadable(what, hasEffect);
  if (status === 400 && isDecline?.(error) === true)
    return declined(what, { code: code || type, message, kind: "hard" });
  const shown = code === "resource_missing" ? 404 : status;
  const retryAfter = headers?.["retry-after"] ?? "";
  return answerError({ what, status: shown, hasEffect, code: code || type, message, retryAfter });
}
