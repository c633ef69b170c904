/** Opens refunds: their rows, the job that asks the payment gateway for one, and who waits for its end. */
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { type RefundDeps, refunder, sendRefund } from "./acts.ts";
import type { RefundOperationDeps } from "./refund-operations.ts";
import { RefundTables } from "./tables.ts";
import { refundWaiter } from "./waiter.ts";

export interface RefundPorts extends Omit<RefundDeps, "refunds"> {
  readonly store: Store;
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
}

export type OpenRefunds = Pick<RefundOperationDeps, "refunds" | "settled">;

/** Call before jobs start. */
export function openRefunds(ports: RefundPorts): OpenRefunds {
  const refunds = new RefundTables(ports.store);
  ports.jobs.handle(sendRefund, refunder({ ...ports, refunds }));
  return { refunds, settled: refundWaiter(ports.store) };
}
