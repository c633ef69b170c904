/**
 * The room's interface: issues documents, registers them, shows and sends them. What it asks of others comes by ports: mails, a
 * thread that draws, the registration portal.
 */

import type { AccountTables } from "../../account/tables.ts";
import type { TicketRow } from "../../account/tickets/ticket.ts";
import type { Tickets } from "../../account/tickets/tickets.ts";
import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import type { Quotas } from "../../base/quota.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { DayCounts } from "../../store/tables/day-counts.ts";
import { approveCorrection } from "./corrections/correction-operations.ts";
import type { InvoiceRow } from "./invoice.ts";
import { invoiceOperations } from "./invoice-operations.ts";
import { Issuer } from "./issuer.ts";
import { operatorInvoiceOperations } from "./operator-invoice-operations.ts";
import { fileName } from "./own-invoice.ts";
import type { EInvoicePortal } from "./portal/portal.ts";
import { invoiceRegistrar, OVERDUE_MS, registerInvoice } from "./portal/registration.ts";
import { Series } from "./series.ts";
import type { SupplierFile } from "./supplier.ts";
import { InvoiceTables } from "./tables.ts";

export interface InvoicesOptions {
  readonly quotas: Quotas;
  readonly store: Store;
  readonly clock: Clock;
  readonly trail: Trail;
  readonly jobs: Pick<Jobs, "enqueue" | "handle">;
  readonly accounts: AccountTables;
  readonly tickets: Tickets;
  readonly cursors: Cursors;
  /** Who sells, by `supplier.yaml`; without a supplier nothing can be sold, and what was sold is still shown. */
  readonly supplier: SupplierFile | undefined;
  readonly mails: InvoiceMails;
  /** The portal, which each registration asks for anew; undefined where none is configured. */
  readonly portal: () => Promise<EInvoicePortal | undefined>;
  /** Draws in a thread, by `drawing-thread.ts`. */
  readonly draw: {
    pdf(row: InvoiceRow): Promise<Uint8Array>;
    html(row: InvoiceRow): Promise<string>;
  };
  /** A document that is not registered after three days; for the operator's log. */
  readonly onOverdue: (row: InvoiceRow) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Each only in an act. */
export interface InvoiceMails {
  /** To those who answer for the org. */
  put(row: InvoiceRow): void;
  putTo(row: InvoiceRow, to: string, askedBy: string): void;
}

/** A document as a file. */
export interface InvoiceFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A PDF takes some tenths of a second in the one thread; a task that waits for a minute fails. */
const MOST_DRAWN = 64;
/** Counted at most for `/metrics`. */
const MOST_COUNTED = 1000;

export interface Invoices {
  readonly issuer: Issuer;
  readonly tables: InvoiceTables;
  readonly operations: ReturnType<typeof invoiceOperations> & ReturnType<typeof operatorInvoiceOperations>;
  /** For mails. Undefined where there is no such document. */
  file(orgId: string, id: string): Promise<InvoiceFile | undefined>;
  /** Only in an act, that of the ticket's approval. @throws WeirError `state` where it cannot be corrected any more */
  approveCorrection(ticket: TicketRow): ReturnType<typeof approveCorrection>;
  /** Documents that are not registered, a thousand at most. */
  unregistered(): UnregisteredCounts;
  close(): void;
}

/** Documents by how they stand with the portal of e-invoices; those that are overdue are among the others. */
export interface UnregisteredCounts {
  readonly pending: number;
  readonly failed: number;
  readonly overdue: number;
}

/** Call before `jobs.start`. */
export function openInvoices(options: InvoicesOptions): Invoices {
  const { store, clock, jobs, mails, trail } = options;
  const tables = new InvoiceTables(store);
  const series = new Series(store);
  const issuer = new Issuer({ ...options, tables, series, events: trail.events, putMail: mails.put });
  const resent = new DayCounts({ ...options, rows: "invoices.resent", periods: "invoices.resent_days" });
  jobs.handle(registerInvoice, invoiceRegistrar({ ...options, tables, putMail: mails.put }));
  const drawn = new Bound();
  const pdf = (row: InvoiceRow) => drawn.run(() => options.draw.pdf(row));
  const html = (row: InvoiceRow) => drawn.run(() => options.draw.html(row));
  return {
    issuer,
    tables,
    operations: {
      ...invoiceOperations({ ...options, tables, resent, pdf, html, putMailTo: mails.putTo }),
      ...operatorInvoiceOperations({ ...options, tables }),
    },
    async file(orgId, id) {
      const row = tables.get(orgId, id);
      return row === undefined ? undefined : { name: fileName(row), bytes: await pdf(row) };
    },
    approveCorrection: (ticket) =>
      approveCorrection({ accounts: options.accounts, tables, issuer }, ticket, clock.now()),
    unregistered: () => unregisteredCounts(tables, clock.now()),
    close: () => resent.close(),
  };
}

/** At most so many wait for the thread. */
class Bound {
  #waiting = 0;

  /** @throws WeirError `gateway_unavailable` */
  async run<T>(draw: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MOST_DRAWN)
      throw fail("gateway_unavailable", "Too many documents are asked for. Ask again shortly.");
    this.#waiting++;
    try {
      return await draw();
    } finally {
      this.#waiting--;
    }
  }
}

function unregisteredCounts(tables: InvoiceTables, nowMs: number): UnregisteredCounts {
  const counts = { pending: 0, failed: 0, overdue: 0 };
  let read = 0;
  for (const { irnStatus, issuedAtMs } of tables.unregistered()) {
    counts[irnStatus]++;
    if (nowMs - issuedAtMs > OVERDUE_MS) counts.overdue++;
    if (++read === MOST_COUNTED) break;
  }
  return counts;
}
