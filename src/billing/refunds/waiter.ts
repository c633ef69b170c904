/** Waits for a row to leave a state, without polling: what changed is told by the store. */
import type { Store } from "../../store/store.ts";
import type { RefundRow } from "./refund.ts";

/** @returns resolves when the refund is not pending any more, or after the time */
export function refundWaiter(store: Store): (refundId: string, withinMs: number) => Promise<void> {
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
