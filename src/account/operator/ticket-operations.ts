/** Tickets as operators see and decide them. What an approval grants is done in the same act. */
import { z } from "zod";
import { fail, mustExist } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageById, pageOf } from "../../base/operation/page.ts";
import { ticketDecided } from "../account-events.ts";
import { plainText } from "../fields/text-field.ts";
import { keyWorks } from "../key.ts";
import { TICKET_STATUSES, type TicketRow, ticketShape, ticketWire } from "../tickets/ticket.ts";
import {
  askedRpm,
  decided,
  raiseRpm,
  type TicketOperationDeps,
  ticketQuery,
} from "../tickets/ticket-operations.ts";

export interface OperatorTicketDeps extends Omit<TicketOperationDeps, "plan"> {
  /** Port, in the act of the approval: writes what the ticket asks for. @throws WeirError `state` where that cannot be any more */
  readonly approveCorrection: (ticket: TicketRow) => void;
}

const decision = z.strictObject({
  status: z
    .enum(["approved", "rejected", "closed"])
    .describe("`approved` grants what is asked for, `rejected` refuses it, `closed` ends it otherwise."),
  answer: plainText(2000).default("").describe("Shown to the org"),
  rpm: askedRpm.optional().describe("Grants this instead of what was asked"),
});

export function operatorTicketOperations(deps: OperatorTicketDeps) {
  const { tickets, cursors } = deps;
  return {
    operatorListTickets: operation({
      summary: "Open tickets of all orgs, oldest first",
      method: "GET",
      path: "/v1/operator/tickets",
      access: "operator",
      group: "Operator",
      query: ticketQuery,
      output: pageOf(ticketShape),
      run({ query: { kind, limit, cursor } }) {
        return pageById({
          cursors,
          asked: { limit, cursor },
          list: "operator:tickets",
          rows: (after) => tickets.open(after),
          matches: (row) => kind === undefined || row.kind === kind,
          show: ticketWire,
        });
      },
    }),
    operatorDecideTicket: operation({
      summary:
        "Approve, reject or close a ticket; approving a limit request sets the limit, a correction writes its documents",
      method: "POST",
      path: "/v1/operator/tickets/{id}/decide",
      access: "operator",
      group: "Operator",
      params: z.object({ id: field.pathId.describe("The ticket's id.") }),
      body: decision,
      output: ticketShape.extend({ status: z.enum(TICKET_STATUSES).describe("What was decided.") }),
      errors: ["not_found", "state"],
      run: ({ params, body }, caller) => decide(deps, caller, params.id, body),
    }),
  };
}

/** The same decision again changes nothing; another one is refused. */
async function decide(
  deps: OperatorTicketDeps,
  caller: Caller,
  id: string,
  { status, answer, rpm }: z.output<typeof decision>,
) {
  const { accounts, clock, tickets, trail } = deps;
  return await accounts.act(() => {
    const old = mustExist(tickets.find(id), "ticket");
    if (old.status === status) return ticketWire(old);
    if (old.status !== "open") throw fail("state", `The ticket is ${old.status} already.`);
    const row = decided(old, status, answer, clock.now());
    tickets.put(row);
    if (status === "approved" && old.kind === "limit_increase") grantLimit(deps, caller, old, rpm);
    if (status === "approved" && old.kind === "invoice_correction") deps.approveCorrection(old);
    const wire = ticketWire(row);
    trail.audit.note(caller, {
      act: "ticket.decide",
      target: id,
      orgId: old.orgId,
      reason: answer,
      before: { status: old.status },
      after: { status },
    });
    trail.events.emit(ticketDecided, old.orgId, wire);
    return wire;
  });
}

function grantLimit(
  deps: OperatorTicketDeps,
  caller: Caller,
  ticket: TicketRow,
  granted: number | undefined,
): void {
  const key = deps.accounts.key(String(ticket.body.key_id));
  if (key === undefined || !keyWorks(key, deps.clock.now())) {
    throw fail("state", "The key does not work any more; reject or close the ticket.");
  }
  raiseRpm(deps, caller, key, granted ?? Number(ticket.body.rpm), ticket.id);
}
