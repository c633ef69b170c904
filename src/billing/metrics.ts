/** What `/metrics` says of invoices and of the books that must balance. */
import { greatest, type RoomMetrics } from "../base/metrics/sources.ts";
import type { Invoices } from "./invoices/invoices.ts";
import type { OpenReconciliation } from "./reconciliation/open.ts";

export const billingMetrics = (
  books: Pick<OpenReconciliation, "figures">,
  invoices: Pick<Invoices, "unregistered">,
): RoomMetrics => ({
  gauges: {
    weir_invoices_pending: greatest(
      "Documents that wait for the portal of e-invoices, a thousand at most.",
      () => invoices.unregistered().pending,
    ),
    weir_invoices_failed: greatest(
      "Documents that the portal of e-invoices refused, a thousand at most.",
      () => invoices.unregistered().failed,
    ),
    weir_invoices_overdue: greatest(
      "Documents that are not registered after three days, a thousand at most.",
      () => invoices.unregistered().overdue,
    ),
    weir_reconciliation_faults: greatest(
      "What did not match on the newest day that was reconciled, and was not healed.",
      () => books.figures().faults,
    ),
    weir_reconciliation_time_seconds: greatest(
      "When a day was last reconciled, Unix seconds; 0 before the first time.",
      () => books.figures().ranAtS,
    ),
  },
});
