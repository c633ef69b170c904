/** Calls to the `simulated` payment service: JSON over HTTP, each at most ten seconds, answers checked before they are used. */
import { z } from "zod";
import { jsonIn } from "../../../base/json.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import { answerError, declined, noAnswer, unreadable } from "../failure.ts";
import type { GatewayCall, Reading } from "../gateway.ts";

export interface SimulatedService {
  /** Base of its API; loopback. */
  readonly url: string;
  readonly key: string;
  /** Signs its webhooks. */
  readonly webhookSecret: string;
}

export interface SimulatedRequest<T> {
  readonly what: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  readonly answer: z.ZodType<T>;
  readonly call: Reading & Partial<GatewayCall>;
  /** A status 400 is the service's decision: it said no. */
  readonly mayDecline?: boolean;
}

/** Sends a request and reads its answer: `boundedFetch`, unless the service runs in the same process. */
export type Send = (
  url: string,
  init: RequestInit,
  limits: Parameters<typeof boundedFetch>[2],
) => Promise<Pick<Response, "status" | "headers" | "text">>;

const errorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export class SimulatedClient {
  readonly #service: () => Promise<SimulatedService>;
  readonly #timeoutMs: number;
  readonly #sendBy: Send;

  constructor(service: () => Promise<SimulatedService>, timeoutMs: number, send: Send = boundedFetch) {
    this.#service = service;
    this.#timeoutMs = timeoutMs;
    this.#sendBy = send;
  }

  /** @throws GatewayError */
  async ask<T>(request: SimulatedRequest<T>): Promise<T> {
    const { method, call } = request;
    const what = `simulated: ${request.what}`;
    const hasEffect = method === "POST";
    const { status, text, retryAfter } = await this.#send(what, request, hasEffect);
    const json = jsonIn(text);
    if (status >= 400) {
      const { code, message } = errorBody.safeParse(json).data?.error ?? { code: "", message: "" };
      if (status === 400 && request.mayDecline === true && code !== "idempotency_error")
        throw declined(what, { code, message, kind: "hard" });
      throw answerError({ what, status, hasEffect, code, message, retryAfter });
    }
    const parsed = request.answer.safeParse(json);
    if (!parsed.success) throw unreadable(what, hasEffect && call.idempotencyKey !== undefined);
    return parsed.data;
  }

  async #send(what: string, { method, path, body, call }: SimulatedRequest<unknown>, hasEffect: boolean) {
    const { url, key } = await this.#service().catch((error: unknown) => {
      throw noAnswer(what, false, error);
    });
    try {
      const init: RequestInit = {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          ...(call.idempotencyKey !== undefined && { "idempotency-key": call.idempotencyKey }),
        },
        ...(method === "POST" && { body: JSON.stringify(body ?? {}) }),
      };
      const limits = { signal: call.signal, timeoutMs: this.#timeoutMs };
      const reply = await this.#sendBy(`${url}/simulated${path}`, init, limits);
      const text = await reply.text();
      return { status: reply.status, text, retryAfter: reply.headers.get("retry-after") ?? "" };
    } catch (error) {
      throw noAnswer(what, hasEffect, error);
    }
  }
}
