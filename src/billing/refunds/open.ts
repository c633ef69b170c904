/** Opens refunds: their rows, the job that asks the payment gateway for one, and who waits for its end. */
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { type RefundDeps, refunder, sendRefund } from "./acts.ts";
import type { RefundRow } from "./refund.ts";
import type { RefundOperationDeps } from "./refund-operations.ts";
import { RefundTables } from "./tables.ts";

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

/** Waits for the end of a refund without polling: the store tells what changed. It resolves after the time too. */
function refundWaiter(store: Store): (refundId: string, withinMs: number) => Promise<void> {
  const waiting = new Map<string, Set<() => void>>();
  const refunds = store.table<RefundRow>("billing.refunds");
  refunds.watch((_key, row) => {
    if (row === undefined || row.status === "pending") return;
    for (const wake of waiting.get(row.id) ?? []) wake();
  });
  return (refundId, withinMs) =>
    new Promise((resolve) => {
      const wakers = waiting.get(refundId) ?? new Set();
      const wake = () => {
        clearTimeout(timer);
        wakers.delete(wake);
        if (wakers.size === 0) waiting.delete(refundId);
        resolve();
      };
      const timer = setTimeout(wake, withinMs).unref();
      wakers.add(wake);
      waiting.set(refundId, wakers);
    });
}
