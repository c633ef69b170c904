/** The room over a real store whose acts run twice, a clock set by hand, and real jobs. */

import { newOrg } from "../../../../src/account/org.ts";
import { AccountTables } from "../../../../src/account/tables.ts";
import { Tickets } from "../../../../src/account/tickets/tickets.ts";
import { systemRandom, systemTimers } from "../../../../src/base/clock.ts";
import { cursors } from "../../../../src/base/operation/cursor.ts";
import { USUAL_QUOTAS } from "../../../../src/base/quota.ts";
import type { InvoiceOrder, InvoiceRow } from "../../../../src/billing/invoices/invoice.ts";
import { openInvoices } from "../../../../src/billing/invoices/invoices.ts";
import { drawHtml, drawPdf } from "../../../../src/billing/invoices/pages/drawing-thread.ts";
import type { EInvoicePortal } from "../../../../src/billing/invoices/portal/portal.ts";
import type { SupplierFile } from "../../../../src/billing/invoices/supplier.ts";
import { Jobs } from "../../../../src/store/jobs/jobs.ts";
import { ManualClock, tempStore } from "../../../support/credits/fixtures.ts";
import { AT_MS, orderOf, SUPPLIER } from "../../../support/invoices/rows.ts";
import { trailOn } from "../../../support/trail.fixtures.ts";

export interface RoomOptions {
  readonly supplier?: SupplierFile;
  /** True unless told. */
  readonly hasSupplier?: boolean;
  readonly portal?: EInvoicePortal;
}

export function openRoom(options: RoomOptions = {}) {
  const { portal } = options;
  const supplier = options.hasSupplier === false ? undefined : (options.supplier ?? SUPPLIER);
  const clock = new ManualClock(new Date(AT_MS).toISOString());
  const files = tempStore();
  const { store } = files;
  const trail = trailOn(store, clock);
  /** Runs that fail are told of; they are what some tests are about. */
  const jobs = new Jobs({
    store,
    clock,
    timers: systemTimers,
    random: systemRandom,
    holder: "tests",
    onFailure: () => {},
    // Timers do not follow the clock that is set by hand: jobs look often whether something has become due.
    longestWaitMs: 20,
  });
  const accounts = new AccountTables(store);
  const tickets = new Tickets(store);
  /** Documents that were mailed; an act that runs twice mails in its second run, whose rows count. */
  const mails = store.table<{ id: string; to: string }>("tests.mails");
  const overdue: string[] = [];
  const invoices = openInvoices({
    store,
    clock,
    accounts,
    tickets,
    supplier,
    trail: trail.trail,
    jobs,
    cursors: cursors(new Uint8Array(32)),
    quotas: USUAL_QUOTAS,
    mails: {
      put: ({ id }) => mails.put([id, "org"], { id, to: "org" }),
      putTo: ({ id }, to) => mails.put([id, to], { id, to }),
    },
    portal: async () => portal,
    draw: { pdf: drawPdf, html: async (row) => drawHtml(row) },
    onOverdue: ({ number }) => overdue.push(number),
    onFailure: (error) => {
      // A table that a test left open sweeps on after its store was closed.
      if (!String(error).includes("closed database")) throw error;
    },
  });
  return {
    clock,
    store,
    trail,
    jobs,
    accounts,
    tickets,
    invoices,
    overdue,
    issue: (order: InvoiceOrder = orderOf()): Promise<InvoiceRow> =>
      store.act(() => invoices.issuer.issue(order)),
    mailed: () => Array.from(mails.range(), ({ value }) => value),
    addOrg: (id: string, differing: object = {}) =>
      store.act(() => {
        const given = { slug: id.replace("_", "-"), name: id, kind: "team", billingCountry: "IN" } as const;
        accounts.addOrg({ ...newOrg({ ...given, planId: "local" }, clock.now()), id, ...differing });
      }),
    async dispose() {
      await jobs.stop();
      invoices.close();
      trail.close();
      await files.dispose();
    },
  };
}

export type Room = ReturnType<typeof openRoom>;

/** A credit note over a part of an invoice. */
export function noteOf(room: Room, original: InvoiceRow, partMinor: number, id: string): InvoiceOrder {
  const share = room.invoices.issuer.creditShare(original.orgId, original.id, partMinor);
  const { orgId, currency, rate, topupId } = original;
  return {
    orgId,
    currency,
    rate,
    kind: "credit_note",
    taxableMinor: partMinor,
    ...share,
    ...(topupId !== undefined && { topupId }),
    reference: { type: "refund", id },
    lines: [
      {
        description: "Refund of prepaid credit",
        kind: "credits",
        quantity: 1,
        unitMinor: partMinor,
        amountMinor: partMinor,
      },
    ],
  };
}
