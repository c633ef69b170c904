/** Operations on an org's documents: list, read, as PDF and as a page, sent again, corrected, exported by month. */
import { z } from "zod";
import { raw } from "../../base/operation/answer.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import { type CorrectionDeps, correctionOperation } from "./corrections/correction-operations.ts";
import { documentShape, documentWire } from "./document-wire.ts";
import type { InvoiceRow } from "./invoice.ts";
import { MONTH_TYPES, monthAnswer, monthQuery } from "./month-export.ts";
import { fileName, ownInvoice } from "./own-invoice.ts";
import { type ResendDeps, resendOperation } from "./resend-operations.ts";
import { invoiceShape, invoiceWire } from "./wire.ts";

export interface InvoiceOperationDeps extends CorrectionDeps, ResendDeps {
  readonly cursors: Cursors;
  /** Both draw beside the event loop. @throws WeirError `gateway_unavailable` where too many wait */
  readonly pdf: (row: InvoiceRow) => Promise<Uint8Array>;
  readonly html: (row: InvoiceRow) => Promise<string>;
}

const byId = z.object({ id: field.pathId });

export const invoiceOperations = (deps: InvoiceOperationDeps) => ({
  listInvoices: operation({
    summary: "The org's invoices, statements and credit notes, newest first",
    method: "GET",
    path: "/v1/invoices",
    access: "read:billing / billing",
    group: "Invoices",
    query: z.object(pageQuery(50, 200)),
    output: pageOf(invoiceShape),
    run({ query: { limit, cursor } }, { orgId }) {
      return pageById({
        cursors: deps.cursors,
        asked: { limit, cursor },
        list: `invoices:${orgId}`,
        rows: (after) => deps.tables.of(orgId, after),
        show: invoiceWire,
      });
    },
  }),
  getInvoice: operation({
    summary: "Read an invoice, a statement or a credit note",
    method: "GET",
    path: "/v1/invoices/{id}",
    access: "read:billing / billing",
    group: "Invoices",
    params: byId,
    output: invoiceShape,
    errors: ["not_found"],
    run: ({ params }, caller) => invoiceWire(ownInvoice(deps.tables, caller, params.id)),
  }),
  getInvoiceDocument: operation({
    summary: "The texts of a document as it prints, for who draws it: those of its page and its PDF",
    method: "GET",
    path: "/v1/invoices/{id}/document",
    access: "read:billing / billing",
    group: "Invoices",
    params: byId,
    output: documentShape,
    errors: ["not_found"],
    run: ({ params }, caller) => documentWire(ownInvoice(deps.tables, caller, params.id)),
  }),
  ...drawnOperations(deps),
  exportInvoices: operation({
    summary:
      "The org's documents of a month for an accountant: CSV, JSON, or in the shape of the GSTR-1 return",
    method: "GET",
    path: "/v1/invoices/export",
    access: "read:billing / billing",
    group: "Invoices",
    query: monthQuery,
    output: z.undefined(),
    otherTypes: MONTH_TYPES,
    errors: ["payload_too_large"],
    run: ({ query }, { orgId }) => monthAnswer(deps.tables, query, deps.clock.now(), orgId),
  }),
  ...resendOperation(deps),
  ...correctionOperation(deps),
});

/** The document itself. */
const drawnOperations = (deps: InvoiceOperationDeps) => ({
  getInvoicePdf: operation({
    summary: "The document as PDF; the same bytes each time until it is registered as an e-invoice",
    method: "GET",
    path: "/v1/invoices/{id}/pdf",
    access: "read:billing / billing",
    group: "Invoices",
    params: byId,
    output: z.undefined(),
    otherTypes: ["application/pdf"],
    errors: ["not_found", "gateway_unavailable"],
    async run({ params }, caller) {
      const row = ownInvoice(deps.tables, caller, params.id);
      return raw("application/pdf", await deps.pdf(row), {
        headers: { "content-disposition": `inline; filename="${fileName(row)}"` },
      });
    },
  }),
  getInvoiceHtml: operation({
    summary: "The document as a page; it shows the same texts as the PDF",
    method: "GET",
    path: "/v1/invoices/{id}/html",
    access: "read:billing / billing",
    group: "Invoices",
    params: byId,
    output: z.undefined(),
    otherTypes: ["text/html"],
    errors: ["not_found", "gateway_unavailable"],
    async run({ params }, caller) {
      const page = await deps.html(ownInvoice(deps.tables, caller, params.id));
      return raw("text/html; charset=utf-8", page);
    },
  }),
});
