/**
 * Opens the room of payments: the gateways of the settings and the hook that takes their webhooks. The simulated service is a process
 * that the settings name, or one of the machine's services.
 */
import type { Logger } from "pino";
import type { OrgRow } from "../../account/org.ts";
import type { AccountTables } from "../../account/tables.ts";
import type { Clock } from "../../base/clock.ts";
import { openPaymentGateways } from "../../billing/payments/gateways.ts";
import { openInbound } from "../../billing/payments/inbound.ts";
import type { KnownServices } from "../../cluster/supervisor/services.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";

interface PaymentGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
  readonly accounts: Pick<AccountTables, "org">;
  readonly services: Pick<KnownServices, "payments" | "state" | "onChange">;
}

export async function openPaymentRoom(config: Config, log: Logger, ground: PaymentGround) {
  const { store, clock, jobs, accounts, services } = ground;
  const { simulator } = config.payments;
  const gateways = await openPaymentGateways({
    settings: config.payments,
    clock,
    simulated: async () => simulator ?? (await services.payments()),
  });
  const inbound = openInbound({
    store,
    clock,
    jobs,
    gatewayOf: gateways.byId,
    isErased: (orgId) => isErased(accounts.org(orgId), clock.now()),
    onFailure: (err) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  });
  return {
    gateways,
    /** Billing registers what a webhook leads to by `inbound.onNotice`, before jobs start. */
    inbound,
    /** Takes webhooks of the simulated service from now on, as soon as it runs, whichever process a payment was begun in. */
    start(): void {
      const reach = () => {
        if (simulator === undefined && services.state().payments === undefined) return;
        const reached = gateways.reachSimulated();
        reached.catch((err: unknown) => log.error({ err }, "the simulated payment service is not reached"));
      };
      services.onChange(reach);
      reach();
    },
    close: () => inbound.close(),
  };
}

/** Also from the day on which the erasure is due: its job may be anywhere. */
const isErased = (org: OrgRow | undefined, nowMs: number): boolean =>
  org !== undefined &&
  (org.erasedAtMs !== undefined || (org.erasureDueAtMs !== null && org.erasureDueAtMs <= nowMs));
