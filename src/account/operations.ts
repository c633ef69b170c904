/**
 * All operations of this room, for the route table.
 */
import { type KeyOperationDeps, keyOperations } from "./key-operations.ts";
import { type KeyReportDeps, keyReportOperations } from "./key-report-operations.ts";
import { type MemberOperationDeps, memberOperations } from "./member-operations.ts";
import { type OrgEndingDeps, orgEndingOperations } from "./org-ending-operations.ts";
import { orgOperations } from "./org-operations.ts";
import { type ProjectOperationDeps, projectOperations } from "./project-operations.ts";
import { type RedactionOperationDeps, redactionOperations } from "./redaction-operations.ts";
import { type TicketOperationDeps, ticketOperations } from "./ticket-operations.ts";

export type AccountOperationDeps = KeyOperationDeps &
  KeyReportDeps &
  ProjectOperationDeps &
  OrgEndingDeps &
  MemberOperationDeps &
  TicketOperationDeps &
  RedactionOperationDeps;

export const accountOperations = (deps: AccountOperationDeps) => ({
  ...keyOperations(deps),
  ...keyReportOperations(deps),
  ...projectOperations(deps),
  ...orgOperations(deps),
  ...orgEndingOperations(deps),
  ...memberOperations(deps),
  ...ticketOperations(deps),
  ...redactionOperations(deps),
});
