/** What operators see of documents: those that are not registered, and a month of all orgs for the supplier's return. */
import { z } from "zod";
import { type Clock, isoTime } from "../../base/clock.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import { operation } from "../../base/operation/operation.ts";
import { pageOf, pageQuery, shownPage } from "../../base/operation/page.ts";
import { MONTH_TYPES, monthAnswer, monthQuery } from "./month-export.ts";
import { OVERDUE_MS } from "./portal/registration.ts";
import type { InvoiceTables } from "./tables.ts";

export interface OperatorInvoiceDeps {
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly tables: InvoiceTables;
}

const unregisteredShape = z.object({
  id: z.string().describe("Id of the document; its job is `invoices.register` with this key"),
  org_id: z.string().describe("The org that is billed"),
  number: z.string().describe("As printed"),
  issued_at: z.string().describe("ISO 8601, UTC"),
  irn_status: z
    .enum(["pending", "failed"])
    .describe("`failed`: the portal refused it, or was away for a month"),
  overdue: z.boolean().describe("Issued more than three days ago"),
});

export const operatorInvoiceOperations = ({ clock, cursors, tables }: OperatorInvoiceDeps) => ({
  operatorListUnregistered: operation({
    summary: "Documents that the portal of e-invoices has not registered, oldest first",
    method: "GET",
    path: "/v1/operator/invoices",
    access: "operator",
    group: "Operator",
    query: z.object(pageQuery(50, 200)),
    output: pageOf(unregisteredShape),
    run({ query: { limit, cursor } }) {
      const nowMs = clock.now();
      return shownPage({
        cursors,
        asked: { limit, cursor },
        list: "operator:unregistered",
        rows: (after) => tables.unregistered(after as [number, string] | undefined),
        positionOf: ({ issuedAtMs, id }) => [issuedAtMs, id],
        show: ({ id, orgId, issuedAtMs, irnStatus }) => ({
          id,
          org_id: orgId,
          number: tables.get(orgId, id)?.number ?? "",
          irn_status: irnStatus,
          issued_at: isoTime(issuedAtMs),
          overdue: nowMs - issuedAtMs > OVERDUE_MS,
        }),
      });
    },
  }),
  operatorExportInvoices: operation({
    summary: "Documents of all orgs of a month: CSV, JSON, or the supplier's GSTR-1 return",
    method: "GET",
    path: "/v1/operator/invoices/export",
    access: "operator",
    group: "Operator",
    query: monthQuery,
    output: z.undefined(),
    otherTypes: MONTH_TYPES,
    errors: ["payload_too_large"],
    run: ({ query }) => monthAnswer(tables, query, clock.now()),
  }),
});
