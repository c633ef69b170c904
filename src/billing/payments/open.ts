/** Opens the room of payments: the gateways of the settings and the hook that takes their webhooks. */
import type { Logger } from "pino";
import type { Clock } from "../../base/clock.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { openPaymentGateways, type PaymentGateways } from "./gateways.ts";
import { type Inbound, openInbound } from "./inbound.ts";
import type { PaymentSettings } from "./settings.ts";
import type { SimulatedService } from "./simulated/client.ts";

/** The machine's own simulated payment service, used where the settings name none. Another wing runs it. */
export interface SimulatedPayments {
  /** Starts it, if it does not run yet. @throws Error (as a rejection) where it does not start */
  reach(): Promise<SimulatedService>;
  /** Whether it was started, or payments were left open at it before this start. */
  isUsed(): boolean;
  /** Calls `changed` when {@link isUsed} may have changed. */
  onChange(changed: () => void): void;
}

export interface PaymentPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
  /** Whether nothing is kept of the org's payers any more. */
  readonly isErased: (orgId: string) => boolean;
  readonly simulatedPayments: SimulatedPayments;
  readonly log: Logger;
}

export interface OpenPayments {
  readonly gateways: PaymentGateways;
  /** Whoever is paid registers what a webhook leads to by `inbound.onNotice`, before jobs start. */
  readonly inbound: Inbound;
  /** Takes webhooks of the simulated service from now on, as soon as it runs, whichever process a payment was begun in. */
  start(): void;
  close(): void;
}

export async function openPaymentRoom(settings: PaymentSettings, ports: PaymentPorts): Promise<OpenPayments> {
  const { simulatedPayments, log } = ports;
  const { simulator } = settings;
  const gateways = await openPaymentGateways({
    settings,
    clock: ports.clock,
    simulated: async () => simulator ?? (await simulatedPayments.reach()),
  });
  const inbound = openInbound({
    ...ports,
    gatewayOf: gateways.byId,
    onFailure: (err) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  });
  return {
    gateways,
    inbound,
    start(): void {
      const reach = () => {
        if (simulator === undefined && !simulatedPayments.isUsed()) return;
        const reached = gateways.reachSimulated();
        reached.catch((err: unknown) => log.error({ err }, "the simulated payment service is not reached"));
      };
      simulatedPayments.onChange(reach);
      reach();
    },
    close: () => inbound.close(),
  };
}
