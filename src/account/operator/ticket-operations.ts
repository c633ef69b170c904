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
  /** Port, in the act of the approval: asks for a refund of a top-up of the ticket's org. @throws WeirError 404, 409 `not_refundable` */
  readonly refund: (caller: Caller, ticket: TicketRow, asked: AskedRefund) => void;
}

/** What of a top-up goes back. */
export interface AskedRefund {
  readonly topupId: string;
  /** Before tax, in paise or cents. */
  readonly amountMinor: number;
}

/** Kinds of tickets that money may go back with. */
const REFUNDED: readonly TicketRow["kind"][] = ["refund", "close_org"];

const decision = z.strictObject({
  status: z
    .enum(["approved", "rejected", "closed"])
    .describe("`approved` grants what is asked for, `rejected` refuses it, `closed` ends it otherwise."),
  answer: plainText(2000).default("").describe("Shown to the org"),
  rpm: askedRpm.optional().describe("Grants this instead of what was asked"),
  refund: z
    .strictObject({
      topup_id: z.string().min(1).max(100).describe("A top-up of the org, as its list of top-ups has it."),
      amount_minor: z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe("Before tax, in paise or cents."),
    })
    .optional()
    .describe("Asks for this refund in the same act: of approved tickets `refund` and `close_org`."),
});

const listQuery = ticketQuery.extend({
  status: z
    .enum(TICKET_STATUSES)
    .default("open")
    .describe("Only tickets of this status. Open ones are listed oldest first, others newest first."),
  org_id: z.string().max(100).optional().describe("Only tickets of this org, newest first."),
});

export function operatorTicketOperations(deps: OperatorTicketDeps) {
  const { tickets, cursors } = deps;
  return {
    operatorListTickets: operation({
      summary: "Tickets of all orgs: open ones oldest first, others newest first",
      method: "GET",
      path: "/v1/operator/tickets",
      access: "operator",
      group: "Operator",
      query: listQuery,
      output: pageOf(ticketShape),
      run({ query: { kind, status, org_id: orgId, limit, cursor } }) {
        const isQueue = status === "open" && orgId === undefined;
        return pageById({
          cursors,
          asked: { limit, cursor },
          list: isQueue ? "operator:tickets" : `operator:tickets:${status}:${orgId ?? ""}`,
          rows(after) {
            if (orgId !== undefined) return tickets.of(orgId, after);
            return isQueue ? tickets.open(after) : tickets.all(after);
          },
          matches: (row) => row.status === status && (kind === undefined || row.kind === kind),
          show: ticketWire,
        });
      },
    }),
    operatorDecideTicket: operation({
      summary:
        "Approve, reject or close a ticket; approving sets the limit, writes a correction's documents, or refunds a top-up",
      method: "POST",
      path: "/v1/operator/tickets/{id}/decide",
      access: "operator",
      group: "Operator",
      params: z.object({ id: field.pathId.describe("The ticket's id.") }),
      body: decision,
      output: ticketShape.extend({ status: z.enum(TICKET_STATUSES).describe("What was decided.") }),
      errors: ["not_found", "state", "not_refundable"],
      run: ({ params, body }, caller) => decide(deps, caller, params.id, body),
    }),
  };
}

/** The same decision again changes nothing; another one is refused. */
async function decide(
  deps: OperatorTicketDeps,
  caller: Caller,
  id: string,
  { status, answer, rpm, refund }: z.output<typeof decision>,
) {
  const { accounts, clock, tickets, trail } = deps;
  return await accounts.act(() => {
    const old = mustExist(tickets.find(id), "ticket");
    if (old.status === status) return ticketWire(old);
    if (old.status !== "open") throw fail("state", `The ticket is ${old.status} already.`);
    if (refund !== undefined && (status !== "approved" || !REFUNDED.includes(old.kind)))
      throw fail("invalid_value", "Only an approved refund or closure refunds a top-up.", {
        param: "/refund",
      });
    const row = decided(old, status, answer, clock.now());
    tickets.put(row);
    if (status === "approved" && old.kind === "limit_increase") grantLimit(deps, caller, old, rpm);
    if (status === "approved" && old.kind === "invoice_correction") deps.approveCorrection(old);
    if (refund !== undefined)
      deps.refund(caller, old, { topupId: refund.topup_id, amountMinor: refund.amount_minor });
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
