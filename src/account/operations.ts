/**
 * All operations of this room, for the route table.
 */
import { type KeyOperationDeps, keyOperations } from "./keys/key-operations.ts";
import { type KeyReportDeps, keyReportOperations } from "./keys/key-report-operations.ts";
import { type PlaygroundOperationDeps, playgroundOperations } from "./keys/playground-operations.ts";
import { type OrgEndingDeps, orgEndingOperations } from "./orgs/org-ending-operations.ts";
import { orgOperations } from "./orgs/org-operations.ts";
import { type MemberOperationDeps, memberOperations } from "./people/member-operations.ts";
import { type ProjectOperationDeps, projectOperations } from "./projects/project-operations.ts";
import { type RedactionOperationDeps, redactionOperations } from "./projects/redaction-operations.ts";
import { type TicketOperationDeps, ticketOperations } from "./tickets/ticket-operations.ts";

export type AccountOperationDeps = KeyOperationDeps &
  KeyReportDeps &
  PlaygroundOperationDeps &
  ProjectOperationDeps &
  OrgEndingDeps &
  MemberOperationDeps &
  TicketOperationDeps &
  RedactionOperationDeps;

export const accountOperations = (deps: AccountOperationDeps) => ({
  ...keyOperations(deps),
  ...keyReportOperations(deps),
  ...playgroundOperations(deps),
  ...projectOperations(deps),
  ...orgOperations(deps),
  ...orgEndingOperations(deps),
  ...memberOperations(deps),
  ...ticketOperations(deps),
  ...redactionOperations(deps),
});
