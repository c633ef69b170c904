/**
 * How an org ends: closed by its owner, erased after thirty days, or handed to another owner. Its keys stop with the act that
 * closes it; calls under way end as they are. Ledger, invoices and totals stay.
 */

import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { DAY_MS } from "../../base/time.ts";
import type { JobQueue } from "../../store/jobs/jobs.ts";
import { erasureRequested, orgClosed } from "../account-events.ts";
import { type CreditLeft, closingWire } from "../credit-left.ts";
import { eraseOrg } from "../erasure/erasure.ts";
import type { OrgRow } from "../org.ts";
import { orgShape, orgWire } from "../org-wire.ts";
import { ROLES } from "../roles.ts";
import { newTicket } from "../tickets/ticket.ts";
import { emailOf, type Tickets } from "../tickets/tickets.ts";
import { type OrgOperationDeps, orgPath, show } from "./org-operations.ts";
import { assertMayOwn } from "./ownership.ts";

export interface OrgEndingDeps extends OrgOperationDeps {
  readonly tickets: Tickets;
  readonly jobs: Pick<JobQueue, "enqueue" | "drop">;
  /** Port: in an act, what the org's credit is then. */
  readonly creditLeft: (orgId: string) => CreditLeft;
}

/** Until then an erasure can be cancelled. */
const ERASURE_DAYS = 30;

export function orgEndingOperations(deps: OrgEndingDeps) {
  return {
    closeOrg: operation({
      summary: "Close an org: its keys stop at once; its people can still read and export",
      method: "POST",
      path: "/v1/orgs/{org}/close",
      access: "no key / owner",
      group: "Organisations",
      isForClosed: true,
      params: orgPath,
      body: z.strictObject({
        confirm: z.string().max(100).describe("The org's slug"),
        refund_requested: z.boolean().default(false).describe("Asks for paid credit that is not spent"),
      }),
      output: orgShape,
      errors: ["not_found"],
      run: ({ body }, caller) => closeOrg(deps, caller, body.confirm, body.refund_requested),
    }),
    requestErasure: operation({
      summary: `Have the org's data erased in ${ERASURE_DAYS} days; until then this can be cancelled`,
      method: "POST",
      path: "/v1/orgs/{org}/erasure",
      access: "no key / owner",
      group: "Organisations",
      isForClosed: true,
      params: orgPath,
      output: orgShape,
      errors: ["not_found"],
      run: (_input, caller) => requestErasure(deps, caller),
    }),
    cancelErasure: operation({
      summary: "Cancel an erasure that has not begun",
      method: "DELETE",
      path: "/v1/orgs/{org}/erasure",
      access: "no key / owner",
      group: "Organisations",
      isForClosed: true,
      params: orgPath,
      output: orgShape,
      errors: ["not_found", "state"],
      run: (_input, caller) => cancelErasure(deps, caller),
    }),
    transferOrg: operation({
      summary: "Hand the org to another member; the previous owner becomes an admin",
      method: "POST",
      path: "/v1/orgs/{org}/transfer",
      access: "no key / owner",
      group: "Organisations",
      isForClosed: true,
      params: orgPath,
      body: z.strictObject({
        user_id: z.string().min(1).max(100).describe("Id of a member who has signed in: the next owner."),
      }),
      output: z.object({
        owner: z.string().describe("Id of the person who owns the org now."),
        previous_owner_role: z
          .enum(ROLES)
          .describe("What the previous owner is now: `admin`; `owner` if the org was handed to themselves."),
      }),
      errors: ["not_found", "state", "plan_limit"],
      run: ({ body }, caller) => transferOrg(deps, caller, body.user_id),
    }),
  };
}

