/**
 * Opens the room of payments: the gateways of the settings and the hook that takes their webhooks. Unless another process serves it,
 * the simulated service is started when a payment first needs it, and at each start after that, for the addresses of its pages are in
 * people's browsers.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { PaymentSimulator } from "../../simulator/payments/payment-simulator.ts";
import type { OrgRow } from "../account/org.ts";
import type { AccountTables } from "../account/tables.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { openInbound } from "../payments/inbound.ts";
import { openPaymentGateways } from "../payments/open.ts";
import type { SimulatedService } from "../payments/simulated/client.ts";
import type { Store } from "../store/store.ts";

interface PaymentGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
  readonly accounts: Pick<AccountTables, "org">;
  /** Tenants' webhooks must not reach the simulated service. */
  readonly keepFrom: (port: number) => void;
}

export async function openPaymentRoom(config: Config, log: Logger, ground: PaymentGround) {
  const { store, clock, jobs, accounts } = ground;
  const { simulator } = config.payments;
  const service =
    simulator === undefined
      ? new BuiltInService(config, clock, ground.keepFrom)
      : new OtherProcess(simulator, ground.keepFrom);
  const gateways = await openPaymentGateways({
    ...{ settings: config.payments, clock },
    simulated: () => service.reach(),
  });
  const inbound = openInbound({
    ...{ store, clock, jobs, gatewayOf: gateways.byId },
    isErased: (orgId) => isErased(accounts.org(orgId), clock.now()),
    onFailure: (err) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  });
  return {
    gateways,
    /** Billing registers what a webhook leads to by `inbound.onNotice`, before jobs start. */
    inbound,
    /** The gateway's address is known: the simulated service sends its webhooks there. */
    listensAt(port: number): void {
      if (!service.listensAt(port)) return;
      const started = gateways.reachSimulated();
      started.catch((err: unknown) => log.error({ err }, "the simulated payment service did not start"));
    },
    async close(): Promise<void> {
      inbound.close();
      await service.close();
    },
  };
}

/** Also from the day on which the erasure is due: its job may be anywhere. */
const isErased = (org: OrgRow | undefined, nowMs: number): boolean =>
  org !== undefined &&
  (org.erasedAtMs !== undefined || (org.erasureDueAtMs !== null && org.erasureDueAtMs <= nowMs));

interface Service {
  /** @returns whether its webhooks may come before a payment needs it */
  listensAt(port: number): boolean;
  reach(): Promise<SimulatedService>;
  close(): Promise<void>;
}

/** The simulated service in a process of its own, which is told by its operator where its webhooks go. */
class OtherProcess implements Service {
  readonly #service: SimulatedService;

  constructor(service: SimulatedService, keepFrom: (port: number) => void) {
    this.#service = service;
    keepFrom(Number(new URL(service.url).port));
  }

  listensAt(): boolean {
    return true;
  }

  async reach(): Promise<SimulatedService> {
    return this.#service;
  }

  async close(): Promise<void> {
    // It outlives this process.
  }
}

/** The simulated service in this process. */
class BuiltInService implements Service {
  readonly #file: string;
  readonly #host: string;
  readonly #clock: Clock;
  readonly #keepFrom: (port: number) => void;
  #port = 0;
  #started: Promise<PaymentSimulator> | undefined;

  constructor({ dataDir, host }: Config, clock: Clock, keepFrom: (port: number) => void) {
    this.#file = join(dataDir, "simulator", "payments.jsonl");
    this.#host = host;
    this.#clock = clock;
    this.#keepFrom = keepFrom;
  }

  /** @returns whether it was used before the last stop */
  listensAt(port: number): boolean {
    this.#port = port;
    return existsSync(this.#file);
  }

  async reach(): Promise<SimulatedService> {
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    const { url, keys, webhookSecret } = await this.#started;
    return { url, key: keys.simulatedKey, webhookSecret };
  }

  async #start(): Promise<PaymentSimulator> {
    // Loaded here: most processes never need it.
    const { startPaymentSimulator } = await import("../../simulator/payments/payment-simulator.ts");
    const simulator = await startPaymentSimulator({ clock: this.#clock, file: this.#file });
    this.#keepFrom(Number(new URL(simulator.url).port));
    const host = this.#host.includes(":") ? "[::1]" : "127.0.0.1";
    const url = `http://${host}:${this.#port}/webhooks/payments/simulated`;
    simulator.hook("simulated", { url, secret: simulator.webhookSecret });
    return simulator;
  }

  async close(): Promise<void> {
    const simulator = await this.#started?.catch(() => undefined);
    await simulator?.close();
  }
}
