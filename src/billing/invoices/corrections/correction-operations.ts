/**
 * Corrections of a GSTIN. An invoice does not change once it is issued: a ticket asks the operator, and its approval writes a
 * credit note over what is left of the invoice and a new invoice over the same amount, in one act.
 */
import { z } from "zod";
import { stateLabel } from "../../../account/fields/gst-states.ts";
import { gstinField } from "../../../account/fields/gstin.ts";
import { plainText } from "../../../account/fields/text-field.ts";
import type { BillingAddress } from "../../../account/org.ts";
import { assertMayChange } from "../../../account/scopes.ts";
import type { AccountTables } from "../../../account/tables.ts";
import { newTicket, type TicketRow, ticketShape, ticketWire } from "../../../account/tickets/ticket.ts";
import { emailOf, type Tickets } from "../../../account/tickets/tickets.ts";
import type { Clock } from "../../../base/clock.ts";
import { fail } from "../../../base/errors.ts";
import * as field from "../../../base/operation/fields.ts";
import { type Caller, operation } from "../../../base/operation/operation.ts";
import type { Trail } from "../../../store/events/trail.ts";
import type { Store } from "../../../store/store.ts";
import type { InvoiceRow } from "../invoice.ts";
import type { Issuer } from "../issuer.ts";
import { ownInvoice } from "../own-invoice.ts";
import type { InvoiceTables } from "../tables.ts";
import { addressFor, correctedOrders } from "./correction.ts";

export interface CorrectionDeps {
  readonly store: Pick<Store, "act">;
  readonly clock: Clock;
  readonly tables: InvoiceTables;
  readonly accounts: AccountTables;
  readonly tickets: Tickets;
  readonly trail: Trail;
}

const gstin = gstinField.refine((text) => text !== "", "a GSTIN has 15 characters");

export const correctionOperation = (deps: CorrectionDeps) => ({
  correctInvoice: operation({
    summary: "Ask for an invoice with another GSTIN; the operator decides",
    method: "POST",
    path: "/v1/invoices/{id}/correction",
    access: "write:billing / billing",
    group: "Invoices",
    params: z.object({ id: field.pathId }),
    body: z.strictObject({
      gstin: gstin.describe("The GSTIN that the invoice should bear"),
      reason: plainText(2000).min(1, "say why").describe("Why; who decides reads it"),
    }),
    output: z.object({
      status: z.literal("ticket").describe("The operator decides"),
      ticket: ticketShape.describe("What was asked for"),
    }),
    status: 201,
    errors: ["not_found", "state", "plan_limit"],
    run: ({ params, body }, caller) => ask(deps, caller, params.id, body),
  }),
});

/** Asked again while it is open: the same ticket. */
async function ask(
  { store, clock, tables, accounts, tickets, trail }: CorrectionDeps,
  caller: Caller,
  id: string,
  { gstin, reason }: { readonly gstin: string; readonly reason: string },
) {
  assertMayChange(caller, "live");
  return await store.act(() => {
    const row = ownInvoice(tables, caller, id);
    addressOf(accounts, row, gstin);
    const open = openTicket(tickets, row, gstin);
    if (open !== undefined) return { status: "ticket" as const, ticket: ticketWire(open) };
    const ticket = newTicket(
      {
        orgId: caller.orgId,
        kind: "invoice_correction",
        subject: `GSTIN ${gstin} on ${row.number}`,
        body: { invoice_id: row.id, gstin, reason },
        createdBy: emailOf(accounts, caller),
      },
      clock.now(),
    );
    tickets.add(caller, ticket);
    const wire = ticketWire(ticket);
    trail.audit.note(caller, { act: "ticket.create", target: ticket.id, after: wire });
    return { status: "ticket" as const, ticket: wire };
  });
}

/** @returns the address of the new invoice. @throws WeirError `state`, or `invalid_value` for the GSTIN */
function addressOf(accounts: Pick<AccountTables, "org">, row: InvoiceRow, gstin: string): BillingAddress {
  assertCorrectable(row, gstin);
  const address = addressFor(gstin, row.recipient.address, accounts.org(row.orgId)?.billingAddress);
  if (address !== undefined) return address;
  const message = `The GSTIN is of ${stateLabel(gstin.slice(0, 2))}, and neither the invoice nor the org has an address there. Change the org's billing address first.`;
  throw fail("invalid_value", message, { param: "/gstin" });
}

/** @throws WeirError `state`, or `invalid_value` for the GSTIN */
function assertCorrectable(row: InvoiceRow, gstin: string): void {
  if (row.kind !== "tax_invoice" || row.recipient.address.country !== "IN")
    throw fail("state", "Only tax invoices to recipients in India bear a GSTIN of the recipient.");
  if (row.treatment.kind !== "intra" && row.treatment.kind !== "inter")
    throw fail(
      "state",
      "It was billed without tax as a supply to a special economic zone. Open a ticket instead.",
    );
  if (row.status === "credited") throw fail("state", "Nothing is left of it: all of it was credited.");
  if (row.supplier.gstin === gstin)
    throw fail("invalid_value", "This GSTIN is that of the supplier.", { param: "/gstin" });
  if (row.recipient.gstin === gstin)
    throw fail("invalid_value", "The invoice bears this GSTIN already.", { param: "/gstin" });
}

/** Tickets are bounded: at most a hundred of an org are open. */
function openTicket(tickets: Tickets, row: InvoiceRow, gstin: string): TicketRow | undefined {
  let seen = 0;
  for (const ticket of tickets.of(row.orgId)) {
    if (++seen > 500) return undefined;
    const { status, kind, body } = ticket;
    if (status !== "open" || kind !== "invoice_correction") continue;
    if (body.invoice_id === row.id && body.gstin === gstin) return ticket;
  }
  return undefined;
}

/**
 * Only in an act, that of the approval. @returns ids of the credit note and of the invoice that takes the place of the old one
 * @throws WeirError `state` where it cannot be corrected any more; then nothing may be put
 */
export function approveCorrection(
  { accounts, tables, issuer }: Pick<CorrectionDeps, "accounts" | "tables"> & { readonly issuer: Issuer },
  ticket: TicketRow,
  nowMs: number,
): { readonly creditNote: InvoiceRow; readonly invoice: InvoiceRow } {
  const gstin = String(ticket.body.gstin);
  const row = tables.get(ticket.orgId, String(ticket.body.invoice_id));
  if (row === undefined) throw fail("state", "There is no such invoice any more; reject the ticket.");
  const address = addressOf(accounts, row, gstin);
  const { note, invoice: order } = correctedOrders(row, gstin, ticket.id, address, (recipient) =>
    issuer.treatmentOf(recipient, nowMs),
  );
  const creditNote = issuer.issue(note);
  const invoice = issuer.issue(order);
  const old = tables.get(row.orgId, row.id);
  if (old !== undefined) tables.put({ ...old, replacedById: invoice.id });
  return { creditNote, invoice };
}
