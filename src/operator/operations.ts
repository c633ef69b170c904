/** All operations of this room, for the route table. */
import { type OperatorJobDeps, operatorJobOperations } from "./job-operations.ts";
import { type OperatorOrgDeps, operatorOrgOperations } from "./org-operations.ts";
import { type OperatorPlanDeps, operatorPlanOperations } from "./plan-operations.ts";
import { type OperatorTicketDeps, operatorTicketOperations } from "./ticket-operations.ts";

export type OperatorDeps = OperatorOrgDeps & OperatorTicketDeps & OperatorJobDeps & OperatorPlanDeps;

export const operatorOperations = (deps: OperatorDeps) => ({
  ...operatorOrgOperations(deps),
  ...operatorTicketOperations(deps),
  ...operatorJobOperations(deps),
  ...operatorPlanOperations(deps),
});
