/** A payment gateway of ours, the simulated service that it talks to, a clock for both, and what receives webhooks. */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import {
  type PaymentSimulator,
  startPaymentSimulator,
} from "../../../../simulator/payments/payment-simulator.ts";
import type { House } from "../../../../simulator/payments/state.ts";
import { type Clock, seededRandom } from "../../../../src/base/clock.ts";
import type { Currency } from "../../../../src/base/currency.ts";
import { MINUTE_MS } from "../../../../src/base/time.ts";
import type {
  CheckoutOrder,
  DebitOrder,
  GatewayCall,
  HostedPage,
  MandateOrder,
  Method,
  PaymentGateway,
} from "../../../../src/billing/payments/gateway.ts";
import { GatewayError } from "../../../../src/billing/payments/gateway.ts";

export const START_MS = Date.UTC(2026, 10, 23, 6);

export interface TestClock extends Clock {
  nowMs: number;
}

export function testClock(): TestClock {
  const clock = { nowMs: START_MS, now: () => clock.nowMs, monotonic: () => clock.nowMs };
  return clock;
}

export interface ReceivedHook {
  readonly bytes: Buffer;
  header(name: string): string;
}

export interface HookReceiver {
  readonly url: string;
  readonly received: ReceivedHook[];
  close(): Promise<void>;
}

export async function startHookReceiver(): Promise<HookReceiver> {
  const received: ReceivedHook[] = [];
  const server = createServer(async (request, response) => {
    received.push({ bytes: await buffer(request), header: headerOf(request.headers) });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const headerOf =
  (headers: IncomingHttpHeaders) =>
  (name: string): string =>
    String(headers[name] ?? "");

/** What differs between payment services. */
export interface ServiceUnderTest {
  readonly house: House;
  readonly currency: Currency;
  /** The method of payments that are not said to have another. */
  readonly method: Method;
  readonly mandateMethod: Method;
  /** Which calls of the service do these things, for faults. */
  readonly calls: { readonly checkout: string; readonly refund: string; readonly confirm: string };
  /** Whether a 500 is given again for the same idempotency key. */
  readonly replays500: boolean;
  gatewayOf(simulator: PaymentSimulator, clock: Clock, timeoutMs: number): PaymentGateway;
}

export const HOOK_SECRET = "whsec_of_the_test";
const TIMEOUT_MS = 10_000;
/** Some tests wait for it. */
const HASTY_MS = 700;

let keys = 0;
export const nextKey = (): string => `key-${++keys}-0000000000`;

export class Bench {
  readonly service: ServiceUnderTest;
  readonly simulator: PaymentSimulator;
  readonly gateway: PaymentGateway;
  /** The same, with a short time limit. */
  readonly hasty: PaymentGateway;
  readonly clock: TestClock;
  readonly receiver: HookReceiver;
  #references = 0;

  private constructor(
    service: ServiceUnderTest,
    simulator: PaymentSimulator,
    clock: TestClock,
    receiver: HookReceiver,
  ) {
    this.service = service;
    this.simulator = simulator;
    this.clock = clock;
    this.receiver = receiver;
    this.gateway = service.gatewayOf(simulator, clock, TIMEOUT_MS);
    this.hasty = service.gatewayOf(simulator, clock, HASTY_MS);
  }

  static async open(service: ServiceUnderTest): Promise<Bench> {
    const clock = testClock();
    const receiver = await startHookReceiver();
    const simulator = await startPaymentSimulator({ clock, random: seededRandom(7) });
    const secret = service.house === "simulated" ? simulator.webhookSecret : HOOK_SECRET;
    simulator.hook(service.house, { url: receiver.url, secret });
    await simulator.control({ act: "webhooks", hold: true });
    return new Bench(service, simulator, clock, receiver);
  }

  async close(): Promise<void> {
    await this.simulator.close();
    await this.receiver.close();
  }

  call(idempotencyKey = nextKey()): GatewayCall {
    return { idempotencyKey, signal: new AbortController().signal };
  }

  order(fields: Partial<CheckoutOrder> = {}): CheckoutOrder {
    return {
      reference: `tup_${++this.#references}`,
      payer: { orgId: "org_1", name: "Asha & Co. <b>", email: "asha@example.com" },
      total: { currency: this.service.currency, minor: 118_000 },
      description: "Credit of 1,000.00",
      returnUrl: "http://127.0.0.1:9/billing?topup=1",
      expiresAtMs: this.clock.nowMs + 30 * MINUTE_MS,
      methods: [],
      ...fields,
    };
  }

  async checkout(fields: Partial<CheckoutOrder> = {}): Promise<HostedPage & { readonly reference: string }> {
    const order = this.order(fields);
    return { ...(await this.gateway.createCheckout(order, this.call())), reference: order.reference };
  }

  /** Checkout, paid. @returns id of the payment */
  async paid(fields: Partial<CheckoutOrder> = {}): Promise<{ paymentRef: string; reference: string }> {
    const { ref, reference } = await this.checkout(fields);
    this.simulator.engine.pay(ref, { method: this.service.method });
    const { payments } = await this.gateway.readCheckout(ref, this.call());
    return { paymentRef: payments[0]?.ref ?? "", reference };
  }

  mandateOrder(): MandateOrder {
    const { payer, returnUrl } = this.order();
    return {
      reference: `mdt_${++this.#references}`,
      payer,
      returnUrl,
      method: this.service.mandateMethod,
      cap: { currency: this.service.currency, minor: 1_500_000 },
    };
  }

  /** Registered and approved. */
  async mandate() {
    const order = this.mandateOrder();
    const { ref } = await this.gateway.registerMandate(order, this.call());
    this.simulator.engine.approveMandate(ref, this.service.mandateMethod);
    return this.gateway.readMandate(ref, this.call());
  }

  async debitOrder(): Promise<DebitOrder> {
    const { payer, total, description } = this.order();
    return {
      reference: `tup_${++this.#references}`,
      payer,
      total,
      description,
      mandate: await this.mandate(),
    };
  }
}

/** The GatewayError of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<GatewayError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("The call did not fail.");
}
