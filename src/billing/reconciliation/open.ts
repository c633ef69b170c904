/** Opens reconciliation over the books of billing, credits and invoices. Without a payment gateway our own books are compared with each other. */
import type { Logger } from "pino";
import type { AccountTables } from "../../account/tables.ts";
import type { Book } from "../../credits/ledger/book.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import { openFaults } from "./finding.ts";
import { reconcile, reconcileOrder, reconciler } from "./job.ts";
import { Reconciliation, type ReconciliationDeps } from "./reconciliation.ts";

export interface ReconciliationPorts
  extends Omit<ReconciliationDeps, "ledger" | "orgIds" | "onFaults" | "onFailure"> {
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
  readonly accounts: Pick<AccountTables, "orgsNewestFirst">;
  readonly book: Book;
  readonly log: Logger;
}

export interface OpenReconciliation {
  readonly reconciliation: Reconciliation;
  /** Before the jobs start. Puts the one job of the installation, if it is not there. */
  handleJobs(): Promise<void>;
  /** For metrics: faults of the newest report that were not healed; and when it was made, Unix seconds, 0 before the first. */
  figures(): { readonly faults: number; readonly ranAtS: number };
  close(): void;
}

export function openReconciliation(ports: ReconciliationPorts): OpenReconciliation {
  const { store, clock, jobs, accounts, log } = ports;
  const reconciliation = new Reconciliation({
    ...ports,
    ledger: ports.book,
    *orgIds(after) {
      for (const { id } of accounts.orgsNewestFirst(after)) yield id;
    },
    onFaults: ({ day, counts }, faults) =>
      log.error({ day, counts, faults: faults.length }, "the books of a day do not match: weir reconcile"),
    onFailure: (err) => log.warn({ err }, "a finding of the reconciliation could not be healed"),
  });
  return {
    reconciliation,
    async handleJobs(): Promise<void> {
      jobs.handle(reconcile, reconciler(reconciliation, clock));
      await store.act(() => jobs.enqueue(reconcile, reconcileOrder(clock.now())), { isOwed: true });
    },
    figures() {
      const report = reconciliation.newest();
      if (report === undefined) return { faults: 0, ranAtS: 0 };
      return { faults: openFaults(report).length, ranAtS: Math.floor(report.ranAtMs / 1000) };
    },
    close: () => reconciliation.close(),
  };
}
