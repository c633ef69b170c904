/** Opens the room of invoices: reads the supplier, draws documents in a thread, and says where documents are registered. */
import type { Logger } from "pino";
import type { openMailRoom } from "../../account/mail/open.ts";
import { creditNote } from "../../account/mail/templates/credit-note.ts";
import { invoice } from "../../account/mail/templates/invoice.ts";
import type { AccountTables } from "../../account/tables.ts";
import type { Tickets } from "../../account/tickets/tickets.ts";
import type { Clock } from "../../base/clock.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import { moneyText } from "../../billing/invoices/amount.ts";
import type { InvoiceRow } from "../../billing/invoices/invoice.ts";
import { openInvoices } from "../../billing/invoices/invoices.ts";
import { pageTitle } from "../../billing/invoices/pages/title.ts";
import { httpPortal } from "../../billing/invoices/portal/http.ts";
import type { EInvoicePortal } from "../../billing/invoices/portal/portal.ts";
import { type SupplierFile, supplierWarnings } from "../../billing/invoices/supplier.ts";
import type { Services } from "../../cluster/supervisor/services.ts";
import type { Trail } from "../../store/events/trail.ts";
import type { Jobs } from "../../store/jobs/jobs.ts";
import type { Store } from "../../store/store.ts";
import { openThread } from "../../workers/thread.ts";
import { supplierOf } from "../settings/billing-files.ts";
import { type Config, isLocalOnly } from "../settings/config.ts";

interface InvoiceGround {
  readonly store: Store;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly trail: Trail;
  readonly jobs: Jobs;
  readonly accounts: AccountTables;
  readonly tickets: Tickets;
  readonly mail: ReturnType<typeof openMailRoom>;
  readonly services: Services;
}

export function openInvoiceRoom(config: Config, log: Logger, ground: InvoiceGround) {
  const { mail, services } = ground;
  const supplier = supplierOf(config);
  for (const line of supplier === undefined ? [] : supplierWarnings(supplier)) log.warn(line);
  const thread = openThread(new URL("../../billing/invoices/pages/drawing-thread.ts", import.meta.url));
  const templateOf = ({ kind }: InvoiceRow) => (kind === "credit_note" ? creditNote : invoice);
  const invoices = openInvoices({
    ...ground,
    quotas: config.settings.quotas,
    supplier,
    mails: {
      put: (row) => void mail.toOrg.put(templateOf(row), { orgId: row.orgId, data: mailData(row) }),
      putTo: (row, to, personId) =>
        mail.putAsked(templateOf(row), { orgId: row.orgId, personId, to, data: mailData(row) }),
    },
    portal: () => portalOf(config, supplier, services),
    draw: {
      pdf: (row) => thread.run("drawPdf", row) as Promise<Uint8Array>,
      html: (row) => thread.run("drawHtml", row) as Promise<string>,
    },
    onOverdue: ({ id, orgId, number }) =>
      log.error({ id, orgId, number }, "a document is not registered as an e-invoice after three days"),
    onFailure: (err) => log.error({ err }, "what is old could not be forgotten; it is tried again"),
  });
  mail.attachesInvoices(async (orgId, id) => {
    const file = await invoices.file(orgId, id);
    return file === undefined ? undefined : { ...file, type: "application/pdf" };
  });
  return {
    ...invoices,
    supplier,
    /** After the jobs have stopped. */
    async close(): Promise<void> {
      invoices.close();
      await thread.close();
    },
  };
}

const mailData = (row: InvoiceRow) => ({
  id: row.id,
  number: row.number,
  total: moneyText(row.totalMinor, row.currency),
  supplier: row.supplier.legalName,
  title: pageTitle(row),
  issuedAtMs: row.issuedAtMs,
});

/**
 * Where documents are registered: the portal of `supplier.yaml`; without one the simulated one, and only where nobody but this
 * machine reaches the gateway: its numbers are worth nothing.
 */
async function portalOf(
  config: Config,
  supplier: SupplierFile | undefined,
  services: Services,
): Promise<EInvoicePortal | undefined> {
  const named = supplier?.e_invoice_portal?.replace(/\/$/, "");
  const url = named ?? (isLocalOnly(config) ? await services.portal() : undefined);
  return url === undefined ? undefined : httpPortal(url);
}
