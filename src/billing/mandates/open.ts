/** Opens mandates: what runs their jobs, their operations, and what a webhook or a dispute does to one. */
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { PaymentGateway } from "../payments/gateway.ts";
import type { NoticeEnding } from "../payments/inbound.ts";
import { endMandate, watchMandate } from "./jobs.ts";
import { type MandateOperationDeps, mandateOperations } from "./mandate-operations.ts";
import { pauseMandate } from "./moves.ts";
import { type MandateWatchDeps, mandateEnder, mandateWatcher, onMandate } from "./watch.ts";

export interface MandatePorts extends Omit<MandateOperationDeps, "mandateLooks"> {
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
}

export interface OpenMandates {
  readonly mandateLooks: MandateWatchDeps["mandateLooks"];
  readonly operations: ReturnType<typeof mandateOperations>;
  /** A webhook tells of one. @throws GatewayError for another try */
  onMandate(gateway: PaymentGateway, ref: string, signal: AbortSignal): Promise<NoticeEnding | undefined>;
  /** Only in an act: a payment of the org is disputed, or may be fraud. */
  onDispute(orgId: string): void;
}

/** Call before jobs start. */
export function openMandates(ports: MandatePorts): OpenMandates {
  const mandateLooks = new Map() as MandateWatchDeps["mandateLooks"];
  const deps = { ...ports, mandateLooks };
  ports.jobs.handle(watchMandate, mandateWatcher(deps));
  ports.jobs.handle(endMandate, mandateEnder(deps));
  return {
    mandateLooks,
    operations: mandateOperations(deps),
    onMandate: (gateway, ref, signal) => onMandate(deps, gateway, ref, signal),
    onDispute: (orgId) => pauseMandate(deps, orgId, "dispute"),
  };
}
