/**
 * Calls to Razorpay by its official library. The library has no setting for the address, the time limit, a signal or the
 * header of refunds, so these are set on the request layer inside it (`api.rq`), which is one object for each call.
 */
import Razorpay from "razorpay";
import { z } from "zod";
import { answerError, declined, noAnswer, shownText, unreadable } from "../failure.ts";
import { GatewayError, type Reading } from "../gateway.ts";
import { failureOf } from "./failure.ts";

export interface RazorpayAccount {
  readonly keyId: string;
  readonly keySecret: string;
  /** Undefined: Razorpay itself. */
  readonly apiBase: string | undefined;
}

export interface RazorpayAsk<T> {
  readonly what: string;
  readonly hasEffect: boolean;
  readonly call: Reading;
  readonly headers?: Readonly<Record<string, string>>;
  /** Every status 400 means that Razorpay said no, such as to a refund of more than is left. */
  readonly mayDecline?: boolean;
  readonly answer: z.ZodType<T>;
  readonly run: (razorpay: Razorpay) => Promise<unknown>;
}

/** What the library's instance of axios lets one set. */
interface RequestLayer {
  readonly defaults: Record<string, unknown> & { readonly headers: Record<string, unknown> };
  readonly interceptors: {
    readonly response: { use(done: undefined, failed: (error: unknown) => never): void };
  };
}

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

const errorBody = z.object({
  error: z.object({
    code: z.string().nullish(),
    description: z.string().nullish(),
    reason: z.string().nullish(),
    metadata: z.object({ payment_id: z.string().optional() }).nullish().catch(undefined),
  }),
});

const failedAnswer = z.object({
  response: z.object({
    status: z.int(),
    data: z.unknown(),
    headers: z.object({ "retry-after": z.string().optional() }).catch({}),
  }),
});

export class RazorpayClient {
  readonly #account: RazorpayAccount;
  readonly #timeoutMs: number;

  constructor(account: RazorpayAccount, timeoutMs: number) {
    this.#account = account;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws GatewayError */
  async ask<T>(ask: RazorpayAsk<T>): Promise<T> {
    const what = `razorpay: ${ask.what}`;
    // The library's own errors lose what failed where there was no answer.
    const failed: { error?: unknown } = {};
    let json: unknown;
    try {
      json = await ask.run(this.#library(ask, failed));
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      throw gatewayError(what, ask, failed.error ?? error);
    }
    const parsed = ask.answer.safeParse(json);
    if (!parsed.success) throw unreadable(what, ask.hasEffect);
    return parsed.data;
  }

  #library({ call, headers = {} }: RazorpayAsk<unknown>, failed: { error?: unknown }): Razorpay {
    const { keyId, keySecret, apiBase } = this.#account;
    const razorpay = new Razorpay({ key_id: keyId, key_secret: keySecret });
    const { rq } = (razorpay as unknown as { readonly api: { readonly rq: RequestLayer } }).api;
    Object.assign(rq.defaults, {
      ...(apiBase !== undefined && { baseURL: apiBase }),
      maxRedirects: 0,
      maxContentLength: MAX_ANSWER_BYTES,
      proxy: false,
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(this.#timeoutMs)]),
    });
    Object.assign(rq.defaults.headers, headers);
    rq.interceptors.response.use(undefined, (error) => {
      failed.error = error;
      throw error;
    });
    return razorpay;
  }
}

function gatewayError(what: string, ask: RazorpayAsk<unknown>, error: unknown): GatewayError {
  const { hasEffect, mayDecline = false } = ask;
  const answered = failedAnswer.safeParse(error);
  if (!answered.success) return noAnswer(what, hasEffect, error);
  const { status, data, headers } = answered.data.response;
  const { code, description, reason, metadata } = errorBody.safeParse(data).data?.error ?? {};
  const message = description ?? "";
  // Razorpay has no status for this.
  if (status === 400 && /does not exist|not found/i.test(message))
    return new GatewayError("missing", `${what}: ${shownText(message)}`);
  // The account is short of money: an operator must look.
  const isDecline = metadata?.payment_id !== undefined || (mayDecline && !/balance/i.test(message));
  if (status === 400 && isDecline) return declined(what, failureOf(reason, code, message, mayDecline));
  const retryAfter = headers["retry-after"] ?? "";
  return answerError({ what, status, hasEffect, code: code ?? "", message, retryAfter });
}