/** Closing a closed org changes nothing. */
async function closeOrg(deps: OrgEndingDeps, caller: Caller, confirm: string, refundRequested: boolean) {
  const { accounts, clock, tickets, trail } = deps;
  return await accounts.act(() => {
    const old = accounts.mustOrg(caller.orgId);
    if (confirm !== old.slug) {
      throw fail("invalid_value", "Give the organisation's slug to confirm.", { param: "/confirm" });
    }
    if (old.status === "closed") return show(deps, caller, old);
    const nowMs = clock.now();
    const closed: OrgRow = { ...old, status: "closed", closedAtMs: nowMs };
    accounts.replaceOrg(closed);
    const credit = deps.creditLeft(old.id);
    const ticket = newTicket(
      {
        orgId: old.id,
        kind: "close_org",
        subject: `Closure of ${old.name}`,
        body: {
          refund_requested: refundRequested,
          refundable_micro: refundRequested ? credit.paidMicroUsd : 0,
        },
        createdBy: emailOf(accounts, caller),
      },
      nowMs,
    );
    tickets.put(ticket);
    const before = { status: old.status };
    const after = { status: "closed", closed_at: isoTime(nowMs), ticket: ticket.id };
    trail.audit.note(caller, { act: "org.close", target: old.id, before, after });
    const asked = { by: "owner", ticketId: ticket.id, refundRequested } as const;
    trail.events.emit(orgClosed, old.id, { ...orgWire(closed), closing: closingWire(asked, credit) });
    // What follows from the event has changed the plan.
    return show(deps, caller, accounts.org(old.id) ?? closed);
  });
}

/** Asking again does not move the date. */
async function requestErasure(deps: OrgEndingDeps, caller: Caller) {
  const { accounts, clock, jobs, trail } = deps;
  return await accounts.act(() => {
    const old = accounts.mustOrg(caller.orgId);
    if (old.erasureDueAtMs !== null || old.erasedAtMs !== undefined) return show(deps, caller, old);
    const nowMs = clock.now();
    const dueMs = nowMs + ERASURE_DAYS * DAY_MS;
    const asked: OrgRow = { ...old, erasureRequestedAtMs: nowMs, erasureDueAtMs: dueMs };
    accounts.replaceOrg(asked);
    jobs.enqueue(eraseOrg, { key: old.id, orgId: old.id, dueMs, payload: { orgId: old.id } });
    const wire = show(deps, caller, asked);
    const after = { erasure_due_at: isoTime(dueMs) };
    trail.audit.note(caller, { act: "org.request_erasure", target: old.id, after });
    trail.events.emit(erasureRequested, old.id, orgWire(asked));
    return wire;
  });
}

async function cancelErasure(deps: OrgEndingDeps, caller: Caller) {
  const { accounts, jobs, trail } = deps;
  return await accounts.act(() => {
    const old = accounts.mustOrg(caller.orgId);
    if (old.erasureDueAtMs === null) return show(deps, caller, old);
    if (old.erasureBegunAtMs !== undefined)
      throw fail("state", "The erasure has begun: data are gone already, and it cannot be cancelled.");
    const kept: OrgRow = { ...old, erasureRequestedAtMs: null, erasureDueAtMs: null };
    accounts.replaceOrg(kept);
    jobs.drop(eraseOrg.name, old.id);
    const before = { erasure_due_at: isoTime(old.erasureDueAtMs) };
    trail.audit.note(caller, { act: "org.cancel_erasure", target: old.id, before });
    return show(deps, caller, kept);
  });
}

async function transferOrg(deps: OrgEndingDeps, caller: Caller, userId: string) {
  const { accounts, trail } = deps;
  const { people } = accounts;
  return await accounts.act(() => {
    const org = accounts.mustOrg(caller.orgId);
    const owner = people.member(org.id, caller.actor.id);
    const next = people.member(org.id, userId);
    if (owner?.role !== "owner") throw fail("not_found", "There is no such organisation.");
    if (next === undefined) {
      throw fail("invalid_value", "The new owner must be a member of the organisation.", {
        param: "/user_id",
      });
    }
    if (people.user(userId)?.status !== "active") {
      throw fail("state", "The new owner has not signed in yet.", { param: "/user_id" });
    }
    if (userId === caller.actor.id) return { owner: userId, previous_owner_role: "owner" as const };
    // One who owns this org already owns no more of them.
    if (next.role !== "owner") assertMayOwn(people, userId, deps.maxOrgsOfPerson);
    // A directory never has a say over owners: the membership is no longer its own.
    const source = next.source === "directory" ? "invitation" : next.source;
    people.putMember({ ...next, role: "owner", source });
    people.putMember({ ...owner, role: "admin" });
    trail.audit.note(caller, {
      act: "org.transfer",
      target: org.id,
      before: { owner: caller.actor.id },
      after: { owner: userId, previous_owner_role: "admin" },
    });
    return { owner: userId, previous_owner_role: "admin" as const };
  });
}
