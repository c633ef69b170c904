/** What an org's export holds: each room's rows, as the API shows them, one file a kind. A room that keeps an org's data adds its part here. */
import type { ExportPart } from "../../account/exports/archive.ts";
import { paged } from "../../account/exports/paged.ts";
import { type KeyRow, keyWire } from "../../account/key.ts";
import { orgWire } from "../../account/org-wire.ts";
import { memberWire } from "../../account/person.ts";
import { projectWire } from "../../account/project.ts";
import { ticketWire } from "../../account/tickets/ticket.ts";
import { invoiceWire } from "../../billing/invoices/wire.ts";
import { appWire } from "../../catalog/apps/app.ts";
import { wholeLedger } from "../../credits/ledger/ledger-export.ts";
import { wholePolicies } from "../../routing/policies/policy-export.ts";
import { eventWire } from "../../store/events/events.ts";
import { auditWire } from "../../store/events/operations.ts";
import type { House } from "./house.ts";

export function exportParts(house: House, orgId: string, missing: (sinceMs: number) => void): ExportPart[] {
  const { accounts, lastUsed, tickets } = house.people.account;
  const { audit, clock, events } = house.ground;
  const { book, budgets } = house.money;
  const { people } = accounts;
  const invoices = house.billing.invoices.tables;
  const spend = (projectId: string) =>
    budgets.spendOfProject({ projectId, timeZone: accounts.timeZoneOf(projectId) });
  return [
    { file: "org.jsonl", rows: () => [accounts.org(orgId)].flatMap((org) => (org ? [orgWire(org)] : [])) },
    {
      file: "members.jsonl",
      rows: () =>
        people.membersOf(orgId).flatMap((member) => {
          const user = people.user(member.userId);
          return user === undefined ? [] : [memberWire(member, user)];
        }),
    },
    {
      file: "projects.jsonl",
      async *rows() {
        const projects = accounts.projectsOf(orgId);
        yield* await Promise.all(projects.map(async (row) => projectWire(row, await spend(row.id))));
      },
    },
    {
      file: "keys.jsonl",
      rows: () =>
        paged(
          (after?: KeyRow) => accounts.keysByAge(orgId, after && [after.createdAtMs, after.id], "any"),
          (row) =>
            keyWire(
              row,
              { lastUsedAtMs: lastUsed.at(row.id), lineageId: accounts.lineageOf(row) },
              clock.now(),
            ),
        ),
    },
    { file: "apps.jsonl", rows: () => house.apps.tables.of(orgId).map(appWire) },
    { file: "policies.jsonl", rows: () => wholePolicies(house.routing.policies.tables, orgId) },
    { file: "tickets.jsonl", rows: () => listed((after) => tickets.of(orgId, after), ticketWire) },
    { file: "ledger.jsonl", rows: () => wholeLedger(book, orgId, missing) },
    { file: "invoices.jsonl", rows: () => listed((after) => invoices.of(orgId, after), invoiceWire) },
    { file: "events.jsonl", rows: () => listed((after) => events.of(orgId, after), eventWire) },
    { file: "audit.jsonl", rows: () => listed((after) => audit.of(orgId, after), auditWire) },
    { file: "requests.jsonl", rows: () => house.analytics.recordsOf(orgId, missing) },
  ];
}

/** @param rows those after the one with this id */
const listed = <R extends { readonly id: string }>(
  rows: (afterId: string | undefined) => Iterable<R>,
  wire: (row: R) => object,
) => paged((after?: R) => rows(after?.id), wire);
