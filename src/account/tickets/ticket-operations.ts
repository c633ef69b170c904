/** Operations on tickets, and requests for higher limits, which are tickets that may be approved at once. */
import { z } from "zod";
import type { Clock } from "../../base/clock.ts";
import { fail, mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import type { Trail } from "../../store/events/trail.ts";
import { limitsChanged, ticketDecided } from "../account-events.ts";
import { plainText } from "../fields/text-field.ts";
import { type KeyLimits, type KeyRow, keyWorks, limitsShape } from "../key.ts";
import { assertNotOfPlayground } from "../keys/playground-key.ts";
import { mostOf, type PlanPort } from "../plan-limits.ts";
import { assertMayActOn } from "../scopes.ts";
import type { AccountTables } from "../tables.ts";
import {
  newTicket,
  TICKET_KINDS,
  TICKET_STATUSES,
  type TicketRow,
  ticketShape,
  ticketWire,
} from "./ticket.ts";
import { emailOf, type Tickets } from "./tickets.ts";

export interface TicketOperationDeps {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly plan: PlanPort;
  readonly tickets: Tickets;
  readonly trail: Trail;
}

const reason = plainText(2000);
/** Requests a minute that a ticket asks for or grants: above the bound they are a mistake. */
export const askedRpm = z.int().min(1).max(1_000_000_000);

/** What lists of tickets are asked for with. */
export const ticketQuery = z.object({
  kind: z.enum(TICKET_KINDS).optional().describe("Only tickets of this kind."),
  ...pageQuery(50, 200),
});

export function ticketOperations(deps: TicketOperationDeps) {
  return {
    listTickets: operation({
      summary: "The org's tickets, newest first",
      method: "GET",
      path: "/v1/tickets",
      access: "read:org / everyone",
      group: "Tickets",
      query: ticketQuery,
      output: pageOf(ticketShape),
      run: ({ query }, caller) => listTickets(deps, caller, query),
    }),
    createTicket: operation({
      summary: "Ask the operator for something",
      method: "POST",
      path: "/v1/tickets",
      access: "write:org / everyone",
      group: "Tickets",
      isForClosed: true,
      body: z.strictObject({
        kind: z.enum(["refund", "other"]).default("other").describe("Other kinds have routes of their own"),
        subject: plainText(200).min(1).describe("What it is about, in one line of 200 characters at most."),
        message: plainText(10_000)
          .default("")
          .describe("What is asked for, 10,000 characters at most; the ticket has it in `body.message`."),
      }),
      output: ticketShape,
      status: 201,
      errors: ["plan_limit"],
      run: ({ body }, caller) => createTicket(deps, caller, body),
    }),
    getTicket: operation({
      summary: "Read a ticket",
      method: "GET",
      path: "/v1/tickets/{id}",
      access: "read:org / everyone",
      group: "Tickets",
      params: z.object({ id: z.string().describe("The ticket's id.") }),
      output: ticketShape,
      errors: ["not_found"],
      run: ({ params }, { orgId }) => ticketWire(mustExist(deps.tickets.get(orgId, params.id), "ticket")),
    }),
    ...limitRequestOperations(deps),
  };
}

function limitRequestOperations(deps: TicketOperationDeps) {
  return {
    listLimitRequests: operation({
      summary: "The org's requests for higher limits, newest first",
      method: "GET",
      path: "/v1/limits/requests",
      access: "read:keys / viewer",
      group: "Tickets",
      query: z.object(pageQuery(50, 200)),
      output: pageOf(ticketShape),
      run: ({ query }, caller) => listTickets(deps, caller, { ...query, kind: "limit_increase" }),
    }),
    requestLimits: operation({
      summary:
        "Ask for more requests a minute than the plan gives a key; up to a multiple of the plan at once",
      method: "POST",
      path: "/v1/limits/requests",
      access: "write:keys / member",
      group: "Tickets",
      body: z.strictObject({
        key_id: z.string().min(1).max(100).describe("The key's id."),
        rpm: askedRpm.describe("Requests a minute for the key: more than it has now"),
        reason: reason.default("").describe("What for, 2,000 characters at most; who decides reads it."),
      }),
      output: z.object({
        status: z.enum(TICKET_STATUSES).describe("The ticket's"),
        applied: limitsShape.required().describe("The key's limits in force now"),
        ticket: ticketShape.describe("What the request became: decided already, or open."),
      }),
      status: 201,
      errors: ["scope", "role", "state", "plan_limit"],
      run: ({ body }, caller) => requestLimits(deps, caller, body),
    }),
  };
}

function listTickets(
  { tickets, cursors }: TicketOperationDeps,
  { orgId }: Caller,
  { kind, limit, cursor }: z.output<typeof ticketQuery>,
) {
  return pageById({
    cursors,
    asked: { limit, cursor },
    list: `tickets:${orgId}`,
    rows: (after) => tickets.of(orgId, after),
    matches: (row) => kind === undefined || row.kind === kind,
    show: ticketWire,
  });
}

async function createTicket(
  deps: TicketOperationDeps,
  caller: Caller,
  { kind, subject, message }: { kind: "refund" | "other"; subject: string; message: string },
) {
  const { accounts, clock, tickets, trail } = deps;
  return await accounts.act(() => {
    const createdBy = emailOf(accounts, caller);
    const row = newTicket({ orgId: caller.orgId, kind, subject, body: { message }, createdBy }, clock.now());
    tickets.add(caller, row);
    const wire = ticketWire(row);
    trail.audit.note(caller, { act: "ticket.create", target: row.id, after: wire });
    return wire;
  });
}

async function requestLimits(
  deps: TicketOperationDeps,
  caller: Caller,
  { key_id: keyId, rpm, reason }: { key_id: string; rpm: number; reason: string },
) {
  const { accounts, clock, tickets, trail } = deps;
  return await accounts.act(() => {
    const nowMs = clock.now();
    const key = accounts.key(keyId);
    if (key === undefined || key.orgId !== caller.orgId) {
      throw fail("invalid_value", "There is no such key.", { param: "/key_id" });
    }
    for (const one of [key, ...accounts.relativesOf(key, nowMs)]) assertMayActOn(caller, one);
    assertNotOfPlayground(key);
    if (!keyWorks(key, nowMs)) throw fail("state", "The key does not work any more.", { param: "/key_id" });
    const limits = limitsInForce(deps, key);
    if (rpm <= mostOf(limits.rpm)) {
      const has =
        limits.rpm === 0 ? "as many requests a minute as it likes" : `${limits.rpm} requests a minute`;
      throw fail("invalid_value", `The key has ${has} already.`, { param: "/rpm" });
    }
    const asked = newTicket(
      {
        orgId: caller.orgId,
        kind: "limit_increase",
        subject: `${rpm} requests a minute for ${key.name}`,
        body: { key_id: keyId, rpm, reason },
        createdBy: emailOf(accounts, caller),
      },
      nowMs,
    );
    const isWithin = rpm <= mostRpm(deps, caller.orgId);
    tickets.add(
      caller,
      isWithin ? decided(asked, "approved", "Within what the plan approves at once.", nowMs) : asked,
    );
    trail.audit.note(caller, { act: "ticket.create", target: asked.id, after: ticketWire(asked) });
    if (isWithin) raiseRpm(deps, caller, key, rpm, asked.id);
    const ticket = tickets.get(caller.orgId, asked.id) as TicketRow;
    if (isWithin) trail.events.emit(ticketDecided, caller.orgId, ticketWire(ticket));
    const applied = isWithin ? { ...limits, rpm } : limits;
    return { status: ticket.status, applied, ticket: ticketWire(ticket) };
  });
}

export const decided = (
  row: TicketRow,
  status: "approved" | "rejected" | "closed",
  answer: string,
  nowMs: number,
): TicketRow => ({ ...row, status, answer, decidedAtMs: nowMs });

const limitsInForce = ({ accounts, plan }: TicketOperationDeps, key: KeyRow): KeyLimits => {
  const { rpm, tpm, concurrency } = plan(accounts.org(key.orgId)?.planId ?? "");
  return { rpm, tpm, concurrency, ...key.limits };
};

function mostRpm({ accounts, plan }: TicketOperationDeps, orgId: string): number {
  const { rpm, autoApprove } = plan(accounts.org(orgId)?.planId ?? "");
  return Math.floor(mostOf(rpm) * autoApprove);
}

/** In an act: sets a limit that a ticket has granted, for the key's lineage. Only requests a minute are granted this way. */
export function raiseRpm(
  { accounts, clock, trail }: Pick<TicketOperationDeps, "accounts" | "clock" | "trail">,
  caller: Caller,
  key: KeyRow,
  rpm: number,
  ticketId: string,
): void {
  for (const one of [key, ...accounts.relativesOf(key, clock.now())]) {
    const limits = { ...one.limits, rpm };
    accounts.replaceKey({ ...one, limits });
    trail.audit.note(caller, {
      act: "key.raise_limit",
      target: one.id,
      reason: ticketId,
      orgId: one.orgId,
      before: { limits: one.limits },
      after: { limits },
    });
    trail.events.emit(limitsChanged, one.orgId, { key_id: one.id, limits });
  }
}
