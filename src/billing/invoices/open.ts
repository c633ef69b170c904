/** Opens the room of invoices: draws documents in a thread, mails them, and says where they are registered. */
import type { Logger } from "pino";
import type { OpenMail } from "../../account/mail/open.ts";
import { creditNote } from "../../account/mail/templates/credit-note.ts";
import { invoice } from "../../account/mail/templates/invoice.ts";
import { moneyText } from "../../base/currency.ts";
import type { Quotas } from "../../base/quota.ts";
import { openThread } from "../../workers/thread.ts";
import type { InvoiceRow } from "./invoice.ts";
import { type Invoices, type InvoicesOptions, openInvoices } from "./invoices.ts";
import { pageTitle } from "./pages/title.ts";
import { httpPortal } from "./portal/http.ts";
import type { EInvoicePortal } from "./portal/portal.ts";
import { type SupplierFile, supplierWarnings } from "./supplier.ts";

export interface InvoiceSettings {
  /** Who sells, by `supplier.yaml`; without a supplier nothing can be sold, and what was sold is still shown. */
  readonly supplier: SupplierFile | undefined;
  readonly quotas: Quotas;
  /** Only this machine reaches the gateway. */
  readonly isLocalOnly: boolean;
}

export interface InvoicePorts
  extends Pick<InvoicesOptions, "store" | "clock" | "trail" | "jobs" | "accounts" | "tickets" | "cursors"> {
  /** Sends documents, and asks for their files. */
  readonly mail: Pick<OpenMail, "toOrg" | "putAsked" | "attachesInvoices">;
  /** Base URL of the machine's own simulated portal of e-invoices, which it starts; undefined where the machine has none. */
  readonly simulatedPortal: () => Promise<string | undefined>;
  readonly log: Logger;
}

export interface OpenInvoices extends Omit<Invoices, "close"> {
  /** After the jobs have stopped. */
  close(): Promise<void>;
}

/** Call before the jobs start. */
export function openInvoiceRoom(settings: InvoiceSettings, ports: InvoicePorts): OpenInvoices {
  const { supplier, quotas } = settings;
  const { mail, log } = ports;
  for (const line of supplier === undefined ? [] : supplierWarnings(supplier)) log.warn(line);
  const thread = openThread(new URL("./pages/drawing-thread.ts", import.meta.url));
  const templateOf = ({ kind }: InvoiceRow) => (kind === "credit_note" ? creditNote : invoice);
  const invoices = openInvoices({
    ...ports,
    quotas,
    supplier,
    mails: {
      put: (row) => void mail.toOrg.put(templateOf(row), { orgId: row.orgId, data: mailData(row) }),
      putTo: (row, to, personId) =>
        mail.putAsked(templateOf(row), { orgId: row.orgId, personId, to, data: mailData(row, true) }),
    },
    portal: () => portalOf(settings, ports),
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
    async close(): Promise<void> {
      invoices.close();
      await thread.close();
    },
  };
}

/** @param isCopy it goes to an address that somebody of the org chose */
const mailData = (row: InvoiceRow, isCopy = false) => ({
  id: row.id,
  number: row.number,
  total: moneyText(row.totalMinor, row.currency),
  supplier: row.supplier.legalName,
  title: pageTitle(row),
  issuedAtMs: row.issuedAtMs,
  isCopy,
  isFromCredit: row.kind === "statement",
});

/**
 * Where documents are registered: the portal of `supplier.yaml`; without one the simulated one, and only where this machine alone
 * reaches the gateway: its numbers are worth nothing.
 */
async function portalOf(
  { supplier, isLocalOnly }: InvoiceSettings,
  { simulatedPortal }: InvoicePorts,
): Promise<EInvoicePortal | undefined> {
  const named = supplier?.e_invoice_portal?.replace(/\/$/, "");
  const url = named ?? (isLocalOnly ? await simulatedPortal() : undefined);
  return url === undefined ? undefined : httpPortal(url);
}
